// A worker process as the parent sees it: started, asked under a time limit, and ended.
#pragma once

#include "protocol.hpp"
#include "sandbox.hpp"
#include "shared_memory.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace grading {

enum class worker_exit : std::uint8_t {
    answered, // a reply with the right nonce came
    crashed,  // by signal `status`
    exited,   // with exit status `status`
    timed_out,
    too_much_output,      // it printed more than `worker_options::output_limit`
    protocol_error,       // something came that is no reply to this request
    out_of_host_memory,   // it used more than `worker_options::memory_limit`
    out_of_device_memory, // its devices used more than `worker_options::device_memory_limit`
    not_started,          // the machine could not start it
    too_many_threads,     // it had more threads than `worker_options::thread_limit`
    started_threads,      // it had `status` threads before the first request
    device_lost, // the process that simulates its devices ended, by a fault of the workbook
};

struct answer {
    worker_exit how{};
    int status = 0;
    reply value;               // valid if answered
    int rank = -1;             // the rank it is about, of several
    bool stands_still = false; // timed out: none of its processes used a core for some time
    // If it crashed: the report of the simulated devices, which are a process of their own.
    std::vector<std::byte> report;
    // Time from sending the request to reading the reply, or giving up, on the parent's clock.
    double parent_ms = 0;
    // The same including requests that had to come first: waiting for a new worker's constructors,
    // and asking for the size of its scratch memory.
    double waited_ms = 0;
};

inline bool succeeded(const answer &a)
{
    return a.how == worker_exit::answered && a.value.status == reply_status::done;
}

struct worker_options {
    std::string program;
    std::string device; // the program that simulates its devices; empty: they are in `program`
    int devices = 1;    // number of simulated devices
    std::size_t output_limit = 8 << 20; // printed bytes after which it is killed
    int ranks = 0;       // number of Open MPI ranks, which are one worker together; 0: no MPI
    std::string mpirun;  // Open MPI's launcher, if there are ranks
    bool sandbox = true; // the strongest available; see `available_confinement`
    bool proc = true;    // /proc is visible, which the CUDA driver and Open MPI need
    std::size_t memory_limit = std::size_t{12} << 30; // host bytes of the worker and its children
    // Host bytes of its simulated devices: their memory, and the shadow memory of the checks.
    std::size_t device_memory_limit = std::size_t{4} << 30;
    int thread_limit = 1024;     // for the worker and its children
    bool starts_threads = false; // its libraries may start threads before main
    bool lazy_loading = false;   // CUDA loads a kernel at its first launch, not all at the start
    std::size_t output_bytes = std::size_t{1} << 30; // sparse: pages cost memory once touched
};

// Move-only. Destroying it kills the worker and every process it left behind.
class worker {
public:
    // Makes an empty worker, which is not alive.
    worker();
    // Throws std::system_error if the process cannot be started at all.
    worker(const worker_options &options, const shared_memory &input);
    ~worker();
    worker(worker &&) noexcept;
    worker &operator=(worker &&) noexcept;

    // Sends `what` with a fresh nonce and waits for the reply. The worker is dead afterwards
    // unless the exit is `answered`.
    answer ask(request what, std::chrono::milliseconds limit);

    // Leaves the processes to the one from which this was forked, and is empty then.
    void forget();

    bool started() const; // alive or dead, but not an empty one
    bool alive() const;
    shared_memory &output() const; // memory that this worker writes
    // Text printed since the last call: at most 16 KiB; `cut` if there was more.
    struct printed {
        std::string text;
        bool cut;
    };
    printed take_text();

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace grading
