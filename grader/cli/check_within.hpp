// `check` in a bounded time, for a GPU that is there for minutes: what is new or changed, by
// itself.
#pragma once

#include "check.hpp"

namespace cli {

// Grades the labs until wanted.budget is over, which counts from now, in this order: naive, rungs,
// solution and filled stub by their correctness cases, some side by side; each lab's headline speed
// case of naive and solution, alone; then the case of each wrong submission whose row in the table
// is missing or was made from other files. Keeps tables of a GPU in wanted.tables, which are
// up to date however this ends. Returns the exit status.
int check_within(const toolchain &t, const std::vector<std::string> &names, grade_options options,
                 const check_options &wanted);

} // namespace cli
