// cp.async: bytes on their way from device to shared memory.
//
// The source is read when the copy starts; the bytes arrive when the thread waits for their group.
// Until then the destination counts as written by nobody.
#pragma once

#include "core_grid.hpp"

#include <deque>

namespace simulator::core {

struct copies_in_flight { // of one warp
    struct copy {         // of one instruction, by lanes that are in groups of the same number
        const code *of;
        const instruction *from;
        lane_mask lanes; // whose bytes have not arrived
        std::uint32_t group;
        std::uint64_t to[32]; // bytes of shared memory
        std::byte bytes[32][16];
    };
    std::deque<copy> waiting; // in order of their start
    std::uint32_t committed[32] = {};
};

enum class copy_wait : std::uint32_t { commit, all, group };
// cp.async.commit_group, .wait_all and .wait_group: instruction::extra says which, offset how many
// groups may stay under way.
void wait_for_copies(context &, const instruction &, lane_mask);

// What the lane's copy that is on its way to these bytes brings them. False: none is.
bool copied_bytes(const warp &, int lane, std::uint64_t at, std::uint32_t n, std::byte *to);

// The place of the cp.async that is to reach this byte: "a.cu:12"; empty: none.
std::string copy_to(const thread_block &, std::uint64_t at);

} // namespace simulator::core
