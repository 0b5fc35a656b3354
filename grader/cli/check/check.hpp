// Tests the grader: every implementation and every wrong submission must get its known verdict.
#pragma once

#include "cli/grading/grader_run.hpp"

namespace cli {

struct check_options {
    bool whole = false;    // also grade all cases of the wrong submissions
    bool record = false;   // write new rows and listed changes to the table of verdicts
    int budget = 0;        // seconds for check_within; 0: everything, without a limit
    bool only_due = false; // for check_within: skip rows that were made from the same files
    std::string tables;    // for check_within: the folder of its tables; empty: the project's
};
constexpr const char *table_seed = "1"; // the seed of the table of verdicts

int check_command(const toolchain &t, const std::vector<std::string> &words, grade_options options,
                  const check_options &wanted);

} // namespace cli
