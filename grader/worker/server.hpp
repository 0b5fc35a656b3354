// Answers the parent's requests: holds arguments, makes calls, and reports their results.
#pragma once

#include "argument_set.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace grading {

// The control that a process with simulated devices has over the host code that calls them.
struct host_gate {
    std::function<void(bool allowed)> let_work; // allows or refuses launches, copies and memsets
    std::function<std::string()> take_refused;  // returns the first refused call and forgets it
    std::function<void()> seal_code;            // refuses to load more code from now on
};

// The side of the CUDA runtime that a process of a worker is on.
enum class role {
    all,    // both: host code and devices are in one process
    host,   // the submission's host code; another process has the devices
    devices // the simulated devices; `gate` leads to the host code
};

class server {
public:
    server(std::span<const std::byte> input, std::span<std::byte> output, role r,
           const host_gate *gate = nullptr)
        : input_(input), output_(output), role_(r), gate_(gate)
    {
    }
    reply handle(const request &r);

private:
    static void malformed(reply &a, const char *why);
    static void report_exception(reply &a,
                                 const char *what = "something that is no std::exception");
    void perform(const request &r, reply &a);
    // Return a range of the input or output region; null if it does not lie inside.
    const std::byte *in(std::uint64_t at, std::uint64_t bytes) const;
    std::byte *out(std::uint64_t at, std::uint64_t bytes) const;
    bool is_local(argument_memory where) const; // the argument lies in this process

    void try_sandbox(const request &r, reply &a);
    void facts(const request &r, reply &a);
    void scratch(const request &r, reply &a);
    void load(const request &r, reply &a);
    bool load_argument(loaded_argument &one);
    bool load_scratch(const argument_set &s, loaded_argument &one, const request &r, reply &a);
    bool receive_addresses(argument_set &s, const request &r);
    bool send_addresses(const argument_set &s, reply &a) const;
    argument_set *find(std::uint32_t set, reply &a);
    void patch(const request &r, reply &a);
    void poison(const request &r, reply &a);
    void flush_l2();
    void begin(const request &r, reply &a);
    void run(const request &r, reply &a);
    void end(const request &r, reply &a);
    void store(const request &r, reply &a);
    void report(const request &r, reply &a);

    std::string counters_; // JSON, of the last counted run, without any later work
    // Digests of that run's arguments at its end, until a store compares them.
    std::vector<std::uint64_t> digests_at_end_;
    std::span<const std::byte> input_;
    std::span<std::byte> output_;
    role role_;
    const host_gate *gate_;
    int baseline_threads_ = -1; // threads before the submission's first call, such as MPI's
    std::map<std::uint32_t, argument_set> sets_;
    void *flush_buffer_ = nullptr; // read to evict the L2
    std::size_t flush_bytes_ = 0;
    cudaEvent_t start_event_ = nullptr, stop_event_ = nullptr;
};

// Returns the simulator's counters as JSON.
std::string counters_json();

// Maps a whole region that the parent shares and closes its descriptor. Empty if there is none.
std::span<std::byte> map_region(int fd, int protection);

} // namespace grading
