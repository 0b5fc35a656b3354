// C++ code without what the compiler skips.
#pragma once

#include <string>

namespace grading {

// Removes comments, and blanks outside of literals. Two sources with equal bare code mean the same.
std::string bare_code(const std::string &source);

} // namespace grading
