// Implements cp.async: asynchronous copies from device to shared memory.
//
// The source is read when the copy starts; the bytes arrive when the thread waits for their group.
// Until then the destination counts as uninitialised.
#pragma once

#include "grid.hpp"

#include <deque>

namespace simulator::core {

struct copies_in_flight { // of one warp
    struct copy {         // of one instruction, by lanes with the same number of committed groups
        const code *of;
        const instruction *from;
        lane_mask lanes; // lanes whose bytes have not arrived
        std::uint32_t group;
        std::uint64_t to[32]; // offsets in the block's shared memory
        std::byte bytes[32][16];
    };
    std::deque<copy> waiting; // in order of their start
    std::uint32_t committed[32] = {};
};

enum class copy_wait : std::uint32_t { commit, all, group };
// cp.async.commit_group, .wait_all and .wait_group: instruction::extra selects one, offset is the
// number of groups that may stay pending.
void wait_for_copies(context &, const instruction &, lane_mask);

// Copies the bytes that the lane's pending copy will write there. Returns false if there is none.
bool copied_bytes(const warp &, int lane, std::uint64_t at, std::uint32_t n, std::byte *to);

// The source line of the pending cp.async that will write this byte: "a.cu:12"; empty: none.
std::string copy_to(const thread_block &, std::uint64_t at);

} // namespace simulator::core
