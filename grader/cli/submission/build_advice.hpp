// Tells a student what to do about a compile error.
#pragma once

#include <string>

namespace cli {

// Returns the first line of the compiler's output that reports an error.
std::string first_error(const std::string &said);

// Says what to do about the first error. `said`: the compiler's output, where the source line and a
// caret stand below an error.
std::string build_advice(const std::string &said);

} // namespace cli
