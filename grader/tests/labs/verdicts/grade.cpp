// Grades the lab of verdicts: a correctness case a kind of argument, and one speed case.
#include "grader/grading.hpp"
#include "lab.hpp"

#include <numeric>

using namespace grading;

static std::vector<float> doubled(const std::vector<float> &x)
{
    std::vector<float> y;
    for (float v : x) y.push_back(2 * v);
    return y;
}

CORRECTNESS_CASE("twice: 1000 elements", 2)
{
    auto x = random_floats(1000);
    output<float> y(1000);
    CALL(twice, x, y, 1000);
    expect_equal(y, doubled(x), {}, {{"The elements were squared.", "Multiply by 2.", [&] {
                                          std::vector<float> y;
                                          for (float v : x) y.push_back(v * v);
                                          return y;
                                      }}});
}

CORRECTNESS_CASE("twice: not aligned", 1)
{
    auto x = random_floats(67);
    output<float> y(67);
    CALL(twice, misaligned(x, 1), misaligned(y, 3), 67);
    expect_equal(y, doubled(x));
}

CORRECTNESS_CASE("twice: no elements", 1)
{
    std::vector<float> x;
    output<float> y(0);
    CALL(twice, x, y, 0);
    expect_equal(y, x);
}

CORRECTNESS_CASE("sum: a result by value", 1)
{
    auto values = random_ints(100, -50, 50);
    long long got = CALL(sum, host(values), 100);
    long long want = std::accumulate(values.begin(), values.end(), 0LL);
    expect(got == want, verdict::WRONG_ANSWER,
           "sum returned " + std::to_string(got) + ", not " + std::to_string(want) + ".");
}

CORRECTNESS_CASE("twice_but_last: in place", 1)
{
    auto before = random_floats(77), want = doubled(before);
    want.back() = before.back();
    auto data = changed_in_place(before);
    CALL(twice_but_last, data, 77);
    expect_equal(data, want);
}

// Of so many bytes some equal their poison by chance, and some equal the second call's, too, if it
// stores others.
CORRECTNESS_CASE("copy_but_first: what nobody asked for", 1)
{
    constexpr int n = 100000;
    std::vector<unsigned char> x(n);
    for (unsigned char &v : x) v = static_cast<unsigned char>(random_between(0, 255));
    output<unsigned char> y(n, 1, n - 1);
    CALL(copy_but_first, x, y, n);
    expect_equal(y, x);
}

// Too large to be called twice for another schedule. Some byte equals its poison by chance, so it
// is called twice all the same, under the schedule that it had.
CORRECTNESS_CASE("copy_but_first: a large array", 1)
{
    constexpr int n = 300000;
    std::vector<unsigned char> x(n);
    for (unsigned char &v : x) v = static_cast<unsigned char>(random_between(0, 255));
    output<unsigned char> y(n, 1, n - 1);
    CALL(copy_but_first, x, y, n);
    expect_equal(y, x);
}

CORRECTNESS_CASE("copy_but_first: streams as late as can be", 1)
{
    std::vector<unsigned char> x(40, 7);
    output<unsigned char> y(40, 1, 39);
    run_streams(stream_work::late);
    CALL(copy_but_first, x, y, 40);
    expect_equal(y, x);
}

CORRECTNESS_CASE("copy_but_first: into memory that the host sees", 1)
{
    std::vector<unsigned char> x(40, 7);
    output<unsigned char> y(40, 1, 39);
    run_streams(stream_work::late);
    CALL(copy_but_first, x, pinned(y), 40);
    expect_equal(y, x);
}

CORRECTNESS_CASE("copy_but_first: streams at any time", 1)
{
    std::vector<unsigned char> x(40, 7);
    output<unsigned char> y(40, 1, 39);
    run_streams(stream_work::shuffled);
    CALL(copy_but_first, x, y, 40);
    expect_equal(y, x);
}

namespace {

class doubling : public workload {
public:
    explicit doubling(std::mt19937_64 &random) : x_(n), y_(n)
    {
        for (float &v : x_) v = static_cast<float>(random() % 4096) - 2048;
    }
    const char *function() const override { return "twice"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(twice)>::arguments(x_, y_, n);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        float &v = x_[random() % n];
        v = static_cast<float>(random() % 4096) - 2048;
        return {std::as_writable_bytes(std::span(&v, 1))};
    }
    void check() override { expect_equal(y_, doubled(x_)); }
    double bytes() const override { return 8.0 * n; }

private:
    static constexpr int n = 1 << 15;
    std::vector<float> x_;
    output<float> y_;
};

} // namespace

SPEED_CASE("twice: coalesced", 4, 0)
{
    speed_gates gates;
    // Nothing is copied: what the grader fetches later does not count.
    gates.counted = {used_by_loads(0.95),
                     at_most("ticks of copies", {1}, "", "",
                             [](const counted &c) { return double(c.copying_ticks); })};
    gates.too_slow = "Neighbouring threads read addresses far apart.";
    race([](std::mt19937_64 &random) { return std::make_unique<doubling>(random); }, gates);
}
