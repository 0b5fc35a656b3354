// Integer arithmetic: sums, products, quotients, carry chains, and dot products of bytes.
#include "handler_list.hpp"
#include "lane_operations.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

template <class Op, class T> void binary_each(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    auto d = lanes_of<storage<T>>(c, i.d);
    active(mask, [=](int l) { d[l] = bits_of<T>(Op::of(value_of<T>(a[l]), value_of<T>(b[l]))); });
}

template <class T> struct doubled;
template <> struct doubled<u16> {
    using type = u32;
};
template <> struct doubled<s16> {
    using type = s32;
};
template <> struct doubled<u32> {
    using type = u64;
};
template <> struct doubled<s32> {
    using type = s64;
};
template <> struct doubled<u64> {
    using type = unsigned __int128;
};
template <> struct doubled<s64> {
    using type = __int128;
};

template <class T, bool accumulate>
void multiply_wide(context &c, const instruction &i, lane_mask mask)
{
    using W = typename doubled<T>::type;
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    auto e = accumulate ? lanes_of<storage<W>>(c, i.c) : nullptr;
    every(lanes_of<storage<W>>(c, i.d), mask, [=](int l) {
        auto r = static_cast<storage<W>>(static_cast<W>(value_of<T>(a[l])) *
                                         static_cast<W>(value_of<T>(b[l])));
        if constexpr (accumulate) r += e[l];
        return r;
    });
}

struct add {
    template <class T> static T of(T a, T b) { return static_cast<T>(bare<T>(a) + bare<T>(b)); }
};
struct sub {
    template <class T> static T of(T a, T b) { return static_cast<T>(bare<T>(a) - bare<T>(b)); }
};
struct mul_lo {
    template <class T> static T of(T a, T b)
    {
        if constexpr (sizeof(T) == 2)
            return static_cast<T>(u32(bare<T>(a)) * u32(bare<T>(b)));
        else
            return static_cast<T>(bare<T>(a) * bare<T>(b));
    }
};
struct mul_hi {
    template <class T> static T of(T a, T b)
    {
        using W = typename doubled<T>::type;
        return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> (8 * sizeof(T)));
    }
};
struct mad_lo {
    template <class T> static T of(T a, T b, T c) { return add::of(mul_lo::of(a, b), c); }
};
struct mad_hi {
    template <class T> static T of(T a, T b, T c) { return add::of(mul_hi::of(a, b), c); }
};
template <class T> inline T low24(T a)
{
    return is_signed<T> ? static_cast<T>(static_cast<s32>(static_cast<u32>(a) << 8) >> 8)
                        : static_cast<T>(a & 0xffffff);
}
struct mul24_lo {
    template <class T> static T of(T a, T b) { return mul_lo::of(low24(a), low24(b)); }
};
struct mul24_hi {
    template <class T> static T of(T a, T b)
    {
        return static_cast<T>((typename doubled<T>::type(low24(a)) * low24(b)) >> 16);
    }
};
struct mad24_lo {
    template <class T> static T of(T a, T b, T c) { return add::of(mul24_lo::of(a, b), c); }
};
struct sad {
    template <class T> static T of(T a, T b, T c)
    {
        return add::of(c, a < b ? sub::of(b, a) : sub::of(a, b));
    }
};
struct quotient {
    template <class T> static T of(T a, T b)
    {
        if (b == 0) return static_cast<T>(-1);
        if constexpr (is_signed<T>) {
            if (b == T(-1)) return sub::of(T(0), a);
        }
        return static_cast<T>(a / b);
    }
};
struct remainder {
    template <class T> static T of(T a, T b)
    {
        if (b == 0) return a;
        if constexpr (is_signed<T>) {
            if (b == T(-1)) return 0;
        }
        return static_cast<T>(a % b);
    }
};
struct least {
    template <class T> static T of(T a, T b) { return a < b ? a : b; }
};
struct most {
    template <class T> static T of(T a, T b) { return a < b ? b : a; }
};
struct absolute {
    template <class T> static T of(T a) { return a < 0 ? sub::of(T(0), a) : a; }
};
struct negative {
    template <class T> static T of(T a) { return sub::of(T(0), a); }
};

template <class A, class B> void dot4(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c);
    every(lanes_of<u32>(c, i.d), mask, [=](int l) {
        u32 sum = e[l];
        for (int k = 0; k < 32; k += 8)
            sum += static_cast<u32>(static_cast<s32>(static_cast<A>(a[l] >> k)) *
                                    static_cast<s32>(static_cast<B>(b[l] >> k)));
        return sum;
    });
}

// Multiplies two halfwords of a with the lower or the upper two bytes of b.
template <class A, class B, bool high> void dot2(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c);
    every(lanes_of<u32>(c, i.d), mask, [=](int l) {
        u32 sum = e[l], bytes = high ? b[l] >> 16 : b[l];
        for (int k = 0; k < 2; ++k)
            sum += static_cast<u32>(static_cast<s32>(static_cast<A>(a[l] >> (16 * k))) *
                                    static_cast<s32>(static_cast<B>(bytes >> (8 * k))));
        return sum;
    });
}
template <bool high> void dot2_rows(handler_sink &out, const char *op)
{
    out.add_pair(op, "u32", "u32", dot2<u16, u8, high>);
    out.add_pair(op, "u32", "s32", dot2<u16, s8, high>);
    out.add_pair(op, "s32", "u32", dot2<s16, u8, high>);
    out.add_pair(op, "s32", "s32", dot2<s16, s8, high>);
}

// Works on four bytes each: returns every difference in its byte, or their sum added to c.
template <class T, bool sum>
void absolute_difference4(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c);
    every(lanes_of<u32>(c, i.d), mask, [=](int l) {
        u32 r = sum ? e[l] : 0;
        for (int k = 0; k < 32; k += 8) {
            s32 x = static_cast<T>(a[l] >> k), y = static_cast<T>(b[l] >> k);
            u32 difference = static_cast<u32>(x < y ? y - x : x - y);
            r += sum ? difference : difference << k;
        }
        return r;
    });
}
template <class T> void absolute_differences(handler_sink &out, const char *type)
{
    out.add_pair("vabsdiff4.u32", type, type, absolute_difference4<T, false>);
    out.add_pair("vabsdiff4.u32", type, type, "add", absolute_difference4<T, true>);
}

// Carry chains. CC.CF is a predicate at i.extra, one bit per lane. As on hardware a subtraction is
// a + ~b + 1, so it produces a carry, the opposite of a borrow: sub.cc then addc adds one if
// nothing was borrowed.
enum class chain { add, sub, mad_lo, mad_hi };
template <class T, chain kind, bool in, bool out>
void with_carry(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    auto d = lanes_of<storage<T>>(c, i.d);
    constexpr bool is_mad = kind == chain::mad_lo || kind == chain::mad_hi;
    auto e = is_mad ? lanes_of<storage<T>>(c, i.c) : nullptr;
    lane_mask carry = predicate(c, i.extra), result = 0;
    active(mask, [&](int l) {
        using S = storage<T>;
        S x = a[l], y = b[l];
        if constexpr (is_mad) {
            x = static_cast<S>(kind == chain::mad_lo
                                   ? mul_lo::of(value_of<T>(a[l]), value_of<T>(b[l]))
                                   : mul_hi::of(value_of<T>(a[l]), value_of<T>(b[l])));
            y = e[l];
        }
        if constexpr (kind == chain::sub) y = static_cast<S>(~y);
        const S carried = in ? carry >> l & 1 : kind == chain::sub, first = x + y,
                r = first + carried;
        const bool over = first < x || r < first;
        d[l] = r;
        result |= over ? bit_of[l] : 0;
    });
    if constexpr (out) set_predicate(c, i.extra, mask, result);
}

template <class Op, class... T> void unaries(handler_sink &out, const char *op)
{
    (out.add(op, named<T>::u, unary<Op, T>), ...);
}
template <class Op, class... T> void binaries(handler_sink &out, const char *op)
{
    (out.add(op, named<T>::u, binary<Op, T>), ...);
}
template <class Op, class... T> void divisions(handler_sink &out, const char *op)
{
    (out.add(op, named<T>::u, binary_each<Op, T>), ...);
}
template <class Op, class... T> void ternaries(handler_sink &out, const char *op)
{
    (out.add(op, named<T>::u, ternary<Op, T>), ...);
}

template <class T> void carries(handler_sink &out)
{
    const char *t = named<T>::u;
    out.add("add.cc", t, with_carry<T, chain::add, false, true>);
    out.add("addc", t, with_carry<T, chain::add, true, false>);
    out.add("addc.cc", t, with_carry<T, chain::add, true, true>);
    out.add("sub.cc", t, with_carry<T, chain::sub, false, true>);
    out.add("subc", t, with_carry<T, chain::sub, true, false>);
    out.add("subc.cc", t, with_carry<T, chain::sub, true, true>);
    out.add("mad.lo.cc", t, with_carry<T, chain::mad_lo, false, true>);
    out.add("madc.lo", t, with_carry<T, chain::mad_lo, true, false>);
    out.add("madc.lo.cc", t, with_carry<T, chain::mad_lo, true, true>);
    out.add("mad.hi.cc", t, with_carry<T, chain::mad_hi, false, true>);
    out.add("madc.hi", t, with_carry<T, chain::mad_hi, true, false>);
    out.add("madc.hi.cc", t, with_carry<T, chain::mad_hi, true, true>);
}

} // namespace

void list_integers(handler_sink &out)
{
    binaries<add, u16, s16, u32, s32, u64, s64>(out, "add");
    binaries<sub, u16, s16, u32, s32, u64, s64>(out, "sub");
    binaries<mul_lo, u16, s16, u32, s32, u64, s64>(out, "mul.lo");
    binaries<mul_hi, u16, s16, u32, s32, u64, s64>(out, "mul.hi");
    ternaries<mad_lo, u16, s16, u32, s32, u64, s64>(out, "mad.lo");
    ternaries<mad_hi, u16, s16, u32, s32, u64, s64>(out, "mad.hi");
    out.add("mul.wide", "u16", multiply_wide<u16, false>);
    out.add("mul.wide", "s16", multiply_wide<s16, false>);
    out.add("mul.wide", "u32", multiply_wide<u32, false>);
    out.add("mul.wide", "s32", multiply_wide<s32, false>);
    out.add("mad.wide", "u16", multiply_wide<u16, true>);
    out.add("mad.wide", "s16", multiply_wide<s16, true>);
    out.add("mad.wide", "u32", multiply_wide<u32, true>);
    out.add("mad.wide", "s32", multiply_wide<s32, true>);
    binaries<mul24_lo, u32, s32>(out, "mul24.lo");
    binaries<mul24_hi, u32, s32>(out, "mul24.hi");
    ternaries<mad24_lo, u32, s32>(out, "mad24.lo");
    ternaries<sad, u16, s16, u32, s32, u64, s64>(out, "sad");
    divisions<quotient, u16, s16, u32, s32, u64, s64>(out, "div");
    divisions<remainder, u16, s16, u32, s32, u64, s64>(out, "rem");
    binaries<least, u16, s16, u32, s32, u64, s64>(out, "min");
    binaries<most, u16, s16, u32, s32, u64, s64>(out, "max");
    unaries<absolute, s16, s32, s64>(out, "abs");
    unaries<negative, s16, s32, s64>(out, "neg");
    carries<u32>(out);
    carries<s32>(out);
    carries<u64>(out);
    carries<s64>(out);
    dot2_rows<false>(out, "dp2a.lo");
    dot2_rows<true>(out, "dp2a.hi");
    out.add_pair("dp4a", "u32", "u32", dot4<u8, u8>);
    out.add_pair("dp4a", "u32", "s32", dot4<u8, s8>);
    out.add_pair("dp4a", "s32", "u32", dot4<s8, u8>);
    out.add_pair("dp4a", "s32", "s32", dot4<s8, s8>);
    absolute_differences<u8>(out, "u32");
    absolute_differences<s8>(out, "s32");
}

} // namespace simulator::core::SIMULATOR_LEVEL
