// Runs a warp: its paths take turns, and each runs basic block by basic block.
#include "async_copies.hpp"
#include "paths.hpp"
#include "special_registers.hpp"
#include "undefined_values.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace simulator::core {
namespace {

using state = path::state;

constexpr std::uint32_t spin_limit = 64; // turns in loops before lanes may leave a join
// Units of work (machine/work_meter.hpp) beyond those of the instructions: of a turn, of a change
// between paths, and of an instruction while a register of the warp holds an undefined value.
constexpr std::uint64_t work_per_turn = 30, work_per_entry = 20, work_of_tracking = 40;

// Returns the next path that can run, beginning with the current one; -1: none.
int next_ready(grid &g, warp &w)
{
    int n = static_cast<int>(w.paths.size());
    for (int k = 0; k < n; ++k) {
        int p = (w.current + k) % n;
        if (w.paths[p].now == state::ready) return p;
    }
    for (int p = 0; p < n; ++p)
        if (w.paths[p].now == state::at_sync && pass_sync(g, w, p)) return next_ready(g, w);
    return -1;
}

void branch(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    context &c = g.ctx;
    path &n = w.paths[p];
    lane_mask taken = guarded(c, i, n.mask), rest = n.mask & ~taken;
    n.last_branch = i.statement + 1;
    if (rest == 0) {
        n.block = b.target;
    } else if (taken == 0) {
        n.block = b.next;
    } else {
        lane_group groups[2] = {{b.next, rest}, {b.target, taken}};
        if (g.shuffled && g.random() % 2 == 0) std::swap(groups[0], groups[1]);
        diverge(w, p, b.reconvergence_block, groups, 2);
    }
}

void branch_table(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    const std::uint32_t *index = baseline::lanes_of<std::uint32_t>(g.ctx, i.a);
    std::vector<lane_group> groups;
    lane_mask mask = w.paths[p].mask;
    for (lane_mask m = mask; m != 0; m &= m - 1) {
        int lane = __builtin_ctz(m);
        if (index[lane] >= b.targets.size())
            return stop_grid(g.ctx, i, finding_kind::trap, cudaErrorLaunchFailure, lane,
                             "a branch table has no such entry");
        int to = b.targets[index[lane]];
        auto it = std::find_if(groups.begin(), groups.end(),
                               [&](const lane_group &x) { return x.block == to; });
        if (it == groups.end())
            groups.push_back({to, lane_mask{1} << lane});
        else
            it->mask |= lane_mask{1} << lane;
    }
    if (groups.size() == 1) {
        w.paths[p].block = groups[0].block;
        return;
    }
    diverge(w, p, b.reconvergence_block, groups.data(), groups.size());
}

// Runs one instruction for the lanes whose guard is true.
inline void run_one(context &c, const instruction &i, lane_mask mask, std::uint64_t *lanes_off)
{
    if (i.guard == no_operand) {
        i.run(c, i, mask);
    } else {
        lane_mask m = guarded(c, i, mask);
        if (i.begins) lanes_off[i.statement] += lane_count(mask & ~m);
        if (m != 0) i.run(c, i, m);
    }
}

// Runs instructions as long as registers hold undefined values, and tracks these. Returns the next
// instruction.
const instruction *run_tracked(context &c, const code &k, const instruction *i,
                               const instruction *end, lane_mask mask, std::uint64_t *lanes_off)
{
    undefined_values &values = *c.w->undefined;
    for (; i != end && c.slow_path && !c.stop; ++i) {
        c.work += work_of_tracking;
        if (i->guard != no_operand) values.check_guard(c, *i, mask);
        const lane_mask m = guarded(c, *i, mask);
        if (m != 0)
            values.before(c, *i, k.roles[static_cast<std::size_t>(i - k.instructions.data())], m);
        c.slow_path = c.stop;
        run_one(c, *i, mask, lanes_off);
        values.after(c, *i);
        c.slow_path |= !values.empty();
    }
    return i;
}

void run_instructions(context &c, const code &k, const basic_block &b, lane_mask mask,
                      std::uint64_t *lanes_off)
{
    const instruction *i = k.instructions.data() + b.first, *end = k.instructions.data() + b.last;
    if (c.slow_path) [[unlikely]]
        i = run_tracked(c, k, i, end, mask, lanes_off);
    while (i != end) {
        run_one(c, *i, mask, lanes_off);
        ++i;
        if (c.slow_path) [[unlikely]] {
            if (c.stop) return;
            i = run_tracked(c, k, i, end, mask, lanes_off);
        }
    }
}

// Checks the operands of a basic block's terminator for undefined values.
void track_terminator(context &c, const code &k, const basic_block &b, lane_mask mask)
{
    undefined_values &values = *c.w->undefined;
    if (b.end != block_terminator::fall) {
        const instruction &i = k.instructions[b.terminator];
        if (i.guard != no_operand) values.check_guard(c, i, mask);
        values.before(c, i, k.roles[b.terminator], mask);
    }
    values.forget_lanes(~c.w->live);
    c.slow_path = c.stop || !values.empty();
}

// Runs the terminator of a basic block, which decides where the lanes of the path continue.
inline void run_terminator(grid &g, warp &w, int p, const basic_block &b, const code &k)
{
    switch (b.end) {
    case block_terminator::fall:
    case block_terminator::pause:
        w.paths[p].block = b.next;
        break;
    case block_terminator::branch:
        branch(g, w, p, b, k.instructions[b.terminator]);
        break;
    case block_terminator::table:
        branch_table(g, w, p, b, k.instructions[b.terminator]);
        break;
    case block_terminator::call:
        call(g, w, p, b, k.instructions[b.terminator]);
        break;
    case block_terminator::leave:
        leave(g, w, p, b, k.instructions[b.terminator]);
        break;
    case block_terminator::barrier:
        arrive_at_barrier(g, w, p, b, k.instructions[b.terminator]);
        break;
    case block_terminator::warp_sync:
        synchronise_warp(g, w, p, b, k.instructions[b.terminator]);
        break;
    }
}

} // namespace

void start_warp(grid &g, warp &w)
{
    w.current = 0;
    w.paths.clear();
    w.paths.push_back({.now = state::ready, .mask = w.live});
    w.frames.resize(1);
    frame &f = w.frames[0];
    code &k = *g.kernel->functions[g.kernel->entry_index];
    f.of = &k;
    f.users = lane_count(w.live);
    f.local_base = 0;
    f.alloca_bytes = 0;
    f.arguments.resize(std::size_t{32} * k.argument_bytes);
    std::size_t bytes = std::size_t{k.local_bytes} * 32;
    w.local.resize(bytes);
    w.local_shadow.assign(bytes, 0);
    w.copies.reset();
    w.undefined.reset();
}

void enter(grid &g, warp &w, const path &p)
{
    context &c = g.ctx;
    frame &f = w.frames[p.frame_index];
    code &k = *f.of;
    c.bases[0] = f.registers;
    c.bases[1] = k.constants.data();
    c.w = &w;
    c.b = w.block;
    c.running = &k;
    c.lists = k.list_pointers.data();
    function_counts &t = *g.counts[k.index];
    c.counted = t.counted.data();
    c.memos = t.memos.data();
    c.worst = t.worst.data();
    c.arguments = f.arguments.data();
    c.argument_stride = k.argument_bytes;
    c.local_base = f.local_base;
    c.local = w.local.data();
    c.local_shadow = w.local_shadow.data();
    c.local_bytes = static_cast<std::uint32_t>(w.local.size() / 32);
    c.slow_path = c.stop || (w.undefined && !w.undefined->empty());
}

turn run_warp(grid &g, warp &w, std::uint64_t quantum)
{
    context &c = g.ctx;
    c.shared = w.block->shared.data();
    c.shared_shadow = w.block->shared_shadow.data();
    set_special(c, special::warpid, w.index);
    set_special(c, special::ctaid_x, w.block->index);
    for (int d = 0; d < 3; ++d) c.thread_ids[d] = g.thread_ids[d].data() + 32 * w.index;
    c.work += work_per_turn;
    const std::uint64_t limit = g.steps + quantum;
    while (w.live != 0) {
        int p = next_ready(g, w);
        if (c.stop) return turn::stopped;
        if (p < 0) {
            if (!release_join(w)) return turn::blocked;
            continue;
        }
        w.current = p;
        enter(g, w, w.paths[p]);
        c.work += work_per_entry;
        const code &k = *w.frames[w.paths[p].frame_index].of;
        function_counts &t = *g.counts[k.index];
        for (bool same = true; same;) {
            path &n = w.paths[p];
            if (n.block == n.join && n.join >= 0 && n.parent >= 0) {
                reconverge(w, p);
                break;
            }
            const basic_block &b = k.blocks[n.block];
            int here = n.block;
            ++t.runs[here];
            const std::uint32_t lanes = lane_count(n.mask);
            t.lanes_run[here] += lanes;
            c.work += b.work + std::uint64_t{b.work_per_lane} * lanes;
            g.steps += b.last_statement - b.first_statement;
            run_instructions(c, k, b, n.mask, t.lanes_off.data());
            if (c.stop) return turn::stopped;
            if (c.slow_path) [[unlikely]]
                track_terminator(c, k, b, n.mask);
            run_terminator(g, w, p, b, k);
            if (c.stop) return turn::stopped;
            const bool spins =
                b.spins && w.paths[p].now == state::ready && w.paths[p].block <= here;
            same = w.current == p && w.paths[p].now == state::ready;
            if (spins || b.end == block_terminator::pause) {
                path &s = w.paths[p];
                if (++s.spin_turns % spin_limit == 0)
                    release_join(w);
                else
                    w.current = (p + 1) % static_cast<int>(w.paths.size());
                return spins ? turn::waiting : turn::paused;
            }
            if (g.steps >= limit) {
                if (w.live == 0) break;
                path &s = w.paths[p];
                if (s.now == state::ready && ++s.spin_turns % spin_limit == 0) release_join(w);
                return turn::used_up;
            }
        }
    }
    return turn::ended;
}

} // namespace simulator::core
