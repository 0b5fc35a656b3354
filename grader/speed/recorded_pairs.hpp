// Recorded pairs: what the rule of the paired benchmark sees of each, kept in a file so that the
// rule can be applied to them again, in any order, without a GPU.
#pragma once

#include "paired_benchmark.hpp"

#include <iosfwd>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace grading {

// One pair. Times in milliseconds, rates as benchmark_device gives them.
struct recorded_pair {
    timed_run naive, submission;
    device_state before, after;
    double copy_rate = 0;
};

// The pairs of one implementation in one speed case, and all else that judge() asks for.
struct recorded_case {
    // "lab", "case", "submission", "function", "gpu", "cuda_of_driver": for people, except the
    // function.
    std::map<std::string, std::string> about;
    speed_gates gates;                   // without counted gates and hints
    double bytes = 0, multiply_adds = 0; // per call
    std::vector<recorded_pair> pairs;    // in the order in which they were measured
};

// The message names the line and what it should hold.
class bad_recording : public std::runtime_error {
    using runtime_error::runtime_error;
};

// Lines "# name: value", the header of a table of comma-separated numbers, and a row per pair.
// Numbers have five digits: noise is a thousandth and more.
void write_recording(std::ostream &to, const recorded_case &);
recorded_case read_recording(std::istream &from); // throws bad_recording

// Takes `count` pairs as the benchmark takes them, but decides nothing, discards none, and leaves
// out the library. The implementations run in fresh processes after every last_look pairs, which
// is what one attempt of the benchmark takes.
std::vector<recorded_pair> record_pairs(benchmark_device &device, int count);

// Records options().record_pairs pairs of the current case, writes options().pairs_file and ends
// the case as SKIPPED, or with the verdict on a submission whose call did not end.
[[noreturn]] void record_case(benchmark_device &device, const speed_gates &gates);

} // namespace grading
