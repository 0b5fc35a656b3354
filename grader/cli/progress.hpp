// What a student has reached, kept in .workbook/progress.json; and the "where am I" screen.
#pragma once

#include "result.hpp"
#include "toolchain.hpp"

#include <string>
#include <vector>

namespace cli {

struct progress_entry {
    std::string lab;
    double points = 0, max_points = 0; // of the last grade
    double best = 0;                   // most points ever; never goes down
    std::string backend, when;         // of the last grade; UTC
    std::string verdict, case_name;    // its first failure; empty when it passed
    bool done() const { return max_points > 0 && best >= max_points; }
};

struct progress_record {
    std::vector<progress_entry> labs;
    std::string warning; // the file could not be read and was put aside: what to tell the student
    const progress_entry *find(const std::string &lab) const;
};

progress_record read_progress(const toolchain &t);
// Enters a grade of a stub. Grades of the machine's own faults leave no trace.
void keep_progress(const toolchain &t, const lab_view &graded, const std::string &backend);

// The screen, and what to type next.
std::string where_am_i(const toolchain &t, const progress_record &record, const terminal &out);

} // namespace cli
