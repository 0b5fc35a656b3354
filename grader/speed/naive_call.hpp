// Calls of naive outside a benchmark: to count one, or to know its cost.
#pragma once

#include "counted.hpp"

namespace grading {

// Returns the simulator's counters of one call of naive.
counted count_naive(const make_workload &make);

} // namespace grading
