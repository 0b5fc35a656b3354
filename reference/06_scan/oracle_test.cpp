// Checks the oracle of lab 06 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <cstdint>
#include <vector>

using ints = std::vector<int>;
using longs = std::vector<std::int64_t>;

TEST_CASE("oracle: an inclusive sum holds the element itself")
{
    CHECK(oracle::inclusive(ints{3, 1, 7, -4, 1, 6}) == ints{3, 4, 11, 7, 8, 14});
    CHECK(oracle::inclusive(ints{-5}) == ints{-5});
    CHECK(oracle::inclusive(ints{}).empty());
}

TEST_CASE("oracle: an exclusive sum begins with 0 and leaves the last element out")
{
    CHECK(oracle::exclusive({3, 1, 7, -4, 1, 6}) == ints{0, 3, 4, 11, 7, 8});
    CHECK(oracle::exclusive({-5}) == ints{0});
    CHECK(oracle::exclusive({}).empty());
}

TEST_CASE("oracle: 64-bit sums go beyond 32 bits")
{
    std::int64_t big = std::int64_t(1) << 40;
    CHECK(oracle::inclusive(longs{big, 1, -big, big}) == longs{big, big + 1, 1, big + 1});
}

TEST_CASE("oracle: sums of floats are made in double, beside those of their absolute values")
{
    oracle::float_sums s = oracle::inclusive(std::vector<float>{1, 0x1p-30f, -1, -0.5f});
    CHECK(s.sums == std::vector<double>{1, 1 + 0x1p-30, 0x1p-30, 0x1p-30 - 0.5});
    CHECK(s.magnitudes == std::vector<double>{1, 1 + 0x1p-30, 2 + 0x1p-30, 2.5 + 0x1p-30});
}
