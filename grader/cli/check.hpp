// The grader graded: every implementation and every wrong submission gets what it must.
#pragma once

#include "grade.hpp"

#include <chrono>

namespace cli {

struct check_options {
    bool whole = false;             // all cases of the wrong submissions, too
    bool record = false;            // new rows, and listed changes, go into the table of verdicts
    std::chrono::seconds budget{0}; // for check_within; 0: everything, however long it takes
    bool only_due = false; // for check_within: nothing whose rows are there for these very files
    std::string tables;    // for check_within: the folder of its tables; empty: the project's
};
constexpr const char *table_seed = "1"; // the table of verdicts is about its inputs

int check_command(const toolchain &t, const std::vector<std::string> &words, grade_options options,
                  const check_options &wanted);

// Every case that is not passed, but for answers that are right and only slow; empty: there is
// none. A lab without one correctness case that passes is wrong too.
std::string wrong_answers(const lab_view &l);

} // namespace cli
