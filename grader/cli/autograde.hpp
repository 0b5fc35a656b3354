// Grades a folder of students' files: one row a student and lab.
#pragma once

#include "grade.hpp"

#include <map>
#include <string>
#include <vector>

namespace cli {

struct autograde_options {
    std::string folder;              // as read_class takes it
    std::vector<std::string> words;  // the labs; none: all
    std::string csv_file, json_file; // empty: none
    bool without_sandbox = false;    // grades where submissions cannot be shut off, too
    grade_options grade;
};

// A student's grade in one lab.
struct grade_row {
    std::string student, lab, file;
    std::string status; // a result's: pass, fail, error, skipped; or missing
    // What is to be known of the file, and why it is missing or what its first failure is about;
    // one line.
    std::string problem;
    double points = 0, max_points = 0, open_points = 0;
    std::vector<std::string> open;       // why points are open, a sentence for each reason
    std::map<std::string, int> verdicts; // cases by verdict
    std::string first_failure;           // "WRONG_ANSWER in compact: one element"
    json document = json::object();      // the result; empty where nothing was graded
};

// Comma-separated, with a line of names first. A word that a spreadsheet would calculate is quoted.
std::string as_csv(const std::vector<grade_row> &rows, const grade_options &options);
json as_json(const std::vector<grade_row> &rows, const grade_options &options);

// Returns 0 when every file that was there was graded, whatever its points; infrastructure where
// one could not be by a fault of ours. Throws machine_error where submissions cannot be shut off
// from the machine, and at the end where a table could not be written or printed whole.
int autograde_command(const toolchain &t, const autograde_options &wanted);

} // namespace cli
