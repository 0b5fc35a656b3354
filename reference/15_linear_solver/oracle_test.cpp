// Checks the oracle of lab 15 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <cmath>
#include <limits>
#include <vector>

using doubles = std::vector<double>;

TEST_CASE("oracle: solutions")
{
    CHECK(oracle::eliminate({2, 6}, 1) == doubles{3});
    CHECK(oracle::eliminate({0, 2, 4, 1, 1, 5}, 2) == doubles{3, 2});
    CHECK(oracle::eliminate({}, 0).empty());
    CHECK(oracle::eliminate({1, 2, 3, 1, 2, 4}, 2).empty());
    CHECK(oracle::eliminate({0, 1, 1, 0, 2, 1}, 2).empty());
}

TEST_CASE("oracle: a pivot that is too small costs all digits")
{
    doubles system{1e-20, 1, 1, 1, 1, 2};
    CHECK(oracle::eliminate(system, 2) == doubles{1, 1});
    CHECK(oracle::eliminate(system, 2, oracle::way::no_pivoting) == doubles{0, 1});
    CHECK(oracle::eliminate({-1, 2}, 1) == doubles{-2});
}

TEST_CASE("oracle: how far off")
{
    doubles system{2, 0, 4, 0, 1, 3};
    CHECK(oracle::backward_error(system, 2, {2, 3}) == 0);
    CHECK(oracle::backward_error(system, 2, {2, 3.5}) == doctest::Approx(0.5 / 6.5));
    double none = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isnan(oracle::backward_error(system, 2, {none, 3})));
    CHECK(oracle::backward_error({0, 0}, 1, {5}) == 0);
}

TEST_CASE("oracle: solutions that go wrong")
{
    doubles system{0, 2, 4, 1, 1, 5}; // rows must be exchanged, and unknown 1 be substituted
    CHECK(oracle::eliminate(system, 2) == doubles{3, 2});
    CHECK(oracle::eliminate(system, 2, oracle::way::not_substituted) == doubles{5, 2});
    CHECK(oracle::eliminate(system, 2, oracle::way::right_side_left_out) == doubles{1.5, 2.5});
    doubles larger_above{2, 4, 8, 1, 3, 5}; // 4, in a row that had its pivot, and 1 below it
    CHECK(oracle::eliminate(larger_above, 2) == doubles{2, 1});
    CHECK(oracle::eliminate(larger_above, 2, oracle::way::any_row) != doubles{2, 1});
}
