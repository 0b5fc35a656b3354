// When a student's file was handed in.
#pragma once

#include "due_dates.hpp"

#include <string>

namespace cli {

struct handed_in_time {
    timestamp at = 0;
    bool of_commit = false; // of the last commit that changed the file; else its time of change
};

// Returns the time of a file below one of the student's folders (none for a single file). In a git
// repository it is that of the last commit that changed the file, if the file is as committed. The
// repository is a stranger's: git reads its objects, but neither its configuration nor its hooks.
// Throws machine_error if the file cannot be read, or a shallow clone leaves that commit out.
handed_in_time time_of(const std::string &file, const std::string &folder);

} // namespace cli
