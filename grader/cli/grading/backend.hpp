// Chooses where a grade runs, and its seed.
#pragma once

#include "cli/terminal/progress_line.hpp"
#include "grader_run.hpp"

#include <string>

namespace cli {

// Sets options.backend, and options.seed by choose_seed(). "auto" becomes both if a worker of ours,
// which is built for that, can run a kernel on a GPU; else it becomes sim, and the reason why no
// GPU can be used is returned. Throws machine_error if a GPU is required and none can be used,
// no_device_error if gpu was asked for.
std::string choose_backend(const toolchain &t, const lab &any, grade_options &options,
                           progress_line &progress);
// The same, but makes "both" of "auto" wherever there is a device: the GPU's grader runs a trial
// kernel anyway, and tells if that fails (graded::without_gpu).
void choose_backend_early(const toolchain &t, const lab &any, grade_options &options,
                          progress_line &progress);

// Returns the seed as hexadecimal digits; random if `wanted` is empty. Throws usage_error, which
// names the option that it was given by.
std::string choose_seed(const std::string &wanted, const char *option = "--seed");

} // namespace cli
