// Pictures of one request, as SVG for a page that defines the classes they use.
#pragma once

#include "access_counts.hpp"

#include <string>

namespace cli {

// 32 lanes above; below them the lines of 128 bytes that the request touches, cut into sectors.
std::string sectors_picture(const worst_request &w);

// The 32 banks of shared memory side by side; a row for each wavefront, with the lanes it serves.
std::string banks_picture(const worst_request &w);

} // namespace cli
