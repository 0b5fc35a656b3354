// The workers of a run: of the submission, of naive and of the library.
#pragma once

#include "process/worker_process.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace grading {

// Workers start at first use and live until something goes wrong with them. `inputs` is the memory
// that all of them read.
worker &submission_worker(); // waits for its program
worker &naive_worker();
bool have_library();
worker &library_worker();
shared_memory &inputs();
// inputs() holds one caller's data at a time, and workers one caller's sets. A caller claims them
// before it fills them; holds_inputs(claim) is false once another has.
std::uint64_t claim_inputs();
bool holds_inputs(std::uint64_t claim);

// False while the submission is still compiled (options().worker_lock).
bool submission_is_built();
// Waits until it is built, and returns the seconds. If it was refused, nothing is left to do: ends
// this process with the status `no_submission`, and so all that it has started.
double wait_for_submission();
constexpr int no_submission = 3;

// Makes options().steps[step] the submission; nothing: options().worker again. On a device with
// much memory the workers of other steps live on for the next case; else they end.
void take_step(std::optional<std::size_t> step);
std::optional<std::size_t> step_taken();
void start_steps();    // the workers that will live on, beside each other
void end_submission(); // its worker starts anew at next use

struct case_record;
void take_submission_text(case_record &r); // text printed since the last case
void restart_workers();                    // later requests start new processes
unsigned times_restarted();                // 0 in a new process
unsigned naive_starts();                   // how often naive's worker was started
void end_workers();                        // also frees the inputs
// To be called first in a forked process: workers and inputs stay with the process that had them.
void forget_workers();

// Asks the naive worker for the device. Returns an empty string if there is one, which `device()`
// then describes; else the reason.
std::string find_device();

// True if Open MPI starts as many ranks of the grader's own program as the case needs.
bool ranks_of_naive_start();

// The confinement of the submission's process, tested by a trusted worker that is confined in the
// same way. Needs a device.
struct found_sandbox {
    confinement how = confinement::none;
    std::string lacking; // the reason if `how` is none: "a process in it could still read files"
};
const found_sandbox &sandbox_found();

// Ends the case unless a trusted worker gave a good answer. Any failure is an INFRA_ERROR, unless
// the submission's process had taken the device's memory.
void require_trusted(const answer &a, const std::string &doing);

} // namespace grading
