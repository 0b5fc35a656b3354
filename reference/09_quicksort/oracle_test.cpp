// Checks the oracle of lab 09 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <vector>

using keys = std::vector<unsigned>;

TEST_CASE("oracle: keys are sorted as numbers without a sign")
{
    CHECK(oracle::quicksort({3, 0xffffffff, 0, 0x80000000, 7, 3}) ==
          keys{0, 3, 3, 7, 0x80000000, 0xffffffff});
    CHECK(oracle::quicksort({5, 5, 5}) == keys{5, 5, 5});
    CHECK(oracle::quicksort({1}) == keys{1});
    CHECK(oracle::quicksort({}).empty());
}
