// Runs ordinary kernels compiled by nvcc and compares the results with C++.
#include "simulator/tests/fixture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <doctest/doctest.h>
#include <numeric>
#include <unistd.h>

using namespace simulator;
using namespace simulator::tests;

namespace {

template <class T, class F> std::vector<T> made(std::size_t n, F f)
{
    std::vector<T> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = f(i);
    return v;
}

void check_clean(const outcome &o)
{
    CHECK_MESSAGE(o.error == 0, o.message);
    for (const auto &f : findings::instance().all())
        FAIL_CHECK(f.kernel << " line " << f.line << ": " << f.detail << ", " << f.where);
}

// Captures the standard output of a call.
template <class F> std::string printed(F f)
{
    std::fflush(stdout);
    std::FILE *file = std::tmpfile();
    REQUIRE(file != nullptr);
    int before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    f();
    std::fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    std::rewind(file);
    std::string text(4096, 0);
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
}

} // namespace

TEST_CASE("device printf")
{
    auto text = printed([] { check_clean(run(kernels(), "say", {1, 1, 1}, {64, 1, 1}, 0, 2)); });
    CHECK(text == "even thread 0 of 64:  0.00|123456789012|x\n"
                  "odd thread 1 of 64:  0.50|123456789012|x\n");
}

TEST_CASE("vector add, with a tail")
{
    for (int n : {1, 31, 32, 1000, 4099}) {
        buffer<float> a(made<float>(n, [](auto i) { return i * 0.5f; }));
        buffer<float> b(made<float>(n, [](auto i) { return 3.0f - i; })), c(std::size_t(n + 1));
        check_clean(
            run(kernels(), "vector_add", {(n + 255u) / 256, 1, 1}, {256, 1, 1}, 0, a, b, c, n));
        auto v = c.values();
        for (int i = 0; i < n; ++i) REQUIRE(v[i] == i * 0.5f + (3.0f - i));
    }
}

TEST_CASE("tiled matrix product, barriers in a loop")
{
    const int n = 64;
    auto M = made<float>(n * n, [](auto i) { return float(i % 7) - 3; });
    auto N = made<float>(n * n, [](auto i) { return float(i % 5) - 1; });
    buffer<float> m(M), k(N), p(std::size_t(n * n));
    check_clean(run(kernels(), "tiled_matmul", {4, 4, 1}, {16, 16, 1}, 0, m, k, p, n));
    auto P = p.values();
    for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) {
            float sum = 0;
            for (int j = 0; j < n; ++j) sum += M[r * n + j] * N[j * n + c];
            REQUIRE(P[r * n + c] == sum);
        }
}

TEST_CASE("sum with shuffles, dynamic shared memory and an atomic")
{
    const int n = 1000;
    auto in = made<int>(n, [](auto i) { return int(i * i % 101); });
    buffer<int> a(in), out(std::vector<int>{5});
    check_clean(run(kernels(), "block_sum", {4, 1, 1}, {256, 1, 1}, 8 * 4, a, out, n));
    CHECK(out.values()[0] == std::accumulate(in.begin(), in.end(), 5));
}

TEST_CASE("loops that every lane leaves at another time, with an early return inside")
{
    const int n = 300;
    auto in = made<int>(n, [](auto i) { return int(i + 1); });
    buffer<int> a(in), out(std::vector<int>(n, -5));
    check_clean(run(kernels(), "collatz", {3, 1, 1}, {128, 1, 1}, 0, a, out, n));
    auto v = out.values();
    for (int i = 0; i < n; ++i) {
        int steps = 0;
        for (long long x = i + 1; x != 1; ++steps) x = x % 2 ? 3 * x + 1 : x / 2;
        REQUIRE(v[i] == steps);
    }
}

TEST_CASE("break and continue in nested loops")
{
    const int n = 20;
    buffer<int> out(std::size_t(128));
    check_clean(run(kernels(), "first_multiple", {1, 1, 1}, {128, 1, 1}, 0, out, n));
    auto v = out.values();
    for (int i = 0; i < 128; ++i) {
        int found = -1;
        for (int k = 1; k < n; ++k) {
            if (k % 3 == 0) continue;
            for (int j = 1; j < n; ++j)
                if (j * k == i) {
                    found = k * 1000 + j;
                    break;
                }
            if (found >= 0 && k > 1) break;
        }
        REQUIRE(v[i] == found);
    }
}

TEST_CASE("device functions called by some lanes, with constants and recursion")
{
    buffer<float> y(std::size_t(64));
    check_clean(run(kernels(), "polynomial", {1, 1, 1}, {64, 1, 1}, 0, y, 3));
    auto v = y.values();
    for (int i = 0; i < 64; ++i) {
        float x = i, expected = i % 3 == 0 ? ((4 * x + 3) * x + 2) * x + 1 : -(2 * x + 1);
        REQUIRE(v[i] == expected);
    }
    buffer<int> out(std::size_t(48));
    check_clean(run(kernels(), "factorials", {1, 1, 1}, {48, 1, 1}, 0, out));
    const int expected[] = {1, 1, 2, 6, 24, 120, 720, 5040};
    auto f = out.values();
    for (int i = 0; i < 48; ++i) REQUIRE(f[i] == expected[i % 8] + 7);
}

TEST_CASE("a spin lock between lanes of one warp, and between blocks, ends")
{
    buffer<int> lock(std::vector<int>{0}), total(std::vector<int>{0});
    check_clean(run(kernels(), "take_lock", {4, 1, 1}, {64, 1, 1}, 0, lock, total));
    CHECK(total.values()[0] == 256);
}

TEST_CASE("blocks that wait for all other blocks end")
{
    for (unsigned blocks : {1u, 3u, 200u}) {
        buffer<int> arrived(std::vector<int>{0}), seen(std::size_t{blocks});
        check_clean(run(kernels(), "wait_for_all", {blocks, 1, 1}, {64, 1, 1}, 0, arrived, seen));
        for (int v : seen.values()) CHECK(v == int(blocks));
    }
}

TEST_CASE("local memory with run-time indices")
{
    auto in = made<int>(16 * 40, [](auto i) { return int(i * 7919 % 1000); });
    buffer<int> a(in), out(std::size_t(16 * 40));
    check_clean(run(kernels(), "local_sort", {1, 1, 1}, {40, 1, 1}, 0, a, out));
    for (int t = 0; t < 40; ++t) std::sort(in.begin() + 16 * t, in.begin() + 16 * (t + 1));
    CHECK(out.values() == in);
}

TEST_CASE("a switch, also with a case that falls through")
{
    auto in = made<int>(64, [](auto i) { return int(i % 9); });
    buffer<int> a(in), out(std::vector<int>(64, 100));
    check_clean(run(kernels(), "choose", {1, 1, 1}, {64, 1, 1}, 0, a, out));
    const int expected[] = {10, 20, 15, 101, 0, 25, 103, -1, -1};
    auto v = out.values();
    for (int i = 0; i < 64; ++i) CHECK(v[i] == expected[i % 9]);
}

TEST_CASE("votes, matches and reductions of a warp")
{
    auto in = made<int>(64, [](auto i) { return int(i * 5 % 11); });
    buffer<int> a(in);
    buffer<unsigned> out(std::size_t(64));
    check_clean(run(kernels(), "vote_and_match", {1, 1, 1}, {64, 1, 1}, 0, a, out));
    auto v = out.values();
    for (int i = 0; i < 64; ++i) {
        int w = i / 32 * 32;
        unsigned below = 0, same = 0, sum = 0, any = 0;
        for (int l = w; l < w + 32; ++l) {
            below += l < i && in[l] > 3;
            same += in[l] == in[i];
            sum += in[l];
            any |= in[l] == 9;
        }
        REQUIRE(v[i] == below + 100 * same + 10000 * sum + (any << 31));
    }
}

TEST_CASE("real functions of one and two words")
{
    auto in = made<float>(33, [](auto i) { return 0.37f + i * 0.21f; });
    auto wide = made<double>(33, [](auto i) { return 0.41 + i * 0.19; });
    buffer<float> a(in), f(std::size_t(8 * 32));
    buffer<double> b(wide), d(std::size_t(8 * 32));
    check_clean(run(kernels(), "real_functions", {1, 1, 1}, {32, 1, 1}, 0, a, b, f, d));
    auto F = f.values();
    auto D = d.values();
    for (int i = 0; i < 32; ++i) {
        float x = in[i];
        double y = wide[i];
        CHECK(F[8 * i + 0] == x / in[i + 1]);
        CHECK(F[8 * i + 1] == std::sqrt(x));
        CHECK(F[8 * i + 2] == doctest::Approx(std::exp(x)).epsilon(1e-6));
        CHECK(F[8 * i + 3] == doctest::Approx(std::sin(x)).epsilon(1e-6));
        CHECK(F[8 * i + 5] == doctest::Approx(std::pow(x, 1.5f)).epsilon(1e-6));
        CHECK(F[8 * i + 6] == doctest::Approx(1 / std::sqrt(x)).epsilon(1e-6));
        CHECK(F[8 * i + 7] == std::floor(x) + x);
        CHECK(D[8 * i + 0] == y / wide[i + 1]);
        CHECK(D[8 * i + 1] == std::sqrt(y));
        CHECK(D[8 * i + 2] == doctest::Approx(std::exp(y)).epsilon(1e-15));
        CHECK(D[8 * i + 3] == doctest::Approx(std::sin(y * 1e7)).epsilon(1e-14));
        CHECK(D[8 * i + 4] == doctest::Approx(std::log(y)).epsilon(1e-14));
        CHECK(D[8 * i + 5] == doctest::Approx(std::pow(y, 0.3)).epsilon(1e-14));
        CHECK(D[8 * i + 6] == std::trunc(y * 1e6));
        CHECK(D[8 * i + 7] == doctest::Approx(std::cbrt(y)).epsilon(1e-14));
    }
}

TEST_CASE("shared histogram with bytes")
{
    auto in =
        made<unsigned char>(5000, [](auto i) { return static_cast<unsigned char>(i * i % 251); });
    buffer<unsigned char> a(in);
    buffer<unsigned> bins(std::vector<unsigned>(256, 0));
    check_clean(run(kernels(), "histogram", {3, 1, 1}, {256, 1, 1}, 0, a, bins, 5000));
    std::vector<unsigned> expected(256, 0);
    for (auto v : in) ++expected[v];
    CHECK(bins.values() == expected);
}

TEST_CASE("the same launch gives the same result under shuffled schedules")
{
    settings().random_schedule = true;
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        settings().seed = seed;
        buffer<int> arrived(std::vector<int>{0}), seen(std::size_t{40});
        check_clean(run(kernels(), "wait_for_all", {40, 1, 1}, {96, 1, 1}, 0, arrived, seen));
        for (int v : seen.values()) CHECK(v == 40);
    }
    settings().random_schedule = false;
}
