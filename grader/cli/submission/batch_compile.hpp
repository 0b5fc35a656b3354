// Compiles many small submissions of ours in one nvcc run, which parses CUDA's headers once.
#pragma once

#include "toolchain.hpp"

#include <map>
#include <string>
#include <vector>

namespace cli {

// Each file is put into a namespace of its name, so that messages call its kernels FILE::KERNEL,
// and becomes an object with the contract's functions, as if compiled alone. Returns by path the
// value for submission_request::object. Paths are missing where that is impossible (a missing
// function; a macro that a header may read; a compile error, which is told on standard error):
// compile those files alone. Only for trusted files, as there is no sandbox. Throws machine_error.
std::map<std::string, std::string> compile_together(const toolchain &t, const lab &l,
                                                    std::vector<std::string> paths,
                                                    const std::vector<std::string> &backends,
                                                    double &cpu_seconds);

} // namespace cli
