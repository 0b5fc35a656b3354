// The table of verdicts: what each of our submissions gets in each case, kept in files and compared
// with what it gets now.
#pragma once

#include "result.hpp"

#include <string>
#include <vector>

namespace cli {

// One row of LAB.csv. A verdict that depends on chance is written "*CRASH TIMEOUT": either of them,
// with any points, and `why` says what it depends on; "*" alone is any verdict.
struct verdict_row {
    std::string submission, case_name, verdict, points; // points: "6/10"
    std::string why;
    std::string key; // of the files that decide it; only in tables of a GPU
    bool varies() const { return verdict.starts_with("*"); }
    std::string words() const; // "TOO_SLOW 0/4"
};

struct verdict_table {
    std::string backend, lab;
    std::vector<verdict_row> rows; // by submission, then by case
    bool keyed() const { return backend != "sim"; }
};

// A file that is not there is an empty table. Throws machine_error naming the file and the line.
verdict_table read_table(const std::string &path, const std::string &backend,
                         const std::string &lab);
std::string as_csv(const verdict_table &table);

// One line of changes.csv: a row whose verdict or points were changed on purpose. `before` and
// `after` are words() of a row.
struct verdict_change {
    std::string backend, lab, submission, case_name, before, after, reason;
    std::size_t line = 0;
};
// A file that is not there holds none. Throws machine_error naming the file and the line, also
// where a reason is empty.
std::vector<verdict_change> read_changes(const std::string &path);

// What one submission got in this run.
struct graded_submission {
    std::string submission;
    enum { not_at_all, some_cases, whole } how = not_at_all;
    std::vector<verdict_row> rows;
};
// Cases that ended in INFRA_ERROR are left out, which is no verdict, and those that were skipped
// because this machine lacks what they need. `timed`: speed cases have
// no points in the table, which a GPU's times decide.
graded_submission rows_of(const lab_view &graded, const std::string &submission, bool timed);

// A row that is not as the table has it. Empty `before`: the table has no such row; empty `after`:
// there is no such case or submission any more.
struct verdict_difference {
    std::string submission, case_name, before, after;
    std::string note; // about changes.csv; may be empty
    bool changed() const { return !before.empty() && !after.empty(); }
};

struct verdict_comparison {
    std::size_t compared = 0; // rows of the table that were compared
    std::vector<verdict_difference> differences;
    std::vector<std::string> faults; // of changes.csv, a sentence each
    verdict_table recorded;          // the table with new rows, without those that are gone, and
                                     // with the changes that changes.csv lists
    // Those differences that `recorded` does not settle.
    std::vector<verdict_difference> refused() const;
    bool agrees() const { return differences.empty() && faults.empty(); }
};

// `all`: every submission of the lab, also those not graded in this run.
verdict_comparison compare(const verdict_table &table, const std::vector<graded_submission> &all,
                           const std::vector<verdict_change> &changes);

// The differences as lines, at most `most` of them, and how many more there are.
std::string difference_words(const verdict_comparison &c, std::size_t most);
// The changes that nobody has given a reason for, as lines of changes.csv.
std::string lines_for_changes(const verdict_comparison &c);

} // namespace cli
