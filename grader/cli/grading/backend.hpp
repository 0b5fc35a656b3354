// Chooses where a grade runs, and its seed.
#pragma once

#include "cli/submission/ninja.hpp"
#include "cli/submission/toolchain.hpp"

#include <string>

namespace cli {

// The chosen backend, gpu or sim. "auto" becomes gpu if a worker of ours can run a kernel there.
// If no GPU can be used, choose_backend() throws machine_error if one is required, and
// no_device_error if `wanted` is "gpu".
struct backend_choice {
    std::string backend, why;
};
backend_choice choose_backend(const toolchain &t, const lab &any, const std::string &wanted,
                              bool require_gpu, progress_line &progress);

// Returns true if the machine has a GPU at all, without building anything.
bool gpu_device_present();

// Returns the seed as hexadecimal digits; random if `wanted` is empty. Throws usage_error.
std::string choose_seed(const std::string &wanted);

} // namespace cli
