// Defines the cases of a lab.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>

namespace grading {

enum class kind : std::uint8_t { correctness, speed };
struct case_points { // a doctest decorator: enters the case in the grader's own records
    kind what;
    int points;
    case_points(kind of, int full) : what(of), points(full) {}
    void fill(doctest::detail::TestCase &) const;
};
#define CORRECTNESS_CASE(name, points)                                                             \
    TEST_CASE(name *grading::case_points(grading::kind::correctness, points))
#define SPEED_CASE(name, points) TEST_CASE(name *grading::case_points(grading::kind::speed, points))

} // namespace grading
