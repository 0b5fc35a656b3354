// The explain command: grades on the simulator, and shows its counters beside the source.
#pragma once

#include "cli/grading/grader_run.hpp"

#include <string>

namespace cli {

// `page`: a file for explanation_page(), or empty. Returns the exit status.
int explain_command(const toolchain &t, const std::string &word, grade_options options,
                    const std::string &page);

} // namespace cli
