// Arithmetic, logic, comparison and conversion: one handler for each PTX opcode and type.
//
// Compiled once for each instruction set (SIMULATOR_LEVEL names it), without contraction of a * b
// + c. Floating point follows IEEE where PTX does; the approximate forms are computed accurately.
#include "handler_table.hpp"
#include "values.hpp"

#include <cfenv>
#include <cmath>
#include <cstring>

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

template <class Op, class T> void unary(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return bits_of<T>(Op::of(value_of<T>(a[l]))); });
}

template <class Op, class T> void binary(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return bits_of<T>(Op::of(value_of<T>(a[l]), value_of<T>(b[l]))); });
}

template <class Op, class T> void ternary(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b),
         e = lanes_of<storage<T>>(c, i.c);
    every(lanes_of<storage<T>>(c, i.d), mask, [=](int l) {
        return bits_of<T>(Op::of(value_of<T>(a[l]), value_of<T>(b[l]), value_of<T>(e[l])));
    });
}

// Costly operations run for active lanes only.
template <class Op, class T> void unary_each(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    auto d = lanes_of<storage<T>>(c, i.d);
    active(mask, [=](int l) { d[l] = bits_of<T>(Op::of(value_of<T>(a[l]))); });
}

template <class Op, class T> void binary_each(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    auto d = lanes_of<storage<T>>(c, i.d);
    active(mask, [=](int l) { d[l] = bits_of<T>(Op::of(value_of<T>(a[l]), value_of<T>(b[l]))); });
}

template <class Op, class T> void shift(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    auto b = lanes_of<u32>(c, i.b);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return bits_of<T>(Op::of(value_of<T>(a[l]), b[l])); });
}

// The result has 32 bits, whatever the operand's size is.
template <class Op, class T> void to_u32(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    auto d = lanes_of<u32>(c, i.d);
    active(mask, [=](int l) { d[l] = Op::of(value_of<T>(a[l])); });
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

template <class T> struct unsigned_of {
    using type = T;
};
template <> struct unsigned_of<s16> {
    using type = u16;
};
template <> struct unsigned_of<s32> {
    using type = u32;
};
template <> struct unsigned_of<s64> {
    using type = u64;
};
template <class T> using bare = typename unsigned_of<T>::type;

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
struct logic_and {
    template <class T> static T of(T a, T b) { return a & b; }
};
struct logic_or {
    template <class T> static T of(T a, T b) { return a | b; }
};
struct logic_xor {
    template <class T> static T of(T a, T b) { return a ^ b; }
};
struct logic_not {
    template <class T> static T of(T a) { return static_cast<T>(~a); }
};
struct logic_cnot {
    template <class T> static T of(T a) { return a == 0; }
};
struct same_value {
    template <class T> static T of(T a) { return a; }
};
struct shift_left {
    template <class T> static T of(T a, u32 n)
    {
        return n >= 8 * sizeof(T) ? T(0) : static_cast<T>(a << (n & (8 * sizeof(T) - 1)));
    }
};
struct shift_right {
    template <class T> static T of(T a, u32 n)
    {
        constexpr u32 bits = 8 * sizeof(T);
        if constexpr (is_signed<T>)
            return static_cast<T>(a >> (n >= bits ? bits - 1 : n));
        else
            return n >= bits ? T(0) : static_cast<T>(a >> (n & (bits - 1)));
    }
};
struct population {
    template <class T> static u32 of(T a) { return static_cast<u32>(__builtin_popcountll(a)); }
};
struct leading_zeros {
    template <class T> static u32 of(T a)
    {
        return a == 0 ? 8 * sizeof(T) : static_cast<u32>(__builtin_clzll(a)) - (64 - 8 * sizeof(T));
    }
};
struct top_bit { // position of the most significant bit that is no sign bit; all ones: none
    template <class T> static u32 of(T a)
    {
        bare<T> v = static_cast<bare<T>>(a < 0 ? ~a : a);
        return v == 0 ? ~0u : 63 - static_cast<u32>(__builtin_clzll(v));
    }
};
struct top_bit_shift {
    template <class T> static u32 of(T a)
    {
        u32 p = top_bit::of(a);
        return p == ~0u ? p : static_cast<u32>(8 * sizeof(T) - 1) - p;
    }
};
struct reversed_bits {
    template <class T> static T of(T a)
    {
        T r = 0;
        for (u32 k = 0; k < 8 * sizeof(T); ++k) r |= (a >> k & 1) << (8 * sizeof(T) - 1 - k);
        return r;
    }
};

// A signed field is extended by its top bit, or by the operand's if the field reaches beyond it.
template <class T> void bit_field_extract(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    auto b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c);
    auto d = lanes_of<storage<T>>(c, i.d);
    constexpr u32 bits = 8 * sizeof(T);
    active(mask, [=](int l) {
        u32 position = b[l] & 255, length = e[l] & 255, top = position + length - 1;
        T v = value_of<T>(a[l]);
        u64 keep = length >= 64 ? ~u64{0} : (u64{1} << length) - 1, field;
        if constexpr (is_signed<T>) {
            s64 wide = v;
            bool sign = length != 0 && (wide >> (top < bits ? top : bits - 1) & 1) != 0;
            field = (static_cast<u64>(wide >> (position < 63 ? position : 63)) & keep) |
                    (sign ? ~keep : 0);
        } else {
            field = position >= bits ? 0 : v >> position & keep;
        }
        d[l] = static_cast<storage<T>>(field);
    });
}

// bfi d, a, b, position, length: the last two are passed as a list.
template <class T> void bit_field_insert(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<T>(c, i.a), b = lanes_of<T>(c, i.b), d = lanes_of<T>(c, i.d);
    auto p = lanes_of<u32>(c, i.c), n = lanes_of<u32>(c, i.extra);
    constexpr u32 bits = 8 * sizeof(T);
    active(mask, [=](int l) {
        u32 position = p[l] & 255, length = n[l] & 255;
        T keep = length >= bits ? ~T{0} : (T{1} << length) - 1;
        if (position >= bits)
            keep = 0;
        else
            keep <<= position;
        d[l] = (b[l] & ~keep) | ((position < bits ? a[l] << position : 0) & keep);
    });
}

template <bool clamp> void bit_mask(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), d = lanes_of<u32>(c, i.d);
    active(mask, [=](int l) {
        u32 position = clamp ? a[l] : a[l] & 31, length = clamp ? b[l] : b[l] & 31;
        u64 field = length >= 32 ? 0xffffffffu : (u64{1} << length) - 1;
        d[l] = position >= 32 ? 0 : static_cast<u32>(field << position);
    });
}

template <bool left, bool clamp> void funnel(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c);
    every(lanes_of<u32>(c, i.d), mask, [=](int l) {
        u64 v = u64{b[l]} << 32 | a[l];
        u32 n = clamp ? (e[l] > 32 ? 32 : e[l]) : e[l] & 31;
        return static_cast<u32>(left ? (v << n) >> 32 : v >> n);
    });
}

void logic3(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c);
    u32 term[8];
    for (int k = 0; k < 8; ++k) term[k] = (i.extra >> k & 1) != 0 ? ~0u : 0u;
    every(lanes_of<u32>(c, i.d), mask, [=](int l) {
        u32 x = a[l], y = b[l], z = e[l];
        return (term[0] & ~x & ~y & ~z) | (term[1] & ~x & ~y & z) | (term[2] & ~x & y & ~z) |
               (term[3] & ~x & y & z) | (term[4] & x & ~y & ~z) | (term[5] & x & ~y & z) |
               (term[6] & x & y & ~z) | (term[7] & x & y & z);
    });
}

enum byte_mode : u32 {
    by_index,
    forward4,
    backward4,
    replicate8,
    edge_left,
    edge_right,
    replicate16
};
void permute_bytes(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c),
         d = lanes_of<u32>(c, i.d);
    u32 mode = i.extra;
    active(mask, [=](int l) {
        u64 v = u64{b[l]} << 32 | a[l];
        u32 r = 0, s = e[l] & 3;
        for (u32 k = 0; k < 4; ++k) {
            u32 pick = 0;
            switch (mode) {
            case by_index:
                pick = e[l] >> (4 * k) & 15;
                break;
            case forward4:
                pick = s + k;
                break;
            case backward4:
                pick = (s - k) & 7;
                break;
            case replicate8:
                pick = s;
                break;
            case edge_left:
                pick = k < s ? s : k;
                break;
            case edge_right:
                pick = k < s ? k : s;
                break;
            default:
                pick = (s & 1) * 2 + (k & 1);
                break;
            }
            u32 byte = static_cast<u32>(v >> (8 * (pick & 7))) & 255;
            if ((pick & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
            r |= byte << (8 * k);
        }
        d[l] = r;
    });
}

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

// Position of the n-th set bit, from `base` upwards, or downwards if n is negative.
void nth_set_bit(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b), e = lanes_of<u32>(c, i.c);
    auto d = lanes_of<u32>(c, i.d);
    active(mask, [=](int l) {
        s64 n = static_cast<s32>(e[l]), left = n < 0 ? -n : n, at = b[l];
        if (n == 0) left = 1;
        d[l] = ~0u;
        for (; at >= 0 && at < 32; at += n < 0 ? -1 : 1) {
            if ((a[l] >> at & 1) != 0 && --left == 0) {
                d[l] = static_cast<u32>(at);
                break;
            }
            if (n == 0) break;
        }
    });
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

enum class rounding { nearest, zero, down, up };
constexpr int round_flag(rounding r)
{
    return r == rounding::zero ? FE_TOWARDZERO : r == rounding::down ? FE_DOWNWARD : FE_UPWARD;
}

class rounding_scope {
public:
    explicit rounding_scope(int mode) { std::fesetround(mode); }
    ~rounding_scope() { std::fesetround(FE_TONEAREST); }
    rounding_scope(const rounding_scope &) = delete;
    rounding_scope &operator=(const rounding_scope &) = delete;
};

template <class T> inline T saturated(T v) { return v > T(0) ? (v < T(1) ? v : T(1)) : T(0); }

template <bool ftz, bool sat, class T> inline T finish(T v)
{
    v = canonical(flush_if<ftz>(v));
    if constexpr (sat) v = saturated(v);
    return v;
}

struct float_add {
    template <class T> static T of(T a, T b) { return a + b; }
};
struct float_sub {
    template <class T> static T of(T a, T b) { return a - b; }
};
struct float_mul {
    template <class T> static T of(T a, T b) { return a * b; }
};
struct float_div {
    template <class T> static T of(T a, T b) { return a / b; }
};
struct float_fma {
    static float of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
    static double of(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct float_min {
    template <class T> static T of(T a, T b)
    {
        T m = a < b ? a : b; // b when either is NaN
        m = a == b ? value_of<T>(bits_of(a) | bits_of(b)) : m;
        return b != b ? a : m;
    }
};
struct float_max {
    template <class T> static T of(T a, T b)
    {
        T m = a > b ? a : b;
        m = a == b ? value_of<T>(bits_of(a) & bits_of(b)) : m;
        return b != b ? a : m;
    }
};
struct float_min_nan {
    template <class T> static T of(T a, T b)
    {
        return a != a || b != b ? a + b : float_min::of(a, b);
    }
};
struct float_max_nan {
    template <class T> static T of(T a, T b)
    {
        return a != a || b != b ? a + b : float_max::of(a, b);
    }
};
struct float_sqrt {
    static float of(float a) { return __builtin_sqrtf(a); }
    static double of(double a) { return __builtin_sqrt(a); }
};
struct float_rcp {
    template <class T> static T of(T a) { return T(1) / a; }
};
struct float_rsqrt {
    static float of(float a)
    {
        return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a)));
    }
    static double of(double a) { return 1.0 / __builtin_sqrt(a); }
};
struct float_sin {
    static float of(float a) { return std::sin(a); }
};
struct float_cos {
    static float of(float a) { return std::cos(a); }
};
struct float_ex2 {
    static float of(float a) { return std::exp2(a); }
};
struct float_lg2 {
    static float of(float a) { return std::log2(a); }
};
struct float_tanh {
    static float of(float a) { return std::tanh(a); }
};
struct float_abs {
    template <class T> static T of(T a)
    {
        return value_of<T>(bits_of(a) & ~(storage<T>{1} << (8 * sizeof(T) - 1)));
    }
};
struct float_neg {
    template <class T> static T of(T a)
    {
        return value_of<T>(bits_of(a) ^ (storage<T>{1} << (8 * sizeof(T) - 1)));
    }
};
struct copy_sign { // of a to b
    template <class T> static T of(T a, T b)
    {
        constexpr auto sign = storage<T>{1} << (8 * sizeof(T) - 1);
        return value_of<T>((bits_of(b) & ~sign) | (bits_of(a) & sign));
    }
};

// NaNs keep their bits in sign operations.
template <class Op, class T, bool ftz>
void float_sign(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return bits_of<T>(Op::of(flush_if<ftz>(value_of<T>(a[l])))); });
}

template <class Op, class T, bool ftz, bool sat>
inline void float_loop2(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    every(lanes_of<storage<T>>(c, i.d), mask, [=](int l) {
        return bits_of<T>(finish<ftz, sat>(
            Op::of(flush_if<ftz>(value_of<T>(a[l])), flush_if<ftz>(value_of<T>(b[l])))));
    });
}

template <class Op, class T, bool ftz, bool sat>
inline void float_loop3(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b),
         e = lanes_of<storage<T>>(c, i.c);
    every(lanes_of<storage<T>>(c, i.d), mask, [=](int l) {
        return bits_of<T>(finish<ftz, sat>(Op::of(flush_if<ftz>(value_of<T>(a[l])),
                                                  flush_if<ftz>(value_of<T>(b[l])),
                                                  flush_if<ftz>(value_of<T>(e[l])))));
    });
}

template <class Op, class T, rounding r, bool ftz, bool sat>
void float_binary(context &c, const instruction &i, lane_mask mask)
{
    if constexpr (r == rounding::nearest) {
        float_loop2<Op, T, ftz, sat>(c, i, mask);
    } else {
        rounding_scope scope(round_flag(r));
        float_loop2<Op, T, ftz, sat>(c, i, mask);
    }
}

template <class Op, class T, rounding r, bool ftz, bool sat>
void float_ternary(context &c, const instruction &i, lane_mask mask)
{
    if constexpr (r == rounding::nearest) {
        float_loop3<Op, T, ftz, sat>(c, i, mask);
    } else {
        rounding_scope scope(round_flag(r));
        float_loop3<Op, T, ftz, sat>(c, i, mask);
    }
}

template <class Op, class T, rounding r, bool ftz>
void float_unary(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    auto f = [=](int l) {
        return bits_of<T>(finish<ftz, false>(Op::of(flush_if<ftz>(value_of<T>(a[l])))));
    };
    if constexpr (r == rounding::nearest) {
        every(lanes_of<storage<T>>(c, i.d), mask, f);
    } else {
        rounding_scope scope(round_flag(r));
        every(lanes_of<storage<T>>(c, i.d), mask, f);
    }
}

// Library functions run for active lanes only.
template <class Op, bool ftz> void float_function(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), d = lanes_of<u32>(c, i.d);
    active(mask, [=](int l) {
        d[l] = bits_of(finish<ftz, false>(Op::of(flush_if<ftz>(value_of<float>(a[l])))));
    });
}

enum class number_test { finite, infinite, number, not_a_number, normal, subnormal };
template <class T, number_test t> void test_number(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    lane_mask r = 0;
    active(mask, [&](int l) {
        T v = value_of<T>(a[l]);
        int kind = std::fpclassify(v);
        bool is = t == number_test::finite         ? kind != FP_NAN && kind != FP_INFINITE
                  : t == number_test::infinite     ? kind == FP_INFINITE
                  : t == number_test::number       ? kind != FP_NAN
                  : t == number_test::not_a_number ? kind == FP_NAN
                  : t == number_test::normal       ? kind == FP_NORMAL
                                                   : kind == FP_SUBNORMAL;
        r |= is ? bit_of[l] : 0;
    });
    set_predicate(c, i.d, mask, r);
}

struct eq {
    template <class T> static bool of(T a, T b) { return a == b; }
};
struct ne {
    template <class T> static bool of(T a, T b) { return (a < b) | (a > b); }
};
struct lt {
    template <class T> static bool of(T a, T b) { return a < b; }
};
struct le {
    template <class T> static bool of(T a, T b) { return a <= b; }
};
struct gt {
    template <class T> static bool of(T a, T b) { return a > b; }
};
struct ge {
    template <class T> static bool of(T a, T b) { return a >= b; }
};
struct equ {
    template <class T> static bool of(T a, T b) { return !ne::of(a, b); }
};
struct neu {
    template <class T> static bool of(T a, T b) { return !(a == b); }
};
struct ltu {
    template <class T> static bool of(T a, T b) { return !(a >= b); }
};
struct leu {
    template <class T> static bool of(T a, T b) { return !(a > b); }
};
struct gtu {
    template <class T> static bool of(T a, T b) { return !(a <= b); }
};
struct geu {
    template <class T> static bool of(T a, T b) { return !(a < b); }
};
struct num {
    template <class T> static bool of(T a, T b) { return (a == a) & (b == b); }
};
struct not_num {
    template <class T> static bool of(T a, T b) { return (a != a) | (b != b); }
};

template <class Op, class T> inline lane_mask compared(context &c, const instruction &i)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    bool ftz = is_same<T, float> && (i.extra & combine_ftz) != 0;
    if (ftz) {
        return where([=](int l) {
            auto x = wide_value(value_of<T>(a[l])), y = wide_value(value_of<T>(b[l]));
            if constexpr (is_same<T, float>)
                return Op::of(flushed(x), flushed(y));
            else
                return Op::of(x, y);
        });
    }
    return where([=](int l) {
        return Op::of(wide_value(value_of<T>(a[l])), wide_value(value_of<T>(b[l])));
    });
}

inline lane_mask combined(context &c, const instruction &i, lane_mask v)
{
    if ((i.extra & combine_mask) == combine_none) return v;
    lane_mask p = predicate(c, i.c) ^ ((i.flags & negate_c) != 0 ? all_lanes : 0);
    u32 how = i.extra & combine_mask;
    return how == combine_and ? v & p : how == combine_or ? v | p : v ^ p;
}

// setp d|q: q, if present, is the register in i.offset.
template <class Op, class T> void set_compare(context &c, const instruction &i, lane_mask mask)
{
    lane_mask v = compared<Op, T>(c, i);
    if (i.extra == 0) {
        lane_mask &p = predicate(c, i.d);
        p = (p & ~mask) | (v & mask);
        return;
    }
    lane_mask first = combined(c, i, v), second = combined(c, i, ~v);
    set_predicate(c, i.d, mask, first);
    if ((i.extra & combine_second) != 0)
        set_predicate(c, static_cast<operand>(i.offset), mask, second);
}

template <class Op, class T, bool to_float>
void set_value(context &c, const instruction &i, lane_mask mask)
{
    lane_mask v = combined(c, i, compared<Op, T>(c, i));
    u32 yes = to_float ? 0x3f800000u : ~0u;
    every(lanes_of<u32>(c, i.d), mask, [=](int l) { return (v & bit_of[l]) != 0 ? yes : 0; });
}

template <class T> void select(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    lane_mask p = predicate(c, i.c) ^ ((i.flags & negate_c) != 0 ? all_lanes : 0);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return (p & bit_of[l]) != 0 ? a[l] : b[l]; });
}

template <class T, class By> void select_by_sign(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    auto e = lanes_of<u32>(c, i.c);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return value_of<By>(e[l]) >= By(0) ? a[l] : b[l]; });
}

template <class Op> void predicate_operation(context &c, const instruction &i, lane_mask mask)
{
    lane_mask a = predicate(c, i.a) ^ ((i.flags & negate_a) != 0 ? all_lanes : 0);
    lane_mask b =
        i.b == no_operand ? 0 : predicate(c, i.b) ^ ((i.flags & negate_b) != 0 ? all_lanes : 0);
    set_predicate(c, i.d, mask, Op::of(a, b));
}
struct first_of {
    static lane_mask of(lane_mask a, lane_mask) { return a; }
};
struct not_first {
    static lane_mask of(lane_mask a, lane_mask) { return ~a; }
};

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

template <class D> constexpr D largest = is_signed<D>
                                             ? static_cast<D>(~(u64{1} << (8 * sizeof(D) - 1)) &
                                                              (~u64{0} >> (64 - 8 * sizeof(D))))
                                             : static_cast<D>(-1);
template <class D>
constexpr D smallest = is_signed<D> ? static_cast<D>(u64{1} << (8 * sizeof(D) - 1)) : D(0);

// Clamps. NaN becomes 0 up to 32 bits, and beyond that the bit pattern with only the sign set, as
// on hardware.
template <class D, class S> inline D float_to_integer(S v)
{
    constexpr S high = static_cast<S>(largest<D>), low = static_cast<S>(smallest<D>);
    D nan = sizeof(D) == 8 ? static_cast<D>(u64{1} << 63) : D(0);
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
    if constexpr (is_same<D, half>) {
        double w = static_cast<double>(wide_value(v));
        if constexpr (is_same<S, half>) w = rounded(w, mode);
        if (saturate) w = saturated(w);
        return narrow(w,
                      is_same<S, half> || mode == 0 ? 0 : static_cast<int>(mode - convert_nearest));
    } else if constexpr (is_float<D> && is_float<S>) {
        D r = static_cast<D>(wide_value(v));
        if constexpr (is_same<D, S>) r = rounded(r, mode);
        return canonical(saturate ? saturated(r) : r);
    } else if constexpr (is_float<D>) {
        D r = static_cast<D>(v);
        return saturate ? saturated(r) : r;
    } else if constexpr (is_float<S>) {
        return float_to_integer<D>(rounded(wide_value(v), mode));
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
    auto get = [=](int l) {
        auto v = value_of<S>(a[l]);
        if constexpr (is_same<S, float>)
            return ftz ? flushed(v) : v;
        else
            return v;
    };
    constexpr bool simple = !is_same<D, half> && !is_same<S, half>;
    if constexpr (simple && is_float<S> && !is_float<D>) {
        if (mode == convert_zero && !ftz) {
            every(d, mask, [=](int l) {
                return bits_of<D>(float_to_integer<D>(__builtin_trunc(value_of<S>(a[l]))));
            });
            return;
        }
    } else if constexpr (simple) {
        bool plain = mode == convert_exact || (mode == convert_nearest && !is_same<D, S>);
        if (plain && !saturate && !ftz) {
            every(d, mask, [=](int l) {
                return bits_of<D>(convert_value<D, S>(value_of<S>(a[l]), 0, false));
            });
            return;
        }
    }
    auto each = [=] {
        active(mask, [=](int l) {
            D r = convert_value<D, S>(get(l), mode, saturate);
            if constexpr (is_same<D, float>) r = ftz ? flushed(r) : r;
            d[l] = bits_of<D>(r);
        });
    };
    bool directed = mode > convert_nearest && is_float<D> && !is_same<D, half> && !is_same<D, S>;
    if (!directed) return each();
    rounding_scope scope(mode == convert_zero   ? FE_TOWARDZERO
                         : mode == convert_down ? FE_DOWNWARD
                                                : FE_UPWARD);
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
template <class Op> void logic(handler_sink &out, const char *op)
{
    out.add(op, "b16", binary<Op, u16>);
    out.add(op, "b32", binary<Op, u32>);
    out.add(op, "b64", binary<Op, u64>);
}

template <class Op, bool ftz, bool sat>
void float2_row(handler_sink &out, const char *op, const char *tail)
{
    out.add_rounded(op, "", tail, float_binary<Op, float, rounding::nearest, ftz, sat>);
    out.add_rounded(op, ".rn", tail, float_binary<Op, float, rounding::nearest, ftz, sat>);
    out.add_rounded(op, ".rz", tail, float_binary<Op, float, rounding::zero, ftz, sat>);
    out.add_rounded(op, ".rm", tail, float_binary<Op, float, rounding::down, ftz, sat>);
    out.add_rounded(op, ".rp", tail, float_binary<Op, float, rounding::up, ftz, sat>);
}
template <class Op> void float2(handler_sink &out, const char *op)
{
    float2_row<Op, false, false>(out, op, ".f32");
    float2_row<Op, true, false>(out, op, ".ftz.f32");
    float2_row<Op, false, true>(out, op, ".sat.f32");
    float2_row<Op, true, true>(out, op, ".ftz.sat.f32");
    out.add_rounded(op, "", ".f64", float_binary<Op, double, rounding::nearest, false, false>);
    out.add_rounded(op, ".rn", ".f64", float_binary<Op, double, rounding::nearest, false, false>);
    out.add_rounded(op, ".rz", ".f64", float_binary<Op, double, rounding::zero, false, false>);
    out.add_rounded(op, ".rm", ".f64", float_binary<Op, double, rounding::down, false, false>);
    out.add_rounded(op, ".rp", ".f64", float_binary<Op, double, rounding::up, false, false>);
}
template <class Op, bool ftz, bool sat>
void float3_row(handler_sink &out, const char *op, const char *tail)
{
    out.add_rounded(op, ".rn", tail, float_ternary<Op, float, rounding::nearest, ftz, sat>);
    out.add_rounded(op, ".rz", tail, float_ternary<Op, float, rounding::zero, ftz, sat>);
    out.add_rounded(op, ".rm", tail, float_ternary<Op, float, rounding::down, ftz, sat>);
    out.add_rounded(op, ".rp", tail, float_ternary<Op, float, rounding::up, ftz, sat>);
}
template <class Op> void float3(handler_sink &out, const char *op)
{
    float3_row<Op, false, false>(out, op, ".f32");
    float3_row<Op, true, false>(out, op, ".ftz.f32");
    float3_row<Op, false, true>(out, op, ".sat.f32");
    float3_row<Op, true, true>(out, op, ".ftz.sat.f32");
    out.add_rounded(op, ".rn", ".f64", float_ternary<Op, double, rounding::nearest, false, false>);
    out.add_rounded(op, ".rz", ".f64", float_ternary<Op, double, rounding::zero, false, false>);
    out.add_rounded(op, ".rm", ".f64", float_ternary<Op, double, rounding::down, false, false>);
    out.add_rounded(op, ".rp", ".f64", float_ternary<Op, double, rounding::up, false, false>);
}
template <class Op> void float1(handler_sink &out, const char *op)
{
    out.add_rounded(op, ".rn", ".f32", float_unary<Op, float, rounding::nearest, false>);
    out.add_rounded(op, ".rz", ".f32", float_unary<Op, float, rounding::zero, false>);
    out.add_rounded(op, ".rm", ".f32", float_unary<Op, float, rounding::down, false>);
    out.add_rounded(op, ".rp", ".f32", float_unary<Op, float, rounding::up, false>);
    out.add_rounded(op, ".rn", ".ftz.f32", float_unary<Op, float, rounding::nearest, true>);
    out.add_rounded(op, ".rz", ".ftz.f32", float_unary<Op, float, rounding::zero, true>);
    out.add_rounded(op, ".rm", ".ftz.f32", float_unary<Op, float, rounding::down, true>);
    out.add_rounded(op, ".rp", ".ftz.f32", float_unary<Op, float, rounding::up, true>);
    out.add_rounded(op, ".approx", ".f32", float_unary<Op, float, rounding::nearest, false>);
    out.add_rounded(op, ".approx", ".ftz.f32", float_unary<Op, float, rounding::nearest, true>);
    out.add_rounded(op, ".rn", ".f64", float_unary<Op, double, rounding::nearest, false>);
    out.add_rounded(op, ".rz", ".f64", float_unary<Op, double, rounding::zero, false>);
    out.add_rounded(op, ".rm", ".f64", float_unary<Op, double, rounding::down, false>);
    out.add_rounded(op, ".rp", ".f64", float_unary<Op, double, rounding::up, false>);
    out.add_rounded(op, ".approx.ftz", ".f64", float_unary<Op, double, rounding::nearest, false>);
}
template <class Op> void function1(handler_sink &out, const char *op)
{
    out.add_rounded(op, ".approx", ".f32", float_function<Op, false>);
    out.add_rounded(op, ".approx", ".ftz.f32", float_function<Op, true>);
}
template <class Op> void extreme(handler_sink &out, const char *op, const char *modifier)
{
    out.add_rounded(op, modifier, ".f32", float_binary<Op, float, rounding::nearest, false, false>);
    out.add_rounded(op, modifier, ".f64",
                    float_binary<Op, double, rounding::nearest, false, false>);
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

template <class Op, class... T> void compare_row(handler_sink &out, const char *op)
{
    (out.add_pair("setp", op, named<T>::u, set_compare<Op, T>), ...);
    (out.add_pair("set", op, "u32", named<T>::u, set_value<Op, T, false>), ...);
    (out.add_pair("set", op, "s32", named<T>::u, set_value<Op, T, false>), ...);
    (out.add_pair("set", op, "f32", named<T>::u, set_value<Op, T, true>), ...);
}
template <class Op> void compare(handler_sink &out, const char *op)
{
    compare_row<Op, u16, s16, u32, s32, u64, s64, float, double>(out, op);
}
template <class Op> void compare_bits(handler_sink &out, const char *op)
{
    out.add_pair("setp", op, "b16", set_compare<Op, u16>);
    out.add_pair("setp", op, "b32", set_compare<Op, u32>);
    out.add_pair("setp", op, "b64", set_compare<Op, u64>);
}
template <class Op> void compare_unsigned(handler_sink &out, const char *op)
{
    compare_row<Op, u16, u32, u64>(out, op);
}
template <class Op> void compare_floats(handler_sink &out, const char *op)
{
    compare_row<Op, float, double>(out, op);
}

template <class D, class... S> void conversions_to(handler_sink &out)
{
    (out.add_pair("cvt", named<D>::u, named<S>::u, convert<D, S>), ...);
}
template <class... D> void conversions(handler_sink &out)
{
    (conversions_to<D, u8, s8, u16, s16, u32, s32, u64, s64, half, float, double>(out), ...);
}

template <class T, class... Name> void moves(handler_sink &out, Name... names)
{
    (out.add("mov", names, unary<same_value, T>), ...);
    (out.add("selp", names, select<T>), ...);
    (out.add_pair("slct", names, "s32", select_by_sign<T, s32>), ...);
    (out.add_pair("slct", names, "f32", select_by_sign<T, float>), ...);
}

void integer_rows(handler_sink &out)
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
}

void bit_rows(handler_sink &out)
{
    logic<logic_and>(out, "and");
    logic<logic_or>(out, "or");
    logic<logic_xor>(out, "xor");
    out.add("not", "b16", unary<logic_not, u16>);
    out.add("not", "b32", unary<logic_not, u32>);
    out.add("not", "b64", unary<logic_not, u64>);
    out.add("cnot", "b16", unary<logic_cnot, u16>);
    out.add("cnot", "b32", unary<logic_cnot, u32>);
    out.add("cnot", "b64", unary<logic_cnot, u64>);
    out.add("and", "pred", predicate_operation<logic_and>);
    out.add("or", "pred", predicate_operation<logic_or>);
    out.add("xor", "pred", predicate_operation<logic_xor>);
    out.add("not", "pred", predicate_operation<not_first>);
    out.add("mov", "pred", predicate_operation<first_of>);
    out.add("shl", "b16", shift<shift_left, u16>);
    out.add("shl", "b32", shift<shift_left, u32>);
    out.add("shl", "b64", shift<shift_left, u64>);
    for (const char *name : {"b16", "u16"}) out.add("shr", name, shift<shift_right, u16>);
    for (const char *name : {"b32", "u32"}) out.add("shr", name, shift<shift_right, u32>);
    for (const char *name : {"b64", "u64"}) out.add("shr", name, shift<shift_right, u64>);
    out.add("shr", "s16", shift<shift_right, s16>);
    out.add("shr", "s32", shift<shift_right, s32>);
    out.add("shr", "s64", shift<shift_right, s64>);
    out.add("popc", "b32", to_u32<population, u32>);
    out.add("popc", "b64", to_u32<population, u64>);
    out.add("clz", "b32", to_u32<leading_zeros, u32>);
    out.add("clz", "b64", to_u32<leading_zeros, u64>);
    out.add("bfind", "u32", to_u32<top_bit, u32>);
    out.add("bfind", "s32", to_u32<top_bit, s32>);
    out.add("bfind", "u64", to_u32<top_bit, u64>);
    out.add("bfind", "s64", to_u32<top_bit, s64>);
    out.add("bfind.shiftamt", "u32", to_u32<top_bit_shift, u32>);
    out.add("bfind.shiftamt", "s32", to_u32<top_bit_shift, s32>);
    out.add("bfind.shiftamt", "u64", to_u32<top_bit_shift, u64>);
    out.add("bfind.shiftamt", "s64", to_u32<top_bit_shift, s64>);
    out.add("brev", "b32", unary_each<reversed_bits, u32>);
    out.add("brev", "b64", unary_each<reversed_bits, u64>);
    out.add("bfe", "u32", bit_field_extract<u32>);
    out.add("bfe", "s32", bit_field_extract<s32>);
    out.add("bfe", "u64", bit_field_extract<u64>);
    out.add("bfe", "s64", bit_field_extract<s64>);
    out.add("bfi", "b32", bit_field_insert<u32>);
    out.add("bfi", "b64", bit_field_insert<u64>);
    out.add("bmsk.clamp", "b32", bit_mask<true>);
    out.add("bmsk.wrap", "b32", bit_mask<false>);
    out.add("shf.l.clamp", "b32", funnel<true, true>);
    out.add("shf.l.wrap", "b32", funnel<true, false>);
    out.add("shf.r.clamp", "b32", funnel<false, true>);
    out.add("shf.r.wrap", "b32", funnel<false, false>);
    out.add("fns", "b32", nth_set_bit);
    absolute_differences<u8>(out, "u32");
    absolute_differences<s8>(out, "s32");
    out.add("lop3", "b32", logic3);
    out.add("prmt", "b32", permute_bytes);
}

void float_rows(handler_sink &out)
{
    float2<float_add>(out, "add");
    float2<float_sub>(out, "sub");
    float2<float_mul>(out, "mul");
    float3<float_fma>(out, "fma");
    float3<float_fma>(out, "mad");
    float2<float_div>(out, "div");
    for (const char *how : {".approx", ".full"}) {
        out.add_rounded("div", how, ".f32",
                        float_binary<float_div, float, rounding::nearest, false, false>);
        out.add_rounded("div", how, ".ftz.f32",
                        float_binary<float_div, float, rounding::nearest, true, false>);
    }
    float1<float_rcp>(out, "rcp");
    float1<float_sqrt>(out, "sqrt");
    float1<float_rsqrt>(out, "rsqrt");
    out.add("rsqrt.approx", "f64", float_unary<float_rsqrt, double, rounding::nearest, false>);
    function1<float_sin>(out, "sin");
    function1<float_cos>(out, "cos");
    function1<float_ex2>(out, "ex2");
    function1<float_lg2>(out, "lg2");
    function1<float_tanh>(out, "tanh");
    extreme<float_min>(out, "min", "");
    extreme<float_max>(out, "max", "");
    extreme<float_min_nan>(out, "min", ".NaN");
    extreme<float_max_nan>(out, "max", ".NaN");
    out.add("min.ftz", "f32", float_binary<float_min, float, rounding::nearest, true, false>);
    out.add("max.ftz", "f32", float_binary<float_max, float, rounding::nearest, true, false>);
    out.add("abs", "f32", float_sign<float_abs, float, false>);
    out.add("abs.ftz", "f32", float_sign<float_abs, float, true>);
    out.add("abs", "f64", float_sign<float_abs, double, false>);
    out.add("neg", "f32", float_sign<float_neg, float, false>);
    out.add("neg.ftz", "f32", float_sign<float_neg, float, true>);
    out.add("neg", "f64", float_sign<float_neg, double, false>);
    out.add("copysign", "f32", binary<copy_sign, float>);
    out.add("copysign", "f64", binary<copy_sign, double>);
}

template <class T> void test_rows(handler_sink &out)
{
    out.add("testp.finite", named<T>::u, test_number<T, number_test::finite>);
    out.add("testp.infinite", named<T>::u, test_number<T, number_test::infinite>);
    out.add("testp.number", named<T>::u, test_number<T, number_test::number>);
    out.add("testp.notanumber", named<T>::u, test_number<T, number_test::not_a_number>);
    out.add("testp.normal", named<T>::u, test_number<T, number_test::normal>);
    out.add("testp.subnormal", named<T>::u, test_number<T, number_test::subnormal>);
}

void compare_rows(handler_sink &out)
{
    compare<eq>(out, "eq");
    compare<ne>(out, "ne");
    compare<lt>(out, "lt");
    compare<le>(out, "le");
    compare<gt>(out, "gt");
    compare<ge>(out, "ge");
    compare_bits<eq>(out, "eq");
    compare_bits<ne>(out, "ne");
    compare_unsigned<lt>(out, "lo");
    compare_unsigned<le>(out, "ls");
    compare_unsigned<gt>(out, "hi");
    compare_unsigned<ge>(out, "hs");
    compare_floats<equ>(out, "equ");
    compare_floats<neu>(out, "neu");
    compare_floats<ltu>(out, "ltu");
    compare_floats<leu>(out, "leu");
    compare_floats<gtu>(out, "gtu");
    compare_floats<geu>(out, "geu");
    compare_floats<num>(out, "num");
    compare_floats<not_num>(out, "nan");
}

} // namespace

void list_arithmetic(handler_sink &out)
{
    integer_rows(out);
    bit_rows(out);
    float_rows(out);
    test_rows<float>(out);
    test_rows<double>(out);
    compare_rows(out);
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
