// Checks the oracle of lab 14 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <vector>

using floats = std::vector<float>;
using doubles = std::vector<double>;

TEST_CASE("oracle: the first sum is of the elements, the second of their squares")
{
    CHECK(oracle::sum_mapped({1, -2, 3}, 3) == doubles{2, 14, 20});
    CHECK(oracle::sum_mapped({}, 2) == doubles{0, 0});
}

TEST_CASE("oracle: scaled so many times over")
{
    CHECK(oracle::scale_managed({1, -2}, 3, 2) == floats{9, -18});
    CHECK(oracle::scale_managed({1, -2}, 3, 0) == floats{1, -2});
}
