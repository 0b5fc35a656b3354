// Finds data races: accesses of different threads to the same bytes that nothing orders.
#include "races.hpp"
#include "copies.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace simulator::core {

thread_block::thread_block() = default;
thread_block::~thread_block() = default;

void check_races(context &c, const instruction &i, lane_mask mask, const std::uint64_t *address,
                 ptx::space s, std::uint32_t bytes, access_use use, bool contiguous,
                 const std::byte (*copied)[16])
{
    c.races->check(c, i, mask, address, s, bytes, use, contiguous, copied);
}

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Bits of access_record::owner: a strong access or a guess; a strong access whose scope is the
// block. The bits below hold block << 5 | warp.
constexpr u32 strong_bit = 1u << 31, block_scope_bit = 1u << 30;
constexpr u32 owner_mask = block_scope_bit - 1;
constexpr u32 line_bytes = 128, line_words = 32;
constexpr std::size_t log_size = std::size_t{1} << 20;
constexpr std::size_t kept_releases = 64;
constexpr u32 page_shift = 14, leaf_shift = 12;

u32 owner_of(const thread_block &b, const warp &w)
{
    return (static_cast<u32>(b.number) << 5 | w.index) & owner_mask;
}

bool same_block(u32 a, u32 b) { return ((a ^ b) & owner_mask & ~31u) == 0; }
bool same_warp(u32 a, u32 b) { return ((a ^ b) & owner_mask) == 0; }

// The layout of a warp's lanes in a line: the first lane, and the bytes per lane.
u32 shape_of(u32 first_lane, u32 bytes) { return first_lane | bytes << 8; }
lane_mask lane_of_word(u32 shape, u32 word)
{
    return 1u << ((shape & 31) + 4 * word / (shape >> 8));
}

template <class F> void each(lane_mask mask, F f)
{
    for (; mask != 0; mask &= mask - 1) f(__builtin_ctz(mask));
}

std::size_t bytes_of(shadow_line::split s) // allocated for the cells of one line
{
    using split = shadow_line::split;
    return s == split::whole ? 0
                             : sizeof(shadow_cell) * (s == split::words ? line_words : line_bytes);
}

} // namespace

void release_history::strong_write(epoch at)
{
    if (fence_ == 0 || (!entries_.empty() && entries_.back().fence == fence_)) return;
    if (entries_.size() == kept_releases) {
        entries_.erase(entries_.begin(), entries_.begin() + kept_releases / 2);
        dropped_ = true;
    }
    entries_.push_back({fence_, at});
}

bool release_history::covers(epoch done, epoch seen) const
{
    auto first = std::find_if(entries_.begin(), entries_.end(),
                              [=](const entry &e) { return e.fence > done; });
    if (first == entries_.end()) return false;
    // An older release may have been dropped. In doubt, report no race.
    return first->at <= seen || (dropped_ && first == entries_.begin());
}

block_order::~block_order()
{
    for (auto &l : shared) delete[] l.cells;
}

void race_checker::start(thread_block &b, std::uint32_t shared_bytes)
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
    auto &known = *o.lanes;
    std::array<epoch, 32> joined{};
    each(mask, [&](int l) {
        for (int k = 0; k < 32; ++k) joined[k] = std::max(joined[k], known[l][k]);
    });
    each(mask, [&](int l) { joined[l] = clock_ + 1; });
    each(mask, [&](int l) { known[l] = joined; });
}

void race_checker::arrive(warp &w, std::uint32_t barrier)
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

// Only some warps synchronised: each waiting warp learns what all arrived warps had done, known or
// acquired.
void race_checker::pass_barrier(thread_block &b, std::uint32_t barrier, std::uint32_t waiting)
{
    block_order &o = *b.order;
    if (!o.warp_matrix) o.warp_matrix = std::make_unique<order_matrix<32>>();
    auto &known = *o.warp_matrix;
    auto &came = o.barriers[barrier];
    std::array<epoch, 32> joined{};
    each(came.warps, [&](int w) {
        for (int k = 0; k < 32; ++k) joined[k] = std::max(joined[k], known[w][k]);
    });
    each(came.warps, [&](int w) { joined[w] = std::max(joined[w], came.at[w]); });
    each(waiting, [&](int w) {
        known[w] = joined;
        o.warps[w].synchronised_at = clock_ + 1;
        o.warps[w].acquired_at = std::max(o.warps[w].acquired_at, came.acquired_at);
    });
    came = {};
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
    own.acquired_at = own.strong_read_at;
    if (!block_scope) block.acquired_at = std::max(block.acquired_at, own.strong_read_at);
}

bool race_checker::released_to(const thread_block &b, std::uint32_t by, epoch done) const
{
    const auto history = blocks_.find(by);
    return history != blocks_.end() && history->second.covers(done, b.order->acquired_at);
}

bool race_checker::released_before_seen(const thread_block &b, std::uint32_t by, epoch done) const
{
    const auto history = blocks_.find(by);
    return history != blocks_.end() && history->second.covers(done, b.order->strong_read_at);
}

struct race_checker::access {
    context &c;
    const instruction &i;
    lane_mask mask;
    const u64 *address;
    u64 base;
    ptx::space space;
    u32 bytes;
    access_use use;
    epoch at;
    u32 owner;
    epoch live_from;         // earlier records are ordered before this access
    epoch grid_from;         // earlier records belong to other grids
    epoch block_at, warp_at; // earlier records of the same block or warp are ordered
    block_order &block;
    warp_order &warp;
    bool is_volatile, is_guess;
    const std::byte (*copied)[16]; // bytes of a copy, by lane

    bool of_this_grid(const access_record &m) const { return m.at >= grid_from; }
    bool of_this_warp(const access_record &m) const
    {
        return same_warp(m.owner, owner) && of_this_grid(m);
    }
    bool of_this_block(const access_record &m) const
    {
        return same_block(m.owner, owner) && of_this_grid(m);
    }
    // True if ordered by a barrier of the block or warp or by a launch, or too old to matter.
    bool known_ordered(const access_record &m) const
    {
        if (m.at < live_from) return true;
        if (!of_this_grid(m)) return c.races->precedes(m);
        if (!same_block(m.owner, owner)) return false;
        return m.at < block_at || (m.at < warp_at && same_warp(m.owner, owner));
    }
    // True for strong accesses of different blocks of which at least one has block scope only.
    bool scope_too_narrow(const access_record &m) const
    {
        return (m.owner & owner & strong_bit) != 0 && ((m.owner | owner) & block_scope_bit) != 0 &&
               !of_this_block(m);
    }
    // True if both accesses are strong (atomic, volatile or with a memory order) with sufficient
    // scope. Lanes of one warp may not rely on volatile shared memory alone: lockstep execution is
    // not guaranteed.
    bool both_strong(const access_record &m) const
    {
        if ((m.owner & owner & strong_bit) == 0) return false;
        if (scope_too_narrow(m)) return false;
        return !(is_volatile && space == ptx::space::shared && same_warp(m.owner, owner));
    }
    // True if the two accesses do not race with each other even when unordered. A guess
    // (cas_loops.hpp) is compatible with atomics of its size: the following compare-and-swap at
    // its address fails if one came between. A guess orders nothing, so accesses that depend on
    // its value are checked as usual.
    bool compatible(const access_record &m) const
    {
        if (!both_strong(m)) return false;
        const bool reads = use == access_use::read;
        const bool of_log = at - m.at < log_size; // otherwise too old to look up
        const logged_access &other = c.races->log_[m.at % log_size];
        if (reads ? !is_guess : !of_log || !other.guess) return true;
        return !of_log ||
               ((reads ? other.atomic : use == access_use::atomic) && other.bytes == bytes);
    }
};

struct race_checker::page {
    u64 number = 0;
    shadow_line lines[(1u << page_shift) / line_bytes];
};
struct race_checker::leaf {
    page *pages[1u << leaf_shift] = {};
};

race_checker::race_checker() = default;
race_checker::~race_checker()
{
    for (auto &p : pages_)
        for (auto &l : p->lines) delete[] l.cells;
}

namespace {

// Keeps only the last launch by each thread: it covers the earlier ones.
void add_launch(std::vector<const launch_knowledge *> &all, const launch_knowledge *k)
{
    for (const auto *&known : all)
        if (known->owner == k->owner && known->lane == k->lane) {
            if (known->at < k->at) known = k;
            return;
        }
    all.push_back(k);
}

// The launches that happen before a grid's start: its own, and the earlier ones of its stream.
const std::vector<const launch_knowledge *> &launches_before(const launch_node &n)
{
    auto &all = n.past->launches;
    if (!all.empty()) return all;
    all.push_back(&n.past->knew);
    for (const launch_node *e : n.after)
        for (const auto *k : launches_before(*e)) add_launch(all, k);
    return all;
}

} // namespace

void race_checker::begin(launch_node &n, const grid &g, unsigned share)
{
    if (!log_) { // allocated only where it is used
        log_.reset(static_cast<logged_access *>(std::calloc(log_size, sizeof(logged_access))));
        if (!log_) throw std::bad_alloc();
    }
    max_accesses_ = settings().race_accesses;
    max_bytes_ = settings().race_bytes / share;
    if (!n.parent && (tracking_stopped_ || clock_ > max_accesses_ / 2)) reset();
    if (!n.parent && allocated_bytes_ > max_bytes_) free_shadow_memory();
    began_ = ++clock_;
    if (!n.parent) {
        bytes_ = 0;
        tree_began_ = began_;
    }
    if (!n.past) n.past = std::make_unique<grid_past>();
    grid_past &p = *n.past;
    const grid_past *const by = n.parent ? n.parent->past.get() : nullptr;
    p.began = began_;
    p.horizon = !by || (n.follows_family && by->horizon == by->began) ? began_ : by->horizon;
    p.of = g.running;
    p.grid = g.how->grid;
    p.block = g.how->block;
    if (n.parent) launches_before(n);
    current_grid_ = &n;
    grids_.push_back(&n);
    relations_.clear();
    blocks_.clear();
    reads_.clear();
}

void race_checker::end(launch_node &n)
{
    n.past->ended = clock_ + 1;
    n.past->blocks = std::move(blocks_);
}

launch_knowledge race_checker::launching(context &c, const instruction &i, int lane)
{
    const block_order &block = *c.b->order;
    const warp_order &warp = block.warps[c.w->index];
    launch_knowledge k;
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

bool launch_knowledge::covers(const access_record &m, int by, const release_histories &blocks) const
{
    if (m.at >= at) return false;
    const auto releases = blocks.find((m.owner & owner_mask) >> 5);
    if (releases != blocks.end() && releases->second.covers(m.at, acquired_at)) return true;
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
                         [](epoch at, const launch_node *n) { return at < n->past->began; });
    return **std::prev(after);
}

namespace {

// True if streams order a sibling's completion before the start of another.
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

const race_checker::relation &race_checker::relation_to(const launch_node &earlier)
{
    auto [known, fresh] = relations_.try_emplace(&earlier);
    relation &r = known->second;
    if (!fresh) return r;
    const launch_node *e = &earlier, *c = current_grid_, *below_e = nullptr, *below_c = nullptr;
    while (e != c) { // up to the common ancestor
        if (earlier.past->ended <= c->past->horizon) {
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
               return k->covers(m, -1, of.past->blocks);
           });
}

// The same for an access by an earlier grid.
int race_checker::racing_lane(const access &a, const access_record &m, const launch_node &of)
{
    const auto releases = of.past->blocks.find((m.owner & owner_mask) >> 5);
    if (releases != of.past->blocks.end() && releases->second.covers(m.at, a.block.acquired_at))
        return -1;
    const auto launches = relation_to(of).launches;
    for (lane_mask left = m.lanes; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        if (std::none_of(launches.begin(), launches.end(),
                         [&](const auto *k) { return k->covers(m, l, of.past->blocks); }))
            return l;
    }
    return -1;
}

// Called between launch trees, when no page is in use.
void race_checker::free_shadow_memory()
{
    for (auto &p : pages_)
        for (auto &l : p->lines) delete[] l.cells;
    pages_.clear();
    free_pages_.clear();
    allocated_bytes_ = 0;
}

// Clears everything and restarts the clock, so that the next tree is checked again.
void race_checker::reset()
{
    free_shadow_memory();
    clock_ = 1;
    ++era_;
    tracking_stopped_ = false;
}

bool race_checker::add_usage(usage of_others)
{
    if (tracking_stopped_ || clock_ + of_others.accesses >= max_accesses_ ||
        bytes_ + of_others.bytes > max_bytes_)
        return false;
    clock_ += static_cast<epoch>(of_others.accesses);
    bytes_ += of_others.bytes;
    return true;
}

void race_checker::stop_tracking(const context &c)
{
    tracking_stopped_ = true;
    finding f;
    f.kind = finding_kind::unwatched;
    f.kernel = c.g->running->shown;
    f.detail = "races were looked for until the memory for it was used up, not to the end";
    findings::instance().add(std::move(f));
}

void race_checker::end()
{
    for (auto &[i, f] : found_)
        if (f.threads != 0) findings::instance().add(std::move(f));
    found_.clear();
    for (const finding &f : early_reads_)
        findings::instance().withdraw(finding_kind::uninitialised, f.kernel, f.file, f.line);
    early_reads_.clear();
    grids_.clear();
    for (page *p : used_pages_) {
        table_[p->number >> leaf_shift]->pages[p->number & ((1u << leaf_shift) - 1)] = nullptr;
        free_pages_.push_back(p);
    }
    used_pages_.clear();
}

void race_checker::check(context &c, const instruction &i, lane_mask mask, const u64 *address,
                         ptx::space s, std::uint32_t bytes, access_use use, bool contiguous,
                         const std::byte (*copied)[16])
{
    if (tracking_stopped_ || s == ptx::space::constant) return;
    if (++clock_ >= max_accesses_ || bytes_ > max_bytes_) return stop_tracking(c);
    block_order &block = *c.b->order;
    warp_order &warp = block.warps[c.w->index];
    bool shared = s == ptx::space::shared, strong = (i.flags & core::strong) != 0;
    const bool guesses = use == access_use::read && (i.flags & core::guess) != 0;
    u64 window = !shared                                         ? c.base
                 : address[__builtin_ctz(mask)] >= shared_window ? shared_window
                                                                 : 0;
    access a{c,
             i,
             mask,
             address,
             window,
             s,
             bytes,
             use,
             clock_,
             owner_of(*c.b, *c.w) | (strong || guesses ? strong_bit : 0) |
                 (strong && (i.wide & 8) != 0 ? block_scope_bit : 0),
             shared ? block.synchronised_at : current_grid_->past->horizon,
             began_,
             block.synchronised_at,
             std::max(block.synchronised_at, warp.synchronised_at),
             block,
             warp,
             (i.wide & 4) != 0,
             guesses,
             copied};
    log_[clock_ % log_size] = {c.running, i.statement, static_cast<std::uint8_t>(bytes),
                               use == access_use::atomic, guesses};
    bool whole = contiguous && use != access_use::atomic && bytes >= 4 &&
                 (address[0] - window) % line_bytes == 0;
    if (!whole) {
        record_lanes(a);
    } else {
        u32 lanes = line_bytes / bytes;
        for (u32 first = 0; first < 32; first += lanes) {
            shadow_line &line = line_at(a, address[first] - window);
            if (line.latest < a.live_from) unsplit_line(a, line);
            line.latest = a.at;
            if (line.split_into == shadow_line::split::whole &&
                record_whole_line(a, line, shape_of(first, bytes)))
                continue;
            for (u32 l = first; l < first + lanes; ++l)
                record_cells(a, static_cast<int>(l), 1u << l);
        }
    }
    if (strong) note_strong_access(a);
}

void race_checker::note_strong_access(const access &a)
{
    bool looks = a.use == access_use::read || (a.use == access_use::atomic && a.i.d != no_operand);
    if (looks) a.block.strong_read_at = a.warp.strong_read_at = a.at;
    if (a.use == access_use::read) return;
    a.warp.releases.strong_write(a.at);
    if (a.block.reads_released_at < a.block_at) { // once after each barrier is enough
        a.block.reads_released_at = a.block_at;
        release_history &reads = reads_[static_cast<u32>(a.c.b->number)];
        reads.fence(a.block_at);
        reads.strong_write(a.at);
    }
    if (auto b = blocks_.find(static_cast<u32>(a.c.b->number)); b != blocks_.end())
        b->second.strong_write(a.at);
}

shadow_line &race_checker::line_at(const access &a, u64 offset)
{
    if (a.space == ptx::space::shared) return a.block.shared[offset / line_bytes];
    return device_line(offset);
}

shadow_line &race_checker::device_line(u64 offset)
{
    u64 number = offset >> page_shift, high = number >> leaf_shift;
    if (high >= table_.size()) table_.resize(high + 1);
    if (!table_[high]) table_[high] = std::make_unique<leaf>();
    page *&p = table_[high]->pages[number & ((1u << leaf_shift) - 1)];
    if (p == nullptr) p = new_page(number);
    return p->lines[(offset & ((1u << page_shift) - 1)) / line_bytes];
}

race_checker::page *race_checker::new_page(u64 number)
{
    if (free_pages_.empty()) {
        pages_.push_back(std::make_unique<page>());
        free_pages_.push_back(pages_.back().get());
        allocated_bytes_ += sizeof(page);
    }
    page *p = free_pages_.back();
    free_pages_.pop_back();
    bytes_ += sizeof(page);
    p->number = number;
    used_pages_.push_back(p);
    return p;
}

// Makes a line whole again that was not accessed since everything was ordered.
void race_checker::unsplit_line(const access &a, shadow_line &l)
{
    if (a.space != ptx::space::shared && l.latest >= tree_began_) bytes_ -= bytes_of(l.split_into);
    l.split_into = shadow_line::split::whole;
}

// Returns false if the line must be split to represent this access.
bool race_checker::record_whole_line(const access &a, shadow_line &l, u32 shape)
{
    auto mine = [&](const access_record &m) { return a.of_this_warp(m) && m.lanes == shape; };
    auto fine = [&](const access_record &m) {
        return a.known_ordered(m) || mine(m) || (a.compatible(m) && !a.of_this_warp(m));
    };
    shadow_cell &w = l.whole;
    if (!fine(w.write)) return false;
    if (a.use == access_use::read) {
        if (!a.known_ordered(w.read) && !mine(w.read)) {
            if (a.of_this_warp(w.read)) return false;
            w.other = w.read;
        }
        w.read = {a.at, a.owner, shape};
        return true;
    }
    if (!fine(w.read) || !fine(w.other)) return false;
    w.write = {a.at, a.owner, shape};
    w.read = w.other = {};
    return true;
}

void race_checker::split_line(const access &a, shadow_line &l, shadow_line::split into)
{
    using split = shadow_line::split;
    if (l.split_into == into || l.split_into == split::bytes) return;
    if (a.space != ptx::space::shared) bytes_ += bytes_of(into) - bytes_of(l.split_into);
    u32 wanted = into == split::words ? line_words : line_bytes;
    if (l.capacity < wanted) { // a line keeps its cells
        shadow_cell *larger = new shadow_cell[wanted];
        if (a.space != ptx::space::shared)
            allocated_bytes_ += (wanted - l.capacity) * sizeof(shadow_cell);
        if (l.split_into == split::words) std::copy_n(l.cells, line_words, larger);
        delete[] l.cells;
        l.cells = larger;
        l.capacity = static_cast<std::uint8_t>(wanted);
    }
    if (l.split_into == split::words)
        for (u32 k = line_bytes; k-- > 0;) l.cells[k] = l.cells[k / 4];
    // The cells' contents predate the time at which the line became whole: they are stale.
    bool live = std::max({l.whole.write.at, l.whole.read.at, l.whole.other.at}) >= a.live_from;
    if (l.split_into == split::whole && live) {
        u32 each_word = into == split::words ? 1 : 4;
        auto spread = [&](access_record m, u32 word) {
            if (m.at < a.live_from) return access_record{};
            m.lanes = lane_of_word(m.lanes, word);
            return m;
        };
        for (u32 word = 0; word < line_words; ++word) {
            shadow_cell x{spread(l.whole.write, word), spread(l.whole.read, word),
                          spread(l.whole.other, word)};
            for (u32 k = 0; k < each_word; ++k) l.cells[word * each_word + k] = x;
        }
        l.whole = {};
    }
    l.split_into = into;
}

void race_checker::record_lanes(const access &a)
{
    if (a.use == access_use::read && a.bytes == 4 && a.space == ptx::space::shared)
        return read_words(a);
    // Adjacent lanes that read the same address, or change it by atomics, are recorded together:
    // the first is checked against earlier accesses, and the others are compatible with it.
    const bool compatible =
        a.use == access_use::atomic && (a.owner & strong_bit) != 0 && !a.is_volatile;
    for (lane_mask left = a.mask; left != 0;) {
        int l = __builtin_ctz(left);
        lane_mask together = 1u << l;
        left &= left - 1;
        if (a.use == access_use::read || compatible)
            while (left != 0 && a.address[__builtin_ctz(left)] == a.address[l]) {
                together |= left & -left;
                left &= left - 1;
            }
        record_cells(a, l, together);
    }
}

// The lanes of an earlier read of this warp that must stay recorded beside the lanes reading now.
// A lane that one of the latter has synchronised with since can be dropped: whatever is ordered
// after the new read is ordered after its read too.
lane_mask race_checker::still_unordered(const access &a, const access_record &earlier,
                                        lane_mask now) const
{
    if (!a.warp.lanes) return earlier.lanes;
    lane_mask open = earlier.lanes & ~now;
    each(now, [&](int l) {
        each(open, [&](int k) {
            if (earlier.at < (*a.warp.lanes)[l][k]) open &= ~(1u << k);
        });
    });
    return open;
}

// Records another read by the warp that read last. Lanes of its earlier read that are still
// unordered get the new epoch, unless another lane has synchronised with one of them since: the
// earlier read cannot race with that lane, and a later epoch would say it does.
void race_checker::read_again(const access &a, shadow_cell &x, lane_mask lanes) const
{
    const access_record earlier = x.read;
    const lane_mask open = still_unordered(a, earlier, lanes);
    x.read = {a.at, a.owner, lanes};
    if (open == 0) return;
    bool met = false;
    if (a.warp.lanes)
        each(open, [&](int k) {
            for (int l = 0; l < 32; ++l) met |= l != k && earlier.at < (*a.warp.lanes)[l][k];
        });
    if (!met) {
        x.read.lanes |= open;
    } else if (a.known_ordered(x.other)) {
        x.other = {earlier.at, earlier.owner, open};
    } else { // both epochs do not fit: prefer a missed race to a false one
        x.read.lanes |= open;
        x.read.at = earlier.at;
    }
}

// Fast path for tiles 16 wide: the upper half of the warp reads the same words as the lower half,
// and none was written since the last barrier. Returns false, recording nothing, if this is not
// the case.
bool race_checker::read_halves(const access &a)
{
    const u64 *const address = a.address;
    if (address[0] == address[1]) return false; // broadcasts are grouped below
    u64 differs = a.mask ^ all_lanes;
    for (int l = 0; l < 16; ++l) differs |= address[l] ^ address[l + 16];
    if (differs != 0) return false;
    shadow_cell *cells[16];
    for (int l = 0; l < 16; ++l) {
        const u64 offset = address[l] - a.base;
        shadow_line &line = a.block.shared[offset / line_bytes];
        if (line.latest < a.live_from || line.split_into != shadow_line::split::words) return false;
        cells[l] = &line.cells[offset % line_bytes / 4];
        if (cells[l]->write.at >= a.live_from) return false;
    }
    for (u32 l = 0; l < 16; ++l) {
        a.block.shared[(address[l] - a.base) / line_bytes].latest = a.at;
        read_word(a, *cells[l], 0x10001u << l);
    }
    return true;
}

void race_checker::read_word(const access &a, shadow_cell &x, lane_mask lanes) const
{
    if (x.read.owner == a.owner && x.read.at >= a.warp_at) return read_again(a, x, lanes);
    if (x.read.at >= a.live_from && !same_warp(x.read.owner, a.owner)) x.other = x.read;
    x.read = {a.at, a.owner, lanes};
}

// The most frequent case: reads of words of shared memory not written since the last barrier.
void race_checker::read_words(const access &a)
{
    if (read_halves(a)) return;
    const epoch live_from = a.live_from;
    shadow_line *const lines = a.block.shared.data();
    const u64 *const address = a.address;
    const u64 base = a.base;
    for (lane_mask left = a.mask; left != 0;) {
        int l = __builtin_ctz(left);
        lane_mask together = left & -left;
        left &= left - 1;
        const u64 here = address[l];
        while (left != 0 && address[__builtin_ctz(left)] == here) {
            together |= left & -left;
            left &= left - 1;
        }
        const u64 offset = here - base;
        shadow_line &line = lines[offset / line_bytes];
        if (line.latest < live_from || line.split_into != shadow_line::split::words) {
            record_cells(a, l, together);
            continue;
        }
        shadow_cell &x = line.cells[offset % line_bytes / 4];
        if (x.write.at >= live_from) {
            record_cells(a, l, together);
            continue;
        }
        line.latest = a.at;
        read_word(a, x, together);
    }
}

void race_checker::record_cells(const access &a, int lane, lane_mask lanes)
{
    using split = shadow_line::split;
    u64 offset = a.address[lane] - a.base;
    shadow_line &line = line_at(a, offset);
    if (line.latest < a.live_from) unsplit_line(a, line);
    line.latest = a.at;
    split_line(a, line, a.bytes < 4 ? split::bytes : split::words);
    u32 size = line.split_into == split::words ? 4 : 1;
    u32 first = static_cast<u32>(offset % line_bytes) / size, n = a.bytes / size;
    for (u32 k = 0; k < n; ++k) {
        if (a.use == access_use::read)
            read_cell(a, line.cells[first + k], lanes, k * size);
        else
            write_cell(a, line.cells[first + k], lane, k * size, size);
        // Atomics recorded together keep the last one's lane.
        if (a.use == access_use::atomic)
            line.cells[first + k].write.lanes = 1u << (31 - __builtin_clz(lanes));
    }
}

void race_checker::read_cell(const access &a, shadow_cell &x, lane_mask lanes, u32 offset)
{
    const access_record &w = x.write;
    if (!a.known_ordered(w) && !a.compatible(w)) {
        const bool mine = a.of_this_warp(w);
        lane_mask others = mine ? lanes & ~w.lanes : lanes;
        if (!mine || !a.warp.lanes) others &= -others; // all lanes would give the same result
        each(others, [&](int l) { check_against(a, w, l, offset, true); });
    }
    access_record &r = x.read;
    if (r.owner == a.owner && a.of_this_grid(r) && !a.known_ordered(r))
        return read_again(a, x, lanes);
    if (!a.known_ordered(r)) x.other = r;
    r = {a.at, a.owner, lanes};
}

// Copies the bytes that a lane of a store or copy is about to write.
void race_checker::new_bytes(const access &a, int lane, u32 offset, u32 n, std::byte *to)
{
    if (a.copied != nullptr) {
        std::memcpy(to, a.copied[lane] + offset, n);
        return;
    }
    const instruction &i = a.i;
    u32 element = offset / i.bytes, within = offset % i.bytes, size = (i.wide & 1) != 0 ? 8 : 4;
    operand o = i.count == 1 ? i.b : a.c.lists[i.extra][element];
    const std::byte *lanes = a.c.bases[o >> 31] + (o & ~constant_bit);
    std::memcpy(to, lanes + static_cast<std::size_t>(lane) * size + within, n);
}

// Copies the bytes that an earlier write of the block left there, or will leave when its cp.async
// arrives.
void race_checker::written_bytes(const access &a, const access_record &w, int lane, u32 offset,
                                 u32 n, std::byte *to)
{
    int writer = __builtin_ctz(w.lanes);
    if (w.at == a.at) return new_bytes(a, writer, offset, n, to); // by this very instruction
    u64 at = a.address[lane] - a.base + offset;
    bool shared = a.space == ptx::space::shared;
    if (shared && copied_bytes(a.c.b->warps[w.owner & 31], writer, at, n, to)) return;
    std::memcpy(to, (shared ? a.c.shared : a.c.data) + at, n);
}

// Two threads that write the same value do not race: the result is the same in any order.
void race_checker::write_cell(const access &a, shadow_cell &x, int lane, u32 offset, u32 bytes)
{
    lane_mask me = 1u << lane;
    auto mine = [&](const access_record &m) { return a.of_this_warp(m) && m.lanes == me; };
    const access_record w = x.write;
    if (!a.known_ordered(w) && !mine(w) && !a.both_strong(w)) {
        bool same = false;
        if (a.use != access_use::atomic) {
            std::byte now[8], next[8];
            new_bytes(a, lane, offset, bytes, next);
            written_bytes(a, w, lane, offset, bytes, now);
            same = std::memcmp(now, next, bytes) == 0;
        }
        if (!same) check_against(a, w, lane, offset, true);
    }
    for (const access_record &r : {x.read, x.other})
        if (!a.known_ordered(r) && !mine(r) && !a.compatible(r))
            check_against(a, r, lane, offset, false);
    x.write = {a.at, a.owner, me};
    x.read = x.other = {};
}

// True if this warp has acquired a release that came after the earlier access, made by the
// accessing warp or by one that had synchronised with it at a barrier.
bool race_checker::ordered_by_release(const access &a, const access_record &m, u32 theirs) const
{
    const auto &warps = a.block.warps;
    for (u32 w = 0; w < warps.size(); ++w) {
        bool knows =
            w == theirs || (a.block.warp_matrix && m.at < (*a.block.warp_matrix)[w][theirs]);
        if (knows && warps[w].releases.covers(m.at, a.warp.acquired_at)) return true;
    }
    return false;
}

// Returns the lane of the earlier access that is unordered with this one, or -1.
int race_checker::racing_lane(const access &a, const access_record &m, int lane, bool wrote)
{
    if (!a.of_this_grid(m)) return racing_lane(a, m, grid_of(m));
    if (!same_block(m.owner, a.owner)) {
        u32 block = (m.owner & owner_mask) >> 5;
        // An atomic that depends on an earlier read needs no fence in between.
        const epoch seen = a.scope_too_narrow(m) ? a.block.strong_read_at : a.block.acquired_at;
        auto known = [&](const auto &histories) {
            auto b = histories.find(block);
            return b != histories.end() && b->second.covers(m.at, seen);
        };
        return known(blocks_) || (!wrote && known(reads_)) ? -1 : __builtin_ctz(m.lanes);
    }
    u32 theirs = m.owner & 31;
    if (ordered_by_release(a, m, theirs)) return -1;
    if (theirs != a.c.w->index) {
        bool met = a.block.warp_matrix && m.at < (*a.block.warp_matrix)[a.c.w->index][theirs];
        return met ? -1 : __builtin_ctz(m.lanes);
    }
    for (lane_mask left = m.lanes & ~(1u << lane); left != 0; left &= left - 1) {
        int l = __builtin_ctz(left);
        if (!a.warp.lanes || m.at >= (*a.warp.lanes)[lane][l]) return l;
    }
    return -1;
}

void race_checker::check_against(const access &a, const access_record &m, int lane, u32 offset,
                                 bool wrote)
{
    int earlier = racing_lane(a, m, lane, wrote);
    if (earlier >= 0) report_race(a, m, earlier, lane, offset, wrote);
}

namespace {

std::string thread_text(const dim &t)
{
    return "(" + std::to_string(t.x) + ", " + std::to_string(t.y) + ", " + std::to_string(t.z) +
           ")";
}

} // namespace

// For example "thread (3, 0, 0) wrote at a.cu:12".
std::string race_checker::earlier_text(const access &a, const access_record &m, int lane,
                                       bool wrote)
{
    const grid_past &of = a.of_this_grid(m) ? *current_grid_->past : *grid_of(m).past;
    const auto place = [](u64 n, const dim &in) {
        return thread_text({static_cast<u32>(n % in.x), static_cast<u32>(n / in.x % in.y),
                            static_cast<u32>(n / in.x / in.y)});
    };
    std::string s = "thread " + place(32 * (m.owner & 31) + static_cast<u32>(lane), of.block);
    if (!a.of_this_block(m)) s += " of block " + place((m.owner & owner_mask) >> 5, of.grid);
    if (!a.of_this_grid(m)) s += " of " + of.of->shown;
    s += wrote ? " wrote" : " read";
    if (a.at - m.at >= log_size) return s + " long before"; // no longer in the log
    const auto &what = log_[m.at % log_size];
    return s + " at " + place_text(*what.of, what.statement);
}

// Explains why nothing orders the earlier access, which may belong to another grid, before this
// one.
std::string race_checker::why_unordered(const access &a, const access_record &m, bool wrote)
{
    if (a.of_this_grid(m)) {
        // Between a block's stores to shared memory a barrier is missing; elsewhere two elements
        // share an address.
        const bool one_place = wrote && a.use != access_use::read && a.of_this_block(m) &&
                               a.space != ptx::space::shared;
        if (m.at == a.at || one_place) return "; which value stays is left to chance";
        if (a.of_this_warp(m)) return " and no __syncwarp() or __syncthreads() comes between";
        if (a.of_this_block(m)) return " and no __syncthreads() comes between";
        if (a.scope_too_narrow(m))
            return ": an atomic whose scope is the block (_block) is none for other blocks";
        const std::uint32_t theirs = (m.owner & owner_mask) >> 5;
        return wrote && released_before_seen(*a.c.b, theirs, m.at)
                   ? "; its block has read the flag that tells of it, but no __threadfence() comes "
                     "between that read and this access"
                   : " and nothing orders the two blocks";
    }
    const auto launches = relation_to(grid_of(m)).launches;
    if (launches.empty())
        return " and nothing orders the two grids: one stream would, or cudaStreamTailLaunch";
    const std::string launch =
        "the launch at " + place_text(*launches.front()->of, launches.front()->statement);
    if (m.at < launches.front()->at)
        return same_block(m.owner, launches.front()->owner)
                   ? " and no barrier comes between that and " + launch
                   : " and nothing orders that before " + launch;
    return " after " + launch +
           (wrote ? ": a child may run before that"
                  : ": only a grid in cudaStreamTailLaunch sees what children do");
}

void race_checker::report_race(const access &a, const access_record &m, int earlier_lane, int lane,
                               u32 offset, bool wrote)
{
    auto [known, fresh] = found_.try_emplace(&a.i);
    finding &f = known->second;
    if (!fresh) { // only counted; added when the grid ends
        ++f.threads;
        return;
    }
    f = at_lane(a.c, a.i, lane);
    f.kind = finding_kind::race;
    f.write = a.use != access_use::read;
    f.other_grid = !a.of_this_grid(m);
    f.other_block = !f.other_grid && !a.of_this_block(m);
    f.bytes = a.bytes;
    u64 at = a.address[lane] + offset;
    f.address = at;
    bool shared = a.space == ptx::space::shared;
    if (shared)
        describe_shared(a.c, f, at);
    else
        f.where = memory::instance().describe(at, a.bytes);
    f.detail = "thread " + thread_text(f.thread) + (f.write ? " writes" : " reads") + " what " +
               earlier_text(a, m, earlier_lane, wrote) + why_unordered(a, m, wrote);
    findings::instance().add(f);
    f.threads = 0;
    const bool may_be_early = shared || !a.of_this_grid(m);
    if (may_be_early && f.write && !wrote && a.at - m.at < log_size) note_early_read(a, m, at);
}

// A thread that read before the write it should have waited for may also have read uninitialised
// memory. The race is the better message, so the other finding is withdrawn.
void race_checker::note_early_read(const access &a, const access_record &m, u64 at)
{
    const std::uint8_t *const shadow =
        a.space == ptx::space::shared ? a.c.shared_shadow : a.c.shadow;
    if ((shadow[at - a.base] & initialised) != 0) return;
    const auto &earlier = log_[m.at % log_size];
    const place_name &p = earlier.of->places[earlier.of->statement_place[earlier.statement]];
    finding f;
    f.kernel = earlier.of->shown;
    f.file = p.file;
    f.line = p.line;
    early_reads_.push_back(std::move(f));
}

} // namespace simulator::core
