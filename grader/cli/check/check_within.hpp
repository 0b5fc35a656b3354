// `check` in a bounded time, for a GPU that is lent for minutes: grades what is new or changed.
#pragma once

#include "check.hpp"

namespace cli {

// Grades the labs until wanted.budget, counted from now, is over. It begins with the correctness
// cases of the solutions, some in parallel, and each lab's headline speed case for naive and
// solution, alone; wanted.only_due skips those that are not due. Then follow, only where the
// table's rows are missing or were made from other files, the correctness cases of naive, rungs,
// library, filled stub and stub, and the case that each wrong submission is about. The GPU's
// tables in wanted.tables are up to date however this ends. Returns the exit status.
int check_within(const toolchain &t, const std::vector<std::string> &names, grade_options options,
                 const check_options &wanted);

} // namespace cli
