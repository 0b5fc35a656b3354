// Reads counters from the simulator's report, and explains them.
#include "counted.hpp"

#include "simulator/machine/harness.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <stdexcept>

namespace grading {

namespace {

using json = nlohmann::json;
constexpr std::uint64_t sector_bytes = 32;

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

struct access {
    std::uint64_t requests, sectors, ideal, useful;
};

access read_access(const json &a)
{
    std::uint64_t ideal = number(a, "ideal_sectors");
    return {number(a, "requests"), number(a, "sectors"), ideal,
            std::min(number(a, "bytes"), sector_bytes * ideal)};
}

void add_site(counted &c, const json &site, const std::string &kernel, bool store)
{
    access a = read_access(site.at(store ? "global_store" : "global_load"));
    if (a.requests == 0) return;
    (store ? c.store_requests : c.load_requests) += a.requests;
    (store ? c.store_sectors : c.load_sectors) += a.sectors;
    (store ? c.store_ideal_sectors : c.load_ideal_sectors) += a.ideal;
    (store ? c.store_bytes : c.load_bytes) += a.useful;
    c.worst.push_back({kernel, site.at("file").get<std::string>(), site.at("line").get<int>(),
                       a.requests, a.sectors, a.ideal, store});
}

// Distance between neighbouring lanes of the worst request, in bytes; 0 if it is not uniform.
std::int64_t distance_of_lanes(const json &site, const char *kind)
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

void add_banks(counted &c, const json &site, const std::string &kernel, const char *kind)
{
    const json &a = site.at(kind);
    const std::uint64_t wavefronts = number(a, "wavefronts"), ideal = number(a, "ideal_wavefronts");
    c.shared_wavefronts += wavefronts;
    c.shared_ideal_wavefronts += ideal;
    const auto beyond = [](std::uint64_t all, std::uint64_t of) { return all > of ? all - of : 0; };
    if (beyond(wavefronts, ideal) <= beyond(c.worst_banks.wavefronts, c.worst_banks.ideal)) return;
    c.worst_banks = {
        kernel, site.at("file").get<std::string>(),       site.at("line").get<int>(),   wavefronts,
        ideal,  kind == std::string_view("shared_store"), distance_of_lanes(site, kind)};
}

void add_kernel(counted &c, const json &k)
{
    auto kernel = k.at("kernel").get<std::string>();
    c.launches += number(k, "launches");
    c.launches_by_kernels += number(k, "launches_by_kernels");
    c.instructions_by_kernels += number(k, "instructions_by_kernels");
    c.parameter_bytes += number(k, "parameter_bytes");
    c.carried_bytes += number(k, "all_parameter_bytes");
    c.shared_with_host_bytes += sector_bytes * number(k, "managed_sectors");
    c.blocks += number(k, "blocks");
    c.threads += number(k, "threads");
    c.compulsory_bytes += sector_bytes * (number(k, "sectors_read") + number(k, "sectors_written"));
    c.managed_pages += number(k, "managed_pages");
    c.busiest_block_instructions += number(k, "busiest_block_instructions");
    const json &by_device = k.at("multiplications_of");
    for (std::size_t d = 0; d < std::min(by_device.size(), c.multiplications_of.size()); ++d)
        c.multiplications_of[d] += by_device[d].get<std::uint64_t>();
    for (const json &site : k.at("sites")) {
        add_site(c, site, kernel, false);
        add_site(c, site, kernel, true);
        for (const char *shared : {"shared_load", "shared_store"})
            add_banks(c, site, kernel, shared);
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
        c.warp_instructions += number(site, "warp_instructions");
        c.thread_instructions += number(site, "thread_instructions");
    }
}

std::uint64_t wasted(const counted::site &s)
{
    return s.sectors > s.ideal_sectors ? s.sectors - s.ideal_sectors : 0;
}

double share_of(std::uint64_t part, std::uint64_t whole)
{
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

double used(std::uint64_t bytes, std::uint64_t sectors)
{
    return sectors ? static_cast<double>(bytes) / static_cast<double>(sector_bytes * sectors) : 1;
}

enum class direction { loads, stores, both };

template <class Site> std::string place_of(const Site &s)
{
    if (s.line <= 0) return "an unknown line";
    return fmt::format("{}:{}", std::filesystem::path(s.file).filename().string(), s.line);
}

// The source line that moved the most sectors; null if none did.
const counted::site *busiest_of(const counted &c, direction about)
{
    const counted::site *busiest = nullptr;
    for (const counted::site &s : c.worst)
        if (about == direction::both || s.store == (about == direction::stores))
            if (!busiest || s.sectors > busiest->sectors) busiest = &s;
    return busiest;
}

// The source line with the most useless sectors; null if there is none.
const counted::site *worst_of(const counted &c, direction about)
{
    for (const counted::site &s : c.worst) {
        if (wasted(s) == 0) break;
        if (about == direction::both || s.store == (about == direction::stores)) return &s;
    }
    return nullptr;
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

constexpr const char *default_stream = "NULL stream";

// True if a kernel in the default stream waited for no other stream, although copies were queued
// there.
bool default_stream_alone(const json &steps)
{
    std::map<std::uint64_t, std::string> lanes; // stream of each step so far
    bool others = false;
    for (const json &step : steps) {
        auto lane = step.at("lane").get<std::string>();
        bool in_default_stream = lane.starts_with(default_stream);
        if (in_default_stream && others && step.at("kind") == "kernel") {
            const json none = json::array();
            const json &after = step.contains("after") ? step["after"] : none;
            if (std::all_of(after.begin(), after.end(), [&](const json &id) {
                    auto at = lanes.find(id.get<std::uint64_t>());
                    return at == lanes.end() || at->second.starts_with(default_stream);
                }))
                return true;
        }
        others = others || (!in_default_stream && step.at("kind") == "copy");
        if (step.contains("id")) lanes[number(step, "id")] = std::move(lane);
    }
    return false;
}

// Number of kernels in the default stream that had to wait for other streams.
std::uint64_t kernels_behind_streams(const json &steps)
{
    std::set<std::uint64_t> of_others;
    std::uint64_t kernels = 0;
    for (const json &step : steps) {
        const bool in_default_stream =
            step.at("lane").get<std::string>().starts_with(default_stream);
        if (!in_default_stream && step.contains("id")) of_others.insert(number(step, "id"));
        if (!in_default_stream || step.at("kind") != "kernel" || !step.contains("after")) continue;
        kernels += std::any_of(step["after"].begin(), step["after"].end(), [&](const json &id) {
            return of_others.contains(id.get<std::uint64_t>());
        });
    }
    return kernels;
}

// Number of host waits that delayed work. A wait costs the ticks between its own end and the end
// of everything else that the next work waited for.
std::uint64_t holding_waits(const json &steps, std::uint64_t ticks)
{
    constexpr std::uint64_t next_to_nothing = 50; // costs below 1 / 50 of all ticks
    std::map<std::uint64_t, std::uint64_t> ends, costs;
    std::uint64_t held_until = 0, cost = 0;
    for (const json &step : steps) {
        if (step.contains("id") && step.contains("end"))
            ends[number(step, "id")] = number(step, "end");
        const json &kind = step.at("kind");
        if (kind != "copy" && kind != "fill" && kind != "kernel") continue;
        if (step.value("why", "") != "host") continue;
        const auto [wait, first] = costs.try_emplace(number(step, "waited_for"), 0);
        const std::uint64_t start = number(step, "start");
        std::uint64_t else_at = first ? held_until : start;
        for (const json &id : step.at("after"))
            if (const auto at = ends.find(id.get<std::uint64_t>()); at != ends.end())
                else_at = std::max(else_at, at->second);
        if (start > else_at) wait->second = start - else_at;
        held_until = std::max(held_until, start);
    }
    for (const auto &[wait, ticks_of_wait] : costs) cost += ticks_of_wait;
    return next_to_nothing * cost < ticks ? 0 : costs.size();
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
    c.hidden_ticks = whole ? number(t, "hidden") : 0;
    c.host_waits = number(t, "host_waits");
    c.idle_waits = number(t, "idle_waits");
    std::set<std::string> working;
    for (const json &step : t.at("steps")) {
        const json &kind = step.at("kind");
        if (kind != "copy" && kind != "fill" && kind != "kernel") continue;
        working.insert(step.at("lane").get<std::string>());
    }
    c.streams = working.size();
    c.own_streams = std::any_of(working.begin(), working.end(), [](const std::string &lane) {
        return !lane.starts_with(default_stream);
    });
    c.holding_waits = holding_waits(t.at("steps"), c.ticks);
    c.kernels_behind_streams = kernels_behind_streams(t.at("steps"));
    add_kernel_overlap(c, t.at("steps"));
    c.default_stream_alone = default_stream_alone(t.at("steps"));
}

constexpr const char *loads_name = "sector bytes used by loads";
constexpr const char *stores_name = "sector bytes used by stores";

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
    c.most_sent_bytes = largest(copies.at("sent"));
    c.most_uploaded_bytes = largest(copies.at("uploaded"));
    if (document.contains("kept_bytes")) c.kept_bytes = number(document, "kept_bytes");
    if (document.contains("kept_handles")) c.kept_handles = number(document, "kept_handles");
    if (document.contains("timeline")) add_timeline(c, document["timeline"]);
    std::stable_sort(c.worst.begin(), c.worst.end(),
                     [](const auto &a, const auto &b) { return wasted(a) > wasted(b); });
    return c;
}

counted_gate at_least(std::string name, const steps &required, std::string unit,
                      std::string meaning, std::function<double(const counted &)> value)
{
    return {std::move(name), std::move(value), true, required, std::move(unit), std::move(meaning)};
}

counted_gate at_most(std::string name, const steps &limit, std::string unit, std::string meaning,
                     std::function<double(const counted &)> value)
{
    return {std::move(name), std::move(value), false, limit, std::move(unit), std::move(meaning)};
}

counted_gate used_by_loads(double pass)
{
    counted_gate gate = at_least(
        loads_name, {pass}, "%",
        "Memory moves in sectors of 32 bytes, and a warp's load takes every sector that one of its "
        "32 lanes asks for. Let neighbouring lanes load neighbouring elements.",
        [](const counted &c) { return used(c.load_bytes, c.load_sectors); });
    gate.of_what_is_moved = true;
    return gate;
}

counted_gate used_by_stores(double pass)
{
    counted_gate gate = at_least(
        stores_name, {pass}, "%",
        "Memory moves in sectors of 32 bytes, and a warp's store touches every sector that one of "
        "its 32 lanes writes to. Let neighbouring lanes store neighbouring elements.",
        [](const counted &c) { return used(c.store_bytes, c.store_sectors); });
    gate.of_what_is_moved = true;
    return gate;
}

double moved_sectors(const counted &c)
{
    const std::uint64_t broadcasts = std::min(c.constant_requests, c.constant_addresses);
    const std::uint64_t by_kernels = c.load_sectors + c.store_sectors + c.atomic_sectors +
                                     c.texture_sectors + c.local_sectors +
                                     (c.constant_addresses - broadcasts);
    const std::uint64_t otherwise =
        c.copied_bytes + c.copied_out_bytes + c.filled_bytes + c.printed_bytes;
    return static_cast<double>(by_kernels) +
           static_cast<double>(otherwise) / static_cast<double>(sector_bytes);
}

double memory_requests(const counted &c)
{
    return static_cast<double>(c.load_requests + c.global_atomic_requests + c.texture_requests +
                               c.local_requests + c.constant_requests);
}

double accesses(const counted &c)
{
    const std::uint64_t in_device_memory = std::min(c.atomic_requests, c.global_atomic_requests);
    return memory_requests(c) +
           static_cast<double>(c.shared_wavefronts + c.atomic_requests - in_device_memory);
}

counted_gate moved_bytes(const std::string &element, std::function<double()> elements,
                         const steps &limit, std::string meaning)
{
    counted_gate gate =
        at_most(fmt::format("bytes moved {}", element), limit, "bytes", std::move(meaning),
                [elements = std::move(elements)](const counted &c) {
                    return static_cast<double>(sector_bytes) * moved_sectors(c) / elements();
                });
    gate.cause = [](const counted &c) -> std::string {
        const double local = static_cast<double>(c.local_sectors) / moved_sectors(c);
        const double textures = static_cast<double>(c.texture_sectors) / moved_sectors(c);
        const double used_there = used(c.texture_bytes, c.texture_sectors);
        if (textures > 0.5 && used_there < 0.5)
            return fmt::format("{:.0f} % of that is fetched through textures, and {:.0f} % of what "
                               "they fetch is used: a texture, too, moves every sector that a lane "
                               "of the warp asks for. Let neighbouring lanes fetch neighbouring "
                               "elements.",
                               100 * textures, 100 * used_there);
        if (!(local >= 0.1)) return {};
        return fmt::format("{:.0f} % of that is local memory: there a thread's array lies whose "
                           "index is not known when the kernel is compiled (unroll the loops over "
                           "it), or what finds no place in registers.",
                           100 * local);
    };
    return gate;
}

constexpr const char *banks_name = "shared wavefronts over ideal";

counted_gate bank_conflicts(double limit, std::string meaning)
{
    counted_gate gate = at_most(banks_name, {limit}, "", std::move(meaning), [](const counted &c) {
        return c.shared_ideal_wavefronts ? static_cast<double>(c.shared_wavefronts) /
                                               static_cast<double>(c.shared_ideal_wavefronts)
                                         : 1;
    });
    gate.cause = [](const counted &c) -> std::string {
        constexpr std::int64_t banks = 32, word = 4;
        const std::int64_t apart = std::abs(c.worst_banks.distance);
        if (apart == 0 || apart % word != 0 || apart / word % 2 != 0) return {};
        const std::int64_t met = banks / std::gcd(apart / word, banks);
        return fmt::format("The lanes of a warp are {} words apart there, and all meet in {}. "
                           "An odd distance would bring each to a bank of its own: what if "
                           "a row were one word longer?",
                           apart / word,
                           met == 1 ? "one bank" : fmt::format("{} of 32 banks", met));
    };
    return gate;
}

counted_gate conflicts_an_element(std::function<double()> elements, double limit)
{
    return at_most("bank conflicts an element", {limit}, "",
                   "Lanes of a warp that ask for different words of one bank wait for each other, "
                   "however many other requests are without a conflict.",
                   [elements = std::move(elements)](const counted &c) {
                       return (static_cast<double>(c.shared_wavefronts) -
                               static_cast<double>(c.shared_ideal_wavefronts)) /
                              elements();
                   });
}

counted_gate blocks_share(double pass)
{
    counted_gate gate =
        at_least("instructions over those of the busiest block", {pass}, "",
                 "One block does nearly all the work, and all multiprocessors but one have "
                 "nothing to do. Let every block take a part.",
                 [](const counted &c) {
                     return share_of(c.warp_instructions, c.busiest_block_instructions);
                 });
    gate.of_any_order = true;
    return gate;
}

counted_gate lanes_at_work(double pass)
{
    return at_least(
        "lanes at work", {pass}, "of 32",
        "A warp has 32 lanes whether they work or not, and in most instructions of "
        "these kernels few of them do: they wait for one that goes through many "
        "elements alone. Let all lanes take a part of every loop.",
        [](const counted &c) { return share_of(c.thread_instructions, c.warp_instructions); });
}

counted_gate copies_hidden(double pass)
{
    return at_least(
        "copy time hidden behind kernels", {pass}, "%",
        "While a kernel works on one piece, the next can be on its way in and the last on its "
        "way out. Cut the work into pieces and let streams take turns; only pinned memory is "
        "copied while the host goes on. ./workbook explain draws who waits for whom.",
        [](const counted &c) {
            return c.copying_ticks ? share_of(c.hidden_ticks, c.copying_ticks) : 1;
        });
}

counted_gate makespan(const steps &limit)
{
    counted_gate gate =
        at_most("time on the timeline, of naive's", limit, "%",
                "Too little runs side by side: what stands alone at the beginning and at the end, "
                "and who waits without need? ./workbook explain draws it.",
                [](const counted &c) { return share_of(c.ticks, c.naive_serial_ticks); });
    gate.cause = [](const counted &c) -> std::string {
        if (c.kernels_behind_streams > 1)
            return fmt::format("{} kernels are in the default stream: they waited for what other "
                               "streams had been given, and those for them. Name the stream in "
                               "each launch, fourth between <<< and >>>.",
                               c.kernels_behind_streams);
        if (c.holding_waits)
            return fmt::format("The host waited {} before it queued what comes next, so the device "
                               "had nothing to do: queue everything, and wait once, at the end.",
                               c.holding_waits == 1 ? "once"
                                                    : fmt::format("{} times", c.holding_waits));
        if (c.naive_serial_ticks && c.ticks > c.naive_serial_ticks)
            return "It takes longer than one piece would: the pieces are too small. Each copy and "
                   "each launch takes a moment, however little it has to do.";
        return {};
    };
    gate.general = true;
    return gate;
}

counted_gate kernels_side_by_side(double pass)
{
    counted_gate gate =
        at_least("kernel time in which two kernels run", {pass}, "%",
                 "One kernel follows the other, or one does the work of two. Launch kernels "
                 "that need not wait for each other in streams of their own.",
                 [](const counted &c) { return share_of(c.side_by_side_ticks, c.kernel_ticks); });
    gate.cause = [pass](const counted &c) -> std::string {
        const double longest = static_cast<double>(c.longest_kernel_ticks);
        if (longest > 0 && static_cast<double>(c.kernel_ticks) - longest < pass * longest)
            return fmt::format(
                "One kernel takes {:.0f} % of the time in which kernels run: too little is left to "
                "run beside it. Does it do the work of two? Give each part that need not wait for "
                "the other a kernel and a stream of its own.",
                100 * longest / static_cast<double>(c.kernel_ticks));
        if (c.streams < 2 || c.holding_waits > 0) return {};
        return fmt::format(
            "There is work in {} streams, and still one kernel follows the other: for which event "
            "does the second one's stream wait, and what had been queued before cudaEventRecord in "
            "the stream that records it? The event stands for all of that.",
            c.streams);
    };
    return gate;
}

counted_gate streams_at_work(double pass)
{
    return at_least(
        "streams at work", {pass}, "",
        "All work is in one stream, and there one thing follows another. A launch or a copy "
        "goes to the default stream unless it names another.",
        [](const counted &c) {
            bool overlaps = c.ticks < c.serial_ticks;
            return static_cast<double>(std::max<std::uint64_t>(c.streams, overlaps ? 2 : 0));
        });
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

std::string show_counted(double value, const std::string &unit)
{
    if (unit == "%") return fmt::format("{:.4g} %", 100 * value);
    return unit.empty() ? fmt::format("{:.4g}", value) : fmt::format("{:.4g} {}", value, unit);
}

bool passes(const counted_gate &gate, double value)
{
    double pass = gate.required.pass;
    return pass == 0 || (gate.at_least ? value >= pass : value <= pass);
}

std::string missed_message(const counted_gate &gate, const counted &submission,
                           const counted &naive)
{
    std::string text = fmt::format(
        "{}: {}, {} {} is required; naive: {}.", gate.name,
        show_counted(gate.value(submission), gate.unit), gate.at_least ? "at least" : "at most",
        show_counted(gate.required.pass, gate.unit), show_counted(gate.value(naive), gate.unit));
    if (const auto &s = submission.worst_banks; gate.name == banks_name && s.wavefronts > s.ideal)
        return text + fmt::format(" The worst line is {}, in {}: {} there take {} wavefronts, "
                                  "where {} would do.",
                                  place_of(s), s.kernel, s.store ? "stores" : "loads", s.wavefronts,
                                  s.ideal);
    const bool all_moved = gate.name.starts_with("bytes moved");
    if (gate.name.find("sector") == std::string::npos && !all_moved) return text;
    direction about = gate.name == loads_name    ? direction::loads
                      : gate.name == stores_name ? direction::stores
                                                 : direction::both;
    const counted::site *s = worst_of(submission, about), *busiest = busiest_of(submission, about);
    if (all_moved && s && static_cast<double>(wasted(*s)) < moved_sectors(submission) / 8)
        return text;
    if (!all_moved && about == direction::both && busiest &&
        (!s || wasted(*s) < busiest->sectors / 2))
        return text + fmt::format(" {:.0f} % of the sectors are moved at {}, in {}.",
                                  100 * share_of(busiest->sectors, submission.load_sectors +
                                                                       submission.store_sectors),
                                  place_of(*busiest), busiest->kernel);
    if (!s) return text;
    std::string place = place_of(*s);
    auto per_request = [&](std::uint64_t n) {
        return static_cast<double>(n) / static_cast<double>(s->requests);
    };
    return text + fmt::format(" The worst line is {}, in {}: a {} there moves {:.1f} sectors a "
                              "request, where {:.1f} would do.",
                              place, s->kernel, s->store ? "store" : "load",
                              per_request(s->sectors), per_request(s->ideal_sectors));
}

} // namespace grading
