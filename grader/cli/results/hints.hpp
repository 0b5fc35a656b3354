// A lab's hints, those shown so far, and the TODO that a student is at.
#pragma once

#include "progress.hpp"

#include <string>
#include <vector>

namespace cli {

struct hint {
    int todo = 0;
    std::string title, text;
};

// Returns the sections "## TODO n: title" of hints.md, in order; other sections are ignored.
std::vector<hint> parse_hints(const std::string &markdown);
// Returns the hints of all TODOs of a lab; none if it has no hints.md.
std::vector<hint> hints_of(const toolchain &t, const lab &l);
std::vector<hint> hints_of(const toolchain &t, const lab &l, int todo);

// Returns how many hints of a TODO were shown.
int hints_shown(const progress_record &record, const lab &l, int todo);

// Returns the TODO to help with: the one whose code the last grade's first failure names, else one
// of the failing case; of several, the first with a hint not yet shown. If nothing failed, a TODO
// of a speed case that can still improve. 0 if there is none, or no TODO has a hint.
int todo_at_hand(const toolchain &t, const lab &l, const progress_record &record);

// Says what to read when the hints are used up: the handout, and its sections that name the TODO's
// function, unless all or none of them do.
std::string read_on(const toolchain &t, const lab &l, int todo);

} // namespace cli
