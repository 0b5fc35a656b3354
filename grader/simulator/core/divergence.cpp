// Runs a warp: lanes diverge at branches and reconverge at the immediate post-dominator.
//
// Lanes that run together are a path. When they diverge, the path becomes a join at the
// reconvergence block and waits for its children; normally one child runs until it arrives, then
// the next. When the running lanes can only wait for others of the same warp (a spin lock, a
// warp-wide barrier in two branches), other paths get a turn, and lanes that wait at a join may
// continue alone, so that every thread makes progress.
#include "copies.hpp"
#include "races.hpp"
#include "undefined.hpp"

#include <algorithm>
#include <cstring>

namespace simulator::core {
namespace {

using state = path::state;

constexpr std::uint32_t spin_limit = 64; // spinning turns before lanes may leave a join
// Call depth per thread, with the smallest frame that hardware keeps per call.
constexpr std::uint32_t max_calls = 1 << 13;

template <class T> T *lanes_of(context &c, operand o)
{
    return reinterpret_cast<T *>(c.bases[o >> 31] + (o & ~constant_bit));
}

lane_mask condition(context &c, const instruction &i, lane_mask mask)
{
    return i.guard == no_operand ? mask : mask & (*lanes_of<lane_mask>(c, i.guard) ^ i.guard_flip);
}

int count(lane_mask m) { return __builtin_popcount(m); }

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

void remove_path(warp &w, int p)
{
    w.paths[p].now = state::unused;
    child_gone(w, w.paths[p].parent);
}

void arrive(warp &w, int p)
{
    w.paths[w.paths[p].parent].mask |= w.paths[p].mask;
    remove_path(w, p);
}

void drop_frame_users(warp &w, int frame_index, int lanes)
{
    frame &f = w.frames[frame_index];
    f.users -= lanes;
    if (f.users == 0 && frame_index != 0) f.of = nullptr;
}

// Ends the lanes `some` of path `p`.
void end_lanes(warp &w, int p, lane_mask some)
{
    path &n = w.paths[p];
    if (w.block->ended_in == nullptr) {
        w.block->ended_in = w.frames[n.in].of;
        w.block->ended_after = n.tested;
    }
    for (int k = p; k >= 0; k = w.paths[k].parent)
        if (k == p || w.paths[k].is_call) drop_frame_users(w, w.paths[k].in, count(some));
    w.live &= ~some;
    w.block->live -= static_cast<std::uint32_t>(count(some));
    n.mask &= ~some;
    if (n.mask == 0) remove_path(w, p);
}

int calling_join(const warp &w, int p)
{
    for (int k = w.paths[p].parent; k >= 0; k = w.paths[k].parent)
        if (w.paths[k].is_call) return k;
    return -1;
}

const call_site &call_of(const warp &w, const path &join)
{
    const code &k = *w.frames[join.in].of;
    return k.calls[k.instructions[k.blocks[join.waits].terminator].extra];
}

// Returns the lanes `some` of path `p` to the call of their function, with its results.
void return_lanes(warp &w, int p, lane_mask some)
{
    int join = calling_join(w, p);
    if (join < 0) return end_lanes(w, p, some);
    const frame &from = w.frames[w.paths[p].in];
    frame &to = w.frames[w.paths[join].in];
    const call_site &site = call_of(w, w.paths[join]);
    for (std::size_t r = 0; r < site.out.size(); ++r)
        for (lane_mask m = some; m != 0; m &= m - 1) {
            auto lane = static_cast<std::size_t>(__builtin_ctz(m));
            std::memcpy(to.arguments.data() + lane * to.of->argument_bytes + site.out[r],
                        from.arguments.data() + lane * from.of->argument_bytes +
                            from.of->result_offsets[r],
                        from.of->source->results[r].bytes);
        }
    w.paths[join].mask |= some;
    drop_frame_users(w, w.paths[p].in, count(some));
    w.paths[p].mask &= ~some;
    if (w.paths[p].mask == 0) remove_path(w, p);
}

struct lane_group {
    int block;
    lane_mask mask;
};

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
        c.spun = 0;
        int made = new_path(w, c);
        if (parent >= 0) ++w.paths[parent].children;
        if (first < 0) first = made;
    }
    if (first >= 0) w.current = first;
    if (parent >= 0) child_gone(w, parent);
}

int new_frame(warp &w, code &callee, const frame &caller, int lanes)
{
    std::uint32_t local_base = caller.local_base + caller.of->local_bytes + caller.taken;
    std::uint32_t depth = caller.depth + 1;
    std::size_t k = 1;
    while (k < w.frames.size() && w.frames[k].of != nullptr) ++k;
    if (k == w.frames.size()) w.frames.emplace_back();
    frame &f = w.frames[k];
    f.of = &callee;
    f.own.resize((callee.register_bytes + 63) / 64);
    f.registers = f.own.data()->bytes;
    if (w.undefined) w.undefined->forget_frame(f.registers);
    f.arguments.resize(std::size_t{32} * callee.argument_bytes);
    f.local_base = local_base;
    f.taken = 0;
    f.depth = depth;
    f.users = lanes;
    return static_cast<int>(k);
}

bool make_local(grid &g, warp &w, const frame &f, lane_mask mask)
{
    std::size_t end = std::size_t{f.local_base} + f.of->local_bytes;
    if (end > max_local_bytes || f.depth > max_calls) return false;
    if (w.local.size() < end * 32) {
        w.local.resize(end * 32);
        w.local_shadow.resize(end * 32);
    }
    for (std::size_t word = f.local_base / 4; word < end / 4; ++word)
        for (lane_mask m = mask; m != 0; m &= m - 1)
            std::memset(w.local_shadow.data() + word * 128 + __builtin_ctz(m) * 4, 0, 4);
    g.ctx.local_bytes = static_cast<std::uint32_t>(w.local.size() / 32);
    return true;
}

// True if the arguments and results of a call fit the callee, which an indirect call does not
// guarantee. An argument variable has the size of the largest one of its name.
bool fits(const code &callee, const call_site &site)
{
    auto room = [](const std::vector<ptx::variable> &has, const std::vector<std::uint32_t> &given) {
        return std::equal(has.begin(), has.end(), given.begin(), given.end(),
                          [](const ptx::variable &v, std::uint32_t n) { return v.bytes <= n; });
    };
    return !callee.source->entry && room(callee.source->parameters, site.in_bytes) &&
           room(callee.source->results, site.out_bytes);
}

// Adds to the call's join a child that starts `callee`.
bool start_call(grid &g, warp &w, int join, code &callee, const call_site &site, lane_mask mask)
{
    int at = new_frame(w, callee, w.frames[w.paths[join].in], count(mask));
    const frame &from = w.frames[w.paths[join].in];
    frame &to = w.frames[at];
    for (std::size_t a = 0; a < site.in.size(); ++a)
        for (lane_mask m = mask; m != 0; m &= m - 1) {
            auto lane = static_cast<std::size_t>(__builtin_ctz(m));
            std::memcpy(to.arguments.data() + lane * callee.argument_bytes +
                            callee.parameter_offsets[a],
                        from.arguments.data() + lane * from.of->argument_bytes + site.in[a],
                        callee.source->parameters[a].bytes);
        }
    if (!make_local(g, w, to, mask)) return false;
    path c;
    c.now = state::ready;
    c.mask = mask;
    c.parent = join;
    c.in = at;
    w.current = new_path(w, c);
    ++w.paths[join].children;
    return true;
}

void stop_at(grid &g, const instruction &i, finding_kind kind, int error, lane_mask mask,
             std::string detail)
{
    stop_grid(g.ctx, i, kind, error, __builtin_ctz(mask), std::move(detail));
}

void call(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    code &caller = *w.frames[w.paths[p].in].of;
    const call_site &site = caller.calls[i.extra];
    lane_mask mask = w.paths[p].mask;
    if (site.callee < 0 && i.a == no_operand) {
        call_builtin(g, w, i, site, mask);
        w.paths[p].block = b.next;
        return;
    }
    std::uint64_t targets[32] = {};
    if (i.a != no_operand)
        std::memcpy(targets, lanes_of<std::uint64_t>(g.ctx, i.a), sizeof targets);
    path &j = w.paths[p];
    j.now = state::joining;
    j.is_call = true;
    j.mask = 0;
    j.waits = static_cast<std::uint32_t>(j.block); // the block whose terminator is the call
    j.block = b.next;
    j.children = 0;
    while (mask != 0) {
        int lane = __builtin_ctz(mask);
        lane_mask together = mask;
        int callee = site.callee;
        if (callee < 0) {
            for (lane_mask m = mask; m != 0; m &= m - 1)
                if (int l = __builtin_ctz(m); targets[l] != targets[lane])
                    together &= ~(lane_mask{1} << l);
            std::uint64_t index = (targets[lane] - code_window) / 16;
            if (targets[lane] < code_window || index >= g.function_count || targets[lane] % 16 != 0)
                return stop_at(g, i, finding_kind::trap, 719, together,
                               "a call through a pointer that is no device function");
            callee = static_cast<int>(index);
        }
        mask &= ~together;
        code *k = g.function(callee);
        if (k == nullptr)
            return stop_at(g, i, finding_kind::unsupported, 801, together,
                           "a call of a function that this module declares but does not hold");
        if (!fits(*k, site))
            return stop_at(g, i, finding_kind::trap, 719, together,
                           "a call of a function that has other parameters or another result");
        if (!start_call(g, w, p, *k, site, together))
            return stop_at(g, i, finding_kind::trap, 719, together,
                           "the call stack of a thread is used up: does the recursion end?");
    }
}

// Lets waiting paths pass when all living lanes that they name wait at the same instruction (for a
// plain warp barrier: at any warp barrier).
bool pass_sync(grid &g, warp &w, int p)
{
    path &n = w.paths[p];
    code &k = *w.frames[n.in].of;
    const instruction &i = k.instructions[k.blocks[n.block].terminator];
    bool plain = (i.flags & orders_memory) != 0;
    lane_mask named = n.waits & w.live, here = 0;
    auto joins_in = [&](const path &o) {
        if (o.now != state::at_sync || o.waits != n.waits) return false;
        if (o.in == n.in && o.block == n.block) return true;
        const code &c = *w.frames[o.in].of;
        const instruction &x = c.instructions[c.blocks[o.block].terminator];
        return plain && (x.flags & orders_memory) != 0;
    };
    for (const path &o : w.paths)
        if (joins_in(o)) here |= o.mask;
    if ((named & ~here) != 0) return false;
    enter(g, w, n);
    if (!plain) i.run(g.ctx, i, here);
    if (plain && g.ctx.races != nullptr) g.ctx.races->synchronise_lanes(w, here);
    std::uint32_t waits = n.waits;
    int in = n.in, block = n.block;
    for (path &o : w.paths) {
        bool passes =
            plain ? joins_in(o)
                  : o.now == state::at_sync && o.waits == waits && o.in == in && o.block == block;
        if (!passes) continue;
        o.block = w.frames[o.in].of->blocks[o.block].next;
        o.now = state::ready;
    }
    return true;
}

// Returns the next path that can run, after the current one; -1: none.
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

// Lanes that wait at a join continue without their siblings. Returns false if no lanes wait.
bool release_join(warp &w)
{
    for (std::size_t k = w.paths.size(); k-- > 0;) {
        path &j = w.paths[k];
        if (j.now != state::joining || j.mask == 0) continue;
        path ahead = j;
        ahead.now = state::ready;
        ahead.is_call = false;
        ahead.children = 0;
        ahead.spun = 0;
        j.mask = 0;
        if (j.parent >= 0) ++w.paths[j.parent].children;
        w.current = new_path(w, ahead);
        return true;
    }
    return false;
}

void branch(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    context &c = g.ctx;
    path &n = w.paths[p];
    lane_mask taken = condition(c, i, n.mask), rest = n.mask & ~taken;
    if (c.count) ++c.counted[i.statement].branches;
    n.tested = i.statement + 1;
    if (rest == 0) {
        n.block = b.target;
    } else if (taken == 0) {
        n.block = b.next;
    } else {
        if (c.count) ++c.counted[i.statement].divergent_branches;
        lane_group groups[2] = {{b.next, rest}, {b.target, taken}};
        if (g.shuffled && g.random() % 2 == 0) std::swap(groups[0], groups[1]);
        diverge(w, p, b.reconvergence_block, groups, 2);
    }
}

void branch_table(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    const std::uint32_t *index = lanes_of<std::uint32_t>(g.ctx, i.a);
    std::vector<lane_group> groups;
    lane_mask mask = w.paths[p].mask;
    if (g.ctx.count) ++g.ctx.counted[i.statement].branches;
    for (lane_mask m = mask; m != 0; m &= m - 1) {
        int lane = __builtin_ctz(m);
        if (index[lane] >= b.targets.size())
            return stop_at(g, i, finding_kind::trap, 719, m, "a branch table has no such entry");
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
    if (g.ctx.count) ++g.ctx.counted[i.statement].divergent_branches;
    diverge(w, p, b.reconvergence_block, groups.data(), groups.size());
}

void leave(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    lane_mask going = condition(g.ctx, i, w.paths[p].mask);
    if (b.next >= 0) w.paths[p].block = b.next;
    if (i.guard != no_operand) w.paths[p].tested = i.statement + 1;
    if (going == 0) return;
    if ((i.flags & leaves_kernel) != 0)
        end_lanes(w, p, going);
    else
        return_lanes(w, p, going);
}

std::string counts_differ(std::uint32_t id, std::uint32_t first, std::uint32_t now)
{
    auto text = [](std::uint32_t n) {
        return n == 0 ? std::string("all threads of the block") : std::to_string(n) + " threads";
    };
    return "barrier " + std::to_string(id) + " waits for " + text(first) +
           ", but this thread comes to it for " + text(now) + ": all must name the same number";
}

// bar: 0 is sync, 1 arrive, 2 and up red. Returns true if the path waits.
bool barrier(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    path &n = w.paths[p];
    int lane = __builtin_ctz(n.mask);
    std::uint32_t id = lanes_of<std::uint32_t>(g.ctx, i.a)[lane] & 15;
    std::uint32_t expected = i.b == no_operand ? 0 : lanes_of<std::uint32_t>(g.ctx, i.b)[lane];
    auto &bar = w.block->barriers[id];
    if (i.b != no_operand && (expected == 0 || expected % 32 != 0)) {
        stop_at(g, i, finding_kind::barrier, 719, n.mask,
                "a barrier is asked to wait for " + std::to_string(expected) +
                    " threads: the number must be a multiple of 32, the lanes of a warp");
        return true;
    }
    if (bar.arrived != 0 && bar.expected != expected) {
        stop_at(g, i, finding_kind::barrier, 719, n.mask,
                counts_differ(id, bar.expected, expected));
        return true;
    }
    if (g.ctx.count) ++g.ctx.counted[i.statement].barriers;
    if (g.ctx.races != nullptr) g.ctx.races->arrive(w, id);
    bar.arrived += static_cast<std::uint32_t>(count(n.mask));
    bar.expected = expected;
    if (i.c != no_operand) {
        lane_mask v =
            *lanes_of<lane_mask>(g.ctx, i.c) ^ ((i.flags & negate_c) != 0 ? all_lanes : 0);
        bar.true_threads += static_cast<std::uint32_t>(count(v & n.mask));
    }
    if (i.extra == 1) {
        n.block = b.next;
    } else {
        n.now = state::at_barrier;
        n.waits = id;
    }
    return i.extra != 1;
}

// The lanes of `mask` whose member mask equals that of its first lane.
lane_mask same_members(const std::uint32_t *members, lane_mask mask)
{
    std::uint32_t first = members[__builtin_ctz(mask)];
    lane_mask same = 0;
    for (lane_mask m = mask; m != 0; m &= m - 1)
        if (members[__builtin_ctz(m)] == first) same |= m & -m;
    return same;
}

// A warp-synchronous instruction. Lanes with different member masks (tiles of a warp) are handled
// set by set; if some set is incomplete, each set waits on its own.
void synchronise(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    const std::uint32_t *members = lanes_of<std::uint32_t>(g.ctx, i.extra);
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
        return stop_at(g, i, finding_kind::barrier, 719, wrong,
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

// Runs one instruction for the lanes whose guard is true.
inline void run_one(context &c, const instruction &i, lane_mask mask, std::uint64_t *lanes_off)
{
    if (i.guard == no_operand) {
        i.run(c, i, mask);
    } else {
        lane_mask m = condition(c, i, mask);
        if (i.begins) lanes_off[i.statement] += static_cast<std::uint64_t>(count(mask & ~m));
        if (m != 0) i.run(c, i, m);
    }
}

// The same while registers hold undefined values. Returns the next instruction.
const instruction *follow_values(context &c, const code &k, const instruction *i,
                                 const instruction *end, lane_mask mask, std::uint64_t *lanes_off)
{
    undefined_values &values = *c.w->undefined;
    for (; i != end && c.slow_path && !c.stop; ++i) {
        if (i->guard != no_operand) values.decide(c, *i, mask);
        const lane_mask m = condition(c, *i, mask);
        if (m != 0)
            values.run(c, *i, k.roles[static_cast<std::size_t>(i - k.instructions.data())], m);
        c.slow_path = c.stop;
        run_one(c, *i, mask, lanes_off);
        values.after(c, *i);
        c.slow_path |= !values.empty();
    }
    return i;
}

void run_straight(context &c, const code &k, const basic_block &b, lane_mask mask,
                  std::uint64_t *lanes_off)
{
    const instruction *i = k.instructions.data() + b.first, *end = k.instructions.data() + b.last;
    if (c.slow_path) [[unlikely]]
        i = follow_values(c, k, i, end, mask, lanes_off);
    while (i != end) {
        run_one(c, *i, mask, lanes_off);
        ++i;
        if (c.slow_path) [[unlikely]] {
            if (c.stop) return;
            i = follow_values(c, k, i, end, mask, lanes_off);
        }
    }
}

// Checks the operands of a block's terminator for undefined values.
void follow_to_terminator(context &c, const code &k, const basic_block &b, lane_mask mask)
{
    undefined_values &values = *c.w->undefined;
    if (b.end != block_terminator::fall) {
        const instruction &i = k.instructions[b.terminator];
        if (i.guard != no_operand) values.decide(c, i, mask);
        values.run(c, i, k.roles[b.terminator], mask);
    }
    values.forget_lanes(~c.w->live);
    c.slow_path = c.stop || !values.empty();
}

} // namespace

void start_warp(grid &g, warp &w)
{
    w.current = 0;
    w.paths.clear();
    path p;
    p.now = state::ready;
    p.mask = w.live;
    w.paths.push_back(p);
    w.frames.resize(1);
    frame &f = w.frames[0];
    code &k = *g.running->functions[g.running->entry_index];
    f.of = &k;
    f.users = count(w.live);
    f.local_base = 0;
    f.taken = 0;
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
    frame &f = w.frames[p.in];
    code &k = *f.of;
    c.bases[0] = f.registers;
    c.bases[1] = k.constants.data();
    c.w = &w;
    c.b = w.block;
    c.running = &k;
    c.live = w.live;
    c.lists = k.list_pointers.data();
    tally &t = *g.tallies[k.index];
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
    c.specials[9] = w.index; // special::warpid
    c.specials[3] = w.block->index.x;
    c.specials[4] = w.block->index.y;
    c.specials[5] = w.block->index.z;
    for (int d = 0; d < 3; ++d) c.thread_ids[d] = g.thread_ids[d].data() + 32 * w.index;
    std::uint64_t limit = std::min(g.steps + quantum, g.budget);
    while (w.live != 0) {
        int p = next_ready(g, w);
        if (c.stop) return turn::stopped;
        if (p < 0) {
            if (!release_join(w)) return turn::blocked;
            continue;
        }
        w.current = p;
        enter(g, w, w.paths[p]);
        const code &k = *w.frames[w.paths[p].in].of;
        tally &t = *g.tallies[k.index];
        for (bool same = true; same;) {
            path &n = w.paths[p];
            if (n.block == n.join && n.join >= 0 && n.parent >= 0) {
                arrive(w, p);
                break;
            }
            const basic_block &b = k.blocks[n.block];
            int here = n.block;
            ++t.runs[here];
            t.lanes_run[here] += static_cast<std::uint64_t>(count(n.mask));
            g.steps += b.last_statement - b.first_statement;
            run_straight(c, k, b, n.mask, t.lanes_off.data());
            if (c.stop) return turn::stopped;
            if (c.slow_path) [[unlikely]]
                follow_to_terminator(c, k, b, n.mask);
            bool spins = false;
            switch (b.end) {
            case block_terminator::fall:
                n.block = b.next;
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
                barrier(g, w, p, b, k.instructions[b.terminator]);
                break;
            case block_terminator::warp_sync:
                synchronise(g, w, p, b, k.instructions[b.terminator]);
                break;
            case block_terminator::pause:
                n.block = b.next;
                break;
            }
            if (c.stop) return turn::stopped;
            spins = b.spins && w.paths[p].now == state::ready && w.paths[p].block <= here;
            same = w.current == p && w.paths[p].now == state::ready;
            if (spins || b.end == block_terminator::pause) {
                path &s = w.paths[p];
                if (++s.spun % spin_limit == 0)
                    release_join(w);
                else
                    w.current = (p + 1) % static_cast<int>(w.paths.size());
                return spins ? turn::waiting : turn::paused;
            }
            if (g.steps >= limit) {
                if (w.live == 0) break;
                path &s = w.paths[p];
                if (s.now == state::ready && ++s.spun % spin_limit == 0) release_join(w);
                return turn::used_up;
            }
        }
    }
    return turn::ended;
}

} // namespace simulator::core
