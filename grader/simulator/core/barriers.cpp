// Implements bar.sync, bar.red and bar.arrive: threads arrive at a barrier of the block, which then
// releases them. Reports threads that wait at different barriers, and which barrier is to blame.
#include "paths.hpp"
#include "races.hpp"

#include <algorithm>
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

// The threads that wait at one barrier or .sync instruction.
struct waiting_place {
    warp *of = nullptr; // the first warp
    path *lanes = nullptr;
    std::uint32_t threads = 0;

    const code &function() const { return *of->frames[lanes->frame_index].of; }
    const instruction &terminator() const { return terminator_of(*of, *lanes); }
    std::string at() const { return location_text(function(), terminator().statement); }
    std::string name(const char *article = "") const // for example "a vote", "barrier 3"
    {
        if (lanes->now == state::at_barrier && lanes->waits_for != 0)
            return "barrier " + std::to_string(lanes->waits_for);
        return article + sync_name(function(), terminator().statement);
    }
};

template <class F> std::vector<waiting_place> waiting_places(thread_block &b, F counts)
{
    std::vector<waiting_place> all;
    for (warp &w : b.warps)
        for (path &p : w.paths) {
            if (p.mask == 0 || !counts(p)) continue;
            waiting_place here{&w, &p, lane_count(p.mask)};
            auto known = std::find_if(all.begin(), all.end(), [&](const waiting_place &o) {
                if (&o.terminator() == &here.terminator() && o.lanes->waits_for == p.waits_for)
                    return true;
                return o.name() == here.name() && o.at() == here.at();
            });
            if (known == all.end())
                all.push_back(here);
            else
                known->threads += here.threads;
        }
    return all;
}

// True if the control flow graph has a path of at least one edge from one basic block to another
// that avoids the block `avoiding`.
bool reaches(const code &k, int from, int to, int avoiding = -1)
{
    std::vector<char> seen(k.blocks.size());
    std::vector<int> open{from};
    while (!open.empty()) {
        const basic_block &b = k.blocks[open.back()];
        open.pop_back();
        std::vector<int> next = b.targets;
        next.insert(next.end(), {b.next, b.target});
        for (int n : next) {
            if (n == to) return true;
            if (n < 0 || n == avoiding || seen[n]) continue;
            seen[n] = 1;
            open.push_back(n);
        }
    }
    return false;
}

// True if control flow shows that the threads waiting at `b` have bypassed `a`. If a loop contains
// both: an iteration can skip `a`, and none can skip `b`.
bool bypassed(const waiting_place &a, const waiting_place &b)
{
    const code &k = a.function();
    int x = a.lanes->block, y = b.lanes->block;
    if (&k != &b.function() || x == y) return false;
    bool there = reaches(k, x, y), back = reaches(k, y, x);
    return there != back ? there : there && reaches(k, y, y, x) && !reaches(k, x, x, y);
}

// Puts the place to blame first: the one that others have bypassed, or else a vote or shuffle.
void sort_by_blame(std::vector<waiting_place> &places)
{
    std::stable_partition(places.begin(), places.end(),
                          [](const waiting_place &p) { return p.lanes->now == state::at_sync; });
    auto blamed = places.begin();
    for (auto p = places.begin(); p != places.end(); ++p)
        if (bypassed(*p, *blamed)) blamed = p;
    std::rotate(places.begin(), blamed, blamed + 1);
}

// True if a thread could still come from the test at `statement` to the place.
bool leads_to(const code &k, std::uint32_t statement, const waiting_place &place)
{
    const auto from = std::find_if(k.blocks.begin(), k.blocks.end(), [=](const basic_block &b) {
        return b.first_statement <= statement && statement < b.last_statement;
    });
    if (&k != &place.function() || from == k.blocks.end()) return true;
    const int block = static_cast<int>(from - k.blocks.begin());
    return block == place.lanes->block || reaches(k, block, place.lanes->block);
}

// For example "3 had ended, after the test at a.cu:12,". A test behind the place is not to blame.
std::string ended_text(const thread_block &b, const waiting_place &place)
{
    std::string s = std::to_string(b.threads - b.live) + " had ended";
    if (b.ended_in != nullptr && b.ended_after != 0 &&
        leads_to(*b.ended_in, b.ended_after - 1, place))
        s += ", after the test at " + location_text(*b.ended_in, b.ended_after - 1) + ",";
    return s;
}

finding barrier_finding(grid &g, const waiting_place &p, std::string detail)
{
    enter(g, *p.of, *p.lanes);
    finding f = at_lane(g.ctx, p.terminator(), __builtin_ctz(p.lanes->mask), finding_kind::barrier,
                        std::move(detail));
    f.threads = p.threads;
    f.where = p.name("a ");
    return f;
}

// All places but the first: "3 wait at the barrier at a.cu:12, 4 wait at the vote at a.cu:10".
std::string others_text(const std::vector<waiting_place> &places)
{
    std::string s;
    for (std::size_t k = 1; k < places.size(); ++k)
        s += (k > 1 ? ", " : "") + std::to_string(places[k].threads) + " wait at " +
             places[k].name("the ") + " at " + places[k].at();
    return s;
}

// Adds a finding, once per block, if the threads that one barrier releases wait at different bar
// instructions or, where the settings count that as misuse, some have exited without arriving.
void check_arrivals(grid &g, thread_block &b, std::uint32_t id)
{
    std::vector<waiting_place> places = waiting_places(
        b, [&](const path &p) { return p.now == state::at_barrier && p.waits_for == id; });
    bool missed = b.live < b.threads && settings().check_exited_threads;
    if (places.empty() || b.barrier_misused || (places.size() == 1 && !missed)) return;
    b.barrier_misused = true; // later misuse by the same threads follows from this one
    sort_by_blame(places);
    std::string detail = std::to_string(places[0].threads) + " threads of the block wait at it";
    detail += places.size() > 1 ? " while " + others_text(places)
                                : "; " + ended_text(b, places[0]) + " without reaching it";
    detail += ": every thread of a block must come to the same barrier";
    findings::instance().add(barrier_finding(g, places[0], std::move(detail)));
}

// Calls f(warp, path) for each path that waits at barrier `id`.
template <class F> void each_waiting(thread_block &b, std::uint32_t id, F f)
{
    for (auto &w : b.warps)
        for (auto &p : w.paths)
            if (p.now == state::at_barrier && p.waits_for == id && p.mask != 0) f(w, p);
}

// Reports that more threads arrived than the barrier expects.
void report_excess(grid &g, thread_block &b, std::uint32_t id, std::uint32_t expected)
{
    each_waiting(b, id, [&](warp &w, path &p) {
        enter(g, w, p);
        finding f =
            at_lane(g.ctx, terminator_of(w, p), __builtin_ctz(p.mask), finding_kind::barrier);
        f.where = "barrier " + std::to_string(id);
        f.detail = std::to_string(b.barriers[id].arrived) +
                   " threads came to a barrier that lets " + std::to_string(expected) + " pass";
        findings::instance().add(std::move(f));
    });
}

void write_reduction(warp &w, const path &p, const instruction &i, const barrier_state &bar)
{
    if (i.d == no_operand) return;
    std::byte *at = w.frames[p.frame_index].registers + i.d;
    if (i.extra == 2) { // popc
        for (lane_mask m = p.mask; m != 0; m &= m - 1)
            std::memcpy(at + 4 * __builtin_ctz(m), &bar.true_threads, 4);
        return;
    }
    bool yes = i.extra == 3 ? bar.true_threads == bar.arrived : bar.true_threads != 0;
    lane_mask v;
    std::memcpy(&v, at, 4);
    v = yes ? v | p.mask : v & ~p.mask;
    std::memcpy(at, &v, 4);
}

// Accesses before the barrier happen before those that follow it in the threads that waited. A
// barrier without a thread count, or at which all threads of the block wait, orders the accesses of
// the whole block, including threads that have exited; any other, those of the warps that arrived.
void order_by_barrier(grid &g, thread_block &b, std::uint32_t id)
{
    if (g.ctx.races == nullptr) return;
    std::uint32_t threads = 0, warps = 0;
    each_waiting(b, id, [&](warp &w, path &p) {
        threads += lane_count(p.mask);
        warps |= 1u << w.index;
    });
    if (b.barriers[id].expected == 0 || threads == b.threads)
        g.ctx.races->pass_barrier(b);
    else
        g.ctx.races->pass_barrier(b, id, warps);
}

} // namespace

// instruction::extra of bar: 0 is sync, 1 arrive, 2 and up red (2 popc, 3 and, 4 or).
void arrive_at_barrier(grid &g, warp &w, int p, const basic_block &b, const instruction &i)
{
    path &n = w.paths[p];
    int lane = __builtin_ctz(n.mask);
    std::uint32_t id = baseline::lanes_of<std::uint32_t>(g.ctx, i.a)[lane] & 15;
    std::uint32_t expected =
        i.b == no_operand ? 0 : baseline::lanes_of<std::uint32_t>(g.ctx, i.b)[lane];
    auto &bar = w.block->barriers[id];
    if (i.b != no_operand && (expected == 0 || expected % 32 != 0))
        return stop_grid(g.ctx, i, finding_kind::barrier, cudaErrorLaunchFailure, lane,
                         "a barrier is asked to wait for " + std::to_string(expected) +
                             " threads: the number must be a multiple of 32, the lanes of a warp");
    if (bar.arrived != 0 && bar.expected != expected)
        return stop_grid(g.ctx, i, finding_kind::barrier, cudaErrorLaunchFailure, lane,
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
        n.waits_for = id;
    }
}

void report_stuck(grid &g, thread_block &b)
{
    std::vector<waiting_place> places = waiting_places(
        b, [](const path &p) { return p.now == state::at_barrier || p.now == state::at_sync; });
    std::string detail = "nobody in the block can go on";
    g.ctx.halt();
    g.result = {cudaErrorLaunchTimeout, detail};
    if (places.empty()) return;
    sort_by_blame(places);
    bool for_lanes = places[0].lanes->now == state::at_sync;
    detail = std::to_string(places[0].threads) + " threads wait at it" +
             (for_lanes ? " for lanes of their warp" : "") +
             (places.size() > 1 ? " while " + others_text(places) : "") + ": " + detail;
    finding f = barrier_finding(g, places[0], std::move(detail));
    g.result.message = f.kernel + ", " + places[0].at() + ": " + f.detail;
    findings::instance().add(std::move(f));
}

bool release_barriers(grid &g, thread_block &b)
{
    bool any = false;
    for (std::uint32_t id = 0; id < b.barriers.size(); ++id) {
        barrier_state &bar = b.barriers[id];
        if (bar.arrived == 0) continue;
        std::uint32_t expected = bar.expected != 0 ? bar.expected : b.live;
        if (bar.arrived < expected) continue;
        if (bar.expected == 0) check_arrivals(g, b, id);
        if (bar.arrived > expected) report_excess(g, b, id, expected);
        order_by_barrier(g, b, id);
        each_waiting(b, id, [&](warp &w, path &p) {
            write_reduction(w, p, terminator_of(w, p), bar);
            p.block = w.frames[p.frame_index].of->blocks[p.block].next;
            p.now = state::ready;
        });
        bar = {};
        any = true;
    }
    return any;
}

} // namespace simulator::core
