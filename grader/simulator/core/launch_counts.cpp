// Adds the counts of a launch to those of its kernel, by source line.
#include "grid.hpp"
#include "simulator/machine/counters.hpp"
#include "simulator/machine/memory.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace simulator::core {
namespace {

bool is_real(const ptx::statement &s) { return s.op.back() == "f32" || s.op.back() == "f64"; }

bool is_one_of(std::string_view part, std::initializer_list<std::string_view> all)
{
    return std::find(all.begin(), all.end(), part) != all.end();
}

bool is_multiplication(const ptx::statement &s)
{
    return is_real(s) && is_one_of(s.op[0], {"mul", "fma", "mad"});
}

// True for operations in double precision: consumer GPUs have 1/64 of the units for them.
bool is_in_double(const ptx::statement &s)
{
    return s.op.back() == "f64" &&
           is_one_of(s.op[0], {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt", "rsqrt"});
}

bool is_exact_division(const ptx::statement &s)
{
    return is_real(s) && is_one_of(s.op[0], {"div", "rcp"}) &&
           is_one_of(s.op[1], {"rn", "rz", "rm", "rp"});
}

bool is_exact_root(const ptx::statement &s)
{
    return s.op[0] == "sqrt" && s.op.size() > 1 && s.op[1] != "approx";
}

worst_request as_counted(const site_worst &from)
{
    worst_request w;
    w.shared = from.shared;
    w.kind = from.kind;
    w.bytes = from.bytes;
    w.lanes = from.mask;
    w.cost = from.cost;
    w.ideal = from.ideal;
    w.one_address = !from.elsewhere;
    w.score = from.score;
    for (int l = 0; l < 32; ++l)
        if ((from.mask >> l & 1) != 0)
            w.at.push_back(w.shared ? from.address[l] & (shared_window - 1) : from.address[l]);
    if (!w.shared) w.where = memory::instance().describe(w.at.front(), w.bytes);
    return w;
}

// Moves each memory instruction's worst request to the kernel's counts, and resets it.
void take_worst(code &k, kernel_counts &total)
{
    for (std::size_t s = 0; s < k.own.worst.size(); ++s) {
        site_worst &from = k.own.worst[s];
        if (from.score == 0) continue;
        const auto &name = k.places[k.statement_place[from.statement]];
        std::pair place(name.file, name.line);
        // An atomic is always merged, to notice an address that differs from the earlier
        // launches'.
        if (from.kind == access_kind::atomic ||
            !total.has_worse(place, from.shared, from.kind, from.score))
            total.keep_worst(place, as_counted(from));
        from.score = 0;
        from.elsewhere = false;
        k.own.memos[s].mask = 0; // the next launch evaluates its requests anew
    }
}

// Converts counts by basic block and statement into counts by source place, and resets them.
void take_counts(code &k, kernel_counts &total)
{
    for (std::size_t b = 0; b < k.blocks.size(); ++b) {
        if (k.own.runs[b] == 0) continue;
        for (auto s = k.blocks[b].first_statement; s < k.blocks[b].last_statement; ++s) {
            const auto &st = k.body.statements[s];
            site_counts &c = k.own.counted[s];
            std::uint64_t lanes =
                k.own.lanes_run[b] - std::min(k.own.lanes_off[s], k.own.lanes_run[b]);
            c.warp_instructions += k.own.runs[b];
            c.thread_instructions += lanes;
            if (is_multiplication(st)) c.multiplications += lanes;
            if (is_real(st) && st.op[0] == "div") c.divisions += lanes;
            if (is_in_double(st)) c.double_operations += lanes;
            if (is_exact_division(st)) c.exact_divisions += lanes;
            if (is_exact_root(st)) c.exact_square_roots += lanes;
        }
    }
    for (std::size_t s = 0; s < k.body.statements.size(); ++s) {
        if (k.own.counted[s].warp_instructions == 0) continue;
        const auto &place = k.places[k.statement_place[s]];
        total.sites[{place.file, place.line}] += k.own.counted[s];
        total.total += k.own.counted[s];
    }
    take_worst(k, total);
    std::fill(k.own.runs.begin(), k.own.runs.end(), 0);
    std::fill(k.own.lanes_run.begin(), k.own.lanes_run.end(), 0);
    std::fill(k.own.lanes_off.begin(), k.own.lanes_off.end(), 0);
    std::fill(k.own.counted.begin(), k.own.counted.end(), site_counts{});
}

// The managed pages that a launch had to wait for. They are on the device afterwards.
std::uint64_t pages_on_demand(const sector_set &touched)
{
    auto &all = memory::instance();
    if (!all.has_managed()) return 0;
    std::uint64_t pages = 0;
    for (auto sector : touched.touched_ranges()) pages += all.migrate(all.base() + 32 * sector);
    return pages;
}

// The touched sectors in managed memory, which host code reads and writes as well.
std::uint64_t managed_sectors(const sector_set &touched)
{
    auto &all = memory::instance();
    if (!all.has_managed()) return 0;
    std::uint64_t sectors = 0;
    const allocation *a = nullptr;
    touched.each([&](std::uint64_t sector) {
        const address at = all.base() + 32 * sector;
        if (!a || at < a->start || at - a->start >= a->bytes) a = all.find(at);
        sectors += a && a->kind == memory_kind::managed;
    });
    return sectors;
}

// Sectors moved by each access, counting repeated accesses again.
std::uint64_t sectors_of(const site_counts &c)
{
    return c.global_load.sectors + c.global_store.sectors + c.global_atomic_sectors;
}

// Adds the traffic of a launch on `device` over links between devices: a peer sends the bytes that
// the launch reads from it, and the launch sends those that it writes. Managed memory lies on the
// host.
void add_peer_traffic(int device, const sector_set &touched, bool written)
{
    if (!settings().track_owning_device) return;
    auto &all = memory::instance();
    transfer_counts &transfers = counters::instance().transfers;
    const allocation *a = nullptr; // of the previous sector, usually of this one too
    touched.each([&](std::uint64_t sector) {
        const address at = all.base() + 32 * sector;
        if ((*all.shadow_at(at) & 0xf0) == device_bit(device)) return;
        if (!a || at - a->start >= a->bytes) a = all.find(at);
        // The bits cannot distinguish all kinds: a shared pool's memory has none.
        if (!a || a->kind == memory_kind::pinned || a->kind == memory_kind::internal) return;
        if (a->kind == memory_kind::managed)
            transfers.managed += 32;
        else if (a->device != device)
            transfers.sent[static_cast<std::size_t>(written ? device : a->device)] += 32;
    });
}

} // namespace

void add_counts(program &p, const grid &g, bool by_kernel, bool beside_host, const sector_set &read,
                const sector_set &written)
{
    const launch &how = *g.how;
    auto &all = counters::instance().kernels;
    auto it =
        std::find_if(all.begin(), all.end(), [&](const auto &k) { return k.kernel == p.shown; });
    if (it == all.end()) {
        it = all.insert(all.end(), kernel_counts{});
        it->kernel = p.shown;
    }
    it->launches += 1;
    it->launches_by_kernels += by_kernel;
    if (!by_kernel) {
        it->parameter_bytes += std::max(how.parameters.size(), usual_parameters) - usual_parameters;
        it->all_parameter_bytes += how.parameters.size();
    }
    it->blocks += g.blocks;
    it->busiest_block_instructions += g.busiest;
    it->threads += g.blocks * how.block.x * how.block.y * how.block.z;
    it->sectors_read += read.count();
    it->sectors_written += written.count();
    it->managed_pages += pages_on_demand(read) + pages_on_demand(written);
    add_peer_traffic(how.device, read, false);
    add_peer_traffic(how.device, written, true);
    const std::uint64_t instructions = it->total.warp_instructions,
                        multiplications = it->total.multiplications, moved = sectors_of(it->total);
    for (auto &f : p.functions)
        if (f) take_counts(*f, *it);
    // Beside other host threads a sector may have changed between any two accesses.
    const std::uint64_t shared = managed_sectors(read) + managed_sectors(written);
    it->managed_sectors += shared != 0 && beside_host ? sectors_of(it->total) - moved : shared;
    if (by_kernel) it->instructions_by_kernels += it->total.warp_instructions - instructions;
    it->multiplications_of[static_cast<std::size_t>(how.device)] +=
        it->total.multiplications - multiplications;
}

} // namespace simulator::core
