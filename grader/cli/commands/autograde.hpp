// Grades a folder of students' files: one row per student and lab.
#pragma once

#include "cli/grading/grader_run.hpp"

#include <map>
#include <string>
#include <vector>

namespace cli {

struct autograde_options {
    std::string folder;              // as read_class takes it
    std::vector<std::string> words;  // the labs; empty: all
    std::string csv_file, json_file; // empty: none
    bool without_sandbox = false;    // also grade where no sandbox is available
    grade_options grade;
};

// A student's grade in one lab.
struct grade_row {
    std::string student, lab, file;
    std::string status; // a result's: pass, fail, error, skipped; or missing
    // Remarks on the file, why it is missing, and what its first failure is about; one line.
    std::string problem;
    double points = 0, max_points = 0, open_points = 0;
    std::vector<std::string> open;       // why points are open, one sentence per reason
    std::map<std::string, int> verdicts; // cases by verdict
    std::string first_failure;           // "WRONG_ANSWER in compact: one element"
    json document = json::object();      // the result; empty if nothing was graded
};

// Comma-separated, with a header line. Words that a spreadsheet would take for formulas are
// quoted.
std::string as_csv(const std::vector<grade_row> &rows, const grade_options &options);
json as_json(const std::vector<grade_row> &rows, const grade_options &options);

// Returns 0 if every existing file was graded, whatever its points, and infrastructure if one was
// not through a fault of ours. Throws machine_error if there is no sandbox, and at the end if a
// table could not be written or printed completely.
int autograde_command(const toolchain &t, const autograde_options &wanted);

} // namespace cli
