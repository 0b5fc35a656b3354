// Checks the oracle of lab 03 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"
#include "tests/handout_rows.hpp"

#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

using floats = std::vector<float>;
using doubles = std::vector<double>;

// Particles whose field f is 100 * particle + f.
static floats numbered(int n)
{
    floats aos;
    for (int i = 0; i < n; ++i)
        for (int f = 0; f < fields; ++f) aos.push_back(static_cast<float>(100 * i + f));
    return aos;
}

TEST_CASE("oracle: a particle is two sectors, with x and vx in different ones")
{
    CHECK(sizeof(particle) == 64);
    CHECK(offsetof(particle, x) == 4 * field_x);
    CHECK(offsetof(particle, y) == 4 * field_y);
    CHECK(offsetof(particle, z) == 4 * field_z);
    CHECK(offsetof(particle, vx) == 4 * field_vx);
    CHECK(offsetof(particle, z) / 32 == offsetof(particle, x) / 32);
    CHECK(offsetof(particle, vx) / 32 != offsetof(particle, x) / 32);
}

TEST_CASE("oracle: drift adds velocity times time to x")
{
    // x = 0, 100, 200 and vx = 8, 108, 208.
    oracle::moved moved = oracle::drift(numbered(3), -0.5f);
    CHECK(moved.x == doubles{-4, 46, 96});
    CHECK(moved.magnitude == doubles{4, 154, 304});
    CHECK(oracle::drift({}, 1).x.empty());
}

TEST_CASE("oracle: a distance is by x, y and z")
{
    // Particles at (0, 1, 2) and (100, 101, 102).
    CHECK(oracle::distances(numbered(2), {0, 4, 6}) == doubles{5, std::hypot(100, 97, 96)});
    CHECK(oracle::distances(numbered(1), {0, 1, 2}) == doubles{0});
    CHECK(oracle::distances({}, {1, 2, 3}).empty());
}

TEST_CASE("oracle: one layout is the other transposed")
{
    floats aos = numbered(3), soa = oracle::to_soa(aos);
    CHECK(soa[0] == 0);
    CHECK(soa[1] == 100);
    CHECK(soa[2] == 200);
    CHECK(soa[3] == 1);
    CHECK(soa[3 * field_vx + 2] == 208);
    CHECK(soa.back() == 215);
    CHECK(oracle::to_aos(soa) == aos);
    CHECK(oracle::to_soa({}).empty());
    CHECK(oracle::to_aos({}).empty());
}

// Bytes per particle of the sectors that these fields of `count` particles side by side touch,
// where n lie in memory.
static int bytes_of(layout form, const std::vector<int> &of_it, int count)
{
    const int n = 1 << 20, first = 4096, a_sector = 32 / sizeof(float);
    std::set<int> sectors;
    for (int i = first; i < first + count; ++i)
        for (int f : of_it)
            sectors.insert((form == layout::aos ? fields * i + f : n * f + i) / a_sector);
    return 32 * static_cast<int>(sectors.size()) / count;
}

TEST_CASE("handout: the table of bytes is what the layouts move")
{
    const std::vector<int> place = {field_x, field_y, field_z};
    auto bytes = [&](const std::string &function, layout form) {
        if (function == "drift")
            return bytes_of(form, {field_x, field_vx}, 64) + bytes_of(form, {field_x}, 64);
        if (function == "distance_all") return bytes_of(form, place, 64) + 4;
        return bytes_of(form, place, 1);
    };
    const auto rows = rows_of_handout("handouts/03_aos_soa.md",
                                      R"(\| `([[:alnum:]_]+)`: .* \| ([0-9]+) \| ([0-9]+) \|)");
    for (const auto &m : rows) {
        INFO(m[0]);
        CHECK(bytes(m[1], layout::aos) == std::stoi(m[2]));
        CHECK(bytes(m[1], layout::soa) == std::stoi(m[3]));
    }
    CHECK(rows.size() == 3);
}

TEST_CASE("oracle: rows become columns")
{
    CHECK(oracle::transpose({1, 2, 3, 4, 5, 6}, 2, 3) == floats{1, 4, 2, 5, 3, 6});
    CHECK(oracle::transpose({}, 0, 5).empty());
}
