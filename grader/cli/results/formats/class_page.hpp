// A class's results as a page of HTML.
#pragma once

#include "cli/results/class_overview.hpp"

#include <string>

namespace cli {

// Takes what autograde --json wrote, and returns a page that needs no other file. Every tag is
// closed, and text of submissions and names stays text. Throws as overview_of().
std::string as_class_page(const json &of_class, points_too counted);

} // namespace cli
