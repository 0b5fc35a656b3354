// An explanation as one HTML page that needs nothing else: no script, no other file.
#pragma once

#include "explanation.hpp"

#include <string>

namespace cli {

std::string explanation_page(const explanation &e);

} // namespace cli
