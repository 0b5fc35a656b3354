// What a student has reached, kept in .workbook/progress.json; and the "where am I" screen.
#pragma once

#include "result.hpp"
#include "toolchain.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cli {

// Points on a GPU and in the simulator are not the same thing: an entry for each.
struct progress_entry {
    std::string lab, backend;
    double points = 0, max_points = 0;   // of the last grade
    double open = 0;                     // of the last grade: points that nothing here can judge
    double best = 0;                     // most points ever; never goes down
    std::string when = {};               // of the last grade; UTC
    std::string verdict, case_name = {}; // its first failure; empty when all passed
    // Of the last grade of a file that compiled: the case, or the function, whose TODO the failure
    // is; where nothing failed, a speed case with points left.
    std::string mending = {};
    int todo = 0; // the TODO whose code that failure names; 0: it names none
    bool done() const { return max_points > 0 && best >= max_points; }
    // Of what was never reached.
    double still_open() const { return std::min(open, max_points - best); }
    // Nothing is left to do here: what is not reached is open.
    bool done_here() const { return max_points > 0 && best + open >= max_points; }
};

struct progress_record {
    std::vector<progress_entry> entries;              // the one graded last comes last
    std::map<std::pair<std::string, int>, int> hints; // how many were shown: lab, TODO
    std::string warning; // the file could not be understood: what to tell the student
    const progress_entry *best(const std::string &lab) const; // null: never graded
    const progress_entry *last(const std::string &lab) const;
};

progress_record read_progress(const toolchain &t);
// Enters a grade of a stub. Grades of the machine's own faults leave no trace. Throws machine_error
// when the file cannot be written.
void keep_progress(const toolchain &t, const lab_view &graded, const std::string &backend);
void keep_hints(const toolchain &t, const std::string &lab, int todo, int shown);

// The screen, and what to type next.
std::string where_am_i(const toolchain &t, const progress_record &record, const terminal &out);

// The lab to go on with: the one graded last that is not done, else the first not done; null: none.
const lab *next_lab(const toolchain &t, const progress_record &record);
std::string number_of(const std::string &lab); // "02" of "02_coalescing"

} // namespace cli
