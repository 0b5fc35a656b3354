// Runs comparisons, and selections by a predicate or a sign: setp, set, selp and slct.
#include "lane_operations.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

constexpr auto eq = [](auto a, auto b) { return a == b; };
constexpr auto ne = [](auto a, auto b) { return (a < b) | (a > b); };
constexpr auto lt = [](auto a, auto b) { return a < b; };
constexpr auto le = [](auto a, auto b) { return a <= b; };
constexpr auto gt = [](auto a, auto b) { return a > b; };
constexpr auto ge = [](auto a, auto b) { return a >= b; };
constexpr auto equ = [](auto a, auto b) { return !ne(a, b); };
constexpr auto neu = [](auto a, auto b) { return !(a == b); };
constexpr auto ltu = [](auto a, auto b) { return !(a >= b); };
constexpr auto leu = [](auto a, auto b) { return !(a > b); };
constexpr auto gtu = [](auto a, auto b) { return !(a <= b); };
constexpr auto geu = [](auto a, auto b) { return !(a < b); };
constexpr auto num = [](auto a, auto b) { return (a == a) & (b == b); };
constexpr auto not_num = [](auto a, auto b) { return (a != a) | (b != b); };

template <auto op, class T> inline lane_mask compared(context &c, const instruction &i)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    if constexpr (std::is_same_v<T, float>) {
        if ((i.extra & combine_ftz) != 0)
            return where([=](int l) {
                return op(flushed(value_of<float>(a[l])), flushed(value_of<float>(b[l])));
            });
    }
    return where([=](int l) { return op(value_of<T>(a[l]), value_of<T>(b[l])); });
}

// setp d|q: q, if present, is the register in i.offset.
template <auto op, class T> void set_compare(context &c, const instruction &i, lane_mask mask)
{
    lane_mask v = compared<op, T>(c, i);
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

template <auto op, class T, bool to_float>
void set_value(context &c, const instruction &i, lane_mask mask)
{
    lane_mask v = combined(c, i, compared<op, T>(c, i));
    u32 yes = to_float ? 0x3f800000u : ~0u;
    every(lanes_of<u32>(c, i.d), mask, [=](int l) { return (v & bit_of[l]) != 0 ? yes : 0; });
}

template <class T> void select(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<storage<T>>(c, i.a), b = lanes_of<storage<T>>(c, i.b);
    lane_mask p = predicate(c, i.c, i.flags & negate_c);
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

template <auto op, class... T> void compare(handler_sink &out, const char *name)
{
    (out.add("setp", name, type_name<T>, set_compare<op, T>), ...);
    (out.add("set", name, "u32", type_name<T>, set_value<op, T, false>), ...);
    (out.add("set", name, "s32", type_name<T>, set_value<op, T, false>), ...);
    (out.add("set", name, "f32", type_name<T>, set_value<op, T, true>), ...);
}
template <auto op> void compare_all(handler_sink &out, const char *name)
{
    compare<op, u16, s16, u32, s32, u64, s64, float, double>(out, name);
}
template <auto op> void compare_bits(handler_sink &out, const char *name)
{
    out.add("setp", name, "b16", set_compare<op, u16>);
    out.add("setp", name, "b32", set_compare<op, u32>);
    out.add("setp", name, "b64", set_compare<op, u64>);
}

template <class T, class... Name> void selections(handler_sink &out, Name... names)
{
    (out.add("selp", names, select<T>), ...);
    (out.add("slct", names, "s32", select_by_sign<T, s32>), ...);
    (out.add("slct", names, "f32", select_by_sign<T, float>), ...);
}

} // namespace

void list_comparisons(handler_sink &out)
{
    compare_all<eq>(out, "eq");
    compare_all<ne>(out, "ne");
    compare_all<lt>(out, "lt");
    compare_all<le>(out, "le");
    compare_all<gt>(out, "gt");
    compare_all<ge>(out, "ge");
    compare_bits<eq>(out, "eq");
    compare_bits<ne>(out, "ne");
    compare<lt, u16, u32, u64>(out, "lo");
    compare<le, u16, u32, u64>(out, "ls");
    compare<gt, u16, u32, u64>(out, "hi");
    compare<ge, u16, u32, u64>(out, "hs");
    compare<equ, float, double>(out, "equ");
    compare<neu, float, double>(out, "neu");
    compare<ltu, float, double>(out, "ltu");
    compare<leu, float, double>(out, "leu");
    compare<gtu, float, double>(out, "gtu");
    compare<geu, float, double>(out, "geu");
    compare<num, float, double>(out, "num");
    compare<not_num, float, double>(out, "nan");
    selections<u16>(out, "b16", "u16", "s16", "f16");
    selections<u32>(out, "b32", "u32", "s32", "f32");
    selections<u64>(out, "b64", "u64", "s64", "f64");
}

} // namespace simulator::core::SIMULATOR_LEVEL
