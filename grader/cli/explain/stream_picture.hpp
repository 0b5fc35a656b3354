// The timeline of a call's streams as SVG, for a page that defines the classes it uses.
#pragma once

#include "stream_timeline.hpp"

#include <string>

namespace cli {

// Draws one lane per stream; empty if there is nothing to draw.
std::string timeline_picture(const stream_timeline &t);

} // namespace cli
