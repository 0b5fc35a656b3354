// The result of a speed case, for the report.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace grading {

// Times are medians, per call, in milliseconds. NaN: not measured (on the simulator: everything but
// the counters and the steps).
struct speed_result {
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();
    double median = none, low = none, high = none; // naive's time over the submission's
    int pairs = 0, discarded = 0;
    double required = 0; // S; 0: the ratio is shown, not graded
    double naive_ms = none, ms = none;
    double parent_ratio = none; // median of the ratios on the parent's clock
    double gbps = none;         // GB/s: bytes that any version must move, over `ms`
    // Fraction of the device's measured rate that `of` names.
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
    std::string cause;              // why a step is not reached, if a counter shows it
};

// Adds the result to the current case before it ends, in place of an earlier one; defined in
// case_record.cpp.
void record_speed(const speed_result &);

} // namespace grading
