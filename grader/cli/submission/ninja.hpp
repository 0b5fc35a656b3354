// Has ninja build exactly what a command needs.
#pragma once

#include "cli/terminal/progress_line.hpp"
#include "toolchain.hpp"

#include <string>
#include <vector>

namespace cli {

// Builds files, named absolutely or relative to the build folder. Only one ninja runs per build
// folder; a second process waits. Throws machine_error with the first failing command's output.
void build_targets(const toolchain &t, const std::vector<std::string> &targets,
                   progress_line &progress);

// The targets that grading a lab needs for any implementation, and those that a submission adds.
std::vector<std::string> grading_targets(const toolchain &t, const lab &l,
                                         const std::string &backend);
std::vector<std::string> submission_targets(const toolchain &t, const lab &l);
// The backends that a worker is linked for: gpu comes with sim, since the simulator counts.
std::vector<std::string> linked_with(const std::string &backend);

} // namespace cli
