// Checks the oracle of lab 04 by hand-made examples, and the handout's figures by arithmetic.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <cmath>
#include <fstream>
#include <regex>
#include <string>
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

// The cells of the handout's table rows that match, in order.
static std::vector<std::smatch> rows_of_handout(const std::string &pattern)
{
    static std::vector<std::string> lines = [] {
        std::ifstream handout("handouts/04_tiled_matmul.md");
        REQUIRE_MESSAGE(handout, "run this test from the root of the source tree");
        std::vector<std::string> all;
        for (std::string line; std::getline(handout, line);) all.push_back(line);
        return all;
    }();
    std::vector<std::smatch> rows;
    const std::regex row(pattern);
    for (const std::string &line : lines) {
        std::smatch m;
        if (std::regex_match(line, m, row)) rows.push_back(m);
    }
    return rows;
}

static double number(const std::ssub_match &cell) { return std::stod(cell.str()); }

TEST_CASE("handout: tiles of 16 and 32 cost what the table says")
{
    auto is = [](const std::string &what, auto of_side) {
        auto rows = rows_of_handout("\\| " + what + " \\| ([0-9.]+) \\| ([0-9.]+) \\|");
        REQUIRE(rows.size() == 1);
        INFO(what);
        CHECK(number(rows[0][1]) == doctest::Approx(of_side(16)).epsilon(0.005));
        CHECK(number(rows[0][2]) == doctest::Approx(of_side(32)).epsilon(0.005));
    };
    is("threads per block", [](int t) { return t * t; });
    is("floats loaded per block and step", [](int t) { return 2 * t * t; });
    is("multiply-adds per block and step", [](int t) { return t * t * t; });
    is("shared memory per block, bytes", [](int t) { return 2 * t * t * 4; });
    is("blocks on an SM of 2048 threads", [](int t) { return 2048 / (t * t); });
    is("sectors per multiply-add", [](int t) { return 2.0 * t * t * 4 / 32 / (t * t * t); });
}

TEST_CASE("handout: sectors and wavefronts of each kind of kernel follow from its shape")
{
    auto rows = rows_of_handout(R"(\| (\d+) x (\d+) \| (\d+) x (\d+) \| (0\.\d+) \| (0\.\d+) \|)");
    REQUIRE(rows.size() == 4);
    for (const auto &m : rows) {
        INFO(m[0].str());
        double side = number(m[1]), down = number(m[3]), across = number(m[4]);
        CHECK(number(m[2]) == side);
        CHECK(number(m[5]) == doctest::Approx(1 / (4 * side)).epsilon(0.03));
        // One load per float, one wavefront per warp; a float4 takes four, and two where lanes pair
        // up, as those do that have their rows in common.
        double wavefronts = across > 1 ? down / 4 * 2 + across / 4 * 4 : down + across;
        CHECK(number(m[6]) == doctest::Approx(wavefronts / (32 * down * across)).epsilon(0.01));
    }
}
