// Checks the oracle of lab 04 by hand-made examples, and the handout's figures by arithmetic.
#include <doctest/doctest.h>

#include "oracle.hpp"
#include "tests/handout_rows.hpp"

#include <cmath>
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

static const char *const handout = "handouts/04_tiled_matmul.md";

TEST_CASE("handout: tiles of 16 and 32 cost what the table says")
{
    auto is = [](const std::string &what, auto of_side) {
        auto rows = rows_of_handout(handout, "\\| " + what + " \\| ([0-9.]+) \\| ([0-9.]+) \\|");
        REQUIRE(rows.size() == 1);
        INFO(what);
        CHECK(std::stod(rows[0][1]) == doctest::Approx(of_side(16)).epsilon(0.005));
        CHECK(std::stod(rows[0][2]) == doctest::Approx(of_side(32)).epsilon(0.005));
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
    auto rows = rows_of_handout(handout, R"(\| ([0-9]+) x ([0-9]+) \| ([0-9]+) x ([0-9]+) )"
                                         R"(\| (0\.[0-9]+) \| (0\.[0-9]+) \|)");
    REQUIRE(rows.size() == 4);
    for (const auto &m : rows) {
        INFO(m[0]);
        double side = std::stod(m[1]), down = std::stod(m[3]), across = std::stod(m[4]);
        CHECK(std::stod(m[2]) == side);
        CHECK(std::stod(m[5]) == doctest::Approx(1 / (4 * side)).epsilon(0.03));
        // One load per float, one wavefront per warp; a float4 takes four, and two where lanes pair
        // up, as those do that have their rows in common.
        double wavefronts = across > 1 ? down / 4 * 2 + across / 4 * 4 : down + across;
        CHECK(std::stod(m[6]) == doctest::Approx(wavefronts / (32 * down * across)).epsilon(0.01));
    }
}
