// `check` in a bounded time, for a GPU that is there for minutes: what is new or changed, by
// itself.
#pragma once

#include "check.hpp"

namespace cli {

// Grades the labs until wanted.budget is over, which counts from now. First, in every run but for
// wanted.only_due: the correctness cases of the solutions, some side by side, then each lab's
// headline speed case of naive and solution, alone. After that, only where rows in the table are
// missing or were made from other files: the correctness cases of naive, rungs, library, filled
// stub and stub, then the case that each wrong submission is about. Keeps tables of a GPU in
// wanted.tables, which are up to date however this ends. Returns the exit status.
int check_within(const toolchain &t, const std::vector<std::string> &names, grade_options options,
                 const check_options &wanted);

} // namespace cli
