// A lab's points after each of its TODOs, by the filled stub.
#pragma once

#include "check.hpp"

#include <string>
#include <vector>

namespace cli {

// Returns the filled stub with only the lines that its TODOs up to `last` ask for. A line added to
// the stub belongs to the TODO above it; between two lines of the stub's code, to the last one
// there. Where a later TODO replaces lines, the filled stub chooses by `#if DONE < 7`: directives
// but `#pragma` are kept, and DONE is `last`.
std::string filled_up_to(const std::string &stub, const std::string &filled, int last);

// Returns the TODOs of a stub, in order.
std::vector<int> todos_in(const std::string &stub);

// Grades each lab's filled stub on options.backend with its first TODO done, with its first two,
// and so on, and prints the points. Returns failed if a further TODO loses points, or what is done
// so far does not compile.
int todo_points_of(const toolchain &t, const std::vector<std::string> &names,
                   const grade_options &options);

} // namespace cli
