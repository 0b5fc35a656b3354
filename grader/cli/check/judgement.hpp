// Judges the result of grading one of our submissions by what it must get.
#pragma once

#include "check_tasks.hpp"

#include <string>
#include <vector>

namespace cli {

std::vector<check_finding> judge(const toolchain &t, const check_task &work, const lab_view &graded,
                                 const std::string &backend);

// Lists every case that did not pass, except right answers that are only slow; empty: none. A lab
// without a correctness case that passes is wrong, too.
std::string wrong_answers(const lab_view &l);

} // namespace cli
