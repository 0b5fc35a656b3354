// A class's results: one row per student and lab, as tables and as the document that convert reads.
#pragma once

#include "result.hpp"
#include "submission_folder.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cli {

// A student's grade in one lab.
struct grade_row {
    std::string student, lab, file;
    course_identity known_as = {};
    std::string status; // a result's: pass, fail, error, skipped; or missing, unreadable
    // Why the file is missing, and what its first failure is about; one line.
    std::string problem;
    std::string remark = {}; // for staff alone: it may name other students
    double points = 0, max_points = 0, open_points = 0; // without the clock's
    point_sums clock = {}, held_back = {};
    std::vector<std::string> open;       // why points are open, one sentence per reason
    std::map<std::string, int> verdicts; // cases by verdict
    std::string first_failure;           // "WRONG_ANSWER in compact: one element"
    std::string sha256;                  // of the file; empty: none was read
    std::string handed_in;               // "2026-12-01T22:59:00Z"; empty: unknown
    bool time_of_commit = false;         // `handed_in` is a commit's time, else the file's
    std::optional<int> late_days = {};   // begun days after the due date; none: nothing was due
    json document = json::object();      // the result; empty if nothing was graded
    // After a fault of ours, or if nobody can read what was handed in.
    bool without_grade() const { return status == "error" || status == "unreadable"; }
    void add_problem(const std::string &words);
    std::string remarks() const; // both, for staff
};

// Comma-separated, with a header line. Words that a spreadsheet would take for formulas are
// quoted.
std::string as_csv(const std::vector<grade_row> &rows, const std::string &backend,
                   const std::string &seed);
json as_json(const std::vector<grade_row> &rows, const std::string &backend,
             const std::string &seed);

// One row as it stands in what as_json() makes, and back.
json row_as_json(const grade_row &row);
grade_row row_in(const json &from);

// One student's results in what as_json() made. Throws usage_error.
json result_of_student(const json &of_class, const std::string &student);

// Reads a result that --json wrote: of one grade, or `student`'s (else empty) of a class. "-" is
// standard input. Throws usage_error, which names the file, if it is none that can be read here.
json read_result(const std::string &file, const std::string &student);
// The same for what autograde --json wrote, as a whole.
json read_class_results(const std::string &file);

} // namespace cli
