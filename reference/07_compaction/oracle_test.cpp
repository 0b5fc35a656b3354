// Checks the oracle of lab 07 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <cmath>
#include <limits>
#include <vector>

using floats = std::vector<float>;

static const float infinity = std::numeric_limits<float>::infinity();
static const float no_number = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("oracle: positive is greater than 0")
{
    CHECK(oracle::compact({3, -1, 0, 2, 7, -5}) == floats{3, 2, 7});
    CHECK(oracle::compact({-0.0f, no_number, -no_number, -infinity}).empty());
    CHECK(oracle::compact({infinity, 1e-45f}) == floats{infinity, 1e-45f});
    CHECK(oracle::compact({}).empty());
}

TEST_CASE("oracle: every packed element returns to its place")
{
    CHECK(oracle::unpack({3, 2, 7}, {1, 0, 0, 255, 2, 0}) == floats{3, 0, 0, 2, 7, 0});
    CHECK(oracle::unpack({}, {0, 0}) == floats{0, 0});
    CHECK(oracle::unpack({-1}, {7}) == floats{-1});
    CHECK(oracle::unpack({}, {}).empty());
}

TEST_CASE("oracle: both parts of a partition keep their order")
{
    CHECK(oracle::partition({3, -1, 0, 2, 7, -5}) == floats{3, 2, 7, -1, 0, -5});
    CHECK(oracle::partition({-1, -2}) == floats{-1, -2});
    floats odd = oracle::partition({-0.0f, no_number, 4});
    CHECK(odd[0] == 4);
    CHECK(std::signbit(odd[1]));
    CHECK(std::isnan(odd[2]));
}
