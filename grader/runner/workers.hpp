// The workers of a run: of the submission, of naive and of the library.
#pragma once

#include "device_turns.hpp"
#include "process/worker_process.hpp"

#include <string>

namespace grading {

// Workers start at first use and live until something goes wrong with them. `inputs` is the memory
// that all of them read.
worker &submission_worker();
worker &naive_worker();
bool have_library();
worker &library_worker();
shared_memory &inputs();

// While one lives, every call runs on the simulator; on a GPU machine, in separate workers.
class on_simulator {
public:
    on_simulator();
    ~on_simulator();
    on_simulator(const on_simulator &) = delete;
    on_simulator &operator=(const on_simulator &) = delete;

private:
    host_turn computes_; // the simulator runs on cores
    bool was_simulated_;
};
bool can_count(); // true if the run has a simulator

struct case_record;
void take_submission_text(case_record &r); // text printed since the last case
void restart_workers();                    // later requests start new processes
void end_workers(); // also frees the inputs; call before a fork, which would share both

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
