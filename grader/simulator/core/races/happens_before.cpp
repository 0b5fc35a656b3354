// Keeps the happens-before order of threads: barriers, and release patterns that others acquire.
#include "access.hpp"

#include <algorithm>

namespace simulator::core {
namespace {

constexpr std::size_t max_releases = 64;

} // namespace

bool released(const release_histories &all, u32 block, epoch done, epoch seen)
{
    const auto history = all.find(block);
    return history != all.end() && history->second.covers(done, seen);
}

void release_history::strong_write(epoch at)
{
    if (fence_ == 0 || (!entries_.empty() && entries_.back().fence == fence_)) return;
    if (entries_.size() == max_releases) {
        entries_.erase(entries_.begin(), entries_.begin() + max_releases / 2);
        dropped_ = true;
    }
    entries_.push_back({fence_, at});
}

bool release_history::covers(epoch done, epoch seen) const
{
    auto first = std::find_if(entries_.begin(), entries_.end(),
                              [=](const entry &e) { return e.fence > done; });
    if (first == entries_.end()) return false;
    // An older release may have been dropped: rather miss a race than report a false one.
    return first->at <= seen || (dropped_ && first == entries_.begin());
}

void race_checker::start(thread_block &b, u32 shared_bytes)
{
    if (!b.order || b.order->era != era_) b.order = std::make_unique<block_order>();
    block_order &o = *b.order;
    o.era = era_;
    o.synchronised_at = clock_ + 1;
    o.strong_read_at = o.acquired_at = o.reads_released_at = 0;
    o.warp_matrix.reset();
    o.barriers = {};
    o.warps.clear();
    o.warps.resize(b.warps.size());
    std::size_t lines = (shared_bytes + line_bytes - 1) / line_bytes;
    if (o.shared.size() < lines) o.shared.resize(lines);
}

void race_checker::synchronise_lanes(warp &w, lane_mask mask)
{
    warp_order &o = w.block->order->warps[w.index];
    mask &= w.live;
    acquire(w);
    if (mask == w.live) {
        o.synchronised_at = clock_ + 1;
        return;
    }
    if (!o.lanes) o.lanes = std::make_unique<order_matrix<32>>();
    auto &clocks = *o.lanes;
    std::array<epoch, 32> joined{};
    each_bit(mask, [&](int l) {
        for (int k = 0; k < 32; ++k) joined[k] = std::max(joined[k], clocks[l][k]);
    });
    each_bit(mask, [&](int l) { joined[l] = clock_ + 1; });
    each_bit(mask, [&](int l) { clocks[l] = joined; });
}

void race_checker::arrive(warp &w, u32 barrier)
{
    acquire(w);
    auto &a = w.block->order->barriers[barrier];
    a.warps |= 1u << w.index;
    a.at[w.index] = clock_ + 1;
    a.acquired_at = std::max(a.acquired_at, w.block->order->warps[w.index].acquired_at);
}

void race_checker::pass_barrier(thread_block &b)
{
    b.order->synchronised_at = clock_ + 1;
    b.order->barriers = {};
}

// Only some warps synchronise: each waiting warp joins the vector clocks of all that arrived, and
// what they had acquired.
void race_checker::pass_barrier(thread_block &b, u32 barrier, u32 waiting)
{
    block_order &o = *b.order;
    if (!o.warp_matrix) o.warp_matrix = std::make_unique<order_matrix<32>>();
    auto &clocks = *o.warp_matrix;
    auto &arrived = o.barriers[barrier];
    std::array<epoch, 32> joined{};
    each_bit(arrived.warps, [&](int w) {
        for (int k = 0; k < 32; ++k) joined[k] = std::max(joined[k], clocks[w][k]);
    });
    each_bit(arrived.warps, [&](int w) { joined[w] = std::max(joined[w], arrived.at[w]); });
    each_bit(waiting, [&](int w) {
        clocks[w] = joined;
        o.warps[w].synchronised_at = clock_ + 1;
        o.warps[w].acquired_at = std::max(o.warps[w].acquired_at, arrived.acquired_at);
    });
    arrived = {};
}

void race_checker::fence(context &c, bool block_scope)
{
    acquire(*c.w, block_scope);
    c.b->order->warps[c.w->index].releases.fence(clock_ + 1);
    if (!block_scope) blocks_[static_cast<u32>(c.b->number)].fence(clock_ + 1);
}

void race_checker::acquire(warp &w, bool block_scope)
{
    block_order &block = *w.block->order;
    warp_order &own = block.warps[w.index];
    // A barrier of some warps may have handed on a later epoch than the warp's own reads.
    own.acquired_at = std::max(own.acquired_at, own.strong_read_at);
    if (!block_scope) block.acquired_at = std::max(block.acquired_at, own.strong_read_at);
}

bool race_checker::released_to(const thread_block &b, u32 by, epoch done) const
{
    return released(blocks_, by, done, b.order->acquired_at);
}

bool race_checker::released_before_seen(const thread_block &b, u32 by, epoch done) const
{
    return released(blocks_, by, done, b.order->strong_read_at);
}

void race_checker::note_strong_access(const access &a)
{
    const bool reads =
        a.use == access_use::read || (a.use == access_use::atomic && a.i.d != no_operand);
    if (reads) a.block.strong_read_at = a.warp.strong_read_at = a.at;
    if (a.use == access_use::read) return;
    a.warp.releases.strong_write(a.at);
    if (a.block.reads_released_at < a.block_at) { // needed once after each barrier
        a.block.reads_released_at = a.block_at;
        release_history &history = reads_[static_cast<u32>(a.c.b->number)];
        history.fence(a.block_at);
        history.strong_write(a.at);
    }
    if (auto b = blocks_.find(static_cast<u32>(a.c.b->number)); b != blocks_.end())
        b->second.strong_write(a.at);
}

// True if this warp has acquired a release after the earlier access, by the warp of that access or
// by one that had synchronised with it at a barrier.
bool race_checker::ordered_by_release(const access &a, const access_record &m, u32 theirs) const
{
    const auto &warps = a.block.warps;
    for (u32 w = 0; w < warps.size(); ++w) {
        const bool synchronised =
            w == theirs || (a.block.warp_matrix && m.at < (*a.block.warp_matrix)[w][theirs]);
        if (synchronised && warps[w].releases.covers(m.at, a.warp.acquired_at)) return true;
    }
    return false;
}

// Returns the lane of the earlier access that is unordered with this one, or -1. Between blocks
// only releases order accesses; within one, also barriers and, within a warp, its synchronised
// lanes.
int race_checker::racing_lane(const access &a, const access_record &m, int lane, bool wrote)
{
    if (!a.of_this_grid(m)) return racing_lane(a, m, grid_of(m));
    if (!same_block(m.owner, a.owner)) {
        // A pair with a block-scope atomic is ordered by the strong read alone, without a fence:
        // the later access usually depends on that read.
        const epoch seen = a.scope_too_narrow(m) ? a.block.strong_read_at : a.block.acquired_at;
        const u32 block = block_of(m.owner);
        const bool ordered =
            released(blocks_, block, m.at, seen) || (!wrote && released(reads_, block, m.at, seen));
        return ordered ? -1 : __builtin_ctz(m.lanes);
    }
    u32 theirs = m.owner & 31;
    if (ordered_by_release(a, m, theirs)) return -1;
    if (theirs != a.c.w->index) {
        bool synchronised =
            a.block.warp_matrix && m.at < (*a.block.warp_matrix)[a.c.w->index][theirs];
        return synchronised ? -1 : __builtin_ctz(m.lanes);
    }
    for (lane_mask left = m.lanes & ~(1u << lane); left != 0; left &= left - 1) {
        int l = __builtin_ctz(left);
        if (!a.warp.lanes || m.at >= (*a.warp.lanes)[lane][l]) return l;
    }
    return -1;
}

} // namespace simulator::core
