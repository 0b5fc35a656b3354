// Fast or slow: the measurements of a speed case, its rule, and its recorded result.
//
// A benchmark takes paired samples: naive and the submission run on equal inputs, one right after
// the other, in alternating order. Each sample gives one ratio of times. The verdict is about the
// median of these ratios, by the sequential rule of statistics.hpp. The submission must reach
//   (A) `speed_gates::speedup` times naive's speed, on the worker's clock (CUDA events; the
//       worker's host clock if work went on after them) and, less 10 %, on the parent's clock;
//   (B) a fraction of what this device does in the same rounds with the grader's own copy kernel
//       (`speed_gates::copy`) or multiply-add loop (`speed_gates::fma`).
// A submission never fails for a fault of the device: a sample during which the device slowed down
// is discarded, and a machine without a steady clock ends in INFRA_ERROR.
#pragma once

#include "grading.hpp"
#include "text/verdict.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace grading {

// Result of a speed case, for the report. Times are medians, per call, in milliseconds. NaN: not
// measured (on the simulator: everything but the counters and the steps).
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
    double library_ratio = none; // the library's time over the submission's, median
    bool measured_again = false; // the first sixty samples did not decide
    bool by_median = false;      // the second sixty did not either: the median alone decided
    bool naive_may_pass = false; // the gates reject other ways, not naive's
    std::map<std::string, double> counters;       // a gate's name -> the submission's value
    std::map<std::string, double> naive_counters; // the same -> naive's value
    std::map<std::string, std::string> units;     // the same -> its unit; "%": 1 is 100 %
    std::map<std::string, bool> more_is_better;   // the same -> true if its gate is "at least"
    // Cost of the measurement in seconds: runs on the device, making and sending the inputs, and
    // checking the outputs.
    double device_s = 0, prepare_s = 0, verify_s = 0;
    // Steps reached and offered; steps of 0 do not count. The case is worth reached / offered of
    // its points.
    int reached = 0, offered = 1;
    std::vector<std::string> needs; // requirement of each offered step, in words
};

// Adds the result to the current case. Called once, before the case ends; defined in report.cpp.
void record_speed(const speed_result &);

} // namespace grading
