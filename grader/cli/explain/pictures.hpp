// Pictures of a request and of streams, as SVG for a page that defines the classes they use.
#pragma once

#include "access_counts.hpp"

#include <string>

namespace cli {

// Draws the 32 lanes above the 128-byte cache lines that the request touches, cut into sectors.
std::string sectors_picture(const worst_request &w);

// Draws the 32 banks of shared memory, and one row per wavefront with the lanes that it serves.
std::string banks_picture(const worst_request &w);

// Draws the steps of each stream in a row; empty if there is nothing to draw.
std::string timeline_picture(const stream_timeline &t);

} // namespace cli
