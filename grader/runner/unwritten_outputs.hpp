// Output elements that a call did not write, found by their poison.
#pragma once

#include "api/argument.hpp"

#include <cstdint>
#include <vector>

namespace grading {

// For each output, the requested elements that still hold their poison.
using unwritten_lists = std::vector<std::vector<std::uint64_t>>;
unwritten_lists still_poisoned(const std::vector<argument> &);

// Returns the elements that neither of two equal calls wrote.
unwritten_lists unwritten_in_both(const unwritten_lists &, const unwritten_lists &);

// Ends the case if there are any, with the likeliest reason.
void check_written(const std::vector<argument> &, const unwritten_lists &, const char *function);

} // namespace grading
