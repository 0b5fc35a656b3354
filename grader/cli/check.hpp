// The grader graded: every implementation and every wrong submission gets what it must.
#pragma once

#include "grade.hpp"

namespace cli {

int check_command(const toolchain &t, const std::vector<std::string> &words, grade_options options);

// Every case that is not passed, but for answers that are right and only slow; empty: there is
// none. A lab without one correctness case that passes is wrong too.
std::string wrong_answers(const lab_view &l);

} // namespace cli
