// The grader graded: every implementation and every wrong submission gets what it must.
#pragma once

#include "grade.hpp"

namespace cli {

int check_command(const toolchain &t, const std::vector<std::string> &words, grade_options options);

} // namespace cli
