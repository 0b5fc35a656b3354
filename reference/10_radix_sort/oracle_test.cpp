// Checks the oracle of lab 10 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <cmath>
#include <limits>
#include <vector>

using uints = std::vector<unsigned>;

TEST_CASE("oracle: runs of 32 are sorted by themselves")
{
    uints keys(70, 5);
    keys[0] = 9, keys[31] = 4, keys[32] = 7, keys[63] = 0xffffffff, keys[64] = 6, keys[69] = 1;
    uints sorted = oracle::sort_warps(keys);
    CHECK(sorted[0] == 4);
    CHECK(sorted[31] == 9);
    CHECK(sorted[32] == 5);
    CHECK(sorted[62] == 7);
    CHECK(sorted[63] == 0xffffffff);
    CHECK(sorted[64] == 1);
    CHECK(sorted[69] == 6);
    CHECK(oracle::sort_warps({}).empty());
}

TEST_CASE("oracle: keys have no sign")
{
    CHECK(oracle::radix_sort({7, 0x80000000, 14, 0, 4, 0xffffffff, 1, 7}) ==
          uints{0, 1, 4, 7, 7, 14, 0x80000000, 0xffffffff});
    CHECK(oracle::radix_sort({}).empty());
}

TEST_CASE("oracle: values of equal keys keep their order")
{
    oracle::pairs sorted = oracle::radix_sort_pairs({{3, 1, 3, 0, 1}, {9, 8, 7, 6, 5}});
    CHECK(sorted.keys == uints{0, 1, 1, 3, 3});
    CHECK(sorted.values == uints{6, 8, 5, 9, 7});
}

TEST_CASE("oracle: -0 comes before 0, infinities at the ends")
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    std::vector<float> sorted =
        oracle::radix_sort_floats({1, 0.0f, -0.0f, infinity, -2, -infinity, -0.5f, 0.0f});
    CHECK(sorted == std::vector<float>{-infinity, -2, -0.5f, 0, 0, 0, 1, infinity});
    CHECK(std::signbit(sorted[3]));
    CHECK_FALSE(std::signbit(sorted[4]));
    CHECK_FALSE(std::signbit(sorted[5]));
}
