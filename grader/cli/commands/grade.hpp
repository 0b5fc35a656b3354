// The `grade` command.
#pragma once

#include "cli/grading/grader_run.hpp"

#include <string>
#include <vector>

namespace cli {

// Grades stubs, solutions or one file. Returns the exit status. Throws usage_error and
// machine_error.
int grade_command(const toolchain &t, const std::vector<std::string> &words, grade_options options);

// The report of a grade of one lab, also where nothing could be built or graded.
std::string report_of(const toolchain &t, const item &i, const graded &g);

} // namespace cli
