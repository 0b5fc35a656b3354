// Turns the results of a lab's ladder into the lab's part of a calibration.
#pragma once

#include "cli/results/result.hpp"
#include "speed/calibration.hpp"

#include <map>
#include <string>
#include <vector>

namespace cli {

// Result documents of the speed cases, by version: "naive", "1_coalesced", "solution".
struct ladder_results {
    // On the GPU, judged by every gate: naive, the solution, and rungs that miss a lesson.
    std::map<std::string, json> timed;
    std::map<std::string, json> counted; // on the simulator: naive and the rungs
};

// True if a case fails by the simulator's counters that is also timed: its gate of time must fail
// the version, too.
bool misses_a_lesson(const json &counted);

// Returns the cases that are judged by the clock.
std::map<std::string, grading::calibrated_case> calibrated_cases(const ladder_results &results);

// Returns what the machine, not a version, did wrong: "naive, scale_columns: speed: ...".
std::vector<std::string> machine_faults(const ladder_results &results);

// Cases whose new figures a fault of the machine spoiled keep their earlier ones, if those are
// about the same contract.
void keep_earlier_where_spoiled(const grading::calibrated_lab &earlier,
                                grading::calibrated_lab &measured);

} // namespace cli
