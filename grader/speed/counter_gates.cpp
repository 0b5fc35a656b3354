// The gates on counters that all labs share, and the message of a gate that was missed.
#include "counter_gates.hpp"
#include "api/counters.hpp"

#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <vector>

namespace grading {

namespace {

double share_of(std::uint64_t part, std::uint64_t whole)
{
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

double used(std::uint64_t bytes, std::uint64_t sectors)
{
    return sectors ? static_cast<double>(bytes) / static_cast<double>(sector_bytes * sectors) : 1;
}

template <class Site> std::string source_line_of(const Site &s)
{
    if (s.line <= 0) return "an unknown line";
    return fmt::format("{}:{}", std::filesystem::path(s.file).filename().string(), s.line);
}

constexpr const char *loads_name = "sector bytes used by loads";
constexpr const char *stores_name = "sector bytes used by stores";
constexpr const char *banks_name = "shared wavefronts over ideal";

} // namespace

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
    gate.is_efficiency = true;
    return gate;
}

counted_gate used_by_stores(double pass)
{
    counted_gate gate = at_least(
        stores_name, {pass}, "%",
        "Memory moves in sectors of 32 bytes, and a warp's store touches every sector that one of "
        "its 32 lanes writes to. Let neighbouring lanes store neighbouring elements.",
        [](const counted &c) { return used(c.store_bytes, c.store_sectors); });
    gate.is_efficiency = true;
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
    return memory_requests(c) + static_cast<double>(c.shared_wavefronts);
}

counted_gate moved_bytes(const std::string &element, std::function<double()> elements,
                         const steps &limit, std::string meaning)
{
    counted_gate gate =
        at_most(fmt::format("bytes moved per {}", element), limit, "bytes", std::move(meaning),
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

counted_gate bank_conflicts(double limit, std::string meaning)
{
    counted_gate gate = at_most(banks_name, {limit}, "", std::move(meaning), [](const counted &c) {
        return c.shared_ideal_wavefronts ? static_cast<double>(c.shared_wavefronts) /
                                               static_cast<double>(c.shared_ideal_wavefronts)
                                         : 1;
    });
    gate.cause = [](const counted &c) -> std::string {
        constexpr std::int64_t banks = 32, word = 4;
        const std::int64_t stride = std::abs(c.worst_banks.lane_stride);
        if (stride == 0 || stride % word != 0 || stride / word % 2 != 0) return {};
        const std::int64_t banks_used = banks / std::gcd(stride / word, banks);
        return fmt::format("The lanes of a warp are {} words apart there, and all meet in {}. "
                           "An odd distance would bring each to a bank of its own: what if "
                           "a row were one word longer?",
                           stride / word,
                           banks_used == 1 ? "one bank"
                                           : fmt::format("{} of 32 banks", banks_used));
    };
    return gate;
}

counted_gate conflicts_per_element(std::function<double()> elements, double limit)
{
    return at_most("bank conflicts per element", {limit}, "",
                   "Lanes of a warp that ask for different words of one bank wait for each other, "
                   "those of an atomic also for the same word, however many other requests are "
                   "without a conflict.",
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
    gate.best_of_schedules = true;
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

bool reaches(const counted_gate &gate, double step, double value)
{
    return step == 0 || (gate.at_least ? value >= step : value <= step);
}

bool passes(const counted_gate &gate, double value)
{
    return reaches(gate, gate.required.pass, value);
}

std::string missed_message(const counted_gate &gate, const counted &submission,
                           const counted &naive)
{
    std::string text = fmt::format(
        "{}: {}, {} {} is required", gate.name, show_counted(gate.value(submission), gate.unit),
        gate.at_least ? "at least" : "at most", show_counted(gate.required.pass, gate.unit));
    if (gate.shows_naive)
        text += fmt::format("; naive: {}", show_counted(gate.value(naive), gate.unit));
    text += '.';
    if (const auto &s = submission.worst_banks; gate.name == banks_name && s.wavefronts > s.ideal)
        return text + fmt::format(" The worst line is {}, in {}: {} there take {} wavefronts, "
                                  "where {} would do.",
                                  source_line_of(s), s.kernel, s.accesses, s.wavefronts, s.ideal);
    const bool all_moved = gate.name.starts_with("bytes moved");
    if (gate.name.find("sector") == std::string::npos && !all_moved) return text;
    const bool of_loads = gate.name == loads_name, of_stores = gate.name == stores_name;
    std::vector<counted::site> sites = submission.worst;
    std::erase_if(sites, [&](const counted::site &s) {
        return (of_loads && s.store) || (of_stores && !s.store);
    });
    const auto busiest = std::ranges::max_element(sites, {}, &counted::site::sectors);
    const counted::site *s = !sites.empty() && wasted(sites[0]) > 0 ? &sites[0] : nullptr;
    if (all_moved && s && static_cast<double>(wasted(*s)) < moved_sectors(submission) / 8)
        return text;
    if (!all_moved && !of_loads && !of_stores && busiest != sites.end() &&
        (!s || wasted(*s) < busiest->sectors / 2))
        return text + fmt::format(" {:.0f} % of the sectors are moved at {}, in {}.",
                                  100 * share_of(busiest->sectors, submission.load_sectors +
                                                                       submission.store_sectors),
                                  source_line_of(*busiest), busiest->kernel);
    if (!s) return text;
    auto per_request = [&](std::uint64_t n) {
        return static_cast<double>(n) / static_cast<double>(s->requests);
    };
    return text + fmt::format(" The worst line is {}, in {}: a {} there moves {:.1f} sectors per "
                              "request, where {:.1f} would do.",
                              source_line_of(*s), s->kernel, s->store ? "store" : "load",
                              per_request(s->sectors), per_request(s->ideal_sectors));
}

} // namespace grading
