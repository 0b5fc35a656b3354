// Checks the oracle of lab 13 by hand-made examples, and the handout's figures by arithmetic.
#include <doctest/doctest.h>

#include "oracle.hpp"
#include "tests/handout_rows.hpp"

#include <cmath>
#include <string>
#include <vector>

using oracle::point;
using oracle::triple;
using bodies = std::vector<point>;

TEST_CASE("oracle: a body of seven floats")
{
    CHECK(sizeof(body) == 28);
    bodies all = oracle::points({body{1, 2, 3, 4, 5, 6, 7}});
    CHECK(all[0].at == triple{1, 2, 3});
    CHECK(all[0].moves == triple{4, 5, 6});
    CHECK(all[0].mass == 7);
    bodies same = oracle::points({float4{1, 2, 3, 7}}, {float4{4, 5, 6, 99}});
    CHECK(same[0].at == all[0].at);
    CHECK(same[0].moves == all[0].moves);
    CHECK(same[0].mass == 7);
}

TEST_CASE("oracle: each is pulled towards the other by the other's mass")
{
    // 3 and 4 apart, softened by 12: 13 is the root, 2197 its cube.
    bodies two = {{{1, 1, 1}, {}, 2}, {{4, 5, 1}, {}, 2197}};
    auto each = oracle::accelerations(two, 12);
    CHECK(each[0].value == triple{3, 4, 0});
    CHECK(each[0].magnitude == triple{3, 4, 0});
    CHECK(each[1].value[0] == doctest::Approx(-6.0 / 2197));
    CHECK(each[1].magnitude[1] == doctest::Approx(8.0 / 2197));
    CHECK(oracle::accelerations({two[0]}, 0.5)[0].value == triple{});
    CHECK(oracle::accelerations({}, 1).empty());
}

TEST_CASE("oracle: pulls from both sides cancel, their magnitudes do not")
{
    bodies three = {{{-1, 0, 0}, {}, 8}, {{0, 0, 0}, {}, 1}, {{1, 0, 0}, {}, 8}};
    auto middle = oracle::acceleration(three, 1, 1e-9);
    CHECK(middle.value[0] == 0);
    CHECK(middle.magnitude[0] == doctest::Approx(16));
}

TEST_CASE("oracle: a step is a kick, a drift and a kick")
{
    // The light body falls; the heavy one, without a mass to pull it, goes its way.
    bodies two = {{{3, 4, 0}, {0, 1, 0}, 0}, {{0, 0, 0}, {1, 0, 0}, 2197}};
    auto after = oracle::step(two, 12, 1, 1);
    double x = 3 - 1.5, y = 4 + 1 - 2.0; // half a kick of (-3, -4), then a drift
    CHECK(after[0].at[0] == doctest::Approx(x));
    CHECK(after[0].at[1] == doctest::Approx(y));
    CHECK(after[1].at == triple{1, 0, 0});
    double cube = std::pow((x - 1) * (x - 1) + y * y + 144, 1.5);
    CHECK(after[0].moves[0] == doctest::Approx(-1.5 - (x - 1) * 2197 / cube / 2));
    CHECK(after[0].moves[1] == doctest::Approx(1 - 2.0 - y * 2197 / cube / 2));
    CHECK(oracle::step(two, 12, 1, 0)[0].at == two[0].at);
    auto twice = oracle::step(after, 12, 1, 1);
    CHECK(oracle::step(two, 12, 1, 2)[0].moves == twice[0].moves);
}

TEST_CASE("oracle: energy is of the motion and of each pair, and a circle keeps it")
{
    // 13 apart with the softening; masses 2 and 26.
    bodies two = {{{0, 0, 0}, {3, 4, 0}, 2}, {{3, 4, 0}, {0, 0, 1}, 26}};
    CHECK(oracle::energy(two, 12) == doctest::Approx(25 + 13 - 4));
    CHECK(oracle::energy({}, 1) == 0);

    double d = std::sqrt(1.01), v = std::sqrt(1 / (d * d * d)); // softening 0.1, radius 1
    bodies orbit = {{{1, 0, 0}, {0, v, 0}, 1e-12}, {{0, 0, 0}, {}, 1}};
    double before = oracle::energy(orbit, 0.1), turn = 2 * std::acos(-1.0) / v;
    auto once_round = oracle::step(orbit, 0.1, turn / 1000, 1000);
    CHECK(oracle::energy(once_round, 0.1) == doctest::Approx(before).epsilon(1e-5));
    CHECK(once_round[0].at[0] == doctest::Approx(1).epsilon(1e-4));
    CHECK(std::abs(once_round[0].at[1]) < 1e-3);
}

static const char *const handout = "handouts/13_nbody.md";

TEST_CASE("handout: an interaction is thirteen instructions")
{
    int sum = 0;
    for (const auto &row : rows_of_handout(handout, R"(\| [a-z].* \| ([0-9]+) \|)"))
        sum += std::stoi(row[1]);
    CHECK(sum == 13);
}

TEST_CASE("handout: what a tile costs")
{
    auto rows =
        rows_of_handout(handout, R"(\| ([0-9]+) \| ([0-9]) \| (0\.[0-9]+) \| (0\.[0-9]+) \|)");
    REQUIRE(rows.size() == 4);
    for (const auto &row : rows) {
        INFO(row[0]);
        double a_block = std::stod(row[1]), a_thread = std::stod(row[2]);
        // A float4 is half a sector; a read is one request of 32 lanes.
        CHECK(std::stod(row[3]) == doctest::Approx(0.5 / a_block).epsilon(0.03));
        CHECK(std::stod(row[4]) == doctest::Approx(1 / (32 * a_thread)).epsilon(0.01));
    }
}
