// Synchronises lanes of a warp: a .sync instruction (bar.warp.sync, shfl, vote, match, redux) waits
// for the lanes that its member mask names.
#include "paths.hpp"
#include "races.hpp"

#include <cstring>

namespace simulator::core {
namespace {

using state = path::state;

// The lanes of `mask` whose member mask equals that of its first lane.
lane_mask same_members(const std::uint32_t *members, lane_mask mask)
{
    std::uint32_t first = members[__builtin_ctz(mask)];
    return mask & baseline::where([=](int l) { return members[l] == first; });
}

} // namespace

void synchronise_warp(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    const std::uint32_t *members = baseline::lanes_of<std::uint32_t>(g.ctx, i.extra);
    lane_mask mask = w.paths[p].mask, left = mask, wrong = 0;
    lane_group sets[32]; // lanes with equal member masks
    std::size_t n = 0;
    bool complete = true;
    while (left != 0) {
        lane_mask named = members[__builtin_ctz(left)];
        lane_mask same = (i.extra & constant_bit) != 0 ? left : same_members(members, left);
        wrong |= same & ~named;
        complete &= (named & w.live & ~same) == 0;
        sets[n++] = {w.paths[p].block, same};
        left &= ~same;
    }
    if (wrong != 0)
        return stop_grid(g.ctx, i, finding_kind::barrier, cudaErrorLaunchFailure,
                         __builtin_ctz(wrong),
                         "the mask that a thread gives to it does not name the thread itself");
    if (complete) {
        for (std::size_t k = 0; k < n; ++k) i.run(g.ctx, i, sets[k].mask);
        if ((i.flags & orders_memory) != 0 && g.ctx.races != nullptr)
            for (std::size_t k = 0; k < n; ++k) g.ctx.races->synchronise_lanes(w, sets[k].mask);
        w.paths[p].block = b.next;
        return;
    }
    lane_mask named[32];
    std::memcpy(named, members, sizeof named);
    if (n > 1) diverge(w, p, -1, sets, n);
    for (path &o : w.paths)
        if (o.now == state::ready && (o.mask & mask) != 0) {
            o.now = state::at_sync;
            o.waits_for = named[__builtin_ctz(o.mask)];
        }
}

bool pass_sync(grid &g, warp &w, int p)
{
    path &n = w.paths[p];
    const instruction &i = terminator_of(w, n);
    bool is_syncwarp = (i.flags & orders_memory) != 0;
    lane_mask named = n.waits_for & w.live, here = 0;
    auto joins_in = [&](const path &o) {
        if (o.now != state::at_sync || o.waits_for != n.waits_for) return false;
        if (o.frame_index == n.frame_index && o.block == n.block) return true;
        return is_syncwarp && (terminator_of(w, o).flags & orders_memory) != 0;
    };
    for (const path &o : w.paths)
        if (joins_in(o)) here |= o.mask;
    if ((named & ~here) != 0) return false;
    enter(g, w, n);
    if (!is_syncwarp) i.run(g.ctx, i, here);
    if (is_syncwarp && g.ctx.races != nullptr) g.ctx.races->synchronise_lanes(w, here);
    for (path &o : w.paths) {
        if (o.now != state::at_sync || (o.mask & here) == 0) continue;
        o.block = w.frames[o.frame_index].of->blocks[o.block].next;
        o.now = state::ready;
    }
    return true;
}

} // namespace simulator::core
