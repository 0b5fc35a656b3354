// Checks the oracle of lab 05 by hand-made examples.
#include <doctest/doctest.h>

#include "oracle.hpp"

#include <utility>
#include <vector>

using floats = std::vector<float>;
using doubles = std::vector<double>;
using oracle::border;

static const floats image = {1, 2, 3, 4, 5, 6}; // 2 x 3

TEST_CASE("oracle: the filter is laid over the image as it is")
{
    floats right = {0, 0, 0, 0, 0, 1, 0, 0, 0}, below = {0, 0, 0, 0, 0, 0, 0, 1, 0};
    CHECK(oracle::convolve(image, 2, 3, right, 1, border::zero).values ==
          doubles{2, 3, 0, 5, 6, 0});
    CHECK(oracle::convolve(image, 2, 3, below, 1, border::zero).values ==
          doubles{4, 5, 6, 0, 0, 0});
    CHECK(oracle::convolve(image, 2, 3, {2}, 0, border::zero).values ==
          doubles{2, 4, 6, 8, 10, 12});
}

TEST_CASE("oracle: beyond the image there are zeros, or its edges go on")
{
    floats corner = {0, 0, 0, 0, 0, 0, 0, 0, 1}, all(25, 1.0f);
    CHECK(oracle::convolve(image, 2, 3, corner, 1, border::clamped).values ==
          doubles{5, 6, 6, 5, 6, 6});
    CHECK(oracle::convolve(image, 2, 3, all, 2, border::zero).values == doubles(6, 21.0));
    CHECK(oracle::convolve({7}, 1, 1, all, 2, border::clamped).values == doubles{175});
    CHECK(oracle::convolve({}, 0, 3, all, 2, border::clamped).values.empty());
    CHECK(oracle::convolve({}, 3, 0, all, 2, border::zero).values.empty());
}

TEST_CASE("oracle: magnitudes add up what signs cancel")
{
    oracle::filtered f =
        oracle::convolve({1, -2, 3}, 1, 3, {0, 0, 0, 1, 1, -1, 0, 0, 0}, 1, border::zero);
    CHECK(f.values == doubles{3, -4, 1});
    CHECK(f.magnitudes == doubles{3, 6, 5});
}

TEST_CASE("oracle: a separable filter is the product of its two")
{
    floats row = {1, 2, 4}, column = {3, -1, 5}, product;
    for (float y : column)
        for (float x : row) product.push_back(x * y);
    oracle::filtered two = oracle::convolve_separable(image, 2, 3, row, column, 1),
                     one = oracle::convolve(image, 2, 3, product, 1, border::zero);
    CHECK(two.values == one.values);
    CHECK(two.magnitudes == one.magnitudes);
    CHECK(oracle::row_of_convolve_separable(image, 2, 3, row, column, 1, 1) ==
          doubles(one.values.begin() + 3, one.values.end()));
}

TEST_CASE("oracle: samples are means of four pixels, and edges go on")
{
    std::vector<unsigned char> bytes = {0, 51, 102, 255}; // two rows, two columns
    doubles out = oracle::sample_bilinear(
        bytes, 2, 2, {{0, 0}, {1, 1}, {0.5f, 0}, {0, 0.25f}, {0.5f, 0.5f}, {-7, 0.5f}, {9, 9}});
    for (auto [i, want] :
         {std::pair{0, 0.0}, {1, 1.0}, {2, 0.1}, {3, 0.1}, {4, 0.4}, {5, 0.2}, {6, 1.0}})
        CHECK(out[std::size_t(i)] == doctest::Approx(want));
}
