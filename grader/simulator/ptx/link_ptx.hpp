// Links the PTX of separately compiled objects (-rdc=true), as nvlink does for machine code.
#pragma once

#include <string>
#include <vector>

namespace simulator {

// Links the PTX texts of separately compiled objects into one: the first definition of a name is
// kept, an .extern function becomes a prototype, an .extern variable that another text defines is
// dropped, local names that an earlier text defines are renamed, and the files of line tables are
// renumbered. Throws std::runtime_error if a visible function was defined before, or a text ends
// too early.
std::string link_ptx(const std::vector<std::string> &texts);

} // namespace simulator
