// The timed workloads of lab 01 find one wrong element.
#include "one_wrong_element.hpp"

#include "lab.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <cmath>

using namespace grading;

TEST_CASE("polynomial: one wrong value")
{
    oracle::polynomial_result right;
    find_one_wrong_element(
        many_values(31), 1,
        [&](const arguments &all) {
            right = oracle::polynomial(copied<float>(all[0]), copied<float>(all[3]));
            fill(elements<float>(all[1]), right.values);
        },
        [&](const argument &y, std::size_t i) { // a little more than expect_close() allows
            const double allowed = 4 * std::sqrt(32) * right.magnitudes[i];
            const double error = 1.05 * allowed + 3 * std::abs(right.values[i]);
            elements<float>(y)[i] += static_cast<float>(std::ldexp(i % 2 ? error : -error, -24));
        });
}

TEST_CASE("follow: one wrong state")
{
    find_one_wrong_element(
        many_walks(64), 2,
        [](const arguments &all) {
            fill(elements<unsigned char>(all[2]),
                 oracle::follow(copied<unsigned char>(all[0]), copied<unsigned char>(all[1]), 64));
        },
        flip_bit);
}

TEST_CASE("small_sort: one wrong element")
{
    find_one_wrong_element(
        many_runs(), 1,
        [](const arguments &all) {
            fill(elements<float>(all[1]), oracle::small_sort(copied<float>(all[0])));
        },
        flip_bit);
}
