// Reports races: describes both accesses, and why neither happens before the other.
#include "access.hpp"

namespace simulator::core {
namespace {

std::string thread_text(const dim &t)
{
    return "(" + std::to_string(t.x) + ", " + std::to_string(t.y) + ", " + std::to_string(t.z) +
           ")";
}

} // namespace

const race_checker::logged_access *race_checker::logged(const access &a,
                                                        const access_record &m) const
{
    return a.at - m.at < log_size ? &log_[m.at % log_size] : nullptr;
}

const source_line &race_checker::source_of(const logged_access &a)
{
    return a.of->locations[a.of->location_of_statement[a.statement]];
}

void race_checker::check_against(const access &a, const access_record &m, int lane, u32 offset,
                                 bool wrote)
{
    int earlier = racing_lane(a, m, lane, wrote);
    if (earlier >= 0) report_race(a, m, earlier, lane, offset, wrote);
}

// For example "thread (3, 0, 0) wrote at a.cu:12".
std::string race_checker::earlier_text(const access &a, const access_record &m, int lane,
                                       bool wrote)
{
    const grid_history &of = a.of_this_grid(m) ? *current_grid_->history : *grid_of(m).history;
    const auto place = [](u64 n, const dim &in) {
        return thread_text({static_cast<u32>(n % in.x), static_cast<u32>(n / in.x % in.y),
                            static_cast<u32>(n / in.x / in.y)});
    };
    std::string s = "thread " + place(32 * (m.owner & 31) + static_cast<u32>(lane), of.block);
    if (!a.of_this_block(m)) s += " of block " + place(block_of(m.owner), of.grid);
    if (!a.of_this_grid(m)) s += " of " + of.of->display_name;
    s += wrote ? " wrote" : " read";
    const logged_access *what = logged(a, m);
    return s + (what ? " at " + location_text(*what->of, what->statement) : " long before");
}

// Explains why nothing orders the earlier access, which may belong to another grid, before this
// one.
std::string race_checker::why_unordered(const access &a, const access_record &m, bool wrote,
                                        missing_order &missing)
{
    if (a.of_this_grid(m)) {
        // Between two stores of a block to shared memory a barrier is missing; elsewhere two
        // elements of the result have one address by mistake.
        const bool address_clash = wrote && a.use != access_use::read && a.of_this_block(m) &&
                                   a.space != ptx::space::shared;
        if (m.at == a.at || address_clash) return "; which value stays is left to chance";
        if (a.of_this_warp(m)) missing = missing_order::warp_barrier;
        const logged_access *earlier = logged(a, m);
        if (a.of_this_block(m) && wrote && earlier && earlier->copy)
            return " by a cp.async, which ends where that thread waits for it, and no "
                   "__syncthreads() comes after that wait";
        if (a.of_this_block(m)) return " and no __syncthreads() comes between";
        if (a.scope_too_narrow(m))
            return ": an atomic whose scope is the block (_block) is not atomic for other blocks";
        if (!wrote || !released_before_seen(*a.c.b, block_of(m.owner), m.at))
            return " and nothing orders the two blocks";
        missing = missing_order::fence;
        return "; its block has read the flag that announces it, but no __threadfence() comes "
               "between that read and this access";
    }
    const auto launches = relation_to(grid_of(m)).launches;
    if (launches.empty())
        return " and nothing orders the two grids: one stream would, or cudaStreamTailLaunch";
    const std::string launch =
        "the launch at " + location_text(*launches.front()->of, launches.front()->statement);
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
    if (!fresh) { // only counted; added when the launch tree ends
        ++f.threads;
        return;
    }
    f = at_lane(a.c, a.i, lane, finding_kind::race);
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
        memory::instance().locate(f, at, a.bytes);
    f.earlier_wrote = wrote;
    const std::uint8_t *const shadow = shared ? a.c.shared_shadow : a.c.shadow;
    f.overwrites = f.write && !wrote && (shadow[at - a.base] & initialised) != 0;
    const logged_access *earlier = logged(a, m);
    if (earlier) f.earlier_line = source_of(*earlier).line;
    f.detail = "thread " + thread_text(f.thread) + (f.write ? " writes" : " reads") + " what " +
               earlier_text(a, m, earlier_lane, wrote) + why_unordered(a, m, wrote, f.missing);
    findings::instance().add(f);
    f.threads = 0;
    const bool may_be_early = shared || !a.of_this_grid(m);
    if (may_be_early && f.write && !wrote && !f.overwrites && earlier) note_early_read(*earlier);
}

// A thread that read before the write it should have waited for may also have read uninitialised
// memory. The race is the cause, so the other finding is withdrawn.
void race_checker::note_early_read(const logged_access &earlier)
{
    const source_line &p = source_of(earlier);
    finding f;
    f.kernel = earlier.of->display_name;
    f.file = p.file;
    f.line = p.line;
    early_reads_.push_back(std::move(f));
}

} // namespace simulator::core
