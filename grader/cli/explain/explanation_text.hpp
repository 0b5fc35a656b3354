// An explanation as text for a terminal.
#pragma once

#include "cli/terminal/text.hpp"
#include "explanation.hpp"

#include <string>

namespace cli {

// Formats an explanation for a terminal, at most `out.width` columns wide where names allow it.
std::string explanation_text(const explanation &e, const terminal &out);

} // namespace cli
