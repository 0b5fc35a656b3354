// Detects livelock: all warps of a grid run in loops without progress. It compares states at run
// time, because a loop may carry values from one iteration to the next (a back-off that doubles and
// wraps, for example), which basic_block::spins, a static analysis, does not recognise.
//
// A warp that returns to an earlier state repeats itself as long as memory does not change. If all
// warps do, the grid never ends.
#pragma once

#include "grid.hpp"

#include <cstddef>
#include <unordered_map>

namespace simulator::core {

class livelock_detector {
public:
    // Call when memory has changed, a block has ended, or threads have passed a barrier.
    void reset();
    // Call after a round of turns without such an event. Returns true if no warp can reach a new
    // state.
    bool reached(const grid &);

private:
    struct visits {
        std::unordered_map<std::size_t, int> of; // by hash of the state
        int max_visits = 0;                      // largest count of any state
    };

    int quiet_rounds_ = 0;
    std::unordered_map<const warp *, visits> visits_;
};

} // namespace simulator::core
