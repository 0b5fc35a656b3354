// The work of kernels: what they cost the simulator, counted so that it is the same on every
// machine.
//
// A unit is at most about a nanosecond of one quiet core. Each basic block has a weight by its
// instructions and active lanes (core/decode/weights.cpp); scattered accesses, turns of warps and
// the start of blocks add to it. So the sum depends on the program, its input and the schedule
// alone, and not on the load of the machine, its speed or its number of cores: a limit by it gives
// everyone the same verdict.
#pragma once

#include <algorithm>
#include <cstdint>

namespace simulator {

// Counts the work of all kernels since the limit was set, those launched by kernels included.
class work_meter {
public:
    static work_meter &instance()
    {
        static work_meter one;
        return one;
    }
    // Sets the most work of kernels from now on. The default ends only what runs for an hour.
    void limit(std::uint64_t units)
    {
        limit_ = units;
        done_ = kernels_ = 0;
    }
    // Adds a kernel that has ended.
    void add(std::uint64_t units)
    {
        done_ += units;
        ++kernels_;
    }
    std::uint64_t limit() const { return limit_; }
    std::uint64_t done() const { return done_; }
    std::uint64_t kernels() const { return kernels_; }
    std::uint64_t left() const { return limit_ - std::min(done_, limit_); }

private:
    std::uint64_t limit_ = 4'000'000'000'000, done_ = 0, kernels_ = 0;
};

} // namespace simulator
