// Runs arithmetic on f32 and f64.
//
// Compiled without contraction of a * b + c. It follows IEEE 754 where PTX does; the .approx and
// .full forms are computed accurately.
#include "lane_operations.hpp"

#include <cmath>

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

template <class T> constexpr auto sign_bit = storage<T>{1} << (8 * sizeof(T) - 1);

constexpr auto float_add = [](auto a, auto b) { return a + b; };
constexpr auto float_sub = [](auto a, auto b) { return a - b; };
constexpr auto float_mul = [](auto a, auto b) { return a * b; };
constexpr auto float_div = [](auto a, auto b) { return a / b; };
constexpr auto float_fma = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
constexpr auto float_min = []<class T>(T a, T b) {
    T m = a < b ? a : b; // b when either is NaN
    m = a == b ? value_of<T>(bits_of(a) | bits_of(b)) : m;
    return b != b ? a : m;
};
constexpr auto float_max = []<class T>(T a, T b) {
    T m = a > b ? a : b;
    m = a == b ? value_of<T>(bits_of(a) & bits_of(b)) : m;
    return b != b ? a : m;
};
constexpr auto float_min_nan = [](auto a, auto b) {
    return a != a || b != b ? a + b : float_min(a, b);
};
constexpr auto float_max_nan = [](auto a, auto b) {
    return a != a || b != b ? a + b : float_max(a, b);
};
constexpr auto float_sqrt = [](auto a) { return std::sqrt(a); };
constexpr auto float_rcp = []<class T>(T a) { return T(1) / a; };
constexpr auto float_rsqrt = []<class T>(T a) {
    return static_cast<T>(1.0 / std::sqrt(double{a}));
};
constexpr auto float_sin = [](float a) { return std::sin(a); };
constexpr auto float_cos = [](float a) { return std::cos(a); };
constexpr auto float_ex2 = [](float a) { return std::exp2(a); };
constexpr auto float_lg2 = [](float a) { return std::log2(a); };
constexpr auto float_tanh = [](float a) { return std::tanh(a); };
constexpr auto float_abs = []<class T>(T a) { return value_of<T>(bits_of(a) & ~sign_bit<T>); };
constexpr auto float_neg = []<class T>(T a) { return value_of<T>(bits_of(a) ^ sign_bit<T>); };
constexpr auto copy_sign = []<class T>(T a, T b) { // of a to b
    return value_of<T>((bits_of(b) & ~sign_bit<T>) | (bits_of(a) & sign_bit<T>));
};

// Sign operations change only the sign bit, also of NaNs.
template <auto op, class T, bool ftz>
void float_sign(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    every(lanes_of<storage<T>>(c, i.d), mask,
          [=](int l) { return bits_of<T>(op(flush_if<ftz>(value_of<T>(a[l])))); });
}

// Applies an operation with the modifiers .ftz and .sat; a NaN result becomes the canonical one.
template <auto op, bool ftz, bool sat, class... T> inline auto modified(T... values)
{
    auto v = canonical(flush_if<ftz>(op(flush_if<ftz>(values)...)));
    if constexpr (sat) v = saturated(v);
    return bits_of(v);
}

template <auto op, int operands, class T, bool ftz, bool sat>
inline void float_loop(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a);
    auto b = operands > 1 ? lanes_of<storage<T>>(c, i.b) : a;
    auto e = operands > 2 ? lanes_of<storage<T>>(c, i.c) : a;
    every(lanes_of<storage<T>>(c, i.d), mask, [=](int l) {
        if constexpr (operands == 1)
            return modified<op, ftz, sat>(value_of<T>(a[l]));
        else if constexpr (operands == 2)
            return modified<op, ftz, sat>(value_of<T>(a[l]), value_of<T>(b[l]));
        else
            return modified<op, ftz, sat>(value_of<T>(a[l]), value_of<T>(b[l]), value_of<T>(e[l]));
    });
}

template <auto op, int operands, class T, bool ftz = false, bool sat = false,
          rounding r = rounding::nearest>
void float_operation(context &c, const instruction &i, lane_mask mask)
{
    if constexpr (r == rounding::nearest) {
        float_loop<op, operands, T, ftz, sat>(c, i, mask);
    } else {
        rounding_scope scope(r);
        float_loop<op, operands, T, ftz, sat>(c, i, mask);
    }
}

// Library functions run for active lanes only.
template <auto op, bool ftz> void float_function(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u32>(c, i.a), d = lanes_of<u32>(c, i.d);
    active(mask, [=](int l) { d[l] = modified<op, ftz, false>(value_of<float>(a[l])); });
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

// add, sub and mul default to .rn. So does div here, although only PTX ISA 1.3 and earlier allow it
// without a modifier.
template <auto op, int operands, class T, bool ftz = false, bool sat = false>
void rounded_rows(handler_sink &out, const char *name, const char *type)
{
    if constexpr (operands == 2) out.add(name, type, float_operation<op, 2, T, ftz, sat>);
    out.add(name, "rn", type, float_operation<op, operands, T, ftz, sat>);
    out.add(name, "rz", type, float_operation<op, operands, T, ftz, sat, rounding::zero>);
    out.add(name, "rm", type, float_operation<op, operands, T, ftz, sat, rounding::down>);
    out.add(name, "rp", type, float_operation<op, operands, T, ftz, sat, rounding::up>);
}
template <auto op, int operands> void arithmetic(handler_sink &out, const char *name)
{
    rounded_rows<op, operands, float>(out, name, "f32");
    rounded_rows<op, operands, float, true>(out, name, "ftz.f32");
    rounded_rows<op, operands, float, false, true>(out, name, "sat.f32");
    rounded_rows<op, operands, float, true, true>(out, name, "ftz.sat.f32");
    rounded_rows<op, operands, double>(out, name, "f64");
}
template <auto op> void reciprocal_or_root(handler_sink &out, const char *name)
{
    rounded_rows<op, 1, float>(out, name, "f32");
    rounded_rows<op, 1, float, true>(out, name, "ftz.f32");
    rounded_rows<op, 1, double>(out, name, "f64");
    out.add(name, "approx.f32", float_operation<op, 1, float>);
    out.add(name, "approx.ftz.f32", float_operation<op, 1, float, true>);
    out.add(name, "approx.ftz.f64", float_operation<op, 1, double>);
}
template <auto op> void function(handler_sink &out, const char *name)
{
    out.add(name, "approx.f32", float_function<op, false>);
    out.add(name, "approx.ftz.f32", float_function<op, true>);
}
template <auto op> void min_max(handler_sink &out, const char *name)
{
    out.add(name, "f32", float_operation<op, 2, float>);
    out.add(name, "f64", float_operation<op, 2, double>);
}

template <class... T> void number_tests(handler_sink &out)
{
    (out.add("testp.finite", type_name<T>, test_number<T, number_test::finite>), ...);
    (out.add("testp.infinite", type_name<T>, test_number<T, number_test::infinite>), ...);
    (out.add("testp.number", type_name<T>, test_number<T, number_test::number>), ...);
    (out.add("testp.notanumber", type_name<T>, test_number<T, number_test::not_a_number>), ...);
    (out.add("testp.normal", type_name<T>, test_number<T, number_test::normal>), ...);
    (out.add("testp.subnormal", type_name<T>, test_number<T, number_test::subnormal>), ...);
}

} // namespace

void list_floats(handler_sink &out)
{
    arithmetic<float_add, 2>(out, "add");
    arithmetic<float_sub, 2>(out, "sub");
    arithmetic<float_mul, 2>(out, "mul");
    arithmetic<float_div, 2>(out, "div");
    arithmetic<float_fma, 3>(out, "fma");
    arithmetic<float_fma, 3>(out, "mad");
    for (const char *how : {"approx", "full"}) {
        out.add("div", how, "f32", float_operation<float_div, 2, float>);
        out.add("div", how, "ftz.f32", float_operation<float_div, 2, float, true>);
    }
    reciprocal_or_root<float_rcp>(out, "rcp");
    reciprocal_or_root<float_sqrt>(out, "sqrt");
    reciprocal_or_root<float_rsqrt>(out, "rsqrt");
    out.add("rsqrt.approx", "f64", float_operation<float_rsqrt, 1, double>);
    function<float_sin>(out, "sin");
    function<float_cos>(out, "cos");
    function<float_ex2>(out, "ex2");
    function<float_lg2>(out, "lg2");
    function<float_tanh>(out, "tanh");
    min_max<float_min>(out, "min");
    min_max<float_max>(out, "max");
    min_max<float_min_nan>(out, "min.NaN");
    min_max<float_max_nan>(out, "max.NaN");
    out.add("min.ftz", "f32", float_operation<float_min, 2, float, true>);
    out.add("max.ftz", "f32", float_operation<float_max, 2, float, true>);
    out.add("abs", "f32", float_sign<float_abs, float, false>);
    out.add("abs.ftz", "f32", float_sign<float_abs, float, true>);
    out.add("abs", "f64", float_sign<float_abs, double, false>);
    out.add("neg", "f32", float_sign<float_neg, float, false>);
    out.add("neg.ftz", "f32", float_sign<float_neg, float, true>);
    out.add("neg", "f64", float_sign<float_neg, double, false>);
    out.add("copysign", "f32", binary<copy_sign, float>);
    out.add("copysign", "f64", binary<copy_sign, double>);
    number_tests<float, double>(out);
}

} // namespace simulator::core::SIMULATOR_LEVEL
