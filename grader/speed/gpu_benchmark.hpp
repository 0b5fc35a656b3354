// The timed benchmark of a speed case on a GPU.
#pragma once

#include "grading.hpp"
#include "process/protocol.hpp"
#include "speed.hpp"

namespace grading {

// Runs the benchmark, records its result and ends the case unless it passed. `counters`: those
// taken before, which are recorded with the times; null: none.
void timed_benchmark(const make_workload &make, const make_workload &make_for_naive,
                     const speed_gates &gates, const speed_result *counters);

// The time of a run on the worker's clocks, in milliseconds.
double own_time(const reply &);

} // namespace grading
