// Tells that the warps of a grid only go round in loops, where no look at the code can: a loop may
// carry values from one iteration to the next, as one that waits longer each time.
//
// A warp that comes back to a state that it was in goes the same way again, while memory stays as
// it is. Where all do, nothing will ever happen by itself.
#pragma once

#include "core_grid.hpp"

#include <cstddef>
#include <unordered_map>

namespace simulator::core {

class standstill {
public:
    // Memory has changed, or a block has ended, or threads have passed a barrier.
    void forget();
    // After a round of turns without that: whether no warp can do anything new.
    bool reached(const grid &);

private:
    struct visits {
        std::unordered_map<std::size_t, int> of; // a state's hash
        int most = 0;                            // of any state
    };

    int quiet_rounds_ = 0;
    std::unordered_map<const warp *, visits> visits_;
};

} // namespace simulator::core
