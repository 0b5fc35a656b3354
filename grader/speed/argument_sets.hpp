// One set of benchmark arguments: its image in shared memory, its requests, its output checks.
#pragma once

#include "api/workload.hpp"
#include "process/worker_process.hpp"

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace grading {

class benchmark_set {
public:
    // Places the image in `in` from byte `at`; `number` identifies the set in every worker. Ends
    // the case with INFRA_ERROR if it does not fit.
    benchmark_set(std::unique_ptr<workload> work, shared_memory &in, std::uint64_t at,
                  std::uint32_t number);
    // Writes the image: guards, values, inputs. Call it before the first load().
    void fill_image();

    workload &work() const { return *work_; }
    std::uint32_t number() const { return number_; }
    std::uint64_t end() const { return end_; }               // end of the image in the input memory
    std::uint64_t image_bytes() const { return end_ - at_; } // roughly its size on a device

    // Bytes that store() returns, from the beginning of the output memory.
    std::uint64_t output_bytes() const { return output_bytes_; }

    // True if large arguments are in the host's memory, or copies between devices may go through
    // it.
    bool uses_host_memory() const;

    request load() const;
    struct changes {
        std::vector<request> refresh; // the changes, for every worker that has this set
        // Puts back what a call changed in place, for a worker that is about to call with this set.
        std::vector<request> restore;
    };
    // Changes the inputs by the workload's rule, here and in the image. Leaves `restore` empty
    // unless it is `restored`.
    changes change(std::mt19937_64 &random, bool restored);
    // Fills the outputs with `word`, one of poison_word().
    request poison_outputs(std::uint32_t word) const;
    request store() const; // returns all that a call may write

    // Checks the stored bytes without knowing the answer: the guards, and that something was
    // written over `word`. Then copies them to the workload, whose check() can follow. Ends the
    // case on a failure. Comes before the next set's store(), which goes to the same place.
    void take(const shared_memory &out, std::uint32_t word) const;

private:
    void find_arguments();
    void expect_unchanged() const;
    void add_changes(const std::vector<std::span<std::byte>> &spans, std::vector<request> &to);
    void take_payload(const argument &a, std::byte *to, const std::byte *before,
                      const std::byte *after, std::uint64_t bytes) const;
    request part(std::uint32_t index, std::uint64_t at, std::uint64_t bytes) const;

    std::unique_ptr<workload> work_;
    std::vector<argument> arguments_;
    shared_memory &in_;
    std::uint64_t at_, end_, output_bytes_ = 0;
    std::uint32_t number_;
    bool reload_ = false; // an argument is in memory that is neither patched nor poisoned
};

// Returns the request that comes before a timed run. Where there are many cores, nobody sleeps
// until that is over: how long it takes to wake up differs by as much as a short run takes.
request request_to_wake();
// Returns the request that calls `function` on these sets, in order.
request request_of_run(const char *function, const std::vector<std::uint32_t> &sets,
                       std::uint32_t flags);

// A word of poison: a NaN as a float and as two halves; two of them are a double that is
// NaN, or beyond 10^307 in magnitude.
std::uint32_t poison_word(std::uint64_t random_bits);

} // namespace grading
