// One grade from the simulator's results and a GPU's.
//
// The simulator judges correctness and counts; a GPU runs the correctness cases, too, and adds the
// clock. A case passes if it passes on both. A failure on the simulator stands. A failure on the
// GPU alone counts if it repeats in fresh processes, and the case is then disputed: a person
// decides. What the simulator cannot run is judged on the GPU alone. Where the GPU or its clock
// failed us, the simulator's verdicts count and the clock is open.
#pragma once

#include "cli/results/result.hpp"

#include <string>

namespace cli {

// True if a correctness case passed on the simulator and failed on the GPU.
bool disagree(const json &by_simulator, const json &by_gpu);

// Returns the document of one lab. `by_simulator` and `by_gpu` are documents of its grader, on the
// same seed; `again` is a second one of the GPU, null if nothing had to be repeated. Cases follow
// the order of `by_simulator`.
//   "judged_by": "gpu" in a case that the simulator could not judge
//   "disputed": true, and "gpu": its verdict and message, and the verdict of `again` (empty: none),
//   in a case on which they disagree
//   "fault": true in a case of the clock that is open through a fault of the machine or of ours
json merged_backends(const json &by_simulator, const json &by_gpu, const json &again);

} // namespace cli
