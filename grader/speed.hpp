// Fast or slow: what a speed case measures, how it is judged, and what is kept of it.
//
// A race takes pairs: naive and the submission run on equal inputs, one right after the other,
// order switching. Each pair gives one ratio of times; the verdict is about the median of those
// ratios, by the sequential rule of statistics.hpp. The submission is held to
//   (A) `speed_gates::speedup` times naive's speed, on the worker's clock (CUDA events; the
//   worker's
//       own clock where work went on after them) and, less 10 %, on the parent's clock;
//   (B) a fraction of what this device does in the same rounds with the grader's own copy kernel
//       (`speed_gates::copy`) or multiply-add loop (`speed_gates::fma`).
// Not a submission's fault, and so never its fail: a pair during which the device slowed down is
// thrown away, and a machine that cannot hold still ends in INFRA_ERROR.
#pragma once

#include "grading.hpp"
#include "verdict.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace grading {

// What a speed case leaves for the report. Times are of one call, medians, in milliseconds. NaN:
// not measured (on the simulator: all but the counters and the steps).
struct speed_result {
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();
    double median = none, low = none, high = none; // naive's time over the submission's
    int pairs = 0, discarded = 0;
    double required = 0; // S; 0: the ratio is shown, not graded
    double naive_ms = none, ms = none;
    double parent_ratio = none; // the ratio on the parent's clock
    double gbps = none;         // bytes that any version must move, over `ms`
    double fraction = none, required_fraction = 0;
    std::string of; // "copy bandwidth" or "multiply-add rate"; empty: no fraction is stated
    double library_ratio = none; // the library's time over the submission's, median of the rounds
    bool measured_again = false; // the first sixty pairs did not decide
    bool by_median = false;      // nor did the second: the median alone decided
    bool naive_may_pass = false; // the gates are there for others
    std::map<std::string, double> counters;       // a gate's name -> the submission's value
    std::map<std::string, double> naive_counters; // the same -> naive's
    std::map<std::string, std::string> units;     // the same -> its unit; "%": values are of 1
    std::map<std::string, bool> more_is_better;   // the same -> whether its gate says "at least"
    // What measuring took, in seconds: runs on the device, making and handing over the inputs, and
    // checking the outputs.
    double device_s = 0, prepare_s = 0, verify_s = 0;
    // Steps reached and offered, a step of 0 not counted: the points are worth reached / offered.
    int reached = 0, offered = 1;
    std::vector<std::string> needs; // of each step offered what it asks for, in words
};

// Keeps it with the current case. Called once, before the case ends; defined in report.cpp.
void record_speed(const speed_result &);

} // namespace grading
