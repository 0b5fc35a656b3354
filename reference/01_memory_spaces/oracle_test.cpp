// Checks the oracle of lab 01 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <vector>

using floats = std::vector<float>;
using doubles = std::vector<double>;

TEST_CASE("oracle: a polynomial begins with the coefficient of x to the power of 0")
{
    oracle::polynomial_result y = oracle::polynomial({0, 2, -1}, {5, -3, 1});
    CHECK(y.values == doubles{5, 3, 9});
    CHECK(y.magnitudes == doubles{5, 15, 9});
    CHECK(oracle::polynomial({7}, {4}).values == doubles{4});
    CHECK(oracle::polynomial({}, {4}).values.empty());
}

TEST_CASE("oracle: every step is a look at the table")
{
    oracle::bytes next(256);
    for (int s = 0; s < 256; ++s) next[std::size_t(s)] = static_cast<unsigned char>(3 * s + 1);
    CHECK(oracle::follow({0, 1, 255}, next, 0) == oracle::bytes{0, 1, 255});
    CHECK(oracle::follow({0, 1, 255}, next, 1) == oracle::bytes{1, 4, 254});
    CHECK(oracle::follow({0}, next, 3) == oracle::bytes{13});
}

TEST_CASE("oracle: runs are sorted each by itself, also the last")
{
    floats in(18);
    for (int i = 0; i < 18; ++i) in[std::size_t(i)] = static_cast<float>(18 - i);
    floats out = oracle::small_sort(in);
    CHECK(out[0] == 3);
    CHECK(out[15] == 18);
    CHECK(out[16] == 1);
    CHECK(out[17] == 2);
}

TEST_CASE("oracle: pieces are reversed each by itself, also the last")
{
    CHECK(oracle::reverse_blocks({1, 2, 3, 4, 5, 6, 7, 8}, 3) == floats{3, 2, 1, 6, 5, 4, 8, 7});
    CHECK(oracle::reverse_blocks({1, 2}, 1) == floats{1, 2});
    CHECK(oracle::reverse_blocks({1, 2}, 1000) == floats{2, 1});
}
