// Checks the oracle of lab 00 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <vector>

using bytes = std::vector<unsigned char>;
using floats = std::vector<float>;
using ints = std::vector<int>;

TEST_CASE("oracle: each of 64 threads has its number")
{
    const ints numbers = oracle::who_am_i();
    REQUIRE(numbers.size() == 64);
    CHECK(numbers[0] == 0);
    CHECK(numbers[63] == 63);
}

TEST_CASE("oracle: one more, a times x plus y, and differences")
{
    CHECK(oracle::add_one({1, -1}) == floats{2, 0});
    CHECK(oracle::saxpy(2, {1, 2, 3}, {10, 20, 30}) == floats{12, 24, 36});
    CHECK(oracle::saxpy(2, {}, {}) == floats{});
    CHECK(oracle::differences({1, 4, 2}) == floats{3, -2});
    CHECK(oracle::differences({1}) == floats{});
}

TEST_CASE("oracle: a picture of two rows, mirrored")
{
    CHECK(oracle::mirror({1, 2, 3, 4, 5, 6}, 3, 2) == bytes{3, 2, 1, 6, 5, 4});
}

TEST_CASE("oracle: a block reversed, and blocks added up")
{
    ints two_blocks(2 * block_size, 1);
    two_blocks[0] = 5;
    two_blocks[block_size] = -7;
    CHECK(oracle::block_sums(two_blocks) == ints{block_size + 4, block_size - 8});
    two_blocks.resize(block_size);
    const ints reversed = oracle::reverse_block(two_blocks);
    CHECK(reversed.front() == 1);
    CHECK(reversed.back() == 5);
}
