// Calls a function for each of a few large things at the same time.
#pragma once

#include "resources.hpp"

#include <algorithm>
#include <cstddef>
#include <future>
#include <vector>

namespace grading {

// Calls f(i) for i < n, on one thread per core that this process may use. Rethrows the failure with
// the lowest index once all running calls are done, for which the destructors of their futures
// wait.
template <class F> void in_parallel(std::size_t n, F f)
{
    const std::size_t threads = cores();
    for (std::size_t first = 0; first < n; first += threads) {
        std::vector<std::future<void>> running;
        for (std::size_t i = first; i < std::min(n, first + threads); ++i)
            running.push_back(std::async(std::launch::async, f, i));
        for (auto &r : running) r.get();
    }
}

} // namespace grading
