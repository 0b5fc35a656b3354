// Two gradings of a class: whose points move, and why.
#pragma once

#include "cli/results/class_results.hpp"

namespace cli {

// Compares rows with what an earlier run wrote, `before`, as read_class_results() returns it.
// Returns a text for people, with its last line end, of at most `width` columns.
std::string compare_classes(const json &before, const std::vector<grade_row> &now,
                            const std::string &backend, const std::string &seed, int width);

} // namespace cli
