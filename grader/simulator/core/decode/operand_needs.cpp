// Defines the number and register class of the operands that each handler relies on.
#include "draft.hpp"
#include "simulator/lanes/handler_table.hpp"

#include <algorithm>

namespace simulator::core {
namespace {

using parts = std::vector<std::string_view>;

need of_type(std::string_view type)
{
    switch (class_of(ptx::type_named(type))) {
    case register_class::predicate:
        return need::predicate;
    case register_class::narrow:
        return need::narrow;
    default:
        return need::wide;
    }
}

bool is(std::string_view op, std::initializer_list<std::string_view> any)
{
    return std::ranges::find(any, op) != any.end();
}

// `sources` source operands and a result, all of one class.
operand_needs uniform(std::size_t sources, need n)
{
    const auto source = [&](std::size_t k) { return k < sources ? n : need::nothing; };
    return {.d = n, .a = source(0), .b = source(1), .c = source(2)};
}

operand_needs of_arithmetic(const parts &name)
{
    const auto op = name[0];
    // vabsdiff4 ends in "add".
    const need t = of_type(name.back() == "add" ? "u32" : name.back());
    operand_needs n = uniform(sources_of(op), t);
    const bool wide = is(op, {"mul", "mad"}) && name[1] == "wide";
    if (wide)
        n.d = t == need::narrow && ptx::size_of(ptx::type_named(name.back())) == 2 ? need::narrow
                                                                                   : need::wide;
    if (wide && op == "mad") n.c = n.d;
    if (is(op, {"shl", "shr"})) n.b = need::narrow;
    if (is(op, {"popc", "clz", "bfind"})) n.d = need::narrow;
    if (op == "testp") n.d = need::predicate;
    if (op == "selp") n.c = need::predicate;
    if (op == "slct") n = {.d = of_type(name[1]), .a = of_type(name[1]), .b = of_type(name[1])};
    if (is(op, {"slct", "bfi", "bfe"})) n.c = need::narrow;
    if (op == "bfe") n.b = need::narrow;
    if (op == "bfi") n.extra = need::narrow;
    if (op == "cvt") n.d = of_type(name[1]);
    if (op == "set") n.d = need::narrow;
    if (op == "setp") n.d = need::predicate;
    if (is(op, {"set", "setp"})) n.c = need::combined;
    return n;
}

operand_needs of_halves(const parts &name)
{
    operand_needs n = uniform(sources_of(name[1]), need::narrow);
    if (name[1] == "setp") n.d = need::predicate;
    if (is(name[1], {"set", "setp"})) n.c = need::combined;
    return n;
}

operand_needs of_internal(const parts &name)
{
    const auto op = name[1];
    if (op == "resize") return {.d = need::data, .a = need::address};
    if (op == "extend" || op == "relu") return {.d = need::narrow, .a = need::narrow};
    if (op == "pack") return {.d = need::data, .list = need::narrow};
    if (op == "unpack") return {.a = need::data, .list = need::narrow_or_none};
    if (op == "special" || op == "local_address") return {.d = need::data};
    if (op == "alloca") return {.d = need::wide, .a = need::wide};
    if (op == "activemask") return {.d = need::narrow};
    if (op == "isspacep") return {.d = need::predicate, .a = need::wide};
    if (op == "copy_async") return {.a = need::address, .b = need::wide, .c = need::amount};
    if (op == "texture")
        return {.d = need::narrow,
                .a = need::wide,
                .b = need::narrow,
                .c = need::narrow,
                .list = need::narrow_or_none};
    if (op == "surface_address")
        return {.d = need::wide,
                .a = need::wide,
                .b = need::narrow,
                .c = need::narrow,
                .extra = need::narrow};
    operand_needs warp{.d = need::narrow, .a = need::narrow, .extra = need::narrow};
    if (op == "shfl") warp.b = warp.c = need::narrow;
    if (op == "vote") warp.a = need::predicate;
    if (op == "vote" && name[2] != "ballot") warp.d = need::predicate;
    if (op == "match") warp.a = need::data;
    return is(op, {"shfl", "vote", "match", "redux"}) ? warp : operand_needs{};
}

} // namespace

std::size_t sources_of(std::string_view op)
{
    if (is(op, {"mov", "cvt", "abs", "neg", "not", "cnot", "popc", "clz", "bfind", "brev", "rcp",
                "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh", "testp"}))
        return 1;
    if (is(op, {"mad", "mad24", "madc", "fma", "sad", "shf", "prmt", "bfe", "slct", "dp2a", "dp4a",
                "vabsdiff4", "fns", "selp", "lop3"}))
        return 3;
    return op == "bfi" ? 4 : 2;
}

operand_needs needs_of(std::string_view handler)
{
    const parts name = ptx::opcode_parts(handler);
    const auto op = name[0];
    if (op == "load") return {.a = need::address, .loads = true};
    if (op == "store") return {.a = need::address, .stores = true};
    if (op == "parameter") return {.loads = true};
    if (op == "parameter_at") return {.a = need::address, .loads = true};
    if (op == "argument") return {.loads = name[1] == "load", .stores = name[1] == "store"};
    if (op == "atomic") {
        const bool wide = of_type(name[3]) == need::wide;
        const need value = wide ? need::wide : need::narrow,
                   optional = wide ? need::wide_or_none : need::narrow_or_none;
        return {.d = optional, .a = need::address, .b = value, .c = optional};
    }
    if (op == "half") return of_halves(name);
    return op == "core" ? of_internal(name) : of_arithmetic(name);
}

bool fits(const draft &d, const operand_needs &n, const std::vector<std::vector<operand>> &lists,
          const std::function<std::optional<register_class>(operand)> &class_of)
{
    const instruction &i = d.ins;
    const auto is = [&](operand o, register_class c) {
        return o != no_operand && class_of(o) == c;
    };
    const auto reads = [&](operand o, need n) {
        if (n == need::nothing) return true;
        if (n == need::combined)
            return (i.extra & combine_mask) == 0 || is(o, register_class::predicate);
        if (n == need::amount && i.extra != 0) return is(o, register_class::predicate);
        if (n == need::amount || n == need::narrow_or_none || n == need::wide_or_none)
            if (o == no_operand) return true;
        if (n == need::predicate) return is(o, register_class::predicate);
        const bool wide = n == need::wide || n == need::wide_or_none ||
                          (n == need::data && (i.wide & 1) != 0) ||
                          (n == need::address && (i.wide & 2) != 0);
        return is(o, wide ? register_class::wide : register_class::narrow);
    };
    const auto writes = [&](operand o, need n) {
        return reads(o, n) && (n == need::nothing || o == no_operand || is_register(o));
    };
    operand_needs all = n;
    if (n.loads && i.count == 1) all.d = need::data;
    if (n.stores && i.count == 1) all.b = need::data;
    if ((n.loads || n.stores) && i.count != 1) all.list = need::data;
    if (i.guard != no_operand && !reads(i.guard, need::predicate)) return false;
    if (!(d.writes_d ? writes(i.d, all.d) : reads(i.d, all.d)) || !reads(i.a, all.a) ||
        !reads(i.b, all.b) || !reads(i.c, all.c) || !reads(i.extra, all.extra))
        return false;
    if (d.offset_writes && !writes(static_cast<operand>(i.offset), need::predicate)) return false;
    if (all.list == need::nothing) return true;
    if (d.list == draft::list_role::none || lists[i.extra].size() != i.count) return false;
    return std::all_of(lists[i.extra].begin(), lists[i.extra].end(), [&](operand o) {
        if (d.list == draft::list_role::reads) return reads(o, all.list);
        return o == no_operand || writes(o, all.list);
    });
}

} // namespace simulator::core
