// The watch command, which grades a lab's stub after every save until the student quits.
#pragma once

#include "cli/grading/grader_run.hpp"
#include "cli/submission/toolchain.hpp"

#include <string>
#include <vector>

namespace cli {

// Needs a terminal on stdin and stdout; throws usage_error if there is none.
int watch_command(const toolchain &t, const std::string &word, grade_options options);

// Runs the loop alone. `grade` is the command that grades the stub and keeps its points, to which
// "--seed SEED --json FILE" is appended; `backend` is the one it grades on.
int watch(const toolchain &t, const lab &l, const std::vector<std::string> &grade,
          const std::string &backend, std::string seed);

} // namespace cli
