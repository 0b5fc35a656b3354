// Runs integer arithmetic: sums, products, quotients, carry chains, and dot products of bytes.
#include "lane_operations.hpp"

namespace simulator::core::SIMULATOR_LEVEL {

// The type of a product; declared only.
u32 product_of(u16);
s32 product_of(s16);
u64 product_of(u32);
s64 product_of(s32);
unsigned __int128 product_of(u64);
__int128 product_of(s64);

namespace {

template <auto op, class T> void binary_each(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    auto d = lanes_of<storage<T>>(c, i.d);
    active(mask, [=](int l) { d[l] = bits_of<T>(op(value_of<T>(a[l]), value_of<T>(b[l]))); });
}

template <class T> using doubled = decltype(product_of(T{}));
template <class T> using bare = std::make_unsigned_t<T>;

template <class T, bool accumulate>
void multiply_wide(context &c, const instruction &i, lane_mask mask)
{
    using W = doubled<T>;
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    auto e = accumulate ? lanes_of<storage<W>>(c, i.c) : nullptr;
    every(lanes_of<storage<W>>(c, i.d), mask, [=](int l) {
        auto r = static_cast<storage<W>>(static_cast<W>(value_of<T>(a[l])) *
                                         static_cast<W>(value_of<T>(b[l])));
        if constexpr (accumulate) r += e[l];
        return r;
    });
}

constexpr auto add = []<class T>(T a, T b) { return static_cast<T>(bare<T>(a) + bare<T>(b)); };
constexpr auto sub = []<class T>(T a, T b) { return static_cast<T>(bare<T>(a) - bare<T>(b)); };
constexpr auto mul_lo = []<class T>(T a, T b) {
    if constexpr (sizeof(T) == 2)
        return static_cast<T>(u32(bare<T>(a)) * u32(bare<T>(b)));
    else
        return static_cast<T>(bare<T>(a) * bare<T>(b));
};
constexpr auto mul_hi = []<class T>(T a, T b) {
    return static_cast<T>((doubled<T>{a} * doubled<T>{b}) >> (8 * sizeof(T)));
};
constexpr auto mad_lo = [](auto a, auto b, auto c) { return add(mul_lo(a, b), c); };
constexpr auto mad_hi = [](auto a, auto b, auto c) { return add(mul_hi(a, b), c); };
template <class T> inline T low24(T a)
{
    return is_signed<T> ? static_cast<T>(static_cast<s32>(static_cast<u32>(a) << 8) >> 8)
                        : static_cast<T>(a & 0xffffff);
}
constexpr auto mul24_lo = [](auto a, auto b) { return mul_lo(low24(a), low24(b)); };
constexpr auto mul24_hi = []<class T>(T a, T b) {
    return static_cast<T>((doubled<T>{low24(a)} * low24(b)) >> 16);
};
constexpr auto mad24_lo = [](auto a, auto b, auto c) { return add(mul24_lo(a, b), c); };
constexpr auto sad = [](auto a, auto b, auto c) { return add(c, a < b ? sub(b, a) : sub(a, b)); };
constexpr auto quotient = []<class T>(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (is_signed<T>) {
        if (b == T(-1)) return sub(T(0), a);
    }
    return static_cast<T>(a / b);
};
constexpr auto remainder = []<class T>(T a, T b) {
    if (b == 0) return a;
    if constexpr (is_signed<T>) {
        if (b == T(-1)) return T(0);
    }
    return static_cast<T>(a % b);
};
constexpr auto minimum = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto maximum = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto negate = []<class T>(T a) { return sub(T(0), a); };
constexpr auto absolute = [](auto a) { return a < 0 ? negate(a) : a; };

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
    out.add(op, "u32", "u32", dot2<u16, u8, high>);
    out.add(op, "u32", "s32", dot2<u16, s8, high>);
    out.add(op, "s32", "u32", dot2<s16, u8, high>);
    out.add(op, "s32", "s32", dot2<s16, s8, high>);
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
    out.add("vabsdiff4.u32", type, type, absolute_difference4<T, false>);
    out.add("vabsdiff4.u32", type, type, "add", absolute_difference4<T, true>);
}

// Carry chains. The carry flag CC.CF is a predicate at i.extra, one bit per lane. As in SASS, a
// subtraction is a + ~b + 1 and its carry is the opposite of the borrow of PTX: sub.cc followed by
// addc adds one if nothing was borrowed.
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
                                   ? mul_lo(value_of<T>(a[l]), value_of<T>(b[l]))
                                   : mul_hi(value_of<T>(a[l]), value_of<T>(b[l])));
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

template <class... T> void arithmetic(handler_sink &out)
{
    (out.add("add", type_name<T>, binary<add, T>), ...);
    (out.add("sub", type_name<T>, binary<sub, T>), ...);
    (out.add("mul.lo", type_name<T>, binary<mul_lo, T>), ...);
    (out.add("mul.hi", type_name<T>, binary<mul_hi, T>), ...);
    (out.add("mad.lo", type_name<T>, ternary<mad_lo, T>), ...);
    (out.add("mad.hi", type_name<T>, ternary<mad_hi, T>), ...);
    (out.add("sad", type_name<T>, ternary<sad, T>), ...);
    (out.add("div", type_name<T>, binary_each<quotient, T>), ...);
    (out.add("rem", type_name<T>, binary_each<remainder, T>), ...);
    (out.add("min", type_name<T>, binary<minimum, T>), ...);
    (out.add("max", type_name<T>, binary<maximum, T>), ...);
}
template <class... T> void sign_operations(handler_sink &out)
{
    (out.add("abs", type_name<T>, unary<absolute, T>), ...);
    (out.add("neg", type_name<T>, unary<negate, T>), ...);
}
template <class... T> void wide_products(handler_sink &out)
{
    (out.add("mul.wide", type_name<T>, multiply_wide<T, false>), ...);
    (out.add("mad.wide", type_name<T>, multiply_wide<T, true>), ...);
}
template <class... T> void products24(handler_sink &out)
{
    (out.add("mul24.lo", type_name<T>, binary<mul24_lo, T>), ...);
    (out.add("mul24.hi", type_name<T>, binary<mul24_hi, T>), ...);
    (out.add("mad24.lo", type_name<T>, ternary<mad24_lo, T>), ...);
}

template <class T> void carries(handler_sink &out)
{
    const char *t = type_name<T>;
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
    arithmetic<u16, s16, u32, s32, u64, s64>(out);
    sign_operations<s16, s32, s64>(out);
    wide_products<u16, s16, u32, s32>(out);
    products24<u32, s32>(out);
    carries<u32>(out);
    carries<s32>(out);
    carries<u64>(out);
    carries<s64>(out);
    dot2_rows<false>(out, "dp2a.lo");
    dot2_rows<true>(out, "dp2a.hi");
    out.add("dp4a", "u32", "u32", dot4<u8, u8>);
    out.add("dp4a", "u32", "s32", dot4<u8, s8>);
    out.add("dp4a", "s32", "u32", dot4<s8, u8>);
    out.add("dp4a", "s32", "s32", dot4<s8, s8>);
    absolute_differences<u8>(out, "u32");
    absolute_differences<s8>(out, "s32");
}

} // namespace simulator::core::SIMULATOR_LEVEL
