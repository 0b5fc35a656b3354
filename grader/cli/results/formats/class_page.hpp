// A class's results as a page of HTML.
#pragma once

#include "cli/results/result.hpp"

#include <string>

namespace cli {

// Takes what autograde --json wrote, and returns a page that needs no other file. It is well-formed
// XML behind its first line, and text of submissions and names stays text. `with_clock`: the course
// counts the clock's points.
std::string as_class_page(const json &of_class, bool with_clock);

} // namespace cli
