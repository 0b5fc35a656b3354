// The autograde command: grades a folder of students' files.
#pragma once

#include "cli/grading/grader_run.hpp"

#include <string>
#include <vector>

namespace cli {

struct autograde_options {
    std::string folder;              // as read_class takes it
    std::string csv_file, json_file; // empty: none
    bool without_sandbox = false;    // also grade where no sandbox is available
};

// Returns 0 if every existing file was graded, whatever its points, and infrastructure if one was
// not through a fault of ours. Throws machine_error if there is no sandbox, and at the end if a
// table could not be written or printed completely.
int autograde_command(const toolchain &t, const std::vector<std::string> &words,
                      grade_options options, const autograde_options &wanted);

} // namespace cli
