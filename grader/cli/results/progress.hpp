// A student's progress, kept in .workbook/progress.json, and the "where am I" screen.
#pragma once

#include "cli/submission/toolchain.hpp"
#include "result.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cli {

// The progress in one lab on one backend.
struct progress_entry {
    std::string lab, backend;
    double points = 0, max_points = 0;   // of the last grade
    double open = 0;                     // of the last grade: points that nothing here can judge
    double best = 0;                     // the highest points so far
    std::string when = {};               // of the last grade; UTC
    std::string verdict, case_name = {}; // its first failure; empty when all passed
    // The case or function to work on, from the last grade of a file that compiled: the first
    // failure's, or, if nothing failed, a speed case with points left.
    std::string mending = {};
    int todo = 0; // the TODO whose code that failure names; 0: it names none
    double share() const { return max_points > 0 ? best / max_points : 0; }
    bool done() const { return max_points > 0 && best >= max_points; }
    // The open points among those never reached.
    double still_open() const { return std::min(open, max_points - best); }
    // True if nothing is left to do on this machine: all points not reached are open.
    bool done_here() const { return max_points > 0 && best + open >= max_points; }
};

struct progress_record {
    std::vector<progress_entry> entries;              // in order of grading, the latest last
    std::map<std::pair<std::string, int>, int> hints; // how many were shown: lab, TODO
    std::string warning; // a note for the student if the file could not be parsed
    const progress_entry *best(const std::string &lab) const; // null: never graded
    const progress_entry *last(const std::string &lab) const;
};

progress_record read_progress(const toolchain &t);
// Records a grade of a stub; a grade that failed by the machine's fault is not recorded. Throws
// machine_error if the file cannot be written.
void keep_progress(const toolchain &t, const lab_view &graded, const std::string &backend);
void keep_hints(const toolchain &t, const std::string &lab, int todo, int shown);

// Adds the record of an older edition. Of a lab that has an entry on the same backend, only a
// higher best out of the same total is taken over. Throws machine_error if the file cannot be
// written.
void add_progress(const toolchain &t, const progress_record &older);

// The screen, and what to type next.
std::string where_am_i(const toolchain &t, const progress_record &record, const terminal &out);

// Returns the lab to continue with: the one that was graded last if it is not done, else the first
// that is not done; null if all are.
const lab *next_lab(const toolchain &t, const progress_record &record);

} // namespace cli
