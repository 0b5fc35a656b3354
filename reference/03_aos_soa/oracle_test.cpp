// Checks the oracle of lab 03 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <cmath>
#include <cstddef>
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
