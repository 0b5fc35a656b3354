// Checks the oracle of lab 04 by hand-made examples, and the handout's figures by arithmetic.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <cmath>
#include <vector>

using floats = std::vector<float>;
using doubles = std::vector<double>;

TEST_CASE("oracle: rows times columns, whatever the shape")
{
    // 2 x 3 times 3 x 2
    oracle::product p = oracle::matmul({1, 2, 3, 4, 5, 6}, {1, 0, -1, 2, 0, 1}, 2, 3, 2);
    CHECK(p.values == doubles{-1, 7, -1, 16});
    CHECK(p.magnitudes == doubles{3, 7, 9, 16});
    CHECK(oracle::matmul({2, 3}, {5, 7}, 2, 1, 2).values == doubles{10, 14, 15, 21});
    CHECK(oracle::matmul({2, 3}, {5, 7}, 1, 2, 1).values == doubles{31});
}

TEST_CASE("oracle: no terms make zeros, no rows or columns make nothing")
{
    CHECK(oracle::matmul({}, {}, 1, 0, 2).values == doubles{0, 0});
    CHECK(oracle::matmul({}, {1, 2}, 0, 1, 2).values.empty());
    CHECK(oracle::matmul({1, 2}, {}, 2, 1, 0).values.empty());
}

TEST_CASE("oracle: alpha scales the product, beta what was there, unless it is 0")
{
    oracle::product p = oracle::sgemm(2, {1, -2}, {3, 4}, -3, {5}, 1, 2, 1);
    CHECK(p.values == doubles{2 * -5 - 3 * 5});
    CHECK(p.magnitudes == doubles{2 * 11 + 3 * 5});
    CHECK(oracle::sgemm(2, {1}, {3}, 0, {std::nanf("")}, 1, 1, 1).values == doubles{6});
    CHECK(oracle::sgemm(7, {}, {}, 2, {5}, 1, 0, 1).values == doubles{10});
}

TEST_CASE("oracle: a column alone is that of the whole product")
{
    floats A = {1, 2, 3, 4, 5, 6}, B = {1, 0, 7, -1, 2, 0.5f, 0, 1, -3};
    oracle::product p = oracle::sgemm(-2, A, B, 0, {}, 2, 3, 3);
    for (int col = 0; col < 3; ++col)
        CHECK(oracle::column(-2, A, B, 2, 3, 3, col) == doubles{p.values[col], p.values[3 + col]});
}
