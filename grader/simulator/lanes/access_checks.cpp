// Checks of each lane's address: alignment, bounds, write protection and initialisation.
#include "access.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

// True if all shadow bytes have the bits `required` and none of `forbidden`.
inline bool lane_has(const u8 *shadow, u32 bytes, u8 required, u8 forbidden)
{
    constexpr u64 each = 0x0101010101010101u;
    switch (bytes) {
    case 1:
        return (~shadow[0] & required) == 0 && (shadow[0] & forbidden) == 0;
    case 2: {
        u32 s = read_as<u16>(shadow), n = static_cast<u16>(each * required),
            v = static_cast<u16>(each * forbidden);
        return (~s & n) == 0 && (s & v) == 0;
    }
    case 4: {
        u32 s = read_as<u32>(shadow), n = static_cast<u32>(each * required),
            v = static_cast<u32>(each * forbidden);
        return (~s & n) == 0 && (s & v) == 0;
    }
    default:
        for (u32 k = 0; k < bytes; k += 8) {
            u64 s = read_as<u64>(shadow + k);
            if ((~s & each * required) != 0 || (s & each * forbidden) != 0) return false;
        }
        return true;
    }
}

// Collects, for each element of a load, the lanes in which none of its bytes is initialised. A
// partly initialised element is no error, because padding is copied along with a structure. Padding
// may fill whole elements, so a load that only moves data (only_moved) is checked as a single unit.
struct undefined_elements {
    lane_mask lanes[4] = {}, any = 0;
    u32 bytes;             // per lane
    u32 unit;              // bytes that are checked together
    u32 elements_per_unit; // elements of the instruction

    undefined_elements(const instruction &i, u32 total)
        : bytes(total),
          unit((i.flags & only_moved) != 0 ? total : i.bytes),
          elements_per_unit((i.flags & only_moved) != 0 ? i.count : 1)
    {
    }
    template <class F> void check(int lane, F shadow)
    {
        u32 element = 0;
        for (u32 first = 0; first < bytes; first += unit, element += elements_per_unit) {
            u8 bits = 0;
            for (u32 k = 0; k < unit && first + k < bytes; ++k) bits |= shadow(first + k);
            if ((bits & initialised) != 0) continue;
            any |= bit_of[lane];
            for (u32 k = 0; k < elements_per_unit; ++k) lanes[element + k] |= bit_of[lane];
        }
    }
};

} // namespace

__attribute__((noinline)) bool check_lanes(context &c, const instruction &i, lane_mask mask,
                                           const u64 *address, const memory_region &region,
                                           const access &request, bool reads)
{
    lane_mask misaligned = 0, outside = 0, read_only_lanes = 0;
    u8 required = required_bits(c, request.space),
       forbidden = request.write && c.check_memory ? u8{read_only} : u8{0};
    u8 required_to_read = reads && c.check_initialised ? u8{initialised} : u8{0};
    undefined_elements undefined(i, request.bytes);
    active(mask, [&](int l) {
        u64 at = address[l] - region.base;
        if ((address[l] & (request.bytes - 1)) != 0) {
            misaligned |= bit_of[l];
        } else if (at >= region.bytes || region.bytes - at < request.bytes ||
                   !lane_has(region.shadow + at, request.bytes, required, c.closed)) {
            outside |= bit_of[l];
        } else if (!lane_has(region.shadow + at, request.bytes, 0, forbidden)) {
            read_only_lanes |= bit_of[l];
        } else if (!lane_has(region.shadow + at, request.bytes, required_to_read, 0)) {
            undefined.check(l, [&](u32 k) { return region.shadow[at + k]; });
        }
    });
    report_lanes(c, i, access_problem::misaligned, misaligned, address, request);
    report_lanes(c, i, access_problem::outside, outside, address, request);
    report_lanes(c, i, access_problem::read_only, read_only_lanes, address, request);
    if (c.stop || undefined.any == 0) return !c.stop;
    if (request.write) // an atomic
        report_lanes(c, i, access_problem::uninitialised, undefined.any, address, request);
    else
        undefined_read(c, i, undefined.lanes, address, request.bytes, request.space);
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
            undefined.check(l, [&](u32 k) {
                return c.local_shadow[local_position(at[l] + k, l)] != 0 ? u8{initialised} : u8{0};
            });
        }
    });
    const access request{space::local, write, bytes};
    report_lanes(c, i, access_problem::misaligned, misaligned, at, request);
    report_lanes(c, i, access_problem::outside, outside, at, request);
    if (!c.stop && undefined.any != 0)
        undefined_read(c, i, undefined.lanes, at, bytes, space::local);
    return !c.stop;
}

space_masks lanes_by_space(const u64 *address, lane_mask mask)
{
    space_masks r;
    u64 high = 0;
    for (int l = 0; l < 32; ++l) high |= (mask & bit_of[l]) != 0 ? address[l] >> 56 : 0;
    if (high == 0) {
        r.device = mask;
        return r;
    }
    active(mask, [&](int l) {
        u64 h = address[l] >> 56;
        lane_mask &m = h == shared_window >> 56  ? r.shared
                       : h == local_window >> 56 ? r.local
                       : h == param_window >> 56 ? r.param
                                                 : r.device;
        m |= bit_of[l];
    });
    return r;
}

} // namespace simulator::core::SIMULATOR_LEVEL
