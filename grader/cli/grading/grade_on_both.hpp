// A grade on the simulator and on a GPU.
#pragma once

#include "grader_run.hpp"

#include <optional>

namespace cli {

// Grades on the simulator, beside the correctness cases on the GPU; then, with nothing beside it,
// times.
graded grade_on_both(const toolchain &t, const lab &l, const subject &what,
                     const prepared_grade &prepared, const grade_options &options,
                     const grade_progress &progress);

// Adds the GPU's part to a grade of the simulator: runs the correctness cases there, and times.
// With the part that ran before, times only.
graded add_gpu(const toolchain &t, const lab &l, const subject &what,
               const prepared_grade &prepared, graded by_simulator, const grade_options &options,
               std::optional<graded> correctness_on_gpu = {});

} // namespace cli
