// Functions of an earlier edition's lab that another lab has now.
#pragma once

#include "cli/submission/toolchain.hpp"

#include <string>

namespace cli {

// Says which functions of `source`, a file for lab `l`, are now another lab's, and where to copy
// them: "transpose is a function of lab 03 now. ...". Empty: it has none of them.
std::string moved_words(const toolchain &t, const lab &l, const std::string &source);

} // namespace cli
