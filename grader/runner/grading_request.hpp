// The request that starts a run of the grader.
#pragma once

#include "run_options.hpp"

#include <stdexcept>
#include <string>

namespace grading {

// The message names the field and what it may hold.
class bad_request : public std::invalid_argument {
    using invalid_argument::invalid_argument;
};

struct grading_request {
    run_options options;
    std::string pattern;       // the case of this name, or all whose name contains it; empty: all
    std::string kind;          // only correctness or only speed cases; empty: both
    std::string result_file;   // for result.json; empty: none is written
    std::string counters_file; // for the counters of each case's largest call; empty: none
    int processes = 1;         // that grade cases at a time
};

// Parses a JSON object. The submission cannot read the request, which holds the seed.
//   "backend"           "sim" or "gpu"
//   "worker", "naive"   paths of programs; both are required
//   "worker_lock"       a file: once nobody holds a lock (flock) on it, "worker" is there, or the
//                       submission was refused; until then the grader does what needs none
//   "library", "mpirun" paths of programs, see run_options
//   "submission"        "stub", "solution", or a file's name
//   "source"            the submission's file, for messages
//   "seed"              a string of up to 16 hexadecimal digits; default: random
//   "held_back_seed"    as "seed", but the staff's; without it held-back cases are not graded
//   "schedule"          "index", "random" or "late": the simulator's order of blocks and streams
//   "case", "kind", "result", "counters", "processes"
//                       see grading_request
//   "replays", "pictures", "naive_counters"
//                       folders, see run_options
//   "record_pairs", "pairs"
//                       a number up to 100000 and a file: the one timed case that is graded writes
//                       that many pairs there and has no verdict, see speed/recorded_pairs.hpp
//   "steps"             objects with "worker", "submission", "result", "sandbox" and "judged", see
//                       ladder_step: each timed case takes the times of all these versions, which
//                       share its inputs and naive's worker; other cases are graded as ever
//   "gates", "contract"  the folder of calibrations, and the contract's hash, see run_options
//   "clock_lock"        a file: times are taken once nobody else holds a lock (flock) on it
//   "simulator_lock"    a file: where calls use the host's memory, times are taken once nobody
//                       holds a lock (flock) on it
//   "keep_replays", "sandbox", "require_sandbox"  true or false
//   "work_percent"      1 to 100: the part that a call may use of the limit of its kernels' work
// Throws bad_request, also for an unknown field.
grading_request parse_request(const std::string &text);

} // namespace grading
