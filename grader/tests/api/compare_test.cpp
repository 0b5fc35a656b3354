// The float bound passes every honest order of summation and fails less precise arithmetic.
#include "grading.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

using namespace grading;

namespace {

// Returns x with `bits` fewer bits of mantissa, rounded to nearest: 13 fewer give TF32 and half, 16
// give bfloat16.
float rounded(float x, int bits)
{
    std::uint32_t u;
    std::memcpy(&u, &x, 4);
    u += (1u << (bits - 1)) - 1 + (u >> bits & 1);
    u &= ~((1u << bits) - 1);
    std::memcpy(&x, &u, 4);
    return x;
}

struct dot {
    std::vector<float> a, b;
    double value = 0, magnitude = 0;
    dot(int n, std::mt19937 &random)
    {
        std::uniform_real_distribution<float> draw(-1, 1);
        for (int i = 0; i < n; ++i) {
            a.push_back(draw(random));
            b.push_back(draw(random));
            value += double(a[i]) * b[i];
            magnitude += std::abs(double(a[i]) * b[i]);
        }
    }
    float forwards() const
    {
        float s = 0;
        for (std::size_t i = 0; i < a.size(); ++i) s = std::fma(a[i], b[i], s);
        return s;
    }
    float backwards() const
    {
        float s = 0;
        for (std::size_t i = a.size(); i-- > 0;) s += a[i] * b[i];
        return s;
    }
    float tree() const
    {
        std::vector<float> t;
        for (std::size_t i = 0; i < a.size(); ++i) t.push_back(a[i] * b[i]);
        while (t.size() > 1) {
            if (t.size() % 2) t.push_back(0);
            for (std::size_t i = 0; i < t.size() / 2; ++i) t[i] = t[2 * i] + t[2 * i + 1];
            t.resize(t.size() / 2);
        }
        return t[0];
    }
    float from_less_precise_inputs(int bits) const
    {
        float s = 0;
        for (std::size_t i = 0; i < a.size(); ++i) s += rounded(a[i], bits) * rounded(b[i], bits);
        return s;
    }
};

} // namespace

TEST_CASE("every honest order of a float sum is right")
{
    std::mt19937 random(1);
    for (int n : {1, 2, 64, 256, 1024, 16384})
        for (int trial = 0; trial < 200; ++trial) {
            dot d(n, random);
            CHECK(within(d.forwards(), d.value, n, d.magnitude));
            CHECK(within(d.backwards(), d.value, n, d.magnitude));
            CHECK(within(d.tree(), d.value, n, d.magnitude));
        }
}

TEST_CASE("inputs rounded to TF32, half or bfloat16 are caught at 64 terms")
{
    std::mt19937 random(2);
    for (int bits : {13, 16}) {
        int caught = 0;
        for (int trial = 0; trial < 200; ++trial) {
            dot d(64, random);
            caught += !within(d.from_less_precise_inputs(bits), d.value, 64, d.magnitude);
        }
        CHECK(caught > 180); // an output has many elements to catch it
    }
}

TEST_CASE("NaN and infinity are never right")
{
    float infinity = std::numeric_limits<float>::infinity();
    CHECK_FALSE(within(std::nanf(""), 0, 10, 1));
    CHECK_FALSE(within(infinity, 1, 10, 1));
    CHECK_FALSE(within(0, 1, 10, 1));
    CHECK(within(0, 0, 1, 0));
}

TEST_CASE("one wrong element is found wherever it is, in outputs that many cores compare")
{
    constexpr std::size_t n = (5 << 20) + 3;
    std::mt19937_64 random(3);
    std::vector<int> want(n);
    for (int &x : want) x = static_cast<int>(random());
    output<int> got(n, 2, n - 3); // the first two and the last are not asked for
    got.values = want;
    got.values[0] ^= 1, got.values[1] ^= 1, got.values[n - 1] ^= 1;
    CHECK(all_equal(got, want));
    std::vector<std::size_t> places = {2, n - 2};
    for (std::size_t k = 1; k < 16; ++k) // around the ends of ranges for 16, 8, 4 and 2 cores
        for (std::size_t at : {n * k / 16 - 1, n * k / 16, n * k / 16 + 1}) places.push_back(at);
    for (int k = 0; k < 20; ++k) places.push_back(2 + random() % (n - 3));
    for (std::size_t at : places) {
        CAPTURE(at);
        got.values[at] ^= 1;
        CHECK_FALSE(all_equal(got, want));
        got.values[at] ^= 1;
    }
    got.again = want;
    CHECK(all_equal(got, want));
    got.again[n - 2] ^= 1;
    CHECK_FALSE(all_equal(got, want));
}

TEST_CASE("misconceptions are listed for a wrong answer only")
{
    output<int> got(3);
    got.values = {1, 2, 3};
    int listed = 0;
    expect_equal(got, {1, 2, 3}, {}, [&] {
        ++listed;
        return std::vector<misconception<int>>{};
    });
    CHECK(listed == 0);
}
