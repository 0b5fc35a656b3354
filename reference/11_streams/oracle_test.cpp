// Checks the oracle of lab 11 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <cmath>
#include <vector>

using floats = std::vector<float>;
using bytes = std::vector<unsigned char>;

TEST_CASE("oracle: work is 1 - 1.9 x^2, again and again")
{
    CHECK(oracle::work(0.25f, 0) == 0.25f);
    CHECK(oracle::work(0, 1) == 1);
    CHECK(oracle::work(0, 2) == 1 - 1.9f);
    CHECK(oracle::work(0.5f, 1) == doctest::Approx(0.525));
    CHECK(oracle::work(-0.5f, 1) == oracle::work(0.5f, 1));
    // Neighbours part, and nobody leaves the range.
    float x0 = 0.3f, beside = std::nextafter(x0, 1.0f);
    for (float x : {x0, beside, 1.0f, -1.0f}) {
        CHECK(oracle::work(x, 1000) >= -1);
        CHECK(oracle::work(x, 1000) <= 1);
    }
    CHECK(oracle::work(x0, 100) != oracle::work(beside, 100));
    CHECK(oracle::work(x0, 100) != oracle::work(x0, 101));
}

TEST_CASE("oracle: what is added is worked on")
{
    CHECK(oracle::add_pipelined({0.5f, -0.25f}, {0.25f, 0.5f}, 0) == floats{0.75f, 0.25f});
    CHECK(oracle::add_pipelined({0.5f, 0}, {-0.5f, 0}, 1) == floats{1, 1});
    CHECK(oracle::add_pipelined({}, {}, 3).empty());
}

TEST_CASE("oracle: three parts of the first image, one of the second, rounded")
{
    CHECK(oracle::merge_images({0, 255, 4, 1, 0}, {0, 255, 8, 0, 1}) == bytes{0, 255, 5, 1, 0});
    CHECK(oracle::merge_images({255}, {0}) == bytes{191});
}

TEST_CASE("oracle: the branches of a diamond meet in opposite order")
{
    auto r = oracle::diamond({0, 1}, 0);
    CHECK(r.top == floats{1, 1 - 1.9f});
    CHECK(r.left == r.top);
    CHECK(r.right == floats{(1 - 1.9f) / 2, 0.5f});
    CHECK(r.out == floats{1 - (1 - 1.9f) / 2, 1 - 1.9f - 0.5f});
    CHECK(oracle::diamond({0.5f}, 2).left[0] == oracle::work(0.5f, 3));
}
