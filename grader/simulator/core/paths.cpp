// Splits a path of a warp where its lanes diverge, and merges its children where they reconverge.
#include "paths.hpp"

namespace simulator::core {
namespace {

using state = path::state;

// A join whose last child is gone continues with the lanes that arrived, or is removed too.
void child_gone(warp &w, int join)
{
    while (join >= 0) {
        path &j = w.paths[join];
        if (--j.children > 0) return;
        j.is_call = false;
        if (j.mask != 0) {
            j.now = state::ready;
            w.current = join;
            return;
        }
        j.now = state::unused;
        join = j.parent;
    }
}

} // namespace

int new_path(warp &w, const path &p)
{
    for (std::size_t k = 0; k < w.paths.size(); ++k)
        if (w.paths[k].now == state::unused) {
            w.paths[k] = p;
            return static_cast<int>(k);
        }
    w.paths.push_back(p);
    return static_cast<int>(w.paths.size()) - 1;
}

void remove_path(warp &w, int p)
{
    w.paths[p].now = state::unused;
    child_gone(w, w.paths[p].parent);
}

void reconverge(warp &w, int p)
{
    w.paths[w.paths[p].parent].mask |= w.paths[p].mask;
    remove_path(w, p);
}

void drop_frame_users(warp &w, int frame_index, std::uint32_t lanes)
{
    frame &f = w.frames[frame_index];
    f.users -= lanes;
    if (f.users == 0 && frame_index != 0) f.of = nullptr;
}

void end_lanes(warp &w, int p, lane_mask some)
{
    path &n = w.paths[p];
    if (w.block->ended_in == nullptr) {
        w.block->ended_in = w.frames[n.frame_index].of;
        w.block->ended_after = n.last_branch;
    }
    for (int k = p; k >= 0; k = w.paths[k].parent)
        if (k == p || w.paths[k].is_call)
            drop_frame_users(w, w.paths[k].frame_index, lane_count(some));
    w.live &= ~some;
    w.block->live -= lane_count(some);
    n.mask &= ~some;
    if (n.mask == 0) remove_path(w, p);
}

void diverge(warp &w, int p, int reconvergence_block, const lane_group *groups, std::size_t n)
{
    path before = w.paths[p];
    if (reconvergence_block < 0) reconvergence_block = before.join;
    int parent = before.parent;
    if (reconvergence_block != before.join) { // this path becomes the join
        path &j = w.paths[p];
        j.now = state::joining;
        j.mask = 0;
        j.block = reconvergence_block;
        j.children = 1; // held while children are created
        parent = p;
    } else {
        w.paths[p].now = state::unused; // the parent's child count still includes this path
    }
    int first = -1;
    for (std::size_t k = 0; k < n; ++k) {
        if (groups[k].mask == 0) continue;
        if (groups[k].block == reconvergence_block && reconvergence_block >= 0 && parent >= 0) {
            w.paths[parent].mask |= groups[k].mask;
            continue;
        }
        path c = before;
        c.now = state::ready;
        c.mask = groups[k].mask;
        c.block = groups[k].block;
        c.join = reconvergence_block;
        c.parent = parent;
        c.children = 0;
        c.spin_turns = 0;
        int made = new_path(w, c);
        if (parent >= 0) ++w.paths[parent].children;
        if (first < 0) first = made;
    }
    if (first >= 0) w.current = first;
    if (parent >= 0) child_gone(w, parent);
}

bool release_join(warp &w)
{
    for (std::size_t k = w.paths.size(); k-- > 0;) {
        path &j = w.paths[k];
        if (j.now != state::joining || j.mask == 0) continue;
        path ahead = j;
        ahead.now = state::ready;
        ahead.is_call = false;
        ahead.children = 0;
        ahead.spin_turns = 0;
        j.mask = 0;
        if (j.parent >= 0) ++w.paths[j.parent].children;
        w.current = new_path(w, ahead);
        return true;
    }
    return false;
}

} // namespace simulator::core
