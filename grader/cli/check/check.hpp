// Tests the grader: every implementation and every wrong submission must get its known verdict.
#pragma once

#include "cli/grading/grader_run.hpp"

namespace cli {

struct check_options {
    bool whole = false;       // also grade all cases of the wrong submissions
    bool record = false;      // write new rows and listed changes to the table of verdicts
    bool todos = false;       // todo_points_of() is all that is done
    int budget = 0;           // seconds for check_within; 0: everything, without a limit
    bool only_due = false;    // for check_within: skip rows that were made from the same files
    std::string tables;       // for check_within: the folder of its tables; empty: the project's
    std::string pairs_folder; // record_pairs_of() is all that is done; empty: check
    int pairs = 300;          // for it: per file
};

int check_command(const toolchain &t, const std::vector<std::string> &words, grade_options options,
                  const check_options &wanted);

// Checks in a bounded time, for a GPU that is lent for minutes: grades the labs until
// wanted.budget, counted from now, is over. It begins with the correctness cases of the solutions,
// some in parallel, and each lab's headline speed case for naive and solution, alone;
// wanted.only_due skips those that are not due. Then follow, only where the table's rows are
// missing or were made from other files, the correctness cases of naive, rungs, library, filled
// stub and stub, the timed cases of the filled stub, and the case that each wrong submission is
// about. The GPU's tables in wanted.tables are up to date however this ends.
int check_within(const toolchain &t, const std::vector<std::string> &names,
                 const grade_options &options, const check_options &wanted);

// The cases that stand for a lab where one has to do; empty: there is none.
struct headline {
    std::string timed;   // the timed case with the most points
    std::string counted; // what the simulator counts of that one, or else its case with most points
};

// Asks the lab's grader for its list. Throws machine_error.
headline headline_cases(const toolchain &t, const lab &l);

// Records wanted.pairs pairs of each lab's headline case on the GPU, for naive and the solution,
// each into a file LAB.IMPLEMENTATION.csv of wanted.pairs_folder, as speed/recorded_pairs.hpp has
// it. Judges nothing. Returns failed if one of them could not be recorded, and says why. Throws
// usage_error without a GPU.
int record_pairs_of(const toolchain &t, const std::vector<std::string> &names,
                    const grade_options &options, const check_options &wanted);

} // namespace cli
