// The state in which times are taken.
#pragma once

#include "process/clock_lock.hpp"
#include "runner/run_options.hpp"

#include <optional>
#include <utility>

namespace grading {

// While one lives, no other process of this grade works, and this one has all cores. Afterwards it
// works beside the others again.
class alone_at_clock {
public:
    // Makes one, unless that would mean to wait.
    static void begin_if_free(std::optional<alone_at_clock> &one)
    {
        if (!one && alone_without_waiting(options().clock_lock)) one.emplace();
    }
    alone_at_clock()
        : waited_s(use_clock(options().clock_lock, clock_use::alone)),
          side_by_side_(std::exchange(options().side_by_side, 1))
    {
    }
    ~alone_at_clock()
    {
        options().side_by_side = side_by_side_;
        use_clock(options().clock_lock, clock_use::beside);
    }
    alone_at_clock(const alone_at_clock &) = delete;
    alone_at_clock &operator=(const alone_at_clock &) = delete;
    const double waited_s;

private:
    const int side_by_side_;
};

} // namespace grading
