// Checks the oracle of lab 08 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using counts = std::vector<unsigned>;

TEST_CASE("oracle: a sum goes beyond an int, in both directions")
{
    constexpr int most = std::numeric_limits<int>::max(), least = std::numeric_limits<int>::min();
    CHECK(oracle::sum({}) == std::vector<long long>{0});
    CHECK(oracle::sum({3, -1, -7}) == std::vector<long long>{-5});
    CHECK(oracle::sum({most, most, 2}) == std::vector<long long>{1LL << 32});
    CHECK(oracle::sum({least, least}) == std::vector<long long>{-(1LL << 32)});
}

TEST_CASE("oracle: each byte has its bin")
{
    counts bins = oracle::histogram({3, 0, 255, 3, 3});
    CHECK(bins.size() == 256);
    CHECK(bins[0] == 1);
    CHECK(bins[3] == 3);
    CHECK(bins[255] == 1);
    CHECK(std::accumulate(bins.begin(), bins.end(), 0u) == 5);
    CHECK(oracle::histogram({}) == counts(256));
}

TEST_CASE("oracle: tiles at the edges are as large as what is left")
{
    // 3 wide, 2 high, tiles of 2: two across, one down.
    counts bins = oracle::histogram_tiles({1, 1, 7, 2, 1, 7}, 3, 2, 2);
    CHECK(bins.size() == 512);
    CHECK(bins[1] == 3);
    CHECK(bins[2] == 1);
    CHECK(bins[256 + 7] == 2);
    CHECK(std::accumulate(bins.begin(), bins.end(), 0u) == 6);
    // A tile beyond both edges is the image; tiles of one pixel stand as the pixels do.
    CHECK(oracle::histogram_tiles({5, 6}, 1, 2, 9) == oracle::histogram({5, 6}));
    bins = oracle::histogram_tiles({5, 6, 7, 8}, 2, 2, 1);
    CHECK(bins[5] + bins[256 + 6] + bins[512 + 7] + bins[768 + 8] == 4);
    CHECK(oracle::histogram_tiles({}, 0, 4, 2).empty());
    CHECK(oracle::histogram_tiles({}, 4, 0, 2).empty());
}

TEST_CASE("oracle: the lower bound belongs to a bin, the upper one does not")
{
    float below_0 = std::nextafter(0.0f, -1.0f), below_1 = std::nextafter(1.0f, 0.0f);
    CHECK(oracle::histogram_range({-1, -0.5f, 0, 0.5f, 1}, -1, 1, 4) == counts{1, 1, 1, 1});
    CHECK(oracle::histogram_range({below_0, -0.0f, below_1}, -1, 1, 4) == counts{0, 1, 1, 1});
    CHECK(oracle::histogram_range({}, 0, 8, 2) == counts{0, 0});
}

TEST_CASE("oracle: what lies outside the range, and NaN, count nowhere")
{
    using limits = std::numeric_limits<float>;
    CHECK(oracle::histogram_range(
              {limits::infinity(), -limits::infinity(), limits::quiet_NaN(), 8, -0.001f, 3}, 0, 8,
              1) == counts{1});
}
