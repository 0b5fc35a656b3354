// Weighs instructions and basic blocks in units of work: at most about a nanosecond of a quiet
// core.
//
// The weights were measured in loops of one kind of instruction each, with all lanes active and
// with one, and are rough on purpose: the time per unit may vary by a factor of two or three.
#include "draft.hpp"
#include "simulator/core/decode.hpp"

#include <algorithm>
#include <initializer_list>

namespace simulator::core {
namespace {

struct row {
    std::initializer_list<std::string_view> names; // beginnings of a handler's name
    instruction_weight weight;
};

// The first row with a matching name counts.
const row rows[] = {
    {{"load.const", "parameter_at."}, {100, 4}},
    {{"load.local.", "store.local."}, {40, 20}},
    {{"load.shared.", "store.shared."}, {60, 0}},
    {{"load.", "store."}, {180, 0}}, // of more memory than the processor's caches hold
    {{"parameter."}, {10, 0}},
    {{"argument."}, {10, 4}},
    {{"atomic."}, {60, 8}},
    {{"core.texture", "core.surface"}, {100, 40}},
    {{"core.copy_async"}, {150, 30}},
    {{"core.alloca", "core.wait_for_copies", "core.isspacep"}, {60, 2}},
    {{"core.match"}, {50, 35}},
    {{"core.shfl", "core.shuffle", "core.redux", "core.reduce"}, {40, 2}},
    {{"core.resize", "core.extend", "core.pack", "core.unpack", "core.special"}, {8, 0}},
    {{"core."}, {20, 0}},
    {{"half."}, {20, 25}},
    {{"tanh."}, {10, 16}},
    {{"ex2.", "lg2.", "sin.", "cos."}, {10, 4}},
    {{"rsqrt.", "sqrt.rn.f64", "sqrt.rz", "sqrt.rm", "sqrt.rp"}, {70, 0}},
    {{"sqrt."}, {40, 0}},
    {{"div.f64", "div.rn.f64", "div.rz", "div.rm", "div.rp", "rcp.rz", "rcp.rm", "rcp.rp"},
     {25, 0}},
    {{"div.f32", "div.rn", "div.approx", "div.full", "rcp."}, {8, 0}},
    {{"div.u64", "div.s64", "rem.u64", "rem.s64"}, {10, 7}},
    {{"div.", "rem."}, {10, 2}},
    {{"prmt.", "fns."}, {10, 5}},
    {{"brev.", "dp2a.", "vabsdiff4."}, {10, 3}},
    {{"popc.", "clz.", "bfe.", "bfi.", "bfind."}, {10, 1}},
    {{"cvt.u16.f", "cvt.s16.f", "cvt.u32.f", "cvt.s32.f", "cvt.u64.f", "cvt.s64.f"}, {70, 0}},
    {{"mul.lo.u64", "mul.lo.s64", "mul.hi.", "lop3.", "shf.", "dp4a.", "sad."}, {20, 0}},
    {{"mul.", "mad.", "fma.", "min.", "max.", "add.u64", "add.s64", "add.r", "cvt."}, {10, 0}},
};
constexpr instruction_weight simple = {7, 0};

// The terminator's weight beyond that of its handler.
instruction_weight weight_of_end(block_terminator end)
{
    switch (end) {
    case block_terminator::fall:
        return {0, 0};
    case block_terminator::branch:
    case block_terminator::leave:
        return {10, 0};
    case block_terminator::table:
        return {30, 2};
    case block_terminator::call:
        return {120, 10};
    case block_terminator::barrier:
        return {80, 0};
    case block_terminator::warp_sync:
        return {15, 0};
    case block_terminator::pause:
        return {20, 0};
    }
    return {0, 0};
}

} // namespace

instruction_weight weight_of(std::string_view handler)
{
    for (const row &r : rows)
        if (std::ranges::any_of(r.names, [&](auto n) { return handler.starts_with(n); }))
            return r.weight;
    return simple;
}

void weigh(basic_block &b, const std::vector<instruction> &all)
{
    constexpr std::uint32_t per_block = 12, per_guard = 8, per_element = 30; // of vector accesses
    const instruction_weight end = weight_of_end(b.end);
    b.work = per_block + end.per_warp;
    b.work_per_lane = end.per_lane;
    const std::uint32_t stop = b.last + (b.end == block_terminator::fall ? 0 : 1);
    for (std::uint32_t k = b.first; k < stop; ++k) {
        const instruction &i = all[k];
        if (i.run == nullptr) continue;
        const instruction_weight w = weight_of(i.run);
        if (i.guard != no_operand) b.work += per_guard;
        b.work += w.per_warp + (i.count > 1 ? per_element * (i.count - 1u) : 0);
        b.work_per_lane += w.per_lane;
    }
}

} // namespace simulator::core
