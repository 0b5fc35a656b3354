// The simulator's counters of the last CALL.
#pragma once

#include "api/counters.hpp"
#include "api/probes.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace grading {

// The counters' JSON is copied, because the worker's memory dies with it. It is empty if a
// submission has overwritten it.
struct call_counters {
    std::string of_last_call;              // in a single process
    std::vector<std::string> of_each_call; // one, or two with equal arguments
    // Results of the last call on ranks.
    std::vector<counted> of_ranks;
    std::vector<std::uint64_t> results_of_ranks;
};
call_counters &counters();

// True if there are counters of the last single-process call on the simulator.
bool counters_known();
// Returns them; all zero if there are none.
counted counts_of_last_call();

// Keeps the counters in a report of a single process.
void keep_counters(const std::byte *report);
// Returns those in a report of a rank, or ends the case.
counted counters_of_rank(const std::byte *report);
// Keeps the counters of the case's call with the most requests, for ./workbook explain.
void keep_largest_counters(const std::byte *report);

// True if kernels stored anything in device memory.
bool kernels_stored(const counted &);

} // namespace grading
