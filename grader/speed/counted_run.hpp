// A speed case's calls on the simulator, judged by their counters.
#pragma once

#include "grading.hpp"
#include "speed.hpp"

#include <string>

namespace grading {

// Worst counter of each gate over the submission's calls, and the gates that it missed.
struct counted_result {
    speed_result result;
    std::string missed, hint;
};

// Makes the workload's call, counts it and compares it with naive's. Ends the case if the answer is
// wrong or the work was done elsewhere than in kernels.
counted_result count_calls(const make_workload &make, const make_workload &make_for_naive,
                           const speed_gates &gates);

} // namespace grading
