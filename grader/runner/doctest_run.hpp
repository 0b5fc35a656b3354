// Runs cases by doctest.
#pragma once

#include "parallel_cases.hpp"

namespace grading {

// Runs the cases of a group in order, each to its result in records(). Writes one line of JSON per
// finished case to standard output: {"case": name, "verdict": ..., "points": ..., "max_points":
// ...}.
void run_cases(const case_group &group);

} // namespace grading
