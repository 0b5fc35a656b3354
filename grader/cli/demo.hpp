// The ladders: each lab's worked versions graded and drawn.
#pragma once

#include "grade.hpp"

namespace cli {

int demo_command(const toolchain &t, const std::vector<std::string> &words, grade_options options);

} // namespace cli
