// A class's grades in one lab as a column of a gradebook that Moodle or Canvas exported.
#pragma once

#include "result.hpp"

#include <string>
#include <vector>

namespace cli {

struct columns_wanted {
    std::string lms;         // "moodle" or "canvas"
    std::string roster_name; // of the exported file, for messages
    std::string lab;         // a word as find_lab() takes it; empty: the class has one lab
    std::string column;      // as gradebook takes it
    bool clock = false;      // the course counts the points of the clock
    bool published = false;  // it counts those of the held-back cases, on top
};
struct filled_column {
    std::string table;              // the file to upload
    std::vector<std::string> notes; // who has no grade or no row, and why; the last has the counts
};

// Matches the students of `of_class`, which as_json() made, to the rows of `roster`, the exported
// file's text. A student of a download of the same course system is found by the number in its
// name, if the file has these; any other one by the account, the number, the e-mail address or the
// part before its @, or the full name. Only a grade that is final changes a cell. Throws
// usage_error if a match is not clear, nobody matches, or the column's maximum is not the lab's,
// and what gradebook throws.
filled_column fill_column(const json &of_class, const std::string &roster,
                          const columns_wanted &wanted);

} // namespace cli
