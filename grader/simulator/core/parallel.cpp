// Runs the blocks of a grid on several cores, with results bit for bit equal to those of one core.
#include "parallel.hpp"
#include "launch_tree.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace simulator {

shared_grids &grids_on_cores()
{
    static shared_grids counts;
    return counts;
}

namespace core {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 page_groups = u64{1} << touch_table::page_shift;
constexpr u64 group_bytes = 256;
constexpr u64 min_threads = 2048;            // smallest grid that is watched
constexpr u64 min_steps_per_core = 1 << 14;  // warp instructions worth starting a thread
constexpr std::size_t max_saved = 64u << 20; // words, by all cores together

// Allocates zeros with calloc, which takes physical memory only where it is used.
template <class T> T *zeros(u64 n)
{
    void *p = std::calloc(n, sizeof(T));
    if (p == nullptr) throw std::bad_alloc();
    return static_cast<T *>(p);
}

u64 low_bits(u64 n) { return n >= 64 ? ~u64{0} : (u64{1} << n) - 1; }

unsigned cores_to_use()
{
    if (settings().cores != 0) return settings().cores;
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

} // namespace

touch_table::touch_table()
    : pages_(memory::instance().reserved() / (page_groups * group_bytes)),
      table_(zeros<std::atomic<page *>>(pages_))
{
}

touch_table::~touch_table() { std::free(table_); }

touch_table::page &touch_table::page_of(u64 number)
{
    page *known = table_[number].load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    std::lock_guard lock(mutex_);
    known = table_[number].load(std::memory_order_relaxed);
    if (known != nullptr) return *known; // another core was faster
    made_.push_back(std::make_unique<page>());
    table_[number].store(made_.back().get(), std::memory_order_release);
    return *made_.back();
}

void touch_table::clear(u64 number)
{
    for (group &g : page_of(number).groups) {
        g.read.store(0, std::memory_order_relaxed);
        g.read_by_many.store(0, std::memory_order_relaxed);
        g.written.store(0, std::memory_order_relaxed);
    }
}

touch_guard::touch_guard(touch_table &t) : table_(t), pages_(zeros<page *>(t.pages())) {}

touch_guard::~touch_guard() { std::free(pages_); }

void touch_guard::begin(std::atomic<bool> *failed, unsigned cores)
{
    failed_ = failed;
    independent_ = true;
    max_saved_ = max_saved / cores;
}

bool touch_guard::mark_dependent()
{
    independent_ = false;
    if (watches_only()) return true;
    *failed_ = true;
    return false;
}

void touch_guard::turn_to(u64 number)
{
    if (pages_[number] == nullptr) {
        made_.push_back(std::make_unique<page>());
        pages_[number] = made_.back().get();
    }
    mine_ = pages_[number];
    all_ = &table_.page_of(number);
    last_ = number;
    if (!std::exchange(mine_->used, true)) used_.push_back(number);
}

bool touch_guard::touch(u64 offset, u64 bytes, bool write)
{
    const u64 first = offset / 4, last = (offset + bytes - 1) / 4;
    for (u64 g = first / 64; g <= last / 64; ++g) {
        const u64 from = std::max(first, 64 * g), to = std::min(last, 64 * g + 63);
        if (!touch_group(g, low_bits(to - from + 1) << (from & 63), write)) return false;
    }
    return true;
}

// Consecutive lanes in the same group are recorded together.
bool touch_guard::touch(const context &c, lane_mask mask, const u64 *address, u32 bytes, bool write)
{
    u64 group = 0, words = 0, previous = ~u64{0};
    for (; mask != 0; mask &= mask - 1) {
        const u64 at = address[__builtin_ctz(mask)], offset = at - c.base;
        if (at == previous) continue;
        previous = at;
        // The access checks report this.
        if (offset >= c.reserved || c.reserved - offset < bytes) continue;
        const u64 first = offset / 4, n = (offset + bytes - 1) / 4 - first + 1;
        if (first % 64 + n > 64) {
            if (!touch(offset, bytes, write)) return false;
            continue;
        }
        if (first / 64 != group) {
            if (words != 0 && !touch_group(group, words, write)) return false;
            group = first / 64;
            words = 0;
        }
        words |= low_bits(n) << (first & 63);
    }
    return words == 0 || touch_group(group, words, write);
}

bool touch_guard::touch_group(u64 number, u64 words, bool writes)
{
    if (number >> touch_table::page_shift != last_) turn_to(number >> touch_table::page_shift);
    group &mine = mine_->groups[number & (page_groups - 1)];
    const u64 fresh = words & ~(writes ? mine.written : mine.read | mine.written);
    if (fresh == 0) return true;
    touch_table::group &all = all_->groups[number & (page_groups - 1)];
    return writes ? write(number, all, mine, fresh) : read(all, mine, fresh);
}

// The order matters: record first, then check.
bool touch_guard::read(touch_table::group &all, group &mine, u64 fresh)
{
    mine.read |= fresh;
    const u64 others = all.read.fetch_or(fresh) & fresh;
    if (others != 0) all.read_by_many.fetch_or(others);
    return (all.written.load() & fresh) == 0;
}

bool touch_guard::write(u64 number, touch_table::group &all, group &mine, u64 fresh)
{
    const u64 others = all.written.fetch_or(fresh) & fresh;
    if (others != 0) return false;
    if ((all.read.load() & fresh & ~mine.read) != 0) return false;
    if ((all.read_by_many.load() & fresh) != 0) return false;
    mine.written |= fresh;
    if (!watches_only()) save(number, fresh);
    return true;
}

void touch_guard::save(u64 number, u64 words)
{
    memory &m = memory::instance();
    if (values_.size() >= max_saved_) mark_dependent();
    saved_.push_back({number, words});
    for (; words != 0; words &= words - 1) {
        const u64 at = number * group_bytes + 4 * static_cast<u64>(__builtin_ctzll(words));
        u32 v;
        std::memcpy(&v, m.data() + at, 4);
        values_.push_back(v);
        std::memcpy(&v, m.shadow() + at, 4);
        shadows_.push_back(v);
    }
}

void touch_guard::roll_back()
{
    memory &m = memory::instance();
    std::size_t k = 0;
    for (const saved &s : saved_)
        for (u64 words = s.words; words != 0; words &= words - 1, ++k) {
            const u64 at = s.group * group_bytes + 4 * static_cast<u64>(__builtin_ctzll(words));
            std::memcpy(m.data() + at, &values_[k], 4);
            std::memcpy(m.shadow() + at, &shadows_[k], 4);
        }
}

void touch_guard::clear()
{
    for (u64 number : used_) {
        *pages_[number] = {};
        table_.clear(number);
    }
    used_.clear();
    last_ = ~u64{0};
    saved_.clear();
    values_.clear();
    shadows_.clear();
}

bool may_depend_on_order(context &c)
{
    if (c.guard->mark_dependent()) return true;
    c.halt();
    return false;
}

bool may_touch(context &c, lane_mask mask, const u64 *address, u32 bytes, bool write)
{
    if (c.guard->touch(c, mask, address, bytes, write) || c.guard->mark_dependent()) return true;
    c.halt();
    return false;
}

block_team::block_team() = default;
block_team::~block_team() = default;

void block_team::watch(grid &g)
{
    const u64 threads = g.blocks * g.how->block.x * g.how->block.y * g.how->block.z;
    const bool alone = g.shuffled || g.self->parent != nullptr || g.how->grid_workspace != 0;
    if (alone || g.running->in_order || !g.ctx.check_memory || g.blocks < 3 ||
        threads < min_threads || cores_to_use() < 2)
        return;
    if (!table_) {
        table_ = std::make_unique<touch_table>();
        first_ = std::make_unique<touch_guard>(*table_);
    }
    first_->begin(nullptr, 1);
    g.ctx.guard = first_.get();
}

void block_team::stop_watching(grid &g)
{
    g.ctx.guard = nullptr;
    first_->clear();
    g.running->in_order = true;
}

unsigned block_team::cores_worth(const grid &g) const
{
    if (g.next_block != 1) return 1;
    const u64 left = g.blocks - 1, most = std::min<u64>(cores_to_use(), left);
    return static_cast<unsigned>(std::min(most, g.steps * left / min_steps_per_core));
}

bool block_team::finish(grid &g)
{
    g.ctx.guard = nullptr;
    if (!first_->independent() || has_children(*g.self)) g.running->in_order = true;
    const unsigned cores = g.running->in_order ? 1 : cores_worth(g);
    const bool tried = cores > 1, done = tried && run_all(g, cores);
    grids_on_cores().tried += tried;
    if (tried && !done) {
        g.running->in_order = true;
        ++grids_on_cores().given_up;
    }
    first_->clear();
    return done;
}

void block_team::prepare(block_runner &r, const grid &g, unsigned cores)
{
    r.guard.begin(&failed_, cores);
    r.node = std::make_unique<launch_node>();
    r.part = std::make_unique<grid>();
    grid &p = *r.part;
    p.ctx = g.ctx;
    p.ctx.g = &p;
    p.ctx.guard = &r.guard;
    p.ctx.read = &r.read;
    p.ctx.written = &r.written;
    p.ctx.races = g.ctx.races == nullptr ? nullptr : &r.races;
    p.runtime = g.runtime;
    p.self = r.node.get();
    p.running = g.running;
    p.how = g.how;
    p.function = g.function;
    p.function_count = g.function_count;
    p.budget = g.budget - g.steps;
    p.shared_bytes = g.shared_bytes;
    std::copy(std::begin(g.thread_ids), std::end(g.thread_ids), std::begin(p.thread_ids));
    p.blocks = g.blocks;
    p.spare = std::move(r.spare);
    r.tallies.resize(g.tallies.size());
    for (std::size_t f = 0; f < g.tallies.size(); ++f) {
        const tally *like = g.tallies[f];
        if (like == nullptr) {
            p.tallies.push_back(nullptr);
            continue;
        }
        tally &t = r.tallies[f];
        t.runs.assign(like->runs.size(), 0);
        t.lanes_run.assign(like->lanes_run.size(), 0);
        t.lanes_off.assign(like->lanes_off.size(), 0);
        t.counted.assign(like->counted.size(), {});
        t.memos.assign(like->memos.size(), {});
        t.worst.assign(like->worst.size(), {});
        p.tallies.push_back(&t);
    }
}

void block_team::run(block_runner &r, unsigned cores)
{
    finding_trap trap(failed_);
    const bool races = r.part->ctx.races != nullptr;
    try {
        if (races) r.races.begin(*r.node, *r.part, (cores + 1) / 2);
        while (!failed_) {
            const u64 first = next_.fetch_add(chunk_);
            const u64 last = std::min(first + chunk_, end_);
            for (u64 b = first; b < last && !failed_; ++b)
                if (!run_alone(*r.part, b)) failed_ = true;
            if (first >= end_) break;
        }
        if (races) r.races.end(*r.node);
    } catch (const std::exception &) { // one core needs less memory, or meets the same error
        failed_ = true;
    }
    if (races) r.races.end();
}

bool block_team::run_all(grid &g, unsigned cores)
{
    while (runners_.size() < cores) runners_.push_back(std::make_unique<block_runner>(*table_));
    failed_ = false;
    next_ = g.next_block;
    end_ = g.blocks;
    chunk_ = std::clamp<u64>((end_ - next_) / (u64{8} * cores), 1, 64);
    for (unsigned k = 0; k < cores; ++k) prepare(*runners_[k], g, cores);
    std::vector<std::jthread> others;
    try {
        for (unsigned k = 1; k < cores; ++k)
            others.emplace_back([this, k, cores] { run(*runners_[k], cores); });
    } catch (const std::system_error &) { // no more threads: the running ones take all blocks
        cores = static_cast<unsigned>(others.size()) + 1;
    }
    run(*runners_[0], cores);
    others.clear(); // joins
    const bool done = !failed_ && merge_results(g, cores);
    for (unsigned k = 0; k < cores; ++k) {
        block_runner &r = *runners_[k];
        if (!done) r.guard.roll_back();
        r.guard.clear();
        r.read.clear();
        r.written.clear();
        r.spare = std::move(r.part->spare);
        if (r.spare.size() > 1) r.spare.resize(1);
        r.part.reset();
    }
    return done;
}

namespace {

void add(std::vector<u64> &to, const std::vector<u64> &from)
{
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k];
}

// Keeps the first of the worst requests, as one core does.
void add(site_worst &to, const site_worst &from)
{
    if (from.score == 0) return;
    if (to.score == 0) {
        to = from;
        return;
    }
    const bool elsewhere =
        to.elsewhere || from.elsewhere ||
        (to.kind == access_kind::atomic &&
         to.address[__builtin_ctz(to.mask)] != from.address[__builtin_ctz(from.mask)]);
    if (from.score > to.score || (from.score == to.score && from.block < to.block)) to = from;
    to.elsewhere = elsewhere;
}

void add(tally &to, const tally &from)
{
    add(to.runs, from.runs);
    add(to.lanes_run, from.lanes_run);
    add(to.lanes_off, from.lanes_off);
    for (std::size_t k = 0; k < to.counted.size(); ++k) to.counted[k] += from.counted[k];
    for (std::size_t k = 0; k < to.worst.size(); ++k) add(to.worst[k], from.worst[k]);
}

} // namespace

// Returns false if the blocks together exceed a grid's limits.
bool block_team::merge_results(grid &g, unsigned cores)
{
    u64 steps = g.steps;
    for (unsigned k = 0; k < cores; ++k) steps += runners_[k]->part->steps;
    if (steps >= g.budget) return false;
    if (g.ctx.races != nullptr) {
        race_checker::usage all;
        for (unsigned k = 0; k < cores; ++k) {
            const race_checker::usage one = runners_[k]->races.current_usage();
            all.accesses += one.accesses;
            all.bytes += one.bytes;
        }
        if (!g.ctx.races->add_usage(all)) return false;
    }
    g.steps = steps;
    for (unsigned k = 0; k < cores; ++k) {
        const block_runner &r = *runners_[k];
        g.busiest = std::max(g.busiest, r.part->busiest);
        for (std::size_t f = 0; f < g.tallies.size(); ++f)
            if (g.tallies[f] != nullptr) add(*g.tallies[f], r.tallies[f]);
        g.ctx.read->add(r.read);
        g.ctx.written->add(r.written);
    }
    g.next_block = g.blocks;
    return true;
}

} // namespace core
} // namespace simulator
