// What `check` says as it goes, and its results against the table of verdicts.
#pragma once

#include "check_tasks.hpp"

namespace cli {

struct check_tally {
    std::size_t passed = 0, failed = 0;
    std::string faults; // once more at the end, where the tail of a log has them
    // Prints the finding, and counts it.
    void count(const std::string &lab, const check_finding &f);
    // Prints the faults once more and the last line, and returns the exit status.
    int finish() const;
};

std::string tables_folder(const toolchain &t); // of the project: verdicts/sim/LAB.csv

// The results of one lab against its table.
class table_of_lab {
public:
    // `folder` holds LAB.csv. Throws machine_error.
    table_of_lab(const toolchain &t, const std::string &folder, const std::string &backend,
                 const std::string &lab);
    // `planned`: a submission's tasks are all that the table is to hold of it, whatever its other
    // cases.
    verdict_comparison compared(const std::vector<check_task> &tasks, bool planned) const;
    const verdict_table &table() const { return table_; }
    void write(const verdict_comparison &c) const; // throws machine_error

private:
    std::string path_;
    verdict_table table_;
    std::vector<verdict_change> changes_;
};

std::string indented(const std::string &text); // its lines as those of a finding

} // namespace cli
