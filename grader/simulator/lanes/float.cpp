// Arithmetic on f32 and f64.
//
// Compiled without contraction of a * b + c. It follows IEEE where PTX does; the approximate forms
// are computed accurately.
#include "handler_list.hpp"
#include "lane_operations.hpp"
#include "rounding.hpp"

#include <cmath>

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

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

// Sign operations change only the sign bit, also of NaNs.
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

template <class T> void test_rows(handler_sink &out)
{
    out.add("testp.finite", named<T>::u, test_number<T, number_test::finite>);
    out.add("testp.infinite", named<T>::u, test_number<T, number_test::infinite>);
    out.add("testp.number", named<T>::u, test_number<T, number_test::number>);
    out.add("testp.notanumber", named<T>::u, test_number<T, number_test::not_a_number>);
    out.add("testp.normal", named<T>::u, test_number<T, number_test::normal>);
    out.add("testp.subnormal", named<T>::u, test_number<T, number_test::subnormal>);
}

} // namespace

void list_floats(handler_sink &out)
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
    test_rows<float>(out);
    test_rows<double>(out);
}

} // namespace simulator::core::SIMULATOR_LEVEL
