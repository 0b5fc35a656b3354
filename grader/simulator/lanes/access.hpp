// Declares the parts of a warp's memory access: the addresses of its lanes, checks and counters.
//
// Device memory and shared memory are both a `memory_region`, bytes with shadow bytes; local memory
// is interleaved by 4-byte words, as on hardware.
#pragma once

#include "lanes.hpp"

namespace simulator::core::SIMULATOR_LEVEL {

using ptx::space;

struct memory_region {
    std::byte *data;
    u8 *shadow;
    u64 base, bytes;
};

inline memory_region device_region(context &c) { return {c.data, c.shadow, c.base, c.reserved}; }
inline memory_region shared_region(context &c, u64 base)
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

// True if consecutive lanes access addresses `step` bytes apart.
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

struct access { // of one request
    ptx::space space;
    bool write;
    u32 bytes; // per lane
};

// The shadow bits that all accessed bytes must have. Those of constant memory must be read-only for
// kernels, so that its loads cannot race.
inline u8 required_bits(const context &c, ptx::space s)
{
    return static_cast<u8>((c.check_memory ? addressable : 0) |
                           (s == space::constant ? read_only : 0));
}

// Reports a problem of `lanes`, if there are any and the grid has not been stopped.
inline void report_lanes(context &c, const instruction &i, access_problem problem, lane_mask lanes,
                         const u64 *address, const access &request)
{
    if (lanes == 0 || c.stop) return;
    int l = __builtin_ctz(lanes);
    report(c, i, problem, l, address[l], request.bytes, request.space, request.write,
           static_cast<u64>(__builtin_popcount(lanes)));
}

// Checks every active lane and reports problems. Returns false if the grid has been stopped.
// `reads`: the access needs initialised bytes.
bool check_lanes(context &c, const instruction &i, lane_mask mask, const u64 *address,
                 const memory_region &region, const access &request, bool reads);
// The same for local memory; `at` holds offsets in each thread's local memory.
bool check_local(context &c, const instruction &i, lane_mask mask, const u64 *at, u32 bytes,
                 bool write);

inline void note_access(context &c, const instruction &i, lane_mask mask, const u64 *address,
                        const access &request, bool contiguous)
{
    if (c.races != nullptr)
        check_races(c, i, mask, address, request.space, request.bytes,
                    request.write ? access_use::write : access_use::read, contiguous);
}

// True for a strong access to device memory while weak memory is simulated: loads may then see
// older values (core/weak_memory.hpp).
inline bool weakly_ordered(const context &c, const instruction &i, ptx::space s)
{
    return c.weak != nullptr && (i.flags & strong) != 0 && s == space::global;
}

// The lanes of a generic access by state space: each space is accessed separately.
struct space_masks {
    lane_mask device = 0, shared = 0, local = 0, param = 0;
};
space_masks lanes_by_space(const u64 *address, lane_mask mask);

// Counters of memory requests: sectors, bank conflicts, and the worst request of each instruction.
void count_device(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  const access &request, bool contiguous);
void count_shared(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  const access &request, bool contiguous);
void count_constant(context &c, const instruction &i, lane_mask mask, const u64 *address);
void count_local(context &c, const instruction &i, lane_mask mask, const u64 *at, u32 bytes,
                 bool write);
void count_atomic(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  ptx::space s, u32 bytes);

inline void count_region(context &c, const instruction &i, lane_mask mask, const u64 *address,
                         const access &request, bool contiguous)
{
    if (!c.count) return;
    if (request.space == space::shared)
        count_shared(c, i, mask, address, request, contiguous);
    else if (request.space == space::constant)
        count_constant(c, i, mask, address);
    else
        count_device(c, i, mask, address, request, contiguous);
}

} // namespace simulator::core::SIMULATOR_LEVEL
