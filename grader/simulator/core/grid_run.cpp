// Runs a grid: chooses the resident blocks, and whose turn it is.
//
// All blocks of a grid count as resident. To keep memory small, blocks start in order and only as
// many run at a time as are needed: when none of them can continue without others, more start.
#include "launch_tree.hpp"
#include "races.hpp"
#include "simulator/machine/host.hpp"
#include "standstill.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>
#include <thread>

namespace simulator::core {
namespace {

using state = path::state;

constexpr std::uint64_t quantum = 1 << 14;            // instructions per turn
constexpr std::uint64_t max_resident_bytes = 1 << 30; // state of running blocks
constexpr int busy_rounds = 32; // before more blocks start although all are busy
// Resident at first in a random schedule; where blocks may begin in any order, never more.
constexpr std::size_t few_blocks = 8;
constexpr int still_rounds = 4; // rounds of pure waiting that count as endless

void place_block(thread_block &b, std::uint64_t number, const dim &of)
{
    b.number = number;
    b.index.x = static_cast<std::uint32_t>(number % of.x);
    b.index.y = static_cast<std::uint32_t>(number / of.x % of.y);
    b.index.z = static_cast<std::uint32_t>(number / of.x / of.y);
}

std::unique_ptr<thread_block> start_block(grid &g, std::uint64_t number)
{
    std::unique_ptr<thread_block> b;
    if (g.spare.empty()) {
        b = std::make_unique<thread_block>();
    } else {
        b = std::move(g.spare.back());
        g.spare.pop_back();
    }
    const dim &size = g.how->block;
    code &k = *g.running->functions[g.running->entry_index];
    b->threads = b->live = size.x * size.y * size.z;
    place_block(*b, number, g.how->grid);
    b->barriers = {};
    b->steps = 0;
    b->ended_in = nullptr;
    b->ended_after = 0;
    b->misused = false;
    std::size_t warps = (b->threads + 31) / 32, lines = (k.register_bytes + 63) / 64;
    b->registers.resize(warps * lines);
    b->shared.resize(g.shared_bytes);
    b->shared_shadow.assign(g.shared_bytes, addressable);
    b->warps.resize(warps);
    for (std::size_t i = 0; i < warps; ++i) {
        warp &w = b->warps[i];
        w.block = b.get();
        w.index = static_cast<std::uint32_t>(i);
        w.live = low_lanes(b->threads - static_cast<std::uint32_t>(32 * i));
        start_warp(g, w);
        w.frames[0].registers = b->registers[i * lines].bytes;
    }
    if (g.ctx.races != nullptr) g.ctx.races->start(*b, g.shared_bytes);
    return b;
}

std::uint64_t block_bytes(const grid &g)
{
    const thread_block &b = *g.resident.front();
    return b.registers.size() * 64 + b.shared.size() * 2 +
           b.warps.size() * (sizeof(warp) + b.warps[0].local.size() * 2);
}

void admit(grid &g, std::uint64_t wanted)
{
    while (wanted-- > 0 && g.next_block < g.blocks) {
        const std::uint64_t next = g.next_block++;
        g.resident.push_back(start_block(g, g.order.empty() ? next : g.order[next]));
    }
}

// True if more blocks may start before a running one has ended.
bool more_may_begin(const grid &g)
{
    return g.next_block < g.blocks && (g.order.empty() || g.resident.size() < few_blocks) &&
           block_bytes(g) * g.resident.size() < max_resident_bytes;
}

// Does nothing for a cooperative grid, whose blocks are guaranteed to run concurrently.
void shuffle_beginnings(grid &g)
{
    constexpr std::uint64_t max_blocks = 1 << 22;
    if (!settings().any_blocks_first || g.how->grid_workspace != 0 || g.blocks > max_blocks) return;
    g.order.resize(g.blocks);
    std::iota(g.order.begin(), g.order.end(), 0u);
    std::shuffle(g.order.begin(), g.order.end(), g.random);
}

struct round_result {
    bool moved = false;  // a warp ended, passed a barrier or used up its turn
    bool passed = false; // a warp passed a barrier
    bool ended = false;  // a block ended
    bool paused = false; // a warp slept: its next turn may differ
};

// Gives each warp of the block turns until all have ended or wait.
void run_warps(grid &g, thread_block &b, round_result &r)
{
    std::vector<std::size_t> order(b.warps.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (bool again = true; again && b.live != 0;) {
        again = false;
        bool others = false; // some warp polls memory or was interrupted
        if (g.shuffled) std::shuffle(order.begin(), order.end(), g.random);
        for (std::size_t i : order) {
            warp &w = b.warps[i];
            if (w.live == 0) continue;
            turn t = run_warp(g, w, g.shuffled ? 1 + g.random() % 256 : quantum);
            if (t == turn::stopped) return;
            if (t == turn::ended || t == turn::used_up) r.moved = true;
            if (t == turn::paused) r.paused = true;
            others |= t == turn::waiting || t == turn::paused || t == turn::used_up;
        }
        if (release_barriers(g, b)) {
            r.moved = r.passed = again = true;
        } else if (!others && b.live != 0) {
            report_stuck(g, b);
            return;
        }
        if (g.ctx.stop) return;
    }
}

void run_block(grid &g, thread_block &b, round_result &r)
{
    const std::uint64_t before = g.steps;
    run_warps(g, b, r);
    b.steps += g.steps - before;
    g.busiest = std::max(g.busiest, b.steps);
}

// The first statement of a basic block that has a source line, or else the first.
std::uint32_t first_with_line(const code &k, const basic_block &b)
{
    for (std::uint32_t s = b.first_statement; s < b.last_statement; ++s)
        if (k.places[k.statement_place[s]].line > 0) return s;
    return b.first_statement;
}

void stop_endless(grid &g, const std::string &why)
{
    for (auto &b : g.resident)
        for (auto &w : b->warps)
            for (auto &p : w.paths)
                if (p.now == state::ready && p.mask != 0) {
                    enter(g, w, p);
                    const code &k = *w.frames[p.in].of;
                    instruction i;
                    i.statement = first_with_line(k, k.blocks[p.block]);
                    stop_grid(g.ctx, i, finding_kind::step_budget, 702, __builtin_ctz(p.mask), why);
                    return;
                }
    g.ctx.halt();
    g.result = {702, why};
}

// Measures the CPU time that this thread spends on a grid; the clock is read only now and then.
class grid_clock {
public:
    // True if the grid's time limit is exceeded.
    bool run_out()
    {
        constexpr unsigned seldom = 64;
        return settings().grid_seconds > 0 && ++turns_ % seldom == 0 &&
               now() - began_ > settings().grid_seconds;
    }

private:
    static double now()
    {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
    }
    double began_ = settings().grid_seconds > 0 ? now() : 0;
    unsigned turns_ = 0;
};

// `held_back`: some blocks have not started, and none can.
std::string why_all_wait(const grid &g, bool held_back)
{
    if (held_back)
        return std::to_string(g.blocks - g.next_block) + " of " + std::to_string(g.blocks) +
               " blocks have not begun, and the " + std::to_string(g.resident.size()) +
               " that run wait in loops for memory that nobody changes any more. Blocks may begin "
               "in any order: one that waits for a block that has not begun waits for ever";
    return std::string("every thread waits in a loop for memory that nobody changes any more") +
           (has_children(*g.self) ? ": grids that this one launched run after it" : "");
}

// True while threads that all wait may be waiting for host code to write memory that both see: for
// a limited time, and only if the host has other threads.
bool host_may_help(std::chrono::steady_clock::time_point &quiet_since)
{
    if (!memory::instance().shared_with_host()) return false;
    const auto now = std::chrono::steady_clock::now();
    if (quiet_since == std::chrono::steady_clock::time_point{}) {
        if (!host().has_other_threads()) return false;
        quiet_since = now;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100)); // leaves the core to them
    return now - quiet_since < std::chrono::milliseconds(settings().host_wait_limit_ms);
}

} // namespace

void run_blocks(grid &g)
{
    int busy = 0, still = 0;
    std::chrono::steady_clock::time_point quiet_since = {}; // zero: not quiet
    standstill loops;
    grid_clock clock;
    shuffle_beginnings(g);
    admit(g, g.shuffled ? few_blocks : 1);
    while (!g.resident.empty()) {
        round_result r;
        g.ctx.changed = false;
        if (g.shuffled) std::shuffle(g.resident.begin(), g.resident.end(), g.random);
        for (auto &b : g.resident) {
            run_block(g, *b, r);
            if (g.ctx.stop) return;
            if (g.steps >= g.budget || clock.run_out())
                return stop_endless(
                    g, "the kernel ran " + std::to_string(g.steps) +
                           " warp instructions without ending: is there an endless loop?");
        }
        for (auto &b : g.resident)
            if (b->live == 0) g.spare.push_back(std::move(b));
        r.ended = std::erase(g.resident, nullptr) != 0;
        if (r.ended || r.passed || g.ctx.changed) loops.forget();
        if (g.resident.empty()) {
            busy = still = 0;
            admit(g, g.shuffled ? few_blocks : 1);
            continue;
        }
        busy = r.ended ? 0 : busy + 1;
        bool waiting = !r.moved && !r.ended;
        if ((waiting || busy >= busy_rounds) && more_may_begin(g)) {
            admit(g, g.order.empty() ? g.resident.size() : few_blocks - g.resident.size());
            busy = still = 0;
            continue;
        }
        still = waiting && !r.paused && !g.ctx.changed ? still + 1 : 0;
        // Blocks that wait for a block not yet started may do so in loops of any kind.
        const bool held_back = !g.order.empty() && g.next_block < g.blocks;
        const bool in_loops = held_back && loops.reached(g);
        if (still == 0 && !in_loops) quiet_since = {};
        if ((still >= still_rounds || in_loops) && !host_may_help(quiet_since))
            return stop_endless(g, why_all_wait(g, held_back));
    }
}

} // namespace simulator::core
