// Comparison, and selection by a predicate or a sign: setp, set, selp and slct.
#include "handler_list.hpp"
#include "values.hpp"

namespace simulator::core::SIMULATOR_LEVEL {
namespace {

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

template <class T, class... Name> void selections(handler_sink &out, Name... names)
{
    (out.add("selp", names, select<T>), ...);
    (out.add_pair("slct", names, "s32", select_by_sign<T, s32>), ...);
    (out.add_pair("slct", names, "f32", select_by_sign<T, float>), ...);
}

} // namespace

void list_comparisons(handler_sink &out)
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
    selections<u16>(out, "b16", "u16", "s16", "f16");
    selections<u32>(out, "b32", "u32", "s32", "f32");
    selections<u64>(out, "b64", "u64", "s64", "f64");
}

} // namespace simulator::core::SIMULATOR_LEVEL
