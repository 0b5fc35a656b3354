// Checks the oracle of lab 12 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <vector>

using doubles = std::vector<double>;
using bytes = std::vector<unsigned char>;

TEST_CASE("oracle: sums over the buffers")
{
    oracle::sums s = oracle::all_reduce({1, 2, 3, -10, -20, -30, 100, 200, 300}, 3, 3);
    CHECK(s.values == doubles{91, 182, 273});
    CHECK(s.magnitudes == doubles{111, 222, 333});
}

TEST_CASE("oracle: a weighted mean, rounded")
{
    CHECK(oracle::merge_images({0, 255, 1, 10}, {255, 255, 0, 12}) == bytes{64, 255, 1, 11});
}
