// A lab's ladder drawn for a terminal: naive, each rung, the solution, the vendor's library.
#pragma once

#include "cli/terminal/text.hpp"
#include "result.hpp"

#include <string>
#include <vector>

namespace cli {

struct rung {
    std::string name;  // "naive", "1_coalesced", "solution", "library"
    std::string about; // the first sentence of its file
    json document;     // its grade
};

struct ladder {
    std::string lab, backend;            // "both", "gpu" or "sim": every rung was graded there
    std::vector<rung> rungs;             // in climbing order, naive first
    std::string library_elsewhere = {};  // how to see the vendor's version; empty: a rung, or none
    std::vector<std::string> drawn = {}; // the speed cases that are; empty: all
};

// Returns the first sentence of a file's opening comment, over as many lines as it takes.
std::string first_comment(const std::string &source);

// Draws at most `out.width` columns: on gpu times, ratios to naive and fractions of a device limit;
// on sim counters. A measure that is the same in all versions takes one line. Bars are ASCII
// without UTF-8.
std::string draw(const ladder &l, const terminal &out);

// Returns one line per fault: any failure of the solution, and failures of others but for speed.
std::vector<std::string> ladder_faults(const ladder &l);

} // namespace cli
