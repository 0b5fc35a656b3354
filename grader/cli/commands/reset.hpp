// Restores a lab's stub to how it was handed out, and keeps the student's file.
#pragma once

#include "cli/submission/toolchain.hpp"

#include <string>

namespace cli {

// Asks on the terminal unless `agreed`; throws usage_error if there is no terminal to ask on.
int reset_command(const toolchain &t, const std::string &word, bool agreed);

} // namespace cli
