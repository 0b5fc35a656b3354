// Checks the oracle of lab 02 by hand-made examples, and the handout's table by the oracle.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <fstream>
#include <regex>
#include <string>
#include <vector>

using floats = std::vector<float>;

TEST_CASE("oracle: a column has one factor, whatever the row")
{
    CHECK(oracle::scale_columns({1, 2, 3, 4, 5, 6}, 2, 3, {10, 100, -1}) ==
          floats{10, 200, -3, 40, 500, -6});
    CHECK(oracle::scale_columns({}, 0, 3, {1, 2, 3}).empty());
    CHECK(oracle::scale_columns({}, 3, 0, {}).empty());
}

TEST_CASE("oracle: an offset drops the first elements when reading, the last when writing")
{
    CHECK(oracle::read_offset({1, 2, 3}, {10, 20, 30}, 1) == floats{22, 33});
    CHECK(oracle::write_offset({1, 2, 3}, {10, 20, 30}, 1) == floats{11, 22});
    CHECK(oracle::read_offset({1, 2, 3}, {10, 20, 30}, 0) == floats{11, 22, 33});
    for (int offset : {3, 4, 1000}) {
        CHECK(oracle::read_offset({1, 2, 3}, {10, 20, 30}, offset).empty());
        CHECK(oracle::write_offset({1, 2, 3}, {10, 20, 30}, offset).empty());
    }
    CHECK(oracle::add({1, 2}, {0.5, -2}) == floats{1.5, 0});
}

static prediction touched(pattern_kind kind, int p) { return oracle::predict({kind, p}); }

TEST_CASE("oracle: what requests touch, counted on paper")
{
    using enum pattern_kind;
    auto is = [](prediction got, int sectors, int lines) {
        CHECK(got.sectors == sectors);
        CHECK(got.lines == lines);
    };
    is(touched(shuffled, 4), 5, 2);
    is(touched(reversed, 24), 4, 2);
    is(touched(scattered, 1), 32, 32);
    is(touched(strided, 7), 28, 7);
    is(touched(strided, 9), 32, 9);
    is(touched(two_rows, 16), 4, 1);
    is(touched(two_rows, 17), 5, 2);
    is(touched(two_rows, 40), 4, 2);
    is(touched(first_lanes, 9), 2, 1);
    is(touched(even_lanes, 0), 4, 1);
    is(touched(even_lanes, 1), 4, 1);
    is(touched(even_lanes, 2), 5, 2);
    is(touched(bytes, 97), 2, 2);
    is(touched(float2_each, 1), 9, 3);
    is(touched(float4_each, 1), 17, 5);
}

TEST_CASE("handout: every row of the table of patterns is what the oracle counts")
{
    // The table's patterns, in the order of pattern_kind.
    const std::vector<std::string> names = {
        "contiguous", "reversed",    "shuffled",   "one_address", "strided",     "scattered",
        "two_rows",   "first_lanes", "even_lanes", "bytes",       "float2_each", "float4_each"};
    std::ifstream handout("handouts/02_coalescing.md");
    REQUIRE_MESSAGE(handout, "run this test from the root of the source tree");
    const std::regex row(R"(\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|)");
    int rows = 0;
    for (std::string line; std::getline(handout, line);) {
        std::smatch m;
        if (!std::regex_match(line, m, row)) continue;
        ++rows;
        INFO(line);
        std::size_t kind = 0;
        while (kind < names.size() && names[kind] != m[1]) ++kind;
        REQUIRE(kind < names.size());
        prediction right = touched(pattern_kind(kind), std::stoi(m[2]));
        CHECK(right.sectors == std::stoi(m[3]));
        CHECK(right.lines == std::stoi(m[4]));
    }
    CHECK(rows >= 12);
}
