// The case being graded: the workers it uses, its record, and its end.
#pragma once

#include "api/call.hpp"
#include "process/worker_process.hpp"
#include "text/verdict.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace grading {

enum class stream_work : std::uint8_t; // defined in grading.hpp

// Options of this run of the grader.
struct run_options {
    bool simulated = true;
    std::string worker, naive, library; // programs; library may be empty
    std::string mpirun;                 // Open MPI's launcher; empty: there is none
    // On gpu: the same two programs linked with the simulator, for the counters. May be empty.
    std::string counting_worker, counting_naive;
    std::string device;                // the program of simulated devices
    bool counting = false;             // true while an on_simulator lives
    std::string submission;            // "stub", "solution", or a file's name
    std::string source;                // the submission's file, for messages; may be empty
    std::vector<std::string> warnings; // the compiler's warnings about it
    std::string original;              // the stub as it was handed out, for its TODOs; may be empty
    std::uint64_t seed = 0;
    std::string replay_folder;  // for replay files of failed cases; empty: none are written
    std::string picture_folder; // for the pictures that cases draw; empty: none are written
    bool keep_replays = false;  // also for passed cases
    bool keep_counts = false;   // keep the simulator's counters of each case's largest call
    int verdicts = 1; // per timed case, in the same warm workers: to calibrate a GPU model
    bool random_schedule =
        false;                 // simulator: blocks and warps take turns by the seed in every call
    bool late_streams = false; // simulator: streams' work runs as late as waits allow
    int patience = 1;          // factor on every time limit, for a busy machine
    bool isolate = false;      // a fresh worker for every case
    bool sandbox = true;       // use the strongest sandbox available
    bool require_sandbox = false; // grade nothing without a sandbox
};
run_options &options();

// Workers start at first use and live until something goes wrong with them. `inputs` is the memory
// that all of them read.
worker &submission_worker();
worker &naive_worker();
bool have_library();
worker &library_worker();
shared_memory &inputs();
// While one lives, every call runs on the simulator, in separate workers.
class on_simulator {
public:
    on_simulator();
    ~on_simulator();
    on_simulator(const on_simulator &) = delete;
    on_simulator &operator=(const on_simulator &) = delete;

private:
    bool was_;
};
bool can_count(); // true if the run has workers linked with the simulator

struct case_record;
void take_submission_text(case_record &r); // text printed since the last case
void restart_workers();                    // later requests start new processes
void end_workers(); // also frees the inputs; call before a fork, which would share both

// Gives each argument its name in the contract, for messages.
void name_arguments(const std::string &function, std::vector<argument> &arguments);

// Counters of each call that the last CALL made: one, or two with equal arguments. Each is JSON,
// or empty if a submission has overwritten it.
std::span<const std::string> counters_of_each_call();

// Hint if the last call on the simulator launched a kernel in the default stream beside streams
// that it does not wait for; else empty.
std::string default_stream_hint();
// Returns when the simulator runs streams' work: as the case or the run asks, and late in the
// second of two equal calls.
stream_work streams_of_case();

// True if kernels of the last call used atomics, or if no counters are known.
bool may_count_by_atomics();

// Hint if, in the last call on the simulator, a stream waited for an event in which nothing had
// been recorded; else empty.
std::string idle_wait_hint();

// Thrown by end_case if the case accepts any end of a call.
struct accepted_end {};

// Throws (through doctest), so the rest of the case does not run. The first verdict of a case
// counts. May be called from several threads, whose exceptions must then be rethrown in the case's
// own.
[[noreturn]] void end_case(verdict v, std::string message, std::string hint = {});

// Ends the case unless the student's worker gave a good answer: its faults are the student's.
// `doing` is used in messages: "calling scale_columns".
void require_answer(const answer &a, const std::string &doing);
// The same for a trusted worker: any failure is an INFRA_ERROR, unless the submission's process
// had taken the device's memory.
void require_trusted(const answer &a, const std::string &doing);

// Hint for a call that does not end. `in_kernel`: a kernel is known to be the reason.
std::string endless_hint(bool in_kernel);
extern const char *const out_of_order_hint; // for stores and loads between two blocks

// True if the device had no memory for the arguments. If a fresh process has enough, earlier calls
// of the submission leaked it: end_for_leak() then ends the case.
bool lacks_device_memory(const answer &a);
[[noreturn]] void end_for_leak(const std::string &function);
// Returns if naive's worker, too, has no memory for the sets of `loads`: the device is then too
// small. Otherwise ends the case with the submission at fault. The submission's worker is ended
// first, to free all its memory.
void require_memory_in_naive(std::vector<request> loads);

// Asks the naive worker for the device. Returns an empty string if there is one, which `device()`
// then describes; else the reason.
std::string find_device();

// Confinement of the submission's process, tested by a trusted worker that runs in the same way.
// Needs a device.
struct found_sandbox {
    confinement how = confinement::none;
    std::string lacking; // "it could read files": then `how` is none
};
const found_sandbox &sandbox_found();

// The seed of the current case; the same if the case runs alone or among others.
std::uint64_t case_seed();

} // namespace grading
