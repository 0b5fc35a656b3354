// A grade on the simulator and on a GPU.
#pragma once

#include "grader_run.hpp"

namespace cli {

// Grades on the simulator and, beside it, on the GPU, where times are taken once the simulator is
// done.
graded grade_on_both(const toolchain &t, const lab &l, const subject &what,
                     const prepared_grade &prepared, const grade_options &options,
                     const grade_progress &progress);

// Adds the GPU's part to a grade of the simulator.
graded add_gpu(const toolchain &t, const lab &l, const subject &what,
               const prepared_grade &prepared, graded by_simulator, const grade_options &options);

} // namespace cli
