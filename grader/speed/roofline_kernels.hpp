// The grader's own copy and multiply-add kernels, whose rates are this device's rooflines.
#pragma once

#include "process/protocol.hpp"
#include "process/worker_process.hpp"

#include <chrono>
#include <cstdint>

namespace grading {

// Loads and times them in naive's worker.
class roofline_kernels {
public:
    // Places their arguments in the input memory from byte `at`.
    explicit roofline_kernels(std::uint64_t at);

    std::uint64_t end() const { return at_ + copy_bytes_ + values_bytes; }
    std::uint64_t device_bytes() const { return 4 * copy_bytes_; }
    double device_seconds() const { return device_s_; } // spent so far
    // Returns how long ago they last worked; before the first time, how long ago this was made.
    std::chrono::steady_clock::duration idle() const
    {
        return std::chrono::steady_clock::now() - worked_;
    }

    // Does nothing if naive's worker has them: they stay there.
    void load();

    // Returns bytes read and written per millisecond.
    double copy_rate();
    // Returns multiply-adds per millisecond.
    double fma_rate(int calls);
    // Makes the same calls; the answer is not judged.
    answer work(int calls);
    // Returns how much longer an empty run takes on the parent's clock than between its CUDA
    // events, in milliseconds.
    double overhead();

private:
    static constexpr std::uint64_t values_bytes = 4096;

    answer run(const request &r);
    static double ms_of(const answer &a); // ends the case if that is none
    argument_descriptor buffer(std::uint64_t bytes, bool output) const;
    argument_descriptor value(std::uint64_t index, std::uint64_t v) const;

    std::uint64_t at_, copy_bytes_ = 0;
    int blocks_ = 0;
    double device_s_ = 0;
    std::chrono::steady_clock::time_point worked_ = std::chrono::steady_clock::now();
};

} // namespace grading
