// The demo command: grades each lab's worked versions and draws the ladders.
#pragma once

#include "cli/grading/grader_run.hpp"

namespace cli {

int demo_command(const toolchain &t, const std::vector<std::string> &words, grade_options options);

} // namespace cli
