// Runs tasks in parallel on the cores and delivers their results in order.
#pragma once

#include "process/cores.hpp"

#include <functional>
#include <vector>

namespace cli {

// Runs `task(i)` for each i below `count` on `threads` threads and calls `done(i)` on this thread,
// in order of i, as soon as all tasks up to i are done. After the first exception no further task
// starts, and it is rethrown here.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)> &task,
                  const std::function<void(std::size_t)> &done = {});

inline unsigned cores() { return grading::usable_cores(); }

} // namespace cli
