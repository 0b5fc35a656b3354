// The measurements of a speed case: a paired benchmark on a GPU, counters on the simulator.
//
// A benchmark takes paired samples: naive and the submission run on equal inputs, one right after
// the other, in alternating order. Each sample gives one ratio of times. The verdict is about the
// median of these ratios, by the sequential test of statistics.hpp. The submission must reach
//   (A) `speed_gates::speedup` times naive's speed, on the worker's clock (CUDA events; the
//       worker's host clock if work went on after them) and, less 10 %, on the parent's clock;
//   (B) a fraction of the rates that the grader's roofline kernels reach on this device in the same
//       rounds: copy bandwidth (`speed_gates::copy`) or multiply-adds (`speed_gates::fma`).
// A submission never fails for a fault of the device: a sample during which the device slowed down
// is discarded, and a machine without a steady clock ends in INFRA_ERROR.
#pragma once

#include "api/counters.hpp"
#include "api/workload.hpp"
#include "process/protocol.hpp"
#include "runner/speed_result.hpp"

#include <string>

namespace grading {

// Runs the benchmark, records its result and ends the case unless it passed. With `open`, the
// reason why the clock cannot judge the case here, it takes a few pairs to show the time and check
// the answers, and leaves the case's points open. Returns false if gates.form_is_right() does.
bool timed_benchmark(const make_workload &make, const make_workload &make_for_naive,
                     const speed_gates &gates, const std::string &open);

// Returns why the clock cannot judge the current case on this model of GPU, by its calibration;
// empty: it can.
std::string open_clock(const speed_gates &gates);

// Returns the time of a run in milliseconds: between CUDA events in the default stream, or on the
// worker's host clock if work went on after them.
double worker_time_ms(const reply &);

// Returns the simulator's counters of one call of naive.
counted count_naive(const make_workload &make);

// The worst value of each gate over the submission's calls, and the gates that it missed.
struct counted_result {
    speed_result result;
    std::string missed, hint;
};

// Makes the workload's call, counts it and compares it with naive's. Ends the case if the answer is
// wrong or the work was done elsewhere than in kernels.
counted_result count_calls(const make_workload &make, const make_workload &make_for_naive,
                           const speed_gates &gates);

} // namespace grading
