// A timeline's steps arranged in lanes, one or more rows per stream, for text and drawings.
#pragma once

#include "stream_timeline.hpp"

#include <string>
#include <vector>

namespace cli {

bool works(const timeline_step &s); // a copy, a fill or a kernel
bool waits(const timeline_step &s);

// One row of a lane. A stream's steps follow each other, but a graph's may overlap: a row for each.
struct lane_row {
    std::string name; // empty: continues the lane above
    std::vector<const timeline_step *> steps;
};

// Returns the rows of the streams in order of appearance, then those of the host.
std::vector<lane_row> rows_of(const stream_timeline &t);

// A step's sign in text, its class in drawings, and its meaning in the legend.
struct mark {
    char sign;
    const char *style, *meaning;
};
mark mark_of(const timeline_step &s);
std::vector<mark> marks_of(const std::vector<lane_row> &rows); // each once

} // namespace cli
