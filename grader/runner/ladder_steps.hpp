// The versions of a ladder in one run of the grader: a timed case has a result for each of them.
#pragma once

#include <cstddef>
#include <functional>

namespace grading {

// Runs a case once per step of options().steps, whose worker is then the submission's. The case's
// own record becomes that of the last step, or of one that failed through a fault of the machine,
// so that the case is tried again.
void run_steps(std::size_t index_of_record, const std::function<void()> &run_case);

// Has `end` called when all steps of the current case have run, once.
void at_end_of_steps(std::function<void()> end);

// Writes each step's result file; that of options().submission has the other cases, too. Returns
// false, and says so, if one cannot be written.
bool write_step_results();

} // namespace grading
