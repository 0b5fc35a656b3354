// Defines an access, which the race checker compares with the recorded earlier ones.
#pragma once

#include "simulator/core/races.hpp"

#include <cstdint>
#include <vector>

namespace simulator::core {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Bits of access_record::owner: a strong access or a guess; a strong access of .cta scope. The bits
// below hold block << 5 | warp.
inline constexpr u32 strong_bit = 1u << 31, block_scope_bit = 1u << 30;
inline constexpr u32 owner_mask = block_scope_bit - 1;
inline constexpr u32 line_bytes = 128, line_words = 32;
inline constexpr std::size_t log_size = std::size_t{1} << 20;

inline u32 owner_of(const thread_block &b, const warp &w)
{
    return (static_cast<u32>(b.number) << 5 | w.index) & owner_mask;
}

inline u32 block_of(u32 owner) { return (owner & owner_mask) >> 5; }
inline bool same_block(u32 a, u32 b) { return ((a ^ b) & owner_mask & ~31u) == 0; }
inline bool same_warp(u32 a, u32 b) { return ((a ^ b) & owner_mask) == 0; }

// The layout of a warp's lanes in a 128-byte line: the first lane, and the bytes per lane.
inline u32 shape_of(u32 first_lane, u32 bytes) { return first_lane | bytes << 8; }

// True if `block` has released its access at `done` before a strong read of another at `seen`.
bool released(const release_histories &, u32 block, epoch done, epoch seen);

// Calls f with the number of each set bit: of lanes or warps.
template <class F> void each_bit(lane_mask mask, F f)
{
    for (; mask != 0; mask &= mask - 1) f(__builtin_ctz(mask));
}

// The launches that happen before a grid's start: its own, and the earlier ones of its stream.
const std::vector<const launch_clock *> &launches_before(const launch_node &);

struct race_checker::access {
    context &c;
    const instruction &i;
    lane_mask mask;
    const u64 *address;
    u64 base;
    ptx::space space;
    u32 bytes;
    access_use use;
    epoch at;
    u32 owner;
    epoch live_from;         // earlier records are ordered before this access
    epoch grid_from;         // earlier records belong to other grids
    epoch block_at, warp_at; // earlier records of the same block or warp are ordered
    block_order &block;
    warp_order &warp;
    bool is_volatile, is_guess;
    const std::byte (*copied)[16]; // bytes of a copy, by lane

    bool of_this_grid(const access_record &m) const { return m.at >= grid_from; }
    bool of_this_warp(const access_record &m) const
    {
        return same_warp(m.owner, owner) && of_this_grid(m);
    }
    bool of_this_block(const access_record &m) const
    {
        return same_block(m.owner, owner) && of_this_grid(m);
    }
    // True if ordered by a barrier of the block or warp or by a launch, or too old to matter.
    bool known_ordered(const access_record &m) const
    {
        if (m.at < live_from) return true;
        if (!of_this_grid(m)) return c.races->precedes(m);
        if (!same_block(m.owner, owner)) return false;
        return m.at < block_at || (m.at < warp_at && same_warp(m.owner, owner));
    }
    // True for strong accesses of different blocks of which at least one has only .cta scope: they
    // are not morally strong (PTX memory model).
    bool scope_too_narrow(const access_record &m) const
    {
        return (m.owner & owner & strong_bit) != 0 && ((m.owner | owner) & block_scope_bit) != 0 &&
               !of_this_block(m);
    }
    // True if the accesses are morally strong: both strong, and in each other's scope. Volatile
    // accesses of one warp to shared memory count as weak, to find warp-synchronous code that
    // relies on lockstep execution, which is not guaranteed since Volta.
    bool morally_strong(const access_record &m) const
    {
        if ((m.owner & owner & strong_bit) == 0) return false;
        if (scope_too_narrow(m)) return false;
        return !(is_volatile && space == ptx::space::shared && same_warp(m.owner, owner));
    }
    // True if the two accesses do not race even when unordered. A guess, the plain load of a
    // compare-and-swap loop (decode/cas_loops.cpp), is compatible with atomics of its size: the
    // following compare-and-swap at its address fails if one came between. A guess orders nothing,
    // so accesses that depend on its value are checked as usual.
    bool compatible(const access_record &m) const
    {
        if (!morally_strong(m)) return false;
        const bool reads = use == access_use::read;
        const bool in_log = at - m.at < log_size; // otherwise too old to look up
        const logged_access &other = c.races->log_[m.at % log_size];
        if (reads ? !is_guess : !in_log || !other.guess) return true;
        return !in_log ||
               ((reads ? other.atomic : use == access_use::atomic) && other.bytes == bytes);
    }
};

} // namespace simulator::core
