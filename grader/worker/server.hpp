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
    std::function<void(bool allowed)> let_work; // allows or refuses launches, copies and fills
    std::function<std::string()> take_refused;  // returns the first refused call
    std::function<void()> seal_code;            // refuses to load more code from now on
};

// The part of a worker that a process holds.
enum class part {
    all,
    host,   // the submission's host code; another process has the devices
    devices // the simulated devices; `gate` leads to the host code
};

class server {
public:
    server(std::span<const std::byte> input, std::span<std::byte> output, part is,
           const host_gate *gate = nullptr)
        : input_(input), output_(output), is_(is), gate_(gate)
    {
    }
    reply handle(const request &r);

private:
    static void malformed(reply &a, const char *why);
    static void say_thrown(reply &a, const char *what = "something that is no std::exception");
    void perform(const request &r, reply &a);
    const std::byte *in(std::uint64_t at, std::uint64_t bytes) const;
    std::byte *out(std::uint64_t at, std::uint64_t bytes) const;
    bool is_mine(argument_memory where) const;

    void try_sandbox(const request &r, reply &a);
    void facts(const request &r, reply &a);
    void scratch(const request &r, reply &a);
    void load(const request &r, reply &a);
    bool load_argument(loaded_argument &one);
    bool load_scratch(const argument_set &s, loaded_argument &one, const request &r, reply &a);
    bool take_buffers(argument_set &s, const request &r);
    bool give_buffers(const argument_set &s, reply &a) const;
    argument_set *find(std::uint32_t set, reply &a);
    void patch(const request &r, reply &a);
    void poison(const request &r, reply &a);
    void flush_l2();
    void begin(const request &r, reply &a);
    void run(const request &r, reply &a);
    void end(const request &r, reply &a);
    std::uint64_t end_of_stores(std::uint32_t flags) const;
    void pin_output(std::uint64_t end);
    void store(const request &r, reply &a);
    void report(const request &r, reply &a);

    std::string counts_;                // counters of the last counted run, without any later work
    std::vector<std::uint64_t> at_end_; // digests of its first set at its end, until a store
    std::span<const std::byte> input_;
    std::span<std::byte> output_;
    part is_;
    const host_gate *gate_;
    std::uint64_t pinned_ = 0;
    int usual_threads_ = -1; // threads before the submission's first call, such as MPI's
    std::map<std::uint32_t, argument_set> sets_;
    std::uint64_t l2_bytes_ = 0;
    void *flush_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// Returns the simulator's counters as JSON.
std::string counts_so_far();

// Maps a whole region that the parent shares and closes its descriptor. Empty if there is none.
std::span<std::byte> map_region(int fd, int protection);

} // namespace grading
