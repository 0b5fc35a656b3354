// Reads the counters in the simulator's report, and sums them over kernels and source lines.
#include "parse_counters.hpp"
#include "api/gates.hpp"

#include "simulator/runtime/harness.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

namespace grading {

namespace {

using json = nlohmann::json;

std::uint64_t number(const json &of, const char *key)
{
    const json &value = of.at(key);
    if (!value.is_number_unsigned()) throw std::runtime_error(std::string(key) + " is no count");
    return value.get<std::uint64_t>();
}

std::uint64_t largest(const json &list)
{
    std::uint64_t result = 0;
    for (const json &n : list) result = std::max(result, n.get<std::uint64_t>());
    return result;
}

void add_site(counted &c, const json &site, const std::string &kernel, bool store)
{
    const json &a = site.at(store ? "global_store" : "global_load");
    const std::uint64_t requests = number(a, "requests"), sectors = number(a, "sectors"),
                        ideal = number(a, "ideal_sectors"), bytes = number(a, "bytes");
    if (requests == 0) return;
    (store ? c.store_requests : c.load_requests) += requests;
    (store ? c.store_sectors : c.load_sectors) += sectors;
    if (!store) c.load_ideal_sectors += ideal;
    (store ? c.store_bytes : c.load_bytes) += std::min(bytes, sector_bytes * ideal);
    c.worst.push_back({kernel, site.at("file").get<std::string>(), site.at("line").get<int>(),
                       requests, sectors, ideal, store});
}

// Returns the bytes between neighbouring lanes of the worst request; 0 if they are not uniform.
std::int64_t lane_stride_of(const json &site, const std::string &kind)
{
    if (!site.contains("worst")) return 0;
    for (const json &w : site["worst"]) {
        if (w.at("kind") != kind) continue;
        const auto at = w.at("distances").get<std::vector<std::int64_t>>();
        if (at.size() < 2) return 0;
        for (std::size_t l = 1; l < at.size(); ++l)
            if (at[l] - at[l - 1] != at[1] - at[0]) return 0;
        return at[1] - at[0];
    }
    return 0;
}

void add_banks(counted &c, const json &site, const std::string &kernel, const std::string &access)
{
    const std::string kind = "shared_" + access;
    const json &a = site.at(kind);
    const std::uint64_t wavefronts = number(a, "wavefronts"), ideal = number(a, "ideal_wavefronts");
    c.shared_wavefronts += wavefronts;
    c.shared_ideal_wavefronts += ideal;
    const auto beyond = [](std::uint64_t all, std::uint64_t of) { return all > of ? all - of : 0; };
    if (beyond(wavefronts, ideal) <= beyond(c.worst_banks.wavefronts, c.worst_banks.ideal)) return;
    c.worst_banks = {kernel,
                     site.at("file").get<std::string>(),
                     site.at("line").get<int>(),
                     wavefronts,
                     ideal,
                     access + "s",
                     lane_stride_of(site, kind)};
}

// A kernel that only computes would improve the mean of the others: up to this many instructions of
// warps count per sector. A kernel of lab 09 that sorts a sample of pivots takes some 35,000.
constexpr std::uint64_t instructions_per_sector = 50000;

// Text that the kernel printed counts as if it were stored.
std::uint64_t touched_sectors(const json &k)
{
    std::uint64_t sectors = number(k, "sectors_read") + number(k, "sectors_written");
    std::uint64_t printed_bytes = 0;
    for (const json &site : k.at("sites")) {
        sectors += number(site, "texture_sectors");
        printed_bytes += number(site, "printed_bytes");
    }
    return sectors + (printed_bytes + sector_bytes - 1) / sector_bytes;
}

// Adds the instructions of warps, threads and the busiest block, in the same proportion.
void add_instructions(counted &c, const json &k)
{
    std::uint64_t of_warps = 0, of_threads = 0;
    for (const json &site : k.at("sites")) {
        of_warps += number(site, "warp_instructions");
        of_threads += number(site, "thread_instructions");
    }
    const std::uint64_t most = instructions_per_sector * touched_sectors(k);
    const double share =
        of_warps > most ? static_cast<double>(most) / static_cast<double>(of_warps) : 1;
    const auto counted_of = [share](std::uint64_t n) {
        return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(n)));
    };
    c.warp_instructions += counted_of(of_warps);
    c.thread_instructions += counted_of(of_threads);
    c.busiest_block_instructions += counted_of(number(k, "busiest_block_instructions"));
    c.instructions_by_kernels += counted_of(number(k, "instructions_by_kernels"));
}

void add_kernel(counted &c, const json &k)
{
    auto kernel = k.at("kernel").get<std::string>();
    c.launches += number(k, "launches");
    c.launches_by_kernels += number(k, "launches_by_kernels");
    c.parameter_bytes += number(k, "parameter_bytes");
    c.carried_bytes += number(k, "all_parameter_bytes");
    c.shared_with_host_bytes += sector_bytes * number(k, "managed_sectors");
    c.blocks += number(k, "blocks");
    c.threads += number(k, "threads");
    c.compulsory_bytes += sector_bytes * (number(k, "sectors_read") + number(k, "sectors_written"));
    c.managed_pages += number(k, "managed_pages");
    add_instructions(c, k);
    const json &by_device = k.at("multiplications_of");
    for (std::size_t d = 0; d < std::min(by_device.size(), c.multiplications_of.size()); ++d)
        c.multiplications_of[d] += by_device[d].get<std::uint64_t>();
    for (const json &site : k.at("sites")) {
        add_site(c, site, kernel, false);
        add_site(c, site, kernel, true);
        for (const char *access : {"load", "store", "atomic"}) add_banks(c, site, kernel, access);
        for (const char *local : {"local_load", "local_store"}) {
            c.local_requests += number(site.at(local), "requests");
            c.local_sectors += number(site.at(local), "sectors");
        }
        c.global_atomic_requests += number(site, "global_atomic_requests");
        c.atomic_sectors += number(site, "global_atomic_sectors");
        c.global_atomics += number(site, "global_atomics");
        c.atomic_requests += number(site, "atomic_requests");
        c.atomic_same_address += number(site, "atomic_same_address");
        c.barriers += number(site, "barriers");
        c.texture_bytes += number(site, "texture_bytes");
        c.texture_requests += number(site, "texture_requests");
        c.texture_sectors += number(site, "texture_sectors");
        c.printed_bytes += number(site, "printed_bytes");
        c.constant_requests += number(site, "constant_requests");
        c.constant_addresses += number(site, "constant_addresses");
        c.host_link_bytes += sector_bytes * number(site, "host_sectors");
        c.shared_with_host_bytes += sector_bytes * number(site, "host_sectors");
        c.multiplications += number(site, "multiplications");
        c.divisions += number(site, "divisions");
        c.double_operations += number(site, "double_operations");
        c.exact_divisions += number(site, "exact_divisions");
        c.exact_square_roots += number(site, "exact_square_roots");
    }
}

void add_kernel_overlap(counted &c, const json &steps)
{
    std::map<std::uint64_t, int> changes; // by tick: kernels that begin less those that end
    for (const json &step : steps)
        if (step.at("kind") == "kernel" && step.contains("start")) {
            ++changes[number(step, "start")];
            --changes[number(step, "end")];
            c.longest_kernel_ticks =
                std::max(c.longest_kernel_ticks, number(step, "end") - number(step, "start"));
        }
    std::uint64_t before = 0;
    int running = 0;
    for (auto [tick, change] : changes) {
        if (running > 0) c.kernel_ticks += tick - before;
        if (running > 1) c.side_by_side_ticks += tick - before;
        running += change;
        before = tick;
    }
}

bool is_work(const json &step)
{
    const json &kind = step.at("kind");
    return kind == "copy" || kind == "fill" || kind == "kernel";
}

bool in_default_stream(const json &step)
{
    return step.at("lane").get<std::string>().starts_with("NULL stream");
}

// Counts kernels in the default stream that waited for other streams, and finds one that did not,
// although copies had been queued there.
void add_default_stream(counted &c, const json &steps)
{
    std::set<std::uint64_t> of_others;
    bool copied_in_others = false;
    for (const json &step : steps) {
        const json &kind = step.at("kind");
        if (!in_default_stream(step)) {
            if (step.contains("id")) of_others.insert(number(step, "id"));
            copied_in_others = copied_in_others || kind == "copy";
        } else if (kind == "kernel") {
            const bool waited =
                step.contains("after") &&
                std::any_of(step["after"].begin(), step["after"].end(), [&](const json &id) {
                    return of_others.contains(id.get<std::uint64_t>());
                });
            c.kernels_behind_streams += waited;
            c.default_stream_alone = c.default_stream_alone || (copied_in_others && !waited);
        }
    }
}

// Returns the number of host waits that delayed work. A wait costs the ticks by which the next work
// could have started earlier, after everything else that it depends on and earlier waits.
std::uint64_t holding_waits(const json &steps, std::uint64_t ticks)
{
    constexpr std::uint64_t negligible = 50; // costs below 1 / 50 of all ticks
    std::map<std::uint64_t, std::uint64_t> ends, costs;
    std::uint64_t held_until = 0, cost = 0;
    for (const json &step : steps) {
        if (step.contains("id") && step.contains("end"))
            ends[number(step, "id")] = number(step, "end");
        if (!is_work(step) || step.value("why", "") != "host") continue;
        const auto [wait, first] = costs.try_emplace(number(step, "waited_for"), 0);
        const std::uint64_t start = number(step, "start");
        std::uint64_t could_start = first ? held_until : start;
        for (const json &id : step.at("after"))
            if (const auto at = ends.find(id.get<std::uint64_t>()); at != ends.end())
                could_start = std::max(could_start, at->second);
        if (start > could_start) wait->second = start - could_start;
        held_until = std::max(held_until, start);
    }
    for (const auto &[wait, ticks_of_wait] : costs) cost += ticks_of_wait;
    return negligible * cost < ticks ? 0 : costs.size();
}

// If the timeline was too long to keep, nothing counts as overlapped, and each step left out takes
// as long as the average step kept.
void add_timeline(counted &c, const json &t)
{
    const std::uint64_t left_out = number(t, "left_out");
    const bool whole = left_out == 0;
    c.serial_ticks = number(t, "serial");
    if (const std::uint64_t kept = t.at("steps").size(); !whole && kept > 0)
        c.serial_ticks +=
            static_cast<std::uint64_t>(static_cast<double>(c.serial_ticks) *
                                       static_cast<double>(left_out) / static_cast<double>(kept));
    c.ticks = whole ? number(t, "ticks") : c.serial_ticks;
    c.copying_ticks = number(t, "copying");
    c.host_waits = number(t, "host_waits");
    c.idle_waits = number(t, "idle_waits");
    std::set<std::string> working;
    for (const json &step : t.at("steps")) {
        if (!is_work(step)) continue;
        working.insert(step.at("lane").get<std::string>());
        c.own_streams = c.own_streams || !in_default_stream(step);
    }
    c.streams = working.size();
    c.holding_waits = holding_waits(t.at("steps"), c.ticks);
    add_default_stream(c, t.at("steps"));
    add_kernel_overlap(c, t.at("steps"));
}

} // namespace

counted parse_counters(std::string_view text)
{
    counted c;
    const json document = json::parse(text);
    for (const json &k : document.at("kernels")) add_kernel(c, k);
    const json &copies = document.at("transfers");
    c.copied_in_bytes = number(copies, "host_to_device");
    c.copied_out_bytes = number(copies, "device_to_host");
    c.copied_bytes = c.copied_in_bytes + number(copies, "device_to_device");
    c.brought_bytes = c.copied_in_bytes + number(copies, "in_pieces");
    c.pageable_bytes = number(copies, "from_pageable");
    if (copies.contains("to_pageable")) c.pageable_out_bytes = number(copies, "to_pageable");
    c.carried_bytes += number(copies, "fill_values");
    c.shared_with_host_bytes += number(copies, "managed_copies");
    c.host_commands = number(copies, "commands") + c.launches - c.launches_by_kernels;
    c.filled_bytes = number(copies, "memset");
    c.staged_bytes = number(copies, "staged");
    c.downloaded_bytes = c.host_link_bytes + c.copied_out_bytes; // so far only pinned memory
    c.host_link_bytes +=
        c.copied_in_bytes + c.staged_bytes + c.parameter_bytes + number(copies, "managed");
    c.max_sent_bytes = largest(copies.at("sent"));
    c.max_uploaded_bytes = largest(copies.at("uploaded"));
    if (document.contains("kept_bytes")) c.kept_bytes = number(document, "kept_bytes");
    if (document.contains("kept_handles")) c.kept_handles = number(document, "kept_handles");
    if (document.contains("timeline")) add_timeline(c, document["timeline"]);
    std::stable_sort(c.worst.begin(), c.worst.end(),
                     [](const auto &a, const auto &b) { return wasted(a) > wasted(b); });
    return c;
}

std::string report_counters(std::span<const std::byte> report)
{
    auto read_number = [&](std::size_t at) {
        std::uint64_t n = 0;
        if (at > report.size() || report.size() - at < sizeof n)
            throw std::runtime_error("the report is cut short");
        std::memcpy(&n, report.data() + at, sizeof n);
        return n;
    };
    std::uint64_t findings = read_number(0);
    if (findings > report.size() / sizeof(simulator_finding))
        throw std::runtime_error("the report counts more findings than it holds");
    std::size_t at = sizeof findings + findings * sizeof(simulator_finding);
    std::uint64_t length = read_number(at);
    at += sizeof length;
    if (length > report.size() - at) throw std::runtime_error("the report is cut short");
    return {reinterpret_cast<const char *>(report.data()) + at, length};
}

} // namespace grading
