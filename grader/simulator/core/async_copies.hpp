// Implements cp.async, the asynchronous copy from global to shared memory.
//
// The source is read when the copy starts; the bytes are written when the thread waits for their
// group, the latest moment that PTX allows. Until then the destination counts as uninitialised.
#pragma once

#include "grid.hpp"

#include <deque>

namespace simulator::core {

struct copies_in_flight { // of one warp
    struct copy {         // by one instruction, for lanes with equally many committed groups
        const code *of;   // the function and the instruction
        const instruction *from;
        lane_mask lanes;      // whose copy is pending
        std::uint32_t group;  // the cp.async group, counted from 0 per lane
        std::uint64_t to[32]; // offsets in the block's shared memory
        std::byte bytes[32][16];
    };
    std::deque<copy> pending;         // in the order in which they started
    std::uint32_t committed[32] = {}; // groups, by lane
};

enum class copy_wait : std::uint32_t { commit, all, group };
// cp.async.commit_group, .wait_all and .wait_group: instruction::extra selects one, offset is the
// number of groups that may stay pending.
void wait_for_copies(context &, const instruction &, lane_mask);

// Gives the `n` bytes that a pending copy of the lane will write at this offset. Returns false if
// there is no such copy.
bool pending_copy_bytes(const warp &, int lane, std::uint64_t at, std::uint32_t n, std::byte *to);

// The source line of the pending cp.async that will write this byte, "a.cu:12"; empty if none will.
std::string pending_copy_location(const thread_block &, std::uint64_t at);

} // namespace simulator::core
