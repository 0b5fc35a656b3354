// Selects the lines of a source file to show around lines with a note.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace grading {

struct line_range {
    int first = 0, last = 0; // from 1, both included
    std::string name = {};   // of a function
};

// Finds the functions of a C++ source in file order, from the first line of each declaration.
// Lines count from 1. Decides by braces; searches namespaces and classes, too.
std::vector<line_range> functions_of(std::string_view source);

// Returns the lines to show: of each function that holds one of `noted`, its head, its end and the
// lines near the noted ones. Omitted lines separate ranges. Noted lines outside of functions are
// shown alone.
std::vector<line_range> shown_lines(std::string_view source, const std::set<int> &noted);

} // namespace grading
