// The case being graded: the workers it speaks to, its record, and how it ends.
#pragma once

#include "call.hpp"
#include "session.hpp"
#include "verdict.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace grading {

enum class stream_work : std::uint8_t; // of grading.hpp

// What this run of the grader was asked to do.
struct run_options {
    bool simulated = true;
    std::string worker, naive, library; // programs; library may be empty
    std::string mpirun;                 // Open MPI's launcher; empty: there is none
    // On gpu: the same two linked with the simulator, for what is counted. May be empty.
    std::string counting_worker, counting_naive;
    std::string device;                // the program of simulated devices
    bool counting = false;             // set while an on_simulator lives
    std::string submission;            // "stub", "solution", or a file's name
    std::string source;                // the submission's file, for messages; may be empty
    std::vector<std::string> warnings; // of the compiler, about it
    std::string original;              // the stub as it was handed out, for its TODOs; may be empty
    std::uint64_t seed = 0;
    std::string replay_folder;  // where replay files of failed cases go; empty: nowhere
    std::string picture_folder; // where cases that draw pictures write them; empty: nowhere
    bool keep_replays = false;  // of passed cases too
    bool keep_counts = false;   // what the simulator counts of each case's largest call
    int verdicts = 1; // of each timed case, in the same warm workers: to calibrate a GPU model
    bool random_schedule =
        false;                 // simulator: blocks and warps take turns by the seed in every call
    bool late_streams = false; // simulator: what streams hold runs as late as waits allow
    int patience = 1;          // a call may take so many times as long: of a busy machine
    bool isolate = false;      // a fresh worker for every case
    bool sandbox = true;       // the strongest that works here
    bool require_sandbox = false; // nothing is graded where there is none
};
run_options &options();

// Workers start when first asked for and stay until something goes wrong with them. `inputs` is the
// one region they all read.
worker &submission_worker();
worker &naive_worker();
bool have_library();
worker &library_worker();
region &inputs();
// While one lives, everything happens on the simulator, in workers of its own.
class on_simulator {
public:
    on_simulator();
    ~on_simulator();
    on_simulator(const on_simulator &) = delete;
    on_simulator &operator=(const on_simulator &) = delete;

private:
    bool was_;
};
bool can_count(); // whether the run has workers linked with the simulator

struct case_record;
void take_submission_text(case_record &r); // what it has printed since the last case
void restart_workers();                    // the next request goes to fresh processes
void end_workers();                        // and the inputs go, of which a fork would share both

// Gives each argument the contract's name for it, which messages use.
void name_arguments(const std::string &function, std::vector<argument> &arguments);

// What the simulator counted of each call that the last CALL made, one or two with equal arguments:
// JSON, or nothing where a submission has written over it.
std::span<const std::string> counters_of_each_call();

// Where the last call on the simulator launched a kernel in the default stream beside streams that
// this does not wait for: that, and what to do. Else empty.
std::string default_stream_hint();
// When the simulator runs what streams hold: as the case or the run asks, and late in the second of
// two equal calls.
stream_work streams_of_case();

// Whether kernels of the last call used atomics; also where nobody knows.
bool may_count_by_atomics();

// Where a stream was told, in the last call on the simulator, to wait for an event of which nothing
// had been recorded: that, and what to do. Else empty.
std::string idle_wait_hint();

// What end_case throws where the case lets a call end as it likes.
struct other_ending {};

// Throws (through doctest): nothing after it in the case runs. The first verdict of a case stands.
// Safe to call from several threads, whose exceptions must then reach the case's own.
[[noreturn]] void end_case(verdict v, std::string message, std::string hint = {});

// Puts "what the worker said" into the case's verdict when it is anything but a good answer;
// returns else. `doing` is said in messages: "calling scale_columns". The student's worker: its
// faults are the student's.
void require_answer(const answer &a, const std::string &doing);
// The same for a worker of ours: whatever goes wrong is INFRA_ERROR, unless the submission's had
// taken the device's memory.
void require_trusted(const answer &a, const std::string &doing);

// What to try where a call does not end: in a kernel, that is known, or anywhere.
std::string endless_hint(bool in_kernel);
extern const char *const out_of_order_hint; // of what two blocks do

// Whether the device had no memory for the arguments. Where it has in a fresh process, the
// submission's earlier calls took it: the case ends so.
bool lacks_device_memory(const answer &a);
[[noreturn]] void end_for_leak(const std::string &function);
// Where naive's worker, too, has none for the sets of `loads`, it is the device's doing; else the
// case ends as the submission's, whose worker ends first, with all that it holds.
void require_memory_in_naive(std::vector<request> loads);

// Asks the naive worker for the device. Empty: there is one, and `device()` describes it; else why
// not.
std::string find_device();

// How the submission's process is kept from the machine, tried by a worker of ours that runs as it
// does. Asked for once there is a device.
struct found_sandbox {
    confinement how = confinement::none;
    std::string lacking; // "it could read files": then it is none
};
const found_sandbox &sandbox_found();

// The seed of the current case; the same whether the case runs alone or among others.
std::uint64_t case_seed();

} // namespace grading
