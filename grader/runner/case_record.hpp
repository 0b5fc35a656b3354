// One record per case: the state of its grading and its result.
#pragma once

#include "api/call_options.hpp"
#include "api/cases.hpp"
#include "api/compare.hpp"
#include "failed_call.hpp"
#include "speed_result.hpp"
#include "text/verdict.hpp"
#include "text/words.hpp"

#include <optional>
#include <string>
#include <vector>

namespace grading {

// Result of a case: the data for result.json.
struct case_result {
    std::string name;
    std::string test; // the doctest case that judges it
    kind what = kind::correctness;
    double points = 0, max_points = 0;
    bool held_back = false; // of held_back.cpp: shown only after publication
    bool started = false, ended = false;
    bool tried = true;        // false: the function is known not to end
    bool unsupported = false; // the submission used something that the simulator lacks
    verdict result = verdict::PASS;
    std::string message, hint;
    std::string about;     // the function whose TODO the failure is; empty: the case's own
    bool lacking = false;  // the machine lacks something that the lab can do without
    int line = 0;          // of the submission's file, named by the message; 0: none
    std::string function;  // the contract function last called
    std::string unwatched; // a kernel too large for the simulator to find all its races
    std::string text;      // text that the submission printed
    bool text_cut = false;
    std::string counts; // the simulator's counters of its largest call, if asked for
    std::string replay; // the file that repeats the case's last call
    double duration_ms = 0;
    std::optional<speed_result> speed;
    // If a call did not end in time: its function, which later cases do not call again, or "" if
    // all waits for the submission together took too long.
    std::optional<std::string> endless;

    bool passed() const { return started && result == verdict::PASS; }
    bool skipped() const { return !started || result == verdict::SKIPPED; }
    // Points that this run could not judge.
    double open_points() const { return started && skipped() ? max_points : 0; }
};

const char *name(kind what); // "correctness", "speed" or "clock", as in result.json
// True if this run's backend can judge such a case: the simulator counts, a GPU times.
bool judged_here(kind what);
struct case_record;
// Returns the points of a case by its verdict and the steps that its speed has reached.
double points_of(const case_record &r);
// Returns the part of a case's points, a multiple of 0.5, for the steps reached of those offered.
double points_of_steps(double max_points, int reached, int offered);

// The result, and the state of a case being graded. "Call" is the case's current call.
struct case_record : case_result {
    void (*body)() = nullptr;   // of the doctest case
    std::string place;          // file and line: "labs/02_coalescing/grade.cpp:120"
    std::string numbers;        // arguments of the call: "n = 10, offset = 3"
    std::string refused_launch; // a launch that the simulator refused in the call, in a sentence
    failed_call failed;         // first failed runtime call in the call
    struct {
        std::string message, hint;
    } before_crash;          // the devices' gravest finding before the call crashed; empty: none
    std::string older_value; // in the call: a block saw two stores of another out of order
    struct {
        std::string cause, next, function;
    } output_read; // meaning of reading an output; empty: nothing in particular
    stream_work streams = stream_work::as_queued;
    bool any_blocks_first = false;
    int ranks = 0; // Open MPI ranks that make its calls; 0: one process without MPI
    std::uint64_t closed_peers = 0; // pairs of devices, as in simulator_close_peers
    int pending_launches = 0;       // limit of pending launches by kernels; 0: the default
    int multiprocessors = 0;        // per simulated device; 0: the default
    bool others_launch = false;     // other launches are pending for a moment, too
    struct {
        std::string hint, array;
        std::size_t in_use = 0;
    } past_the_end;                 // hint for accesses past the end; empty: the general one
    std::string another_order_hint; // for right elements in another order
    std::string one_location_hint;  // for two threads of a kernel that write one location
    std::string before_start_hint;  // for accesses before the start of an array
    std::string race_hint;          // for races of a kernel's threads
    std::string race_of_grids_hint; // for races of threads of two grids
    struct {
        std::string kernel, hint;
    } race_of_blocks;                           // for races of two blocks of this kernel
    std::string barrier_hint;                   // for threads that do not come to a barrier
    std::vector<elements_left_out> left_out;    // hints for outputs that lack exactly these
    std::vector<misconception<float>> too_many; // known answers with too many elements
    std::string misaligned_hint;                // for misaligned accesses
    std::string unwritten_hint;                 // for reads of scratch that was never written
    std::string unwritten_shared_hint;          // for reads of shared memory never written
    std::string refused_launch_hint;            // for launches that may be refused
    bool results_are_counts = false;            // its calls count values into bins
    bool results_are_copied = false; // its calls produce their results by copies, not by kernels
    std::string without_end_hint;    // for calls that do not end
    struct {
        double share = 1.0 / 8;  // of device bytes that the host may see, and bring
        std::uint64_t bytes = 0; // in addition to that share
        bool steers = false;     // it bases launches on data it has seen
        bool exempt = false;     // the contract has it work on device memory
    } host;
    std::string may_read_on;    // a read past this argument's end ends the call, not the case
    bool only_launches = false; // only a refused launch ends the case
    bool repeating = false;     // the second of two equal calls is running
    // late_again: the second call runs streams' work late, because the first one used streams.
    // was_late: the last call did.
    bool late_again = false, was_late = false;
    // Outputs of the last call, so that comparisons can name them: the caller's elements, the
    // name, and the elements per buffer if there are several (0: one buffer).
    struct named_output {
        const void *data;
        std::string name;
        std::size_t each;
    };
    std::vector<named_output> outputs;
};

std::vector<case_record> &records(); // every case of this program, in file order
// Returns why the cases cannot be graded as they are written, one sentence each: two have one name,
// or a held-back case has points of the clock.
std::vector<std::string> case_faults();
// Puts held-back cases behind all others.
void put_held_back_last();
// Forgets the held-back cases, of which only the points are then known.
void leave_out_held_back();
double points_left_out(); // by leave_out_held_back()
case_record &current_case();
// Makes the record of this doctest case that this backend judges the current one.
void begin_case(const std::string &test);
unsigned cases_begun(); // by this process, a case that is repeated each time
// Returns an earlier case in which `function` did not end, or after which no call is waited for;
// null: none.
const case_result *endless_before(const case_record &, const std::string &function);
// Explains in a sentence why a case was not tried.
std::string not_tried(const std::string &function, const case_result &earlier);
const std::string &lab_name();
void set_lab_name(std::string name);
// False in the labs that come before warps, lanes and what these exchange: 00 and 01.
bool warps_are_taught();

// Per case: the simulator's counters of its largest call, and the function called.
std::string counters_json();
// The canonical document (schema cuda-workbook/1) with this lab in it.
std::string result_json();
// 0 passed, 1 the submission failed, 77 nothing failed and required cases are open, 99 a fault of
// the grader or the machine.
int exit_status();

} // namespace grading
