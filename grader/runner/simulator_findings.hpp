// The simulator's findings about a call, and the end of the case that follows from them.
#pragma once

#include "api/argument.hpp"
#include "process/worker_process.hpp"

#include <cstddef>
#include <vector>

namespace grading {

// Thrown if a kernel read past the end of the argument that reads_on() names.
struct read_past_end {};

// Ends the case with the gravest finding, if there is one. `rank` made the report; -1: no ranks.
void check_report(const std::byte *from, const std::vector<argument> &, int rank);

// Keeps the devices' findings if the host code crashed, because they may be the reason: after a
// kernel's fault calls fail, and their results are never set.
void keep_before_crash(const answer &ran, const std::vector<argument> &);

} // namespace grading
