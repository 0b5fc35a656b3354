// Checks of each lane's address: alignment, bounds, write protection and initialisation.
#include "access.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

inline bool lane_has(const u8 *shadow, u32 bytes, u8 need, u8 never)
{
    constexpr u64 each = 0x0101010101010101u;
    switch (bytes) {
    case 1:
        return (~shadow[0] & need) == 0 && (shadow[0] & never) == 0;
    case 2: {
        u32 s = read_as<u16>(shadow), n = static_cast<u16>(each * need),
            v = static_cast<u16>(each * never);
        return (~s & n) == 0 && (s & v) == 0;
    }
    case 4: {
        u32 s = read_as<u32>(shadow), n = static_cast<u32>(each * need),
            v = static_cast<u32>(each * never);
        return (~s & n) == 0 && (s & v) == 0;
    }
    default:
        for (u32 k = 0; k < bytes; k += 8) {
            u64 s = read_as<u64>(shadow + k);
            if ((~s & each * need) != 0 || (s & each * never) != 0) return false;
        }
        return true;
    }
}

// For each element of a load, the lanes that find no initialised byte in it. A partly initialised
// element is no mistake, because the padding of a structure is copied with it. The padding may
// fill whole elements, so all elements of a load that only moves data count as one.
struct undefined_elements {
    lane_mask lanes[4] = {}, any = 0;
    u32 bytes;   // per lane
    u32 element; // bytes that count as one element
    u32 each;    // elements of the instruction in each of them

    undefined_elements(const instruction &i, u32 total)
        : bytes(total),
          element((i.flags & only_moved) != 0 ? total : i.bytes),
          each((i.flags & only_moved) != 0 ? i.count : 1)
    {
    }
    template <class F> void look(int lane, F shadow)
    {
        u32 at = 0;
        for (u32 first = 0; first < bytes; first += element, at += each) {
            u8 all = 0;
            for (u32 k = 0; k < element && first + k < bytes; ++k) all |= shadow(first + k);
            if ((all & initialised) != 0) continue;
            any |= bit_of[lane];
            for (u32 k = at; k < at + each; ++k) lanes[k] |= bit_of[lane];
        }
    }
};

} // namespace

__attribute__((noinline)) bool check_lanes(context &c, const instruction &i, lane_mask mask,
                                           const u64 *address, const window &w, const access &how,
                                           bool reads)
{
    lane_mask misaligned = 0, outside = 0, read_only_lanes = 0;
    u8 need = bits_needed(c, how.space),
       never = how.write && c.check_memory ? u8{read_only} : u8{0};
    u8 wanted = reads && c.check_initialised ? u8{initialised} : u8{0};
    undefined_elements undefined(i, how.bytes);
    active(mask, [&](int l) {
        u64 at = address[l] - w.base;
        if ((address[l] & (how.bytes - 1)) != 0) {
            misaligned |= bit_of[l];
        } else if (at >= w.bytes || w.bytes - at < how.bytes ||
                   !lane_has(w.shadow + at, how.bytes, need, c.closed)) {
            outside |= bit_of[l];
        } else if (!lane_has(w.shadow + at, how.bytes, 0, never)) {
            read_only_lanes |= bit_of[l];
        } else if (!lane_has(w.shadow + at, how.bytes, wanted, 0)) {
            undefined.look(l, [&](u32 k) { return w.shadow[at + k]; });
        }
    });
    report_lanes(c, i, access_problem::misaligned, misaligned, address, how);
    report_lanes(c, i, access_problem::outside, outside, address, how);
    report_lanes(c, i, access_problem::read_only, read_only_lanes, address, how);
    if (c.stop || undefined.any == 0) return !c.stop;
    if (how.write) // an atomic
        report_lanes(c, i, access_problem::uninitialised, undefined.any, address, how);
    else
        undefined_read(c, i, undefined.lanes, address, how.bytes, how.space);
    return true;
}

bool check_local(context &c, const instruction &i, lane_mask mask, const u64 *at, u32 bytes,
                 bool write)
{
    lane_mask misaligned = 0, outside = 0;
    undefined_elements undefined(i, bytes);
    active(mask, [&](int l) {
        if ((at[l] & (bytes - 1)) != 0) {
            misaligned |= bit_of[l];
        } else if (at[l] >= c.local_bytes || c.local_bytes - at[l] < bytes) {
            outside |= bit_of[l];
        } else if (!write && c.check_initialised) {
            undefined.look(l, [&](u32 k) {
                return c.local_shadow[local_position(at[l] + k, l)] != 0 ? u8{initialised} : u8{0};
            });
        }
    });
    const access how{space::local, write, bytes};
    report_lanes(c, i, access_problem::misaligned, misaligned, at, how);
    report_lanes(c, i, access_problem::outside, outside, at, how);
    if (!c.stop && undefined.any != 0)
        undefined_read(c, i, undefined.lanes, at, bytes, space::local);
    return !c.stop;
}

by_space sort_lanes(const u64 *address, lane_mask mask)
{
    by_space r;
    u64 high = 0;
    for (int l = 0; l < 32; ++l) high |= (mask & bit_of[l]) != 0 ? address[l] >> 56 : 0;
    if (high == 0) {
        r.device = mask;
        return r;
    }
    active(mask, [&](int l) {
        u64 h = address[l] >> 56;
        lane_mask &m = h == 1 ? r.shared : h == 2 ? r.local : h == 3 ? r.param : r.device;
        m |= bit_of[l];
    });
    return r;
}

} // namespace simulator::core::SIMULATOR_LEVEL
