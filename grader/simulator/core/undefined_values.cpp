// Tracks values loaded from uninitialised memory to their use.
#include "undefined_values.hpp"
#include "paths.hpp"
#include "simulator/lanes/handler_table.hpp"
#include "simulator/lanes/lanes.hpp"
#include "simulator/machine/memory.hpp"

#include <algorithm>

namespace simulator::core {
namespace {

using namespace baseline;

std::uint64_t address_of(context &c, const instruction &i, int lane)
{
    const bool wide = (i.wide & wide_address) != 0;
    return (wide ? lanes_of<std::uint64_t>(c, i.a)[lane] : lanes_of<std::uint32_t>(c, i.a)[lane]) +
           static_cast<std::uint64_t>(i.offset);
}

// The lanes of a store whose address is in local memory.
lane_mask local_lanes(context &c, const instruction &i)
{
    const ptx::statement &s = c.running->body.statements[i.statement];
    if (ptx::has_part(s, "local")) return all_lanes;
    return where([&](int l) { return address_of(c, i, l) >> 56 == local_window >> 56; });
}

// The lanes in which this operand of `and` is 0, or of `or` all ones: it decides the result alone.
lane_mask deciding_lanes(context &c, const instruction &i, operand o, bool negated)
{
    const auto &op = c.running->body.statements[i.statement].op;
    const bool ones = op[0] == "or";
    if (op.back() == "pred") return truth_of(c, o, negated) ^ (ones ? 0 : all_lanes);
    const std::uint32_t bits = 8 * ptx::size_of(ptx::type_named(op.back()));
    const std::uint64_t all = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    return where([&](int l) {
        const u64 v = bits == 64 ? lanes_of<u64>(c, o)[l] : lanes_of<u32>(c, o)[l];
        return (v & all) == (ones ? all : 0);
    });
}

} // namespace

std::uint32_t undefined_values::origin_of(const instruction &i, ptx::space s, std::uint32_t bytes)
{
    const auto known = std::find_if(origins_.begin(), origins_.end(),
                                    [&](const origin &o) { return o.load == &i && o.space == s; });
    const auto id = static_cast<std::uint32_t>(known - origins_.begin());
    if (known == origins_.end()) origins_.push_back({&i, s, bytes, 0, {}, {}});
    return id;
}

void undefined_values::load(context &c, const instruction &i, const lane_mask *elements,
                            const std::uint64_t *address, std::uint32_t bytes, ptx::space s)
{
    const std::uint32_t id = origin_of(i, s, bytes);
    origin &o = origins_[id];
    lane_mask held = 0, lanes = 0;
    for (const holding &h : held_)
        if (h.origin == id) held |= h.lanes;
    o.lanes &= held; // the values of other lanes have been overwritten
    for (std::uint32_t k = 0; k < i.count; ++k) {
        const operand to = i.count == 1 ? i.d : c.lists[i.extra][k];
        if (!is_register(to) || elements[k] == 0) continue;
        held_.push_back({c.bases[0], to, id, elements[k]});
        lanes |= elements[k];
    }
    active(lanes, [&](int l) {
        if ((o.lanes >> l & 1) == 0) {
            o.address[l] = address[l];
            o.times[l] = 0;
        }
        ++o.times[l];
    });
    o.lanes |= lanes;
}

void undefined_values::add(context &c, operand o, parts &to, lane_mask mask) const
{
    if (!is_register(o)) return;
    for (const holding &h : held_)
        if (h.reg == o && h.frame == c.bases[0] && (h.lanes & mask) != 0)
            to.push_back({h.origin, h.lanes & mask});
}

void undefined_values::add_sources(context &c, const instruction &i, const instruction_role &r,
                                   parts &to, lane_mask mask) const
{
    add(c, i.a, to, mask);
    add(c, i.b, to, mask);
    add(c, i.c, to, mask);
    if (!r.writes_d) add(c, i.d, to, mask);
    if (r.reads_extra) add(c, i.extra, to, mask);
    if (r.reads_list)
        for (operand o : c.running->lists[i.extra]) add(c, o, to, mask);
}

// and, or: in a lane where one operand decides the result alone, the other may be undefined.
void undefined_values::add_absorbed(context &c, const instruction &i, parts &to,
                                    lane_mask mask) const
{
    const operand sources[2] = {i.a, i.b};
    const bool negated[2] = {(i.flags & negate_a) != 0, (i.flags & negate_b) != 0};
    lane_mask undefined[2] = {0, 0};
    for (int k = 0; k < 2; ++k) {
        parts of;
        add(c, sources[k], of, mask);
        for (const part &p : of) undefined[k] |= p.lanes;
    }
    for (int k = 0; k < 2; ++k) {
        const lane_mask decided =
            deciding_lanes(c, i, sources[1 - k], negated[1 - k]) & ~undefined[1 - k];
        add(c, sources[k], to, mask & ~decided);
    }
}

// setp combined with a predicate: the predicate may decide the result alone.
void undefined_values::add_compared(context &c, const instruction &i, parts &to,
                                    lane_mask mask) const
{
    const std::uint32_t combine = i.extra & combine_mask;
    lane_mask decided = 0;
    if (combine == combine_and || combine == combine_or) {
        parts of;
        add(c, i.c, of, mask);
        const lane_mask yes = truth_of(c, i.c, (i.flags & negate_c) != 0);
        decided = combine == combine_or ? yes : ~yes;
        for (const part &p : of) decided &= ~p.lanes;
        to.insert(to.end(), of.begin(), of.end());
    }
    add(c, i.a, to, mask & ~decided);
    add(c, i.b, to, mask & ~decided);
    if (combine == combine_xor) add(c, i.c, to, mask);
}

void undefined_values::set(context &c, operand o, const parts &from, lane_mask mask)
{
    if (!is_register(o)) return;
    for (holding &h : held_)
        if (h.reg == o && h.frame == c.bases[0]) h.lanes &= ~mask;
    for (const part &p : from) {
        const auto same = [&](const holding &h) {
            return h.reg == o && h.frame == c.bases[0] && h.origin == p.origin;
        };
        const auto known = std::find_if(held_.begin(), held_.end(), same);
        if (known != held_.end())
            known->lanes |= p.lanes;
        else
            held_.push_back({c.bases[0], o, p.origin, p.lanes});
    }
}

void undefined_values::overwrite(context &c, const instruction &i, const instruction_role &r,
                                 const parts &from, lane_mask mask)
{
    if (r.writes_d) set(c, i.d, from, mask);
    if (r.writes_offset) set(c, static_cast<operand>(i.offset), from, mask);
    if (r.writes_list)
        for (operand o : c.running->lists[i.extra]) set(c, o, from, mask);
}

void undefined_values::before(context &c, const instruction &i, const instruction_role &r,
                              lane_mask mask)
{
    parts used, made;
    switch (r.does) {
    case instruction_role::kind::compute:
        add_sources(c, i, r, made, mask);
        break;
    case instruction_role::kind::select: {
        const lane_mask first = truth_of(c, i.c, (i.flags & negate_c) != 0);
        add(c, i.a, made, mask & first);
        add(c, i.b, made, mask & ~first);
        add(c, i.c, made, mask);
        break;
    }
    case instruction_role::kind::absorb:
        add_absorbed(c, i, made, mask);
        break;
    case instruction_role::kind::compare:
        add_compared(c, i, made, mask);
        break;
    case instruction_role::kind::store:
        add_stored(c, i, used, mask);
        break;
    case instruction_role::kind::load:
    case instruction_role::kind::other:
        add_sources(c, i, r, used, mask);
        break;
    }
    report(c, used);
    overwrite(c, i, r, made, mask);
    drop_empty();
}

void undefined_values::add_stored(context &c, const instruction &i, parts &used, lane_mask mask)
{
    add(c, i.a, used, mask);
    const lane_mask here = local_lanes(c, i);
    for (std::uint32_t k = 0; k < i.count; ++k) {
        parts data;
        add(c, i.count == 1 ? i.b : c.lists[i.extra][k], data, mask);
        for (const part &p : data) {
            const origin &o = origins_[p.origin];
            const bool copied = o.space == ptx::space::local && (o.load->flags & only_moved) != 0;
            const lane_mask stays = copied ? p.lanes & here : 0;
            if (stays != 0) undefined_stores_.push_back({k, stays});
            if (stays != p.lanes) used.push_back({p.origin, p.lanes & ~stays});
        }
    }
}

void undefined_values::after(context &c, const instruction &i)
{
    if (c.stop) undefined_stores_.clear(); // the store faulted
    for (const undefined_store &n : undefined_stores_)
        active(n.lanes, [&](int l) {
            const std::uint64_t first = address_of(c, i, l) % local_window + n.element * i.bytes;
            for (std::uint64_t k = first; k < first + i.bytes; ++k)
                c.local_shadow[local_position(k, l)] = 0;
        });
    undefined_stores_.clear();
}

void undefined_values::check_guard(context &c, const instruction &i, lane_mask mask)
{
    parts used;
    add(c, i.guard, used, mask);
    report(c, used);
    drop_empty();
}

void undefined_values::report(context &c, const parts &used)
{
    for (const part &p : used) {
        origin &o = origins_[p.origin];
        const lane_mask lanes = p.lanes & o.lanes;
        if (lanes == 0) continue;
        std::uint64_t times = 0;
        active(lanes, [&](int l) { times += o.times[l]; });
        const int first = __builtin_ctz(lanes);
        report_undefined(c, *o.load, first, o.address[first], o.bytes, o.space, times);
        o.lanes &= ~lanes;
        for (holding &h : held_)
            if (h.origin == p.origin) h.lanes &= ~lanes;
    }
}

void undefined_values::forget_lanes(lane_mask exited)
{
    for (holding &h : held_) h.lanes &= ~exited;
    drop_empty();
}

void undefined_values::forget_frame(const std::byte *registers)
{
    for (holding &h : held_)
        if (h.frame == registers) h.lanes = 0;
    drop_empty();
}

void undefined_values::drop_empty()
{
    std::erase_if(held_, [](const holding &h) { return h.lanes == 0; });
    if (held_.empty()) origins_.clear();
}

void undefined_read(context &c, const instruction &i, const lane_mask *elements,
                    const std::uint64_t *address, std::uint32_t bytes, ptx::space s)
{
    lane_mask lanes = 0;
    for (std::uint32_t k = 0; k < i.count; ++k) lanes |= elements[k];
    const auto &code = c.running->instructions;
    const bool followed = c.running->roles[static_cast<std::size_t>(&i - code.data())].followed;
    // Bytes that a pending cp.async will write are a race: it is reported at the load.
    bool copy_pending = false;
    if (s == ptx::space::shared)
        active(lanes, [&](int l) {
            const std::uint64_t at = address[l] & ~shared_window;
            copy_pending = copy_pending || (c.shared_shadow[at] & in_flight) != 0;
        });
    if (!followed || copy_pending) {
        const int first = __builtin_ctz(lanes);
        return report(c, i, access_problem::uninitialised, first, address[first], bytes, s, false,
                      static_cast<std::uint64_t>(__builtin_popcount(lanes)));
    }
    if (!c.w->undefined) c.w->undefined = std::make_unique<undefined_values>();
    c.w->undefined->load(c, i, elements, address, bytes, s);
    c.slow_path = true;
}

} // namespace simulator::core
