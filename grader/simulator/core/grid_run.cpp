// Schedules a grid: chooses the resident blocks, and gives their warps turns.
//
// Only memory limits the number of resident blocks. To use little of it, blocks start in order, and
// more start when none of the resident ones can continue without others or ends for long. In a run
// with options::any_blocks_first they start in random order, and only few are ever resident.
#include "launch_tree.hpp"
#include "livelock.hpp"
#include "races.hpp"
#include "simulator/machine/host.hpp"
#include "simulator/machine/work_meter.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

namespace simulator::core {
namespace {

using state = path::state;

constexpr std::uint64_t quantum = 1 << 14;            // instructions per turn
constexpr std::uint64_t max_resident_bytes = 1 << 30; // state of running blocks
constexpr int busy_rounds = 32; // before more blocks start although all resident ones progress
// Resident at first in a random schedule; with options::any_blocks_first, never more.
constexpr std::size_t few_blocks = 8;
constexpr int still_rounds = 4; // rounds without progress that count as a livelock
// Units of work (machine/work_meter.hpp) to start a block: for itself, and for each warp.
constexpr std::uint64_t work_of_block = 300, work_of_warp = 100;

void set_block_index(thread_block &b, std::uint64_t number, const dim &of)
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
    const dim &size = g.config->block;
    code &k = *g.kernel->functions[g.kernel->entry_index];
    b->threads = b->live = size.x * size.y * size.z;
    set_block_index(*b, number, g.config->grid);
    b->barriers = {};
    b->steps = 0;
    b->ended_in = nullptr;
    b->ended_after = 0;
    b->barrier_misused = false;
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
    g.ctx.work += work_of_block + work_of_warp * warps + g.shared_bytes / 8;
    if (g.ctx.races != nullptr) g.ctx.races->start(*b, g.shared_bytes);
    return b;
}

std::uint64_t block_bytes(const grid &g)
{
    const thread_block &b = *g.resident.front();
    return b.registers.size() * 64 + b.shared.size() * 2 +
           b.warps.size() * (sizeof(warp) + b.warps[0].local.size() * 2);
}

void admit(grid &g, std::uint64_t count)
{
    while (count-- > 0 && g.next_block < g.blocks) {
        const std::uint64_t next = g.next_block++;
        g.resident.push_back(start_block(g, g.order.empty() ? next : g.order[next]));
    }
}

// True if more blocks may start before a resident one has ended.
bool may_admit_more(const grid &g)
{
    return g.next_block < g.blocks && (g.order.empty() || g.resident.size() < few_blocks) &&
           block_bytes(g) * g.resident.size() < max_resident_bytes;
}

// Does nothing for a cooperative grid, whose blocks are guaranteed to be co-resident.
void shuffle_block_order(grid &g)
{
    constexpr std::uint64_t max_blocks = 1 << 22;
    if (!settings().any_blocks_first || g.config->grid_workspace != 0 || g.blocks > max_blocks)
        return;
    g.order.resize(g.blocks);
    std::iota(g.order.begin(), g.order.end(), 0u);
    std::shuffle(g.order.begin(), g.order.end(), g.random);
}

struct round_result {
    bool progress = false; // a warp ended, passed a barrier or used up its quantum
    bool passed = false;   // a warp passed a barrier
    bool ended = false;    // a block ended
    bool paused = false;   // a warp ran nanosleep: its next turn may differ
};

bool did_too_much(const grid &g) { return g.ctx.work > g.max_work; }

// Gives each warp of the block turns until all have ended or wait for other blocks, or the grid has
// done too much work.
void run_warps(grid &g, thread_block &b, round_result &r)
{
    std::vector<std::size_t> order(b.warps.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (bool again = true; again && b.live != 0;) {
        again = false;
        bool runnable = false; // some warp polls memory or was interrupted
        if (g.shuffled) std::shuffle(order.begin(), order.end(), g.random);
        for (std::size_t i : order) {
            warp &w = b.warps[i];
            if (w.live == 0) continue;
            turn t = run_warp(g, w, g.shuffled ? 1 + g.random() % 256 : quantum);
            if (t == turn::stopped || did_too_much(g)) return;
            if (t == turn::ended || t == turn::used_up) r.progress = true;
            if (t == turn::paused) r.paused = true;
            runnable |= t == turn::waiting || t == turn::paused || t == turn::used_up;
        }
        if (release_barriers(g, b)) {
            r.progress = r.passed = again = true;
        } else if (!runnable && b.live != 0) {
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
        if (k.locations[k.location_of_statement[s]].line > 0) return s;
    return b.first_statement;
}

enum class endless : std::uint8_t { over_limit, waiting, blocks_not_begun };

// The place that the finding names is where one of the running threads is; none may run, between
// two blocks.
void stop_endless(grid &g, endless how, const std::string &why)
{
    finding f;
    f.kind = finding_kind::endless;
    f.kernel = g.kernel->display_name;
    f.detail = why;
    f.over_limit = how == endless::over_limit;
    f.blocks_not_begun = how == endless::blocks_not_begun;
    for (auto &b : g.resident)
        for (auto &w : b->warps)
            for (auto &p : w.paths)
                if (p.now == state::ready && p.mask != 0) {
                    enter(g, w, p);
                    const code &k = *w.frames[p.frame_index].of;
                    instruction i;
                    i.statement = first_with_line(k, k.blocks[p.block]);
                    finding at = at_lane(g.ctx, i, __builtin_ctz(p.mask), f.kind, f.detail);
                    at.over_limit = f.over_limit, at.blocks_not_begun = f.blocks_not_begun;
                    return end_grid(g.ctx, i, cudaErrorLaunchTimeout, std::move(at));
                }
    g.ctx.halt();
    g.result = {cudaErrorLaunchTimeout, f.kernel + ": " + why};
    findings::instance().add(std::move(f));
}

// Names the loop, the blocks or the launches that did the work.
std::string why_too_long(const grid &g)
{
    const work_meter &meter = work_meter::instance();
    const std::string limit = "the work that the kernels of a call may do";
    if (meter.done() > meter.limit() / 2)
        return "the " + std::to_string(meter.kernels()) +
               " kernels before this one have done most of " + limit +
               ": is one launched again and again, or is that more work than need be?";
    const std::string ran = "the kernel ran " + std::to_string(g.steps) + " warp instructions";
    std::uint64_t of_running = 0; // steps of the blocks that have not ended
    for (const auto &b : g.resident)
        if (b->live != 0) of_running += b->steps;
    if (of_running > g.steps / 2)
        return ran + " without ending, all " + limit + ": is there an endless loop?";
    return ran + ", all " + limit + ", and " + std::to_string(g.blocks - g.next_block) +
           " of its " + std::to_string(g.blocks) +
           " blocks have not begun: is that more work than need be?";
}

// `held_back`: some blocks have not started, and none may until a resident one ends.
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

// True while threads that all wait may wait for host code to write mapped or managed memory: for a
// limited time, and only if the host has other threads.
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
    livelock_detector livelock;
    shuffle_block_order(g);
    admit(g, g.shuffled ? few_blocks : 1);
    while (!g.resident.empty()) {
        round_result r;
        g.ctx.changed = false;
        if (g.shuffled) std::shuffle(g.resident.begin(), g.resident.end(), g.random);
        for (auto &b : g.resident) {
            run_block(g, *b, r);
            if (g.ctx.stop) return;
            if (did_too_much(g)) return stop_endless(g, endless::over_limit, why_too_long(g));
        }
        for (auto &b : g.resident)
            if (b->live == 0) g.spare.push_back(std::move(b));
        r.ended = std::erase(g.resident, nullptr) != 0;
        if (r.ended || r.passed || g.ctx.changed) livelock.reset();
        if (g.resident.empty()) {
            busy = still = 0;
            admit(g, g.shuffled ? few_blocks : 1);
            continue;
        }
        busy = r.ended ? 0 : busy + 1;
        bool waiting = !r.progress && !r.ended;
        if ((waiting || busy >= busy_rounds) && may_admit_more(g)) {
            admit(g, g.order.empty() ? g.resident.size() : few_blocks - g.resident.size());
            busy = still = 0;
            continue;
        }
        still = waiting && !r.paused && !g.ctx.changed ? still + 1 : 0;
        // Blocks may wait for one that has not started in a loop that turn::waiting does not cover.
        const bool held_back = !g.order.empty() && g.next_block < g.blocks;
        const bool livelocked = held_back && livelock.reached(g);
        if (still == 0 && !livelocked) quiet_since = {};
        if ((still >= still_rounds || livelocked) && !host_may_help(quiet_since))
            return stop_endless(g, held_back ? endless::blocks_not_begun : endless::waiting,
                                why_all_wait(g, held_back));
    }
}

} // namespace simulator::core
