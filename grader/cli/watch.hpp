// The student's loop: grades a lab's stub after every save, until told to stop.
#pragma once

#include "grade.hpp"
#include "toolchain.hpp"

#include <string>
#include <vector>

namespace cli {

// Needs a terminal on stdin and stdout; throws usage_error where there is none.
int watch_command(const toolchain &t, const std::string &word, grade_options options);

// The loop alone. `grade` is the command that grades the stub and keeps its points; it is given
// "--seed SEED --json FILE". `backend` is what it grades on.
int watch(const toolchain &t, const lab &l, const std::vector<std::string> &grade,
          const std::string &backend, std::string seed);

} // namespace cli
