// Which lines of a source file to show around those that something is said about.
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

// The functions of a C++ source that lines from 1 lie in, in the order of the file, each from the
// line its declaration begins on. Braces decide; namespaces and classes are looked into.
std::vector<line_range> functions_of(std::string_view source);

// The lines to show: of each function that holds one of `noted`, its head, its end and what is near
// the noted ones. Where lines are left out, ranges part. Noted lines outside of every function are
// shown alone.
std::vector<line_range> shown_lines(std::string_view source, const std::set<int> &noted);

} // namespace grading
