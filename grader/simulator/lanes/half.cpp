// Runs arithmetic on f16 and bf16, one or two per register: computed in f64 and rounded once.
//
// The modifiers of an instruction are half_flags in instruction::extra.
#include "lane_operations.hpp"

#include <cmath>

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

struct f16 {
    static constexpr const char *name = "f16", *pair = "f16x2";
    static constexpr u32 one = 0x3c00;
    static double value(u32 bits) { return widen({static_cast<u16>(bits)}); }
    static u32 bits(double v) { return narrow(v).bits; }
    static bool is_zero_or_subnormal(u32 bits) { return (bits & 0x7c00) == 0; }
};

struct bf16 {
    static constexpr const char *name = "bf16", *pair = "bf16x2";
    static constexpr u32 one = 0x3f80;
    static double value(u32 bits) { return value_of<float>(bits << 16); }
    static bool is_zero_or_subnormal(u32 bits) { return (bits & 0x7f80) == 0; }
    static u32 bits(double v)
    {
        if (v != v) return 0x7fff;
        // 8 significant bits, fewer for subnormal numbers.
        int e;
        std::frexp(v, &e);
        double unit = std::ldexp(1.0, e - 8 < -133 ? -133 : e - 8);
        double r = std::isinf(v) ? v : std::nearbyint(v / unit) * unit;
        return bits_of(static_cast<float>(r)) >> 16;
    }
};

// Returns a + b rounded to odd: the last bit of an inexact sum is 1, so that rounding it again to
// fewer bits gives the same result as rounding once (Boldo and Melquiond 2008).
double sum_rounded_to_odd(double a, double b)
{
    double s = a + b, part = s - a, error = (a - (s - part)) + (b - part);
    if (!(error != 0) || !std::isfinite(s) || (bits_of(s) & 1) != 0) return s;
    return value_of<double>(bits_of(s) + ((error > 0) == (s > 0) ? 1 : ~u64{0}));
}

constexpr auto half_add = [](double a, double b, double) { return a + b; };
constexpr auto half_sub = [](double a, double b, double) { return a - b; };
constexpr auto half_mul = [](double a, double b, double) { return a * b; };
constexpr auto half_fma = [](double a, double b, double c) { return sum_rounded_to_odd(a * b, c); };
// Returns the smaller operand, or the larger; -0 is smaller than +0, and NaN is neither.
template <bool smaller> double min_or_max(double a, double b, double)
{
    if (a != a || b != b) return a != a ? b : a;
    if (a == 0 && b == 0) return std::signbit(a) == smaller ? a : b;
    return (a < b) == smaller ? a : b;
}
constexpr auto half_ex2 = [](double a, double, double) { return std::exp2(a); };
constexpr auto half_tanh = [](double a, double, double) { return std::tanh(a); };

// Applies the modifiers, and rounds. `nan`: an operand was NaN.
template <class F> u32 rounded_result(double r, u32 flags, bool nan)
{
    if ((flags & half_nan) != 0 && nan) r = __builtin_nan("");
    if ((flags & half_saturate) != 0) r = saturated(r); // NaN becomes 0
    if ((flags & half_relu) != 0 && (r < 0 || (r == 0 && std::signbit(r)))) r = 0;
    u32 bits = F::bits(r);
    return (flags & half_ftz) != 0 && F::is_zero_or_subnormal(bits) ? bits & 0x8000 : bits;
}

template <auto op, class F, int count, int operands>
void half_operation(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), d = lanes_of<u32>(c, i.d);
    auto b = operands > 1 ? lanes_of<u32>(c, i.b) : a, e = operands > 2 ? lanes_of<u32>(c, i.c) : a;
    u32 flags = i.extra;
    auto part = [=](u32 v, int h) {
        u32 bits = v >> (16 * h) & 0xffff;
        return F::value((flags & half_ftz) != 0 && F::is_zero_or_subnormal(bits) ? bits & 0x8000
                                                                                 : bits);
    };
    active(mask, [=](int l) {
        u32 r = 0;
        for (int h = 0; h < count; ++h) {
            double x = part(a[l], h), y = part(b[l], h), z = part(e[l], h);
            r |= rounded_result<F>(op(x, y, z), flags, x != x || y != y) << (16 * h);
        }
        d[l] = r;
    });
}

// Sign operations change only the sign bit, also of NaNs.
template <u32 mask_of, bool flip> void half_sign(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a);
    every(lanes_of<u32>(c, i.d), mask,
          [=](int l) { return flip ? a[l] ^ mask_of : a[l] & ~mask_of; });
}

bool holds(u32 comparison, double a, double b)
{
    bool ordered = a == a && b == b;
    switch (comparison) {
    case half_eq:
        return a == b;
    case half_ne:
        return ordered && a != b;
    case half_lt:
        return a < b;
    case half_le:
        return a <= b;
    case half_gt:
        return a > b;
    case half_ge:
        return a >= b;
    case half_num:
        return ordered;
    case half_nan_test:
        return !ordered;
    default: // half_equ to half_geu: the same, but true if an operand is NaN
        return !ordered || holds(comparison - half_equ, a, b);
    }
}

// The lanes for which the comparison of the parts at bit 16 * h is true, combined with predicate
// c.
template <class F> lane_mask compared(context &c, const instruction &i, lane_mask mask, int h)
{
    auto a = lanes_of<u32>(c, i.a), b = lanes_of<u32>(c, i.b);
    bool ftz = (i.extra & combine_ftz) != 0;
    auto part = [=](u32 v) {
        u32 bits = v >> (16 * h) & 0xffff;
        return F::value(ftz && F::is_zero_or_subnormal(bits) ? bits & 0x8000 : bits);
    };
    lane_mask v = 0;
    active(mask, [&](int l) {
        if (holds(i.extra >> half_comparison_shift, part(a[l]), part(b[l]))) v |= bit_of[l];
    });
    return combined(c, i, v);
}

template <class F, int count> void half_setp(context &c, const instruction &i, lane_mask mask)
{
    lane_mask low = compared<F>(c, i, mask, 0);
    lane_mask second = count == 2 ? compared<F>(c, i, mask, 1) : ~low;
    set_predicate(c, i.d, mask, low);
    if ((i.extra & combine_second) != 0)
        set_predicate(c, static_cast<operand>(i.offset), mask, second);
}

template <class F, int count, u32 yes>
void half_set(context &c, const instruction &i, lane_mask mask)
{
    lane_mask low = compared<F>(c, i, mask, 0), high = count == 2 ? compared<F>(c, i, mask, 1) : 0;
    every(lanes_of<u32>(c, i.d), mask, [=](int l) {
        return ((low & bit_of[l]) != 0 ? yes : 0) | ((high & bit_of[l]) != 0 ? yes << 16 : 0);
    });
}

// Conversions of bf16; convert.cpp has those of f16.

void to_bfloat(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), d = lanes_of<u32>(c, i.d);
    bool to_zero = (i.extra & convert_mode_mask) == convert_zero;
    every(d, mask, [=](int l) {
        u32 v = a[l], r = (to_zero ? v : v + 0x7fff + (v >> 16 & 1)) >> 16;
        return (v & 0x7fffffff) > 0x7f800000 ? 0x7fffu : r;
    });
}

void from_bfloat(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a);
    every(lanes_of<u32>(c, i.d), mask, [=](int l) { return a[l] << 16; });
}

// Clears negative results after a conversion to f16 or bf16: cvt.rn.relu.
template <class F> void relu(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), d = lanes_of<u32>(c, i.d);
    every(d, mask, [=](int l) {
        u32 v = a[l] & 0xffff;
        return v > 0x8000 && F::value(v) == F::value(v) ? 0u : v == 0x8000 ? 0u : v;
    });
}

template <auto op, class F, int operands> void operation(handler_sink &out, const char *name)
{
    out.add(name, F::name, half_operation<op, F, 1, operands>);
    out.add(name, F::pair, half_operation<op, F, 2, operands>);
}

template <class F> void format(handler_sink &out)
{
    operation<half_add, F, 2>(out, "half.add");
    operation<half_sub, F, 2>(out, "half.sub");
    operation<half_mul, F, 2>(out, "half.mul");
    operation<half_fma, F, 3>(out, "half.fma");
    operation<min_or_max<true>, F, 2>(out, "half.min");
    operation<min_or_max<false>, F, 2>(out, "half.max");
    operation<half_ex2, F, 1>(out, "half.ex2");
    operation<half_tanh, F, 1>(out, "half.tanh");
    out.add("half.neg", F::name, half_sign<0x8000, true>);
    out.add("half.neg", F::pair, half_sign<0x80008000, true>);
    out.add("half.abs", F::name, half_sign<0x8000, false>);
    out.add("half.abs", F::pair, half_sign<0x80008000, false>);
    out.add("half.setp", F::name, half_setp<F, 1>);
    out.add("half.setp", F::pair, half_setp<F, 2>);
    out.add("half.set", F::name, F::name, half_set<F, 1, F::one>);
    out.add("half.set", F::pair, F::pair, half_set<F, 2, F::one>);
    for (const char *to : {"u16", "s16"}) out.add("half.set", to, F::name, half_set<F, 1, 0xffff>);
    for (const char *to : {"u32", "s32"}) {
        out.add("half.set", to, F::name, half_set<F, 1, ~0u>);
        out.add("half.set", to, F::pair, half_set<F, 2, 0xffff>);
    }
    out.add("half.set", "f32", F::name, half_set<F, 1, 0x3f800000>);
    out.add("core.relu", F::name, relu<F>);
}

} // namespace

void list_halves(handler_sink &out)
{
    format<f16>(out);
    format<bf16>(out);
    out.add("cvt", "bf16", "f32", to_bfloat);
    out.add("cvt", "f32", "bf16", from_bfloat);
}

} // namespace simulator::core::SIMULATOR_LEVEL
