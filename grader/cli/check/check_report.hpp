// The report of `check`, and the comparison of its results with the table of verdicts.
#pragma once

#include "check_tasks.hpp"

namespace cli {

struct check_tally {
    std::size_t passed = 0, failed = 0;
    std::string faults; // repeated at the end, so that the tail of a log has them
    // Prints the finding, and counts it.
    void count(const std::string &lab, const check_finding &f);
    void count(const check_task &work); // all its findings
    // Prints the faults once more and the last line, and returns the exit status.
    int finish() const;
};

std::string tables_folder(const toolchain &t); // the project's; it holds sim/LAB.csv

// One lab's table of verdicts, to compare results with.
class table_of_lab {
public:
    // `folder` holds LAB.csv. Throws machine_error.
    table_of_lab(const toolchain &t, const std::string &folder, const std::string &backend,
                 const std::string &lab);
    // `planned`: the table holds only the cases that the submission's tasks grade, not all of
    // them.
    verdict_comparison compared(const std::vector<check_task> &tasks, bool planned) const;
    const verdict_table &table() const { return table_; }
    void write(const verdict_comparison &c) const; // throws machine_error

private:
    std::string path_;
    verdict_table table_;
    std::vector<verdict_change> changes_;
};

std::string indented(std::string text); // indents lines like a finding's

} // namespace cli
