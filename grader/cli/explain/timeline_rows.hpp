// A timeline's steps arranged in rows, one or more per stream, for text and drawings.
#pragma once

#include "stream_timeline.hpp"

#include <string>
#include <vector>

namespace cli {

bool works(const timeline_step &s); // a copy, a fill or a kernel
bool waits(const timeline_step &s); // a stream for an event, or the host

// One row of a drawing. The steps of a stream follow each other, but those of a graph launched
// into it may overlap and then take several rows.
struct timeline_row {
    std::string name; // of the stream or host thread; empty: the row continues the one above
    std::vector<const timeline_step *> steps;
};

// Returns the rows of the streams in order of appearance, then those of the host.
std::vector<timeline_row> rows_of(const stream_timeline &t);

// A step's sign in text, its class in drawings, and its meaning in the legend.
struct mark {
    char sign;
    const char *style, *meaning;
};
mark mark_of(const timeline_step &s);
std::vector<mark> marks_of(const std::vector<timeline_row> &rows); // each once

} // namespace cli
