// Compiles many small submissions of ours at once: CUDA's headers cost nvcc more than they do.
#pragma once

#include "toolchain.hpp"

#include <map>
#include <string>
#include <vector>

namespace cli {

// Each file is put into a namespace of its file's name, so that messages call its kernels
// FILE::KERNEL, and becomes an object with the contract's functions as if it stood alone. Returns
// by path what submission_request::object takes. Paths are missing where that cannot be done
// (names that clash, a function that is not there, relocatable device code): those files are to be
// compiled alone. For files that are trusted: nothing is closed off. Throws machine_error.
std::map<std::string, std::string> compile_together(const toolchain &t, const lab &l,
                                                    const std::vector<std::string> &paths,
                                                    const std::vector<std::string> &backends,
                                                    double &cpu_seconds);

} // namespace cli
