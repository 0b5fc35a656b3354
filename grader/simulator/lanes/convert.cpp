// Runs conversions between types (cvt), and moves between registers of any width, also packing and
// unpacking vectors (mov).
#include "lane_operations.hpp"

#include <cmath>

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

template <class T> inline T rounded(T v, u32 mode)
{
    switch (mode) {
    case convert_nearest:
        return std::nearbyint(v);
    case convert_zero:
        return std::trunc(v);
    case convert_down:
        return std::floor(v);
    case convert_up:
        return std::ceil(v);
    default:
        return v;
    }
}

// Without a rounding modifier the conversion is exact: any mode will do.
inline rounding rounding_of(u32 mode)
{
    return mode == convert_exact ? rounding::nearest
                                 : static_cast<rounding>(mode - convert_nearest);
}

template <class D> constexpr D largest = is_signed<D>
                                             ? static_cast<D>(~(u64{1} << (8 * sizeof(D) - 1)) &
                                                              (~u64{0} >> (64 - 8 * sizeof(D))))
                                             : static_cast<D>(-1);
template <class D>
constexpr D smallest = is_signed<D> ? static_cast<D>(u64{1} << (8 * sizeof(D) - 1)) : D(0);

// Clamps. NaN becomes 0 or, from f64 and in 64-bit results, 1 << (bits - 1): PTX ISA 9.0, cvt.
// `From`: the type of the operand.
template <class D, class From, class S> inline D float_to_integer(S v)
{
    constexpr S high = static_cast<S>(largest<D>), low = static_cast<S>(smallest<D>);
    constexpr bool zero = sizeof(D) < 8 && !std::is_same_v<From, double>;
    constexpr D nan = zero ? D(0) : static_cast<D>(u64{1} << (8 * sizeof(D) - 1));
    bool inside = (v > low) & (v < high);
    D r = static_cast<D>(inside ? v : S(0));
    r = v <= low ? smallest<D> : r;
    r = v >= high ? largest<D> : r;
    return v != v ? nan : r;
}

template <class D, class S> inline D integer_to_integer(S v, bool saturate)
{
    if (!saturate) return static_cast<D>(v);
    __int128 w = v, low = smallest<D>, high = largest<D>;
    return static_cast<D>(w < low ? low : w > high ? high : w);
}

template <class D, class S> inline D convert_value(S v, u32 mode, bool saturate)
{
    if constexpr (is_half<D>) {
        double w = static_cast<double>(widen(v));
        if constexpr (is_half<S>) w = rounded(w, mode);
        if (saturate) w = saturated(w);
        return narrow(w, is_half<S> ? rounding::nearest : rounding_of(mode));
    } else if constexpr (is_float<D> && is_float<S>) {
        D r = static_cast<D>(widen(v));
        if constexpr (std::is_same_v<D, S>) r = rounded(r, mode);
        return canonical(saturate ? saturated(r) : r);
    } else if constexpr (is_float<D>) {
        D r = static_cast<D>(v);
        return saturate ? saturated(r) : r;
    } else if constexpr (is_float<S>) {
        return float_to_integer<D, S>(rounded(widen(v), mode));
    } else {
        return integer_to_integer<D>(v, saturate);
    }
}

template <class D, class S> void convert(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<S>>(c, i.a);
    auto d = lanes_of<storage<D>>(c, i.d);
    u32 mode = i.extra & convert_mode_mask;
    bool saturate = (i.extra & convert_saturate) != 0, ftz = (i.extra & convert_ftz) != 0;
    constexpr bool simple = !is_half<D> && !is_half<S>;
    if constexpr (simple && is_float<S> && !is_float<D>) {
        if (mode == convert_zero && !ftz) {
            every(d, mask, [=](int l) {
                return bits_of<D>(float_to_integer<D, S>(__builtin_trunc(value_of<S>(a[l]))));
            });
            return;
        }
    } else if constexpr (simple) {
        bool plain = mode == convert_exact || (mode == convert_nearest && !std::is_same_v<D, S>);
        if (plain && !saturate && !ftz) {
            every(d, mask, [=](int l) {
                return bits_of<D>(convert_value<D, S>(value_of<S>(a[l]), 0, false));
            });
            return;
        }
    }
    auto each = [=] {
        active(mask, [=](int l) {
            S v = value_of<S>(a[l]);
            if constexpr (std::is_same_v<S, float>) v = ftz ? flushed(v) : v;
            D r = convert_value<D, S>(v, mode, saturate);
            if constexpr (std::is_same_v<D, float>) r = ftz ? flushed(r) : r;
            d[l] = bits_of<D>(r);
        });
    };
    bool directed = mode > convert_nearest && is_float<D> && !is_half<D> && !std::is_same_v<D, S>;
    if (!directed) return each();
    rounding_scope scope(rounding_of(mode));
    each();
}

// Copies between registers of different width: `wide` bit 0 is the destination's, bit 1 the
// source's.
void resize(context &c, const instruction &i, lane_mask mask)
{
    if (i.wide == 1) {
        auto a = lanes_of<u32>(c, i.a);
        auto d = lanes_of<u64>(c, i.d);
        if ((i.flags & signed_value) != 0)
            every(d, mask, [=](int l) {
                return static_cast<u64>(static_cast<s64>(static_cast<s32>(a[l])));
            });
        else
            every(d, mask, [=](int l) { return u64{a[l]}; });
    } else {
        auto a = lanes_of<u64>(c, i.a);
        every(lanes_of<u32>(c, i.d), mask, [=](int l) { return static_cast<u32>(a[l]); });
    }
}

// Sign- or zero-extends a value of i.bytes inside a 32-bit register.
void extend(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a);
    int unused = 32 - 8 * i.bytes;
    if ((i.flags & signed_value) != 0)
        every(lanes_of<u32>(c, i.d), mask,
              [=](int l) { return static_cast<u32>(static_cast<s32>(a[l] << unused) >> unused); });
    else
        every(lanes_of<u32>(c, i.d), mask, [=](int l) { return a[l] << unused >> unused; });
}

// mov d, {a, b, ...}: elements of i.bytes each, listed at i.extra; bit 0 of `wide`: d has 8 bytes
// per lane.
void pack(context &c, const instruction &i, lane_mask mask)
{
    const operand *parts = c.lists[i.extra];
    active(mask, [&](int l) {
        u64 v = 0;
        for (int k = 0; k < i.count; ++k) {
            u64 part = lanes_of<u32>(c, parts[k])[l];
            if (i.bytes < 4) part &= (u64{1} << (8 * i.bytes)) - 1;
            v |= part << (8 * i.bytes * k);
        }
        if (i.wide != 0)
            lanes_of<u64>(c, i.d)[l] = v;
        else
            lanes_of<u32>(c, i.d)[l] = static_cast<u32>(v);
    });
}

void unpack(context &c, const instruction &i, lane_mask mask)
{
    const operand *parts = c.lists[i.extra];
    active(mask, [&](int l) {
        u64 v = i.wide != 0 ? lanes_of<u64>(c, i.a)[l] : lanes_of<u32>(c, i.a)[l];
        for (int k = 0; k < i.count; ++k) {
            if (parts[k] == no_operand) continue;
            u64 part = v >> (8 * i.bytes * k);
            if (i.bytes < 4) part &= (u64{1} << (8 * i.bytes)) - 1;
            lanes_of<u32>(c, parts[k])[l] = static_cast<u32>(part);
        }
    });
}

constexpr auto same_value = [](auto a) { return a; };

template <class D, class... S> void conversions_to(handler_sink &out)
{
    (out.add("cvt", type_name<D>, type_name<S>, convert<D, S>), ...);
}
template <class... D> void conversions(handler_sink &out)
{
    (conversions_to<D, u8, s8, u16, s16, u32, s32, u64, s64, half, float, double>(out), ...);
}

template <class T, class... Name> void moves(handler_sink &out, Name... names)
{
    (out.add("mov", names, unary<same_value, T>), ...);
}

} // namespace

void list_conversions(handler_sink &out)
{
    conversions<u8, s8, u16, s16, u32, s32, u64, s64, half, float, double>(out);
    moves<u16>(out, "b16", "u16", "s16", "f16");
    moves<u32>(out, "b32", "u32", "s32", "f32");
    moves<u64>(out, "b64", "u64", "s64", "f64");
    out.add("core", "resize", resize);
    out.add("core", "extend", extend);
    out.add("core", "pack", pack);
    out.add("core", "unpack", unpack);
}

} // namespace simulator::core::SIMULATOR_LEVEL
