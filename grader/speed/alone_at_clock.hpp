// The state in which times are taken.
#pragma once

#include "process/clock_lock.hpp"
#include "runner/inputs_in_advance.hpp"
#include "runner/resources.hpp"
#include "runner/run_options.hpp"

#include <chrono>
#include <optional>

namespace grading {

// While one lives, no other process of this grade works, but for the simulator's where there are
// many cores; where there are few, no inputs are made in advance, then or later. Afterwards it
// works beside the others again.
class alone_at_clock {
public:
    // Makes one, unless that would mean to wait.
    static void begin_if_free(std::optional<alone_at_clock> &one)
    {
        if (!one && alone_without_waiting(options().clock_lock)) one.emplace();
    }
    alone_at_clock() : waited_s(be_alone()) { work_alone(true); }
    ~alone_at_clock()
    {
        work_alone(false);
        use_clock(options().clock_lock, clock_use::beside);
    }
    alone_at_clock(const alone_at_clock &) = delete;
    alone_at_clock &operator=(const alone_at_clock &) = delete;
    const double waited_s;

private:
    static double be_alone()
    {
        const auto start = std::chrono::steady_clock::now();
        use_clock(options().clock_lock, clock_use::alone);
        if (options().beside_clock == 0) inputs_in_advance::stop();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
};

// Before times are taken of calls that use the host's memory: releases the clock, because nobody
// waits with a lock held, and waits until no simulator works; nor are inputs made in advance any
// more. Returns the seconds.
inline double wait_for_simulator()
{
    inputs_in_advance::stop();
    use_clock(options().clock_lock, clock_use::none);
    const auto start = std::chrono::steady_clock::now();
    wait_for_release(options().simulator_lock);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace grading
