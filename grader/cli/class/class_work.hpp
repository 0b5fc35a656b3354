// One file of a student's that is graded for one lab, in the steps in which a class is graded.
#pragma once

#include "cli/grading/grade_on_both.hpp"
#include "cli/results/class_results.hpp"

#include <optional>
#include <string>

namespace cli {

struct class_work {
    const lab *of;
    std::string owner;       // the student's name as the folder spells it, unlike any other's
    grade_row row;           // `file` is empty if there is nothing to grade
    std::string remark = {}; // about the file among those of the class, for staff alone
    bool finished = false;   // the row is complete
    prepared_grade prepared = {};
    std::optional<graded> by_simulator = {}; // of a grade that a GPU has still to complete
};

// Compiles the file, and grades it on the simulator if that has a part in options.backend. Leaves
// the row unfinished if a GPU must complete it. A fault of the machine is tried once more, and then
// becomes a row of status "error". Throws stop_requested.
void grade_without_gpu(const toolchain &t, class_work &w, const grade_options &options,
                       const todo_list &todos);

// Does what needs the GPU, for work that grade_without_gpu() left unfinished, in this process or in
// an earlier one. Nothing else may use the GPU meanwhile. A fault is tried once more, and then
// becomes a row of status "error"; one in a case of the clock leaves that case open, with a remark.
void complete_on_gpu(const toolchain &t, class_work &w, const grade_options &options,
                     const todo_list &todos);

} // namespace cli
