// Lets the lanes of a path wait: at a barrier of the block, or for the other lanes of their warp.
#include "paths.hpp"
#include "races.hpp"

#include <cstring>

namespace simulator::core {
namespace {

using state = path::state;

std::string counts_differ(std::uint32_t id, std::uint32_t first, std::uint32_t now)
{
    auto text = [](std::uint32_t n) {
        return n == 0 ? std::string("all threads of the block") : std::to_string(n) + " threads";
    };
    return "barrier " + std::to_string(id) + " waits for " + text(first) +
           ", but this thread comes to it for " + text(now) + ": all must name the same number";
}

// The lanes of `mask` whose member mask equals that of its first lane.
lane_mask same_members(const std::uint32_t *members, lane_mask mask)
{
    std::uint32_t first = members[__builtin_ctz(mask)];
    return mask & baseline::where([=](int l) { return members[l] == first; });
}

} // namespace

// instruction::extra of bar: 0 is sync, 1 arrive, 2 and up red.
void arrive_at_barrier(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    path &n = w.paths[p];
    int lane = __builtin_ctz(n.mask);
    std::uint32_t id = baseline::lanes_of<std::uint32_t>(g.ctx, i.a)[lane] & 15;
    std::uint32_t expected =
        i.b == no_operand ? 0 : baseline::lanes_of<std::uint32_t>(g.ctx, i.b)[lane];
    auto &bar = w.block->barriers[id];
    if (i.b != no_operand && (expected == 0 || expected % 32 != 0))
        return stop_grid(g.ctx, i, finding_kind::barrier, 719, lane,
                         "a barrier is asked to wait for " + std::to_string(expected) +
                             " threads: the number must be a multiple of 32, the lanes of a warp");
    if (bar.arrived != 0 && bar.expected != expected)
        return stop_grid(g.ctx, i, finding_kind::barrier, 719, lane,
                         counts_differ(id, bar.expected, expected));
    if (g.ctx.count) ++g.ctx.counted[i.statement].barriers;
    if (g.ctx.races != nullptr) g.ctx.races->arrive(w, id);
    bar.arrived += lane_count(n.mask);
    bar.expected = expected;
    if (i.c != no_operand) {
        lane_mask yes = truth_of(g.ctx, i.c, (i.flags & negate_c) != 0);
        bar.true_threads += lane_count(yes & n.mask);
    }
    if (i.extra == 1) {
        n.block = b.next;
    } else {
        n.now = state::at_barrier;
        n.waits = id;
    }
}

void synchronise(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    const std::uint32_t *members = baseline::lanes_of<std::uint32_t>(g.ctx, i.extra);
    lane_mask mask = w.paths[p].mask, left = mask, wrong = 0;
    lane_group sets[32];
    std::size_t n = 0;
    bool complete = true;
    while (left != 0) {
        std::uint32_t named = members[__builtin_ctz(left)];
        lane_mask same = (i.extra & constant_bit) != 0 ? left : same_members(members, left);
        wrong |= same & ~named;
        complete &= (named & w.live & ~same) == 0;
        sets[n++] = {w.paths[p].block, same};
        left &= ~same;
    }
    if (wrong != 0)
        return stop_grid(g.ctx, i, finding_kind::barrier, 719, __builtin_ctz(wrong),
                         "the mask that a thread gives to it does not name the thread itself");
    if (complete) {
        for (std::size_t k = 0; k < n; ++k) i.run(g.ctx, i, sets[k].mask);
        if ((i.flags & orders_memory) != 0 && g.ctx.races != nullptr)
            for (std::size_t k = 0; k < n; ++k) g.ctx.races->synchronise_lanes(w, sets[k].mask);
        w.paths[p].block = b.next;
        return;
    }
    std::uint32_t named[32];
    std::memcpy(named, members, sizeof named);
    if (n > 1) diverge(w, p, -1, sets, n);
    for (path &o : w.paths)
        if (o.now == state::ready && (o.mask & mask) != 0) {
            o.now = state::at_sync;
            o.waits = named[__builtin_ctz(o.mask)];
        }
}

bool pass_sync(grid &g, warp &w, int p)
{
    path &n = w.paths[p];
    const instruction &i = terminator_of(w, n);
    bool plain = (i.flags & orders_memory) != 0;
    lane_mask named = n.waits & w.live, here = 0;
    auto joins_in = [&](const path &o) {
        if (o.now != state::at_sync || o.waits != n.waits) return false;
        if (o.in == n.in && o.block == n.block) return true;
        return plain && (terminator_of(w, o).flags & orders_memory) != 0;
    };
    for (const path &o : w.paths)
        if (joins_in(o)) here |= o.mask;
    if ((named & ~here) != 0) return false;
    enter(g, w, n);
    if (!plain) i.run(g.ctx, i, here);
    if (plain && g.ctx.races != nullptr) g.ctx.races->synchronise_lanes(w, here);
    for (path &o : w.paths) {
        if (o.now != state::at_sync || (o.mask & here) == 0) continue;
        o.block = w.frames[o.in].of->blocks[o.block].next;
        o.now = state::ready;
    }
    return true;
}

} // namespace simulator::core
