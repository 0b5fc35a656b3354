// Defines loops over the lanes of a warp that the compiler can vectorise. They are compiled once
// per instruction set of the CPU: everything here is in the namespace SIMULATOR_LEVEL and uses no
// library templates, whose copies the linker would merge across instruction sets.
#pragma once

#include "handler_table.hpp"

#include <cstdint>

#ifndef SIMULATOR_LEVEL
#define SIMULATOR_LEVEL baseline
#endif

// Placed before a loop: no lane reads what another writes, so vector code needs no check for
// overlap. clang's counterpart also demands that the loop be vectorised, so clang keeps the check.
#if defined(__clang__)
#define INDEPENDENT_LANES
#else
#define INDEPENDENT_LANES _Pragma("GCC ivdep")
#endif

namespace simulator::core::SIMULATOR_LEVEL {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

alignas(64) inline constexpr u32 bit_of[32] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

// The lane array that an operand refers to. T is u32 or u64.
template <class T> inline T *lanes_of(context &c, operand o)
{
    return reinterpret_cast<T *>(c.bases[o >> 31] + (o & ~constant_bit));
}

inline lane_mask &predicate(context &c, operand o) { return *lanes_of<lane_mask>(c, o); }
// A predicate operand, negated unless `negate` is 0.
inline lane_mask predicate(context &c, operand o, int negate)
{
    return predicate(c, o) ^ (negate != 0 ? all_lanes : 0);
}

// Sets d[lane] = f(lane) for the lanes of `mask`. f is evaluated for all lanes, so it must be cheap
// and must not fault for inactive ones.
template <class T, class F> inline void every(T *d, lane_mask mask, F f)
{
    if (mask == all_lanes) {
        INDEPENDENT_LANES
        for (int l = 0; l < 32; ++l) d[l] = f(l);
    } else {
        INDEPENDENT_LANES
        for (int l = 0; l < 32; ++l) {
            T r = f(l);
            d[l] = (mask & bit_of[l]) != 0 ? r : d[l];
        }
    }
}

// Calls f(lane) for the lanes of `mask`, lowest first.
template <class F> inline void active(lane_mask mask, F f)
{
    if (mask == all_lanes) {
        for (int l = 0; l < 32; ++l) f(l);
    } else {
        for (; mask != 0; mask &= mask - 1) f(__builtin_ctz(mask));
    }
}

// The same, highest first.
template <class F> inline void descending(lane_mask mask, F f)
{
    for (int l = 31; l >= 0; --l)
        if ((mask & bit_of[l]) != 0) f(l);
}

// Returns the lanes for which f is true; f is evaluated for all lanes.
template <class F> inline lane_mask where(F f)
{
    lane_mask bits = 0;
    INDEPENDENT_LANES
    for (int l = 0; l < 32; ++l) bits |= f(l) ? bit_of[l] : 0;
    return bits;
}

inline void set_predicate(context &c, operand o, lane_mask mask, lane_mask value)
{
    if (o == no_operand) return;
    lane_mask &p = predicate(c, o);
    p = (p & ~mask) | (value & mask);
}

// Each lists the handlers of one file of this folder; list_handlers calls them all.
void list_integers(handler_sink &);
void list_bits(handler_sink &);
void list_floats(handler_sink &);
void list_comparisons(handler_sink &);
void list_conversions(handler_sink &);
void list_loads_and_stores(handler_sink &);
void list_async_copies(handler_sink &);
void list_atomics(handler_sink &);
void list_halves(handler_sink &);

} // namespace simulator::core::SIMULATOR_LEVEL
