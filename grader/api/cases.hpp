// Defines the cases of a lab.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>

namespace grading {

// `speed` is judged by the simulator's counters, `clock` by a GPU's time.
enum class kind : std::uint8_t { correctness, speed, clock };

// A doctest decorator: enters the case in the grader's own records. A speed case that is also
// timed enters a second one, ", timed", with the points of the clock. Points are multiples of 0.5.
struct case_points {
    kind what;
    double points, clock;
    case_points(kind of, double full, double of_clock = 0) : what(of), points(full), clock(of_clock)
    {
    }
    void fill(doctest::detail::TestCase &) const;
};
#define CORRECTNESS_CASE(name, points)                                                             \
    TEST_CASE(name *grading::case_points(grading::kind::correctness, points))
// `clock`: points for the gates of time; 0 if the case has none.
#define SPEED_CASE(name, points, clock)                                                            \
    TEST_CASE(name *grading::case_points(grading::kind::speed, points, clock))

} // namespace grading
