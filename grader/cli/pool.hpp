// Tasks spread over the cores, their results taken in order.
#pragma once

#include <functional>
#include <vector>

namespace cli {

// Runs `task(i)` for each i below `count` on `threads` threads and calls `done(i)` on this thread,
// in order of i, as soon as all before it are done. The first exception of a task ends the rest
// and is thrown here. Where they take all cores, SIMULATOR_CORES=1 stands in the environment.
void run_all(std::size_t count, unsigned threads, const std::function<void(std::size_t)> &task,
             const std::function<void(std::size_t)> &done = {});

unsigned cores(); // that this process may use; at least 1

} // namespace cli
