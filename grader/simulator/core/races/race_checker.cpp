// Checks each access of a grid for races. Begins and ends the grids of a launch tree.
#include "access.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace simulator::core {

thread_block::thread_block() = default;
thread_block::~thread_block() = default;

// Units of work (machine/work_meter.hpp) of an access that is not to whole lines.
constexpr u64 work_of_lanes = 60, work_per_lane = 4;

void check_races(context &c, const instruction &i, lane_mask mask, const u64 *address, ptx::space s,
                 u32 bytes, access_use use, bool contiguous, const std::byte (*copied)[16])
{
    c.races->check(c, i, mask, address, s, bytes, use, contiguous, copied);
}

void race_checker::begin(launch_node &n, const grid &g)
{
    if (!log_) { // most processes check no races
        log_.reset(static_cast<logged_access *>(std::calloc(log_size, sizeof(logged_access))));
        if (!log_) throw std::bad_alloc();
    }
    max_accesses_ = settings().race_accesses;
    max_bytes_ = settings().race_bytes;
    if (!n.parent && (tracking_stopped_ || clock_ > max_accesses_ / 2)) reset();
    if (!n.parent && allocated_bytes_ > max_bytes_) free_shadow_memory();
    began_ = ++clock_;
    if (!n.parent) {
        bytes_ = 0;
        tree_began_ = began_;
    }
    if (!n.history) n.history = std::make_unique<grid_history>();
    grid_history &p = *n.history;
    const grid_history *const by = n.parent ? n.parent->history.get() : nullptr;
    p.began = began_;
    p.horizon = !by || (n.follows_family && by->horizon == by->began) ? began_ : by->horizon;
    p.of = g.kernel;
    p.grid = g.config->grid;
    p.block = g.config->block;
    if (n.parent) launches_before(n);
    current_grid_ = &n;
    grids_.push_back(&n);
    relations_.clear();
    blocks_.clear();
    reads_.clear();
}

void race_checker::end(launch_node &n)
{
    n.history->ended = clock_ + 1;
    n.history->blocks = std::move(blocks_);
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
    return_pages();
}

// Clears everything and restarts the clock, so that the next tree is checked again.
void race_checker::reset()
{
    free_shadow_memory();
    clock_ = 1;
    ++era_;
    tracking_stopped_ = false;
}

void race_checker::stop_tracking(const context &c)
{
    tracking_stopped_ = true;
    finding f;
    f.kind = finding_kind::unwatched;
    f.kernel = c.g->kernel->display_name;
    f.detail = "races were looked for only until the memory of the race detector was used up";
    findings::instance().add(std::move(f));
}

void race_checker::check(context &c, const instruction &i, lane_mask mask, const u64 *address,
                         ptx::space s, u32 bytes, access_use use, bool contiguous,
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
    const access a{
        .c = c,
        .i = i,
        .mask = mask,
        .address = address,
        .base = window,
        .space = s,
        .bytes = bytes,
        .use = use,
        .at = clock_,
        .owner = owner_of(*c.b, *c.w) | (strong || guesses ? strong_bit : 0) |
                 (strong && (i.wide & core::block_scope) != 0 ? block_scope_bit : 0),
        .live_from = shared ? block.synchronised_at : current_grid_->history->horizon,
        .grid_from = began_,
        .block_at = block.synchronised_at,
        .warp_at = std::max(block.synchronised_at, warp.synchronised_at),
        .block = block,
        .warp = warp,
        .is_volatile = (i.wide & volatile_access) != 0,
        .is_guess = guesses,
        .copied = copied,
    };
    log_[clock_ % log_size] = {c.running,
                               i.statement,
                               static_cast<std::uint8_t>(bytes),
                               use == access_use::atomic,
                               guesses,
                               use == access_use::copy};
    bool whole = contiguous && use != access_use::atomic && bytes >= 4 &&
                 (address[0] - window) % line_bytes == 0;
    if (!whole) {
        c.work += work_of_lanes + work_per_lane * static_cast<u32>(__builtin_popcount(mask));
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

} // namespace simulator::core
