// A lab's ladder drawn for a terminal: naive, each rung, the solution, the vendor's library.
#pragma once

#include "result.hpp"
#include "text.hpp"

#include <string>
#include <vector>

namespace cli {

struct rung {
    std::string name;  // "naive", "1_coalesced", "solution", "library"
    std::string about; // the first sentence of its file
    json document;     // its grade
};

struct ladder {
    std::string lab, backend;   // "gpu" or "sim": every rung was graded there
    std::vector<rung> rungs;    // in climbing order, naive first
    bool library_waits = false; // for a GPU: it is not among the rungs
};

// The first sentence of the comment that a file begins with, however many lines it takes.
std::string first_comment(const std::string &source);

// At most `out.width` columns. On gpu times, ratios to naive and fractions of the device; on sim
// what was counted, and no time; a measure that is the same in all versions takes one line. ASCII
// bars where the terminal has no UTF-8.
std::string draw(const ladder &l, const terminal &out);

// Whether naive and all rungs are right and the solution passes everything; else what did not.
std::vector<std::string> ladder_faults(const ladder &l);

} // namespace cli
