// Handlers that are compiled once: special registers, warp shuffles, votes, matches and reductions,
// fences, alloca, traps.
#include "async_copies.hpp"
#include "inactive_lane_value.hpp"
#include "paths.hpp"
#include "races.hpp"
#include "simulator/lanes/handler_table.hpp"
#include "simulator/lanes/lanes.hpp"
#include "special_registers.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

namespace simulator::core {
namespace {

using namespace baseline;

void read_special(context &c, const instruction &i, lane_mask mask)
{
    auto s = static_cast<special>(i.extra);
    u64 steps = c.g->steps; // the clocks and timers count the warp instructions of the grid
    if (is_wide(s)) return every(lanes_of<u64>(c, i.d), mask, [=](int) { return steps; });
    u32 *d = lanes_of<u32>(c, i.d);
    if (s < special::zero) {
        u32 v = c.specials[i.extra];
        return every(d, mask, [=](int) { return v; });
    }
    const u32 *x = c.thread_ids[0], *y = c.thread_ids[1], *z = c.thread_ids[2];
    switch (s) {
    case special::tid_x:
        return every(d, mask, [=](int l) { return x[l]; });
    case special::tid_y:
        return every(d, mask, [=](int l) { return y[l]; });
    case special::tid_z:
        return every(d, mask, [=](int l) { return z[l]; });
    case special::laneid:
        return every(d, mask, [](int l) { return static_cast<u32>(l); });
    case special::lanemask_eq:
        return every(d, mask, [](int l) { return bit_of[l]; });
    case special::lanemask_lt:
        return every(d, mask, [](int l) { return bit_of[l] - 1; });
    case special::lanemask_le:
        return every(d, mask, [](int l) { return 2 * bit_of[l] - 1; });
    case special::lanemask_ge:
        return every(d, mask, [](int l) { return 0 - bit_of[l]; });
    case special::lanemask_gt:
        return every(d, mask, [](int l) { return 0 - 2 * bit_of[l]; });
    case special::clock:
    case special::globaltimer_lo:
        return every(d, mask, [=](int) { return static_cast<u32>(steps); });
    case special::clock_hi:
        return every(d, mask, [=](int) { return static_cast<u32>(steps >> 32); });
    default:
        return every(d, mask, [](int) { return u32{0}; });
    }
}

void local_address(context &c, const instruction &i, lane_mask mask)
{
    u64 v = c.local_base + static_cast<u64>(i.offset);
    if (i.wide != 0)
        every(lanes_of<u64>(c, i.d), mask, [=](int) { return v; });
    else
        every(lanes_of<u32>(c, i.d), mask, [=](int) { return static_cast<u32>(v); });
}

// alloca: extends the call frame by the largest size that any lane asks for, equally for all lanes.
// a: bytes; offset: their alignment. The memory is released when the function returns.
void allocate_local(context &c, const instruction &i, lane_mask mask)
{
    warp &w = *c.w;
    frame &f = w.frames[static_cast<std::size_t>(
        w.paths[static_cast<std::size_t>(w.current)].frame_index)];
    u64 bytes = 0;
    active(mask, [&](int l) { bytes = std::max(bytes, lanes_of<u64>(c, i.a)[l]); });
    const u64 align = std::max<u64>(static_cast<u64>(i.offset), 8);
    const u64 begin =
        (u64{f.local_base} + f.of->local_bytes + f.alloca_bytes + align - 1) / align * align;
    if (bytes > max_local_bytes || begin + bytes > max_local_bytes)
        return stop_grid(c, i, finding_kind::trap, cudaErrorLaunchFailure, __builtin_ctz(mask),
                         "alloca of " + std::to_string(bytes) +
                             " bytes: that is more local memory than a thread can have");
    const u64 end = (begin + bytes + 15) / 16 * 16;
    f.alloca_bytes = static_cast<u32>(end - f.local_base - f.of->local_bytes);
    take_local_memory(w, mask, begin, end);
    c.local = w.local.data();
    c.local_shadow = w.local_shadow.data();
    c.local_bytes = static_cast<u32>(w.local.size() / 32);
    every(lanes_of<u64>(c, i.d), mask, [=](int) { return begin; });
}

// The reason why an instruction is unsupported; empty if it is unknown.
const char *reason_for(const ptx::statement &s)
{
    const auto op = s.op[0];
    for (const auto *tensor : {"mma", "wmma", "ldmatrix", "stmatrix", "wgmma", "tcgen05"})
        if (op == tensor) return ": it does not offer tensor cores";
    for (const auto part : s.op) {
        if (part.starts_with("e4m3") || part.starts_with("e5m2"))
            return ": it does not offer what compute_80 lacks, such as numbers of 8 bits";
        if (part == "v8" || part == "b128" || part == "bulk" || part.starts_with("tensor"))
            return ": it does not offer what compute_80 lacks";
    }
    return "";
}

void unsupported(context &c, const instruction &i, lane_mask mask)
{
    const auto &s = c.running->body.statements[i.statement];
    std::string text = s.opcode();
    for (const auto &o : s.operands)
        if (s.op[0] == "call" && o.what == ptx::operand::kind::symbol) text += " " + o.name;
    stop_grid(c, i, finding_kind::unsupported, cudaErrorNotSupported, __builtin_ctz(mask),
              "the simulator does not know the instruction `" + text + "` (PTX line " +
                  std::to_string(s.text_line) + ")" + reason_for(s));
}

void trap(context &c, const instruction &i, lane_mask mask)
{
    stop_grid(c, i, finding_kind::trap, cudaErrorLaunchFailure, __builtin_ctz(mask),
              "the kernel executed a trap");
}

void active_mask(context &c, const instruction &i, lane_mask mask)
{
    every(lanes_of<u32>(c, i.d), mask, [=](int) { return mask; });
}

// extra: 0 is global, 1 shared, 2 local, 3 param, 4 const.
void is_space(context &c, const instruction &i, lane_mask mask)
{
    auto a = lanes_of<u64>(c, i.a);
    u64 base = c.base, reserved = c.reserved, space = i.extra;
    auto &device = memory::instance();
    lane_mask in = where([=, &device](int l) {
        if (space == 0) return a[l] - base < reserved;
        if (space < 4) return a[l] >> 56 == space; // shared_window, local_window, param_window
        const allocation *found = a[l] - base < reserved ? device.find(a[l]) : nullptr;
        return found != nullptr && found->kind == memory_kind::constant;
    });
    set_predicate(c, i.d, mask, in);
}

// shfl, in the terms of the PTX ISA; for .up, max_lane is the lowest lane of the segment.
enum class shuffle { up, down, bfly, idx };
template <shuffle mode> void shuffle_lanes(context &c, const instruction &i, lane_mask mask)
{
    u32 value[32];
    std::memcpy(value, lanes_of<u32>(c, i.a), sizeof value);
    const u32 *b = lanes_of<u32>(c, i.b), *c_operand = lanes_of<u32>(c, i.c);
    u32 *d = lanes_of<u32>(c, i.d);
    lane_mask inside = 0;
    u32 result[32] = {};
    active(mask, [&](int lane) {
        int segmask = static_cast<int>(c_operand[lane] >> 8 & 31);
        int cval = static_cast<int>(c_operand[lane] & 31), bval = static_cast<int>(b[lane] & 31);
        int max_lane = (lane & segmask) | (cval & ~segmask);
        int source = mode == shuffle::up     ? lane - bval
                     : mode == shuffle::down ? lane + bval
                     : mode == shuffle::bfly ? lane ^ bval
                                             : (lane & segmask) | (bval & ~segmask);
        bool in = mode == shuffle::up ? source >= max_lane : source <= max_lane;
        source = in ? source : lane;
        result[lane] = (mask & bit_of[source]) != 0 ? value[source] : inactive_lane_value;
        inside |= in ? bit_of[lane] : 0;
    });
    active(mask, [&](int lane) { d[lane] = result[lane]; });
    if (i.offset >= 0) set_predicate(c, static_cast<operand>(i.offset), mask, inside);
}

enum class vote { ballot, any, all, uni };
template <vote mode> void vote_lanes(context &c, const instruction &i, lane_mask mask)
{
    lane_mask yes = truth_of(c, i.a, (i.flags & negate_a) != 0) & mask;
    if constexpr (mode == vote::ballot) {
        every(lanes_of<u32>(c, i.d), mask, [=](int) { return yes; });
    } else {
        bool r = mode == vote::any   ? yes != 0
                 : mode == vote::all ? yes == mask
                                     : yes == mask || yes == 0;
        set_predicate(c, i.d, mask, r ? all_lanes : 0);
    }
}

template <bool all> void match_lanes(context &c, const instruction &i, lane_mask mask)
{
    u64 value[32];
    for (int l = 0; l < 32; ++l)
        value[l] = i.wide != 0 ? lanes_of<u64>(c, i.a)[l] : lanes_of<u32>(c, i.a)[l];
    u32 *d = lanes_of<u32>(c, i.d);
    lane_mask equal = all_lanes;
    active(mask, [&](int l) {
        lane_mask same = where([&](int k) { return value[k] == value[l]; }) & mask;
        if constexpr (!all) d[l] = same;
        equal &= same;
    });
    if constexpr (all) {
        bool yes = (equal & mask) == mask;
        active(mask, [&](int l) { d[l] = yes ? mask : 0; });
        if (i.offset >= 0)
            set_predicate(c, static_cast<operand>(i.offset), mask, yes ? all_lanes : 0);
    }
}

struct minimum {
    template <class T> T operator()(T a, T b) const { return b < a ? b : a; }
};
struct maximum {
    template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class Op, class T> void reduce_lanes(context &c, const instruction &i, lane_mask mask)
{
    const u32 *a = lanes_of<u32>(c, i.a);
    T r = static_cast<T>(a[__builtin_ctz(mask)]);
    active(mask & (mask - 1), [&](int l) { r = Op()(r, static_cast<T>(a[l])); });
    every(lanes_of<u32>(c, i.d), mask, [=](int) { return static_cast<u32>(r); });
}

void nothing(context &, const instruction &, lane_mask) {}

// Simulated memory is sequentially consistent: a fence matters only to the race detector and to
// the simulation of weakly ordered memory.
template <bool cta> void fence(context &c, const instruction &, lane_mask)
{
    if (c.races != nullptr) c.races->fence(c, cta);
}
void acquire(context &c, const instruction &i, lane_mask)
{
    if (c.races != nullptr) c.races->acquire(*c.w, (i.wide & block_scope) != 0);
}

} // namespace

void list_warp_handlers(handler_sink &out)
{
    out.add("core", "special", read_special);
    out.add("core", "local_address", local_address);
    out.add("core", "alloca", allocate_local);
    out.add("core", "unsupported", unsupported);
    out.add("core", "trap", trap);
    out.add("core", "brkpt", nothing);
    out.add("core", "fence", fence<false>);
    out.add("core", "block_fence", fence<true>);
    out.add("core", "acquire", acquire);
    out.add("core", "wait_for_copies", wait_for_copies);
    out.add("core", "activemask", active_mask);
    out.add("core", "isspacep", is_space);
    out.add("core", "warp_barrier", nothing);
    out.add("core.shfl", "up", shuffle_lanes<shuffle::up>);
    out.add("core.shfl", "down", shuffle_lanes<shuffle::down>);
    out.add("core.shfl", "bfly", shuffle_lanes<shuffle::bfly>);
    out.add("core.shfl", "idx", shuffle_lanes<shuffle::idx>);
    out.add("core.vote", "ballot", vote_lanes<vote::ballot>);
    out.add("core.vote", "any", vote_lanes<vote::any>);
    out.add("core.vote", "all", vote_lanes<vote::all>);
    out.add("core.vote", "uni", vote_lanes<vote::uni>);
    out.add("core.match", "any", match_lanes<false>);
    out.add("core.match", "all", match_lanes<true>);
    out.add("core.redux", "add.u32", reduce_lanes<std::plus<>, u32>);
    out.add("core.redux", "add.s32", reduce_lanes<std::plus<>, u32>);
    out.add("core.redux", "min.u32", reduce_lanes<minimum, u32>);
    out.add("core.redux", "min.s32", reduce_lanes<minimum, s32>);
    out.add("core.redux", "max.u32", reduce_lanes<maximum, u32>);
    out.add("core.redux", "max.s32", reduce_lanes<maximum, s32>);
    out.add("core.redux", "and.b32", reduce_lanes<std::bit_and<>, u32>);
    out.add("core.redux", "or.b32", reduce_lanes<std::bit_or<>, u32>);
    out.add("core.redux", "xor.b32", reduce_lanes<std::bit_xor<>, u32>);
}

} // namespace simulator::core
