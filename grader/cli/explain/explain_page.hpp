// An explanation as one HTML page that needs nothing else: no script, no other file.
#pragma once

#include "cli/commands/explain.hpp"

#include <string>
#include <string_view>

namespace cli {

std::string explanation_page(const explanation &e);

// Escapes text for HTML, after making it printable.
std::string escaped(std::string_view text);

} // namespace cli
