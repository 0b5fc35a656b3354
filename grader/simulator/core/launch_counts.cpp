// Adds the counts of a launch to those of its kernel, by source location.
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

// True for FP64 arithmetic, whose throughput on consumer GPUs is 1/64 of FP32's (1/32 on some).
bool is_in_double(const ptx::statement &s)
{
    return s.op.back() == "f64" &&
           is_one_of(s.op[0], {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt", "rsqrt"});
}

// Correctly rounded (IEEE 754) divisions and roots, which take several instructions of SASS.
bool is_rounded_division(const ptx::statement &s)
{
    return is_real(s) && is_one_of(s.op[0], {"div", "rcp"}) &&
           is_one_of(s.op[1], {"rn", "rz", "rm", "rp"});
}

bool is_rounded_root(const ptx::statement &s)
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
    w.one_address = !from.several_addresses;
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
    for (std::size_t s = 0; s < k.counts.worst.size(); ++s) {
        site_worst &from = k.counts.worst[s];
        if (from.score == 0) continue;
        const auto &name = k.locations[k.location_of_statement[from.statement]];
        std::pair place(name.file, name.line);
        // An atomic is always merged, to notice an address that differs from the earlier
        // launches'.
        if (from.kind == access_kind::atomic ||
            !total.has_worse(place, from.shared, from.kind, from.score))
            total.keep_worst(place, as_counted(from));
        from.score = 0;
        from.several_addresses = false;
        k.counts.memos[s].mask = 0; // the next launch evaluates its requests anew
    }
}

// Converts counts by basic block and statement into counts by source place, and resets them.
void take_counts(code &k, kernel_counts &total)
{
    for (std::size_t b = 0; b < k.blocks.size(); ++b) {
        if (k.counts.runs[b] == 0) continue;
        for (auto s = k.blocks[b].first_statement; s < k.blocks[b].last_statement; ++s) {
            const auto &st = k.body.statements[s];
            site_counts &c = k.counts.counted[s];
            std::uint64_t lanes =
                k.counts.lanes_run[b] - std::min(k.counts.lanes_off[s], k.counts.lanes_run[b]);
            c.warp_instructions += k.counts.runs[b];
            c.thread_instructions += lanes;
            if (is_multiplication(st)) c.multiplications += lanes;
            if (is_real(st) && st.op[0] == "div") c.divisions += lanes;
            if (is_in_double(st)) c.double_operations += lanes;
            if (is_rounded_division(st)) c.exact_divisions += lanes;
            if (is_rounded_root(st)) c.exact_square_roots += lanes;
        }
    }
    for (std::size_t s = 0; s < k.body.statements.size(); ++s) {
        if (k.counts.counted[s].warp_instructions == 0) continue;
        const auto &place = k.locations[k.location_of_statement[s]];
        total.sites[{place.file, place.line}] += k.counts.counted[s];
        total.total += k.counts.counted[s];
    }
    take_worst(k, total);
    std::fill(k.counts.runs.begin(), k.counts.runs.end(), 0);
    std::fill(k.counts.lanes_run.begin(), k.counts.lanes_run.end(), 0);
    std::fill(k.counts.lanes_off.begin(), k.counts.lanes_off.end(), 0);
    std::fill(k.counts.counted.begin(), k.counts.counted.end(), site_counts{});
}

// The managed pages that migrate to the device because the launch faults on them.
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

// Sectors of all requests: a sector counts once per request that touches it.
std::uint64_t sectors_of(const site_counts &c)
{
    return c.global_load.sectors + c.global_store.sectors + c.global_atomic_sectors;
}

// Adds the traffic of a launch on `device` over the links between devices: a peer sends the bytes
// that the launch reads from it, and `device` sends those that it writes. Managed memory counts as
// resident on the host.
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
    const launch &how = *g.config;
    auto &all = counters::instance().kernels;
    auto it = std::find_if(all.begin(), all.end(),
                           [&](const auto &k) { return k.kernel == p.display_name; });
    if (it == all.end()) {
        it = all.insert(all.end(), kernel_counts{});
        it->kernel = p.display_name;
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
