// Orders the grids of one launch tree: finds which accesses of an earlier grid happen before a
// later grid.
#include "access.hpp"

#include <algorithm>
#include <unordered_set>

namespace simulator::core {
namespace {

// Keeps only the last launch by each thread: it covers the earlier ones.
void add_launch(std::vector<const launch_clock *> &all, const launch_clock *k)
{
    for (const auto *&other : all)
        if (other->owner == k->owner && other->lane == k->lane) {
            if (other->at < k->at) other = k;
            return;
        }
    all.push_back(k);
}

// True if streams order the completion of one sibling before the start of the other.
bool streams_order(const launch_node &earlier, const launch_node &later)
{
    std::unordered_set<const launch_node *> seen{&later};
    for (std::vector<const launch_node *> left{&later}; !left.empty();) {
        const launch_node *n = left.back();
        left.pop_back();
        for (const launch_node *e : n->after) {
            if (e == &earlier) return true;
            if (e->ran_before > earlier.ran_before && seen.insert(e).second) left.push_back(e);
        }
    }
    return false;
}

} // namespace

const std::vector<const launch_clock *> &launches_before(const launch_node &n)
{
    auto &all = n.history->launches;
    if (!all.empty()) return all;
    all.push_back(&n.history->at_launch);
    for (const launch_node *e : n.after)
        for (const auto *k : launches_before(*e)) add_launch(all, k);
    return all;
}

launch_clock race_checker::clock_at_launch(context &c, const instruction &i, int lane)
{
    const block_order &block = *c.b->order;
    const warp_order &warp = block.warps[c.w->index];
    launch_clock k;
    k.at = ++clock_;
    k.owner = owner_of(*c.b, *c.w);
    k.lane = lane;
    k.block_at = block.synchronised_at;
    k.warp_at = warp.synchronised_at;
    k.acquired_at = block.strong_read_at;
    if (warp.lanes) k.lanes.assign((*warp.lanes)[lane].begin(), (*warp.lanes)[lane].end());
    if (block.warp_matrix) {
        const auto &row = (*block.warp_matrix)[c.w->index];
        k.warps.assign(row.begin(), row.end());
    }
    k.of = c.running;
    k.statement = i.statement;
    return k;
}

bool launch_clock::covers(const access_record &m, int by, const release_histories &blocks) const
{
    if (m.at >= at) return false;
    if (released(blocks, block_of(m.owner), m.at, acquired_at)) return true;
    if (!same_block(m.owner, owner)) return false;
    if (m.at < block_at) return true;
    if (!same_warp(m.owner, owner)) return !warps.empty() && m.at < warps[m.owner & 31];
    if (m.at < warp_at || by == lane) return true;
    return by >= 0 && !lanes.empty() && m.at < lanes[static_cast<std::size_t>(by)];
}

const launch_node &race_checker::grid_of(const access_record &m) const
{
    const auto after =
        std::upper_bound(grids_.begin(), grids_.end(), m.at,
                         [](epoch at, const launch_node *n) { return at < n->history->began; });
    return **std::prev(after);
}

const race_checker::relation &race_checker::relation_to(const launch_node &earlier)
{
    auto [known, fresh] = relations_.try_emplace(&earlier);
    relation &r = known->second;
    if (!fresh) return r;
    const launch_node *e = &earlier, *c = current_grid_, *below_e = nullptr, *below_c = nullptr;
    while (e != c) { // up to the common ancestor
        if (earlier.history->ended <= c->history->horizon) {
            r.before = true;
            return r;
        }
        if (e->ran_before > c->ran_before) {
            below_e = e;
            e = e->parent;
        } else {
            below_c = c;
            c = c->parent;
        }
    }
    r.before = below_c->tail || (below_e && streams_order(*below_e, *below_c));
    if (!r.before && !below_e) r.launches = launches_before(*below_c);
    return r;
}

bool race_checker::precedes(const access_record &m)
{
    const launch_node &of = grid_of(m);
    const relation &r = relation_to(of);
    return r.before || std::any_of(r.launches.begin(), r.launches.end(), [&](const auto *k) {
               return k->covers(m, -1, of.history->blocks);
           });
}

// Returns the lane of an earlier grid's access that is unordered with this one, or -1.
int race_checker::racing_lane(const access &a, const access_record &m, const launch_node &of)
{
    if (released(of.history->blocks, block_of(m.owner), m.at, a.block.acquired_at)) return -1;
    const auto launches = relation_to(of).launches;
    for (lane_mask left = m.lanes; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        if (std::none_of(launches.begin(), launches.end(),
                         [&](const auto *k) { return k->covers(m, l, of.history->blocks); }))
            return l;
    }
    return -1;
}

} // namespace simulator::core
