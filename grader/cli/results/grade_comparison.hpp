// Two grades of one lab side by side: one that a student was given, and one made again here.
#pragma once

#include "result.hpp"

namespace cli {

struct grade_comparison {
    bool same = true;
    std::string text; // for people, with its last line end
};

// Compares the first lab of two valid documents: the verdict and the points of each case that the
// first one has, and cases that only the second one has, unless the first grade left them out.
// `width`: of the text, in columns.
grade_comparison compare_grades(const json &given, const json &here, int width);

} // namespace cli
