// The grader's own records of a run, what people read of them, and result.json.
#pragma once

#include "call.hpp"
#include "failed_call.hpp"
#include "grading.hpp"
#include "speed.hpp"
#include "verdict.hpp"
#include "words.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace grading {

// What became of a case: all that reports and result.json are made of.
struct case_result {
    std::string name;
    kind what = kind::correctness;
    int points = 0, max_points = 0;
    bool started = false, ended = false;
    bool tried = true;        // false: the function was known not to end
    bool unsupported = false; // the submission used what the simulator lacks: open by its doing
    verdict result = verdict::PASS;
    std::string message, hint;
    std::string about;     // the function whose TODO the failure is; empty: the case's own
    bool lacking = false;  // the machine lacks what it needs, and the lab can do without it
    int line = 0;          // of the submission's file, that the message names; 0: none
    std::string function;  // the contract function last called
    std::string unwatched; // a kernel too large for the simulator to look for all its races
    std::string text;      // what the submission printed
    bool text_cut = false;
    std::string counts; // the simulator's counters of its largest call, where asked for
    std::string replay; // the file that repeats the case's last call
    double duration_ms = 0;
    std::optional<speed_result> speed;
    // It did not end in time, and is waited for in no later case: the function that was called, or
    // "", where waiting has taken too long in all.
    std::optional<std::string> endless;
};

// And what is known of one that is being graded.
struct case_record : case_result {
    std::string numbers; // of its call: "n = 10, offset = 3"
    std::string refused; // of its call: the launches the simulator refused, in a sentence
    failed_call failed;  // of its call: the first one of the runtime that did
    struct {
        std::string words, hint;
    } before_crash;    // of its call: what devices had found; empty: nothing
    std::string older; // of its call: a block that saw two stores of another out of order
    struct {
        std::string cause, next, function;
    } output_read; // what it means when an output is read; empty: nothing in particular
    stream_work streams = stream_work::as_queued;
    bool any_blocks_first = false;
    int ranks = 0;                  // that make its calls, of Open MPI; 0: one process without
    std::uint64_t closed_peers = 0; // pairs of devices, as in simulator_close_peers
    int launch_places = 0;          // for launches by kernels; 0: as many as usual
    int multiprocessors = 0;        // of a simulated device; 0: as many as usual
    bool others_launch = false;     // and take some of these places for a moment
    struct {
        std::string hint, array;
        std::size_t in_use = 0;
    } past_the_end;            // what to try where a call gets there; empty: nothing in particular
    std::string another_order; // where all is there, elsewhere
    std::string one_place;     // where two threads of a kernel write one
    struct {
        std::vector<std::vector<std::uint64_t>> lists;
        std::string hint;
    } left_out;                                 // of an output, just the elements of one of these
    std::vector<misconception<float>> too_many; // elements written that nobody asked for
    std::string misaligned;                     // where an access is
    std::string unwritten;                      // where scratch is read that nobody wrote
    bool counting = false;                      // its calls count values into bins
    bool copied = false;     // its calls bring their results by copies, not by kernels
    std::string without_end; // where it does not end
    struct {
        double share = 1.0 / 8;  // of the bytes on the device that the host may see, and bring
        std::uint64_t bytes = 0; // beyond that
        bool steers = false;     // it launches kernels by what it has seen
        bool exempt = false;     // the contract has it work on device memory
    } host;
    std::string may_read_on; // the argument behind whose end a read ends the call and not the case
    bool only_launches = false; // calls may end in any way but by a launch that is refused
    bool repeating = false;     // the second of two equal calls is running
    // Which runs streams' work late, since the first one had streams; and whether the last one did.
    bool late_again = false, was_late = false;
    // The last call's outputs, so that comparisons can name them: the caller's elements, the name,
    // and of how many elements each is one of several buffers; 0: there is one.
    struct named_output {
        const void *data;
        std::string name;
        std::size_t each;
    };
    std::vector<named_output> outputs;
};

std::vector<case_record> &records(); // every case of this program, in the order of the file
case_record &current_case();
// An earlier case in which `function` did not end, or none was waited for any more; null: none.
const case_result *endless_before(const case_record &, const std::string &function);
// Why a case was not tried, in a sentence.
std::string not_tried(const std::string &function, const case_result &earlier);
const std::string &lab_name();
void set_lab_name(std::string name);

// What a person reads, at most 80 columns; the first failure first. `colour`: ANSI colours.
std::string human_report(bool colour);
// By case: the simulator's counters of its largest call, and the function called.
std::string counters_json();
// The canonical document (schema cuda-workbook/1) with this lab in it.
std::string result_json();
// 0 passed, 1 the submission failed, 77 nothing failed and required cases are open, 99 our own
// machinery failed.
int exit_status();

} // namespace grading
