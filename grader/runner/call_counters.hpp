// The simulator's counters of the last CALL.
#pragma once

#include "counted.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace grading {

// Counters as JSON are copies, because the worker's memory dies with it. A text is empty if a
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
bool stored(const counted &);

// True if kernels of the last call used atomics, or if no counters are known.
bool may_count_by_atomics();

// Hint if the last call on the simulator launched a kernel in the default stream beside streams
// that it does not wait for; else empty.
std::string default_stream_hint();

// Hint if, in the last call on the simulator, a stream waited for an event in which nothing had
// been recorded; else empty.
std::string idle_wait_hint();

} // namespace grading
