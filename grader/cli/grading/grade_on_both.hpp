// A grade on the simulator and on a GPU.
#pragma once

#include "grader_run.hpp"

#include <optional>

namespace cli {

// Builds the worker of a submission, and grades on the simulator and, beside it, on the GPU, where
// times are taken once that is compiled and, on few cores, the simulator is done.
graded grade_on_both(const toolchain &t, const lab &l, const subject &what,
                     const grade_options &options, const grade_progress &progress,
                     const when_simulated &simulated = {});

// Grades on the GPU, and adds that to the simulator's grade if there is one. Throws machine_error,
// with the reason, if the GPU's run came to nothing.
graded add_gpu(const toolchain &t, const lab &l, const subject &what,
               const prepared_grade &prepared, std::optional<graded> by_simulator,
               const grade_options &options);

} // namespace cli
