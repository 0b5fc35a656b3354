// One access of a warp to memory: the addresses of its lanes, its checks and its counters.
//
// Device memory and shared memory are both a `window` of bytes with a shadow; local memory is
// interleaved by words, as on hardware.
#pragma once

#include "lanes.hpp"

namespace simulator::core::SIMULATOR_LEVEL {

using ptx::space;

struct window {
    std::byte *data;
    u8 *shadow;
    u64 base, bytes;
};

inline window device_window(context &c) { return {c.data, c.shadow, c.base, c.reserved}; }
inline window shared_at(context &c, u64 base)
{
    return {c.shared, c.shared_shadow, base, c.shared_bytes};
}

template <class T> inline T read_as(const void *p)
{
    T v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
template <class T> inline void write_as(void *p, T v) { __builtin_memcpy(p, &v, sizeof v); }

inline void addresses_of(context &c, const instruction &i, u64 *address)
{
    if ((i.wide & 2) != 0) {
        auto a = lanes_of<u64>(c, i.a);
        u64 offset = static_cast<u64>(i.offset);
        INDEPENDENT_LANES
        for (int l = 0; l < 32; ++l) address[l] = a[l] + offset;
    } else {
        auto a = lanes_of<u32>(c, i.a);
        u32 offset = static_cast<u32>(i.offset);
        INDEPENDENT_LANES
        for (int l = 0; l < 32; ++l) address[l] = a[l] + offset;
    }
}

inline bool evenly_spaced(const u64 *address, u64 step)
{
    u64 differs = 0, first = address[0];
    INDEPENDENT_LANES
    for (u64 l = 0; l < 32; ++l) differs |= address[l] ^ (first + l * step);
    return differs == 0;
}

inline void fill_initialised(u8 *shadow, u32 bytes)
{
    for (u32 k = 0; k < bytes; ++k) shadow[k] |= initialised;
}

struct access {
    ptx::space space;
    bool write;
    u32 bytes; // per lane
};

// Constant memory is required to be read-only for kernels, so that its loads cannot race.
inline u8 bits_needed(const context &c, ptx::space s)
{
    return static_cast<u8>((c.check_memory ? addressable : 0) |
                           (s == space::constant ? read_only : 0));
}

// Reports a problem of `lanes`, if there are any and the grid has not been stopped.
inline void report_lanes(context &c, const instruction &i, access_problem problem, lane_mask lanes,
                         const u64 *address, const access &how)
{
    if (lanes == 0 || c.stop) return;
    int l = __builtin_ctz(lanes);
    report(c, i, problem, l, address[l], how.bytes, how.space, how.write,
           static_cast<u64>(__builtin_popcount(lanes)));
}

// Checks every active lane and reports problems. Returns false if the grid has been stopped.
bool check_lanes(context &c, const instruction &i, lane_mask mask, const u64 *address,
                 const window &w, const access &how, bool reads);
// The same for local memory; `at` holds offsets into the threads' local memory.
bool check_local(context &c, const instruction &i, lane_mask mask, const u64 *at, u32 bytes,
                 bool write);

inline void note_access(context &c, const instruction &i, lane_mask mask, const u64 *address,
                        const access &how, bool contiguous)
{
    if (c.races != nullptr)
        check_races(c, i, mask, address, how.space, how.bytes,
                    how.write ? access_use::write : access_use::read, contiguous);
}

// True if other blocks may see this access out of order.
inline bool weakly_ordered(const context &c, const instruction &i, ptx::space s)
{
    return c.weak != nullptr && (i.flags & strong) != 0 && s == space::global;
}

// The lanes of a generic access may use different spaces: one pass for each.
struct by_space {
    lane_mask device = 0, shared = 0, local = 0, param = 0;
};
by_space sort_lanes(const u64 *address, lane_mask mask);

// Counters of memory requests: sectors, bank conflicts, and the worst request of each instruction.
void count_device(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  const access &how, bool contiguous);
void count_shared(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  const access &how, bool contiguous);
void count_constant(context &c, const instruction &i, lane_mask mask, const u64 *address);
void count_local(context &c, const instruction &i, lane_mask mask, const u64 *at, u32 bytes,
                 bool write);
void count_atomic(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  ptx::space s, u32 bytes);

inline void count_window(context &c, const instruction &i, lane_mask mask, const u64 *address,
                         const access &how, bool contiguous)
{
    if (!c.count) return;
    if (how.space == space::shared)
        count_shared(c, i, mask, address, how, contiguous);
    else if (how.space == space::constant)
        count_constant(c, i, mask, address);
    else
        count_device(c, i, mask, address, how, contiguous);
}

} // namespace simulator::core::SIMULATOR_LEVEL
