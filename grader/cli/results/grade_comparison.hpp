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

// Returns the same cases in a few words each: "scale: speed: TOO_SLOW 0 / 2, now PASS 2 / 2".
std::vector<std::string> cases_that_differ(const json &given, const json &here);

} // namespace cli
