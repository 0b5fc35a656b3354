// The table of expected verdicts: one per case and submission of ours, kept in files and compared
// with the present ones.
#pragma once

#include "cli/results/result.hpp"

#include <string>
#include <vector>

namespace cli {

// One row of LAB.csv. A verdict that varies is written "*CRASH TIMEOUT", which accepts either one
// with any points; `why` says what it depends on. "*" alone accepts any verdict.
struct verdict_row {
    std::string submission, case_name, verdict, points; // points: "6/10"
    std::string why;
    std::string key; // hash of the files that decide the verdict; only in tables of a GPU
    bool varies() const { return verdict.starts_with("*"); }
    std::string words() const; // "TOO_SLOW 0/4"
};

struct verdict_table {
    std::string backend, lab;
    std::vector<verdict_row> rows; // by submission, then by case
    bool keyed() const { return backend != "sim"; }
};

// A missing file is an empty table. Throws machine_error naming the file and the line.
verdict_table read_table(const std::string &path, const std::string &backend,
                         const std::string &lab);
std::string as_csv(const verdict_table &table);

// One line of changes.csv: a deliberate change of a row's verdict or points. `before` and `after`
// are words() of a row.
struct verdict_change {
    std::string backend, lab, submission, case_name, before, after, reason;
    std::size_t line = 0;
};
// A missing file holds no changes. Throws machine_error naming the file and the line, also for an
// empty reason.
std::vector<verdict_change> read_changes(const std::string &path);

// The verdicts of one submission in this run.
struct graded_submission {
    std::string submission;
    enum { not_at_all, some_cases, whole } how = not_at_all;
    std::vector<verdict_row> rows;
};
// Leaves out cases that ended in INFRA_ERROR, which is no verdict, and those skipped because this
// machine lacks what they need. `pointed`: with points, which are the simulator's to give but for
// the clock's, and those depend on a GPU's times.
graded_submission rows_of(const lab_view &graded, const std::string &submission, bool pointed);

// A row that differs from the table. Empty `before`: the table has no such row; empty `after`: the
// case or submission no longer exists.
struct verdict_difference {
    std::string submission, case_name, before, after;
    std::string note; // about changes.csv; may be empty
    bool changed() const { return !before.empty() && !after.empty(); }
};

struct verdict_comparison {
    std::size_t compared = 0; // rows of the table that were compared
    std::vector<verdict_difference> differences;
    std::vector<std::string> faults; // of changes.csv, one sentence each
    verdict_table recorded;          // the table with new rows, without obsolete ones, with the
                                     // changes that changes.csv lists
    // The differences that are not resolved in `recorded`.
    std::vector<verdict_difference> refused() const;
    bool agrees() const { return differences.empty() && faults.empty(); }
};

// `all`: every submission of the lab, including those not graded in this run.
verdict_comparison compare(const verdict_table &table, const std::vector<graded_submission> &all,
                           const std::vector<verdict_change> &changes);

// Returns at most `max_lines` lines of differences and faults, and the number of further ones.
std::string difference_words(const verdict_comparison &c, std::size_t max_lines);
// Returns the changes for which changes.csv has no reason yet, as lines for that file.
std::string lines_for_changes(const verdict_comparison &c);

} // namespace cli
