// A worker process as the parent sees it: started, spoken to under a deadline, and disposed of.
#pragma once

#include "process/descriptor.hpp"
#include "process/sandbox.hpp"
#include "protocol.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace grading {

// Memory that the parent shares with workers: sealed against growing and shrinking, and where they
// may not write it, against their writing. Pages cost memory once touched. Shared by every worker
// started with it.
class region {
public:
    explicit region(std::size_t bytes, bool workers_may_write);
    ~region();
    region(const region &) = delete;
    region &operator=(const region &) = delete;
    std::byte *data() const { return data_; }
    std::size_t size() const { return size_; }
    int descriptor() const { return memory_.get(); }
    void forget(std::size_t from,
                std::size_t bytes); // gives the pages back; they read as zero afterwards

private:
    std::byte *data_ = nullptr;
    std::size_t size_ = 0;
    owned_fd memory_;
};

enum class ending : std::uint8_t {
    answered, // a reply with the right nonce came
    crashed,  // a signal; `status` is its number
    exited,   // `status` is the exit status
    timed_out,
    flooded,         // more output than `worker_options::output_limit`
    confused,        // something came that is no reply to this request
    oversized,       // it used more host memory than `worker_options::memory_limit`
    device_full,     // its simulated devices did, than `worker_options::device_memory_limit`
    not_started,     // by a fault of the machine's: it never began
    crowded,         // it had more threads than `worker_options::thread_limit`
    started_threads, // it had `status` threads before it was asked for anything
    device_lost,     // the process that simulates its devices ended, by a fault of ours
};

struct answer {
    ending how{};
    int status = 0;
    reply value;               // when answered
    int rank = -1;             // of several, which one it is about
    bool stands_still = false; // timed out: none of its processes has been at work for some time
    // Crashed: what simulated devices, a process of their own, tell of the run until then.
    std::vector<std::byte> report;
    // From sending the request to reading the reply, or giving up, on the parent's clock.
    double parent_ms = 0;
    // The same with all that had to be asked first: a new worker's constructors run before its
    // first answer, and it is asked how much scratch memory it needs.
    double waited_ms = 0;
};

struct worker_options {
    std::string program;
    std::string device; // the program that simulates its devices; empty: they are in `program`
    int devices = 1;    // how many that simulates
    std::size_t output_kept = 16 << 10; // bytes of its text kept until they are taken
    std::size_t output_limit = 8 << 20; // bytes after which it is killed
    int ranks = 0;       // that many ranks of Open MPI, which are one worker together; 0: no MPI
    std::string mpirun;  // then Open MPI's launcher
    bool sandbox = true; // the best that works here; see `available_confinement`
    bool proc = true;    // /proc is there: the CUDA driver and Open MPI need it
    std::size_t memory_limit = std::size_t{12} << 30; // host bytes of the worker and its children
    // Host bytes of its simulated devices: their memory, and what they know of each word of it.
    std::size_t device_memory_limit = std::size_t{4} << 30;
    int thread_limit = 1024;                          // of the worker and its children
    bool starts_threads = false;                      // its libraries may, before main
    std::size_t output_region = std::size_t{1} << 30; // sparse: pages cost memory once touched
};

// Move-only. Destroying it kills the worker and every process it left behind.
class worker {
public:
    // An empty one, not alive.
    worker();
    // Throws std::system_error when the process cannot be started at all.
    worker(const worker_options &options, const region &input);
    ~worker();
    worker(worker &&) noexcept;
    worker &operator=(worker &&) noexcept;

    // Sends `what` with a fresh nonce and waits. After any ending but `answered` the worker is
    // dead.
    answer ask(request what, std::chrono::milliseconds limit);

    bool started() const; // alive or dead, but not an empty one
    bool alive() const;
    region &output() const; // what this worker writes
    // What it printed since this was last asked: at most output_kept bytes, and whether it was
    // more.
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
