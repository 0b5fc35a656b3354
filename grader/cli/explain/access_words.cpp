// Turns access counts and addresses into sentences.
#include "access_words.hpp"

#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace cli {

namespace {

// A ratio of cost to ideal below this is not worth a sentence.
constexpr double tolerated = 1.05;

// "4", "4.3", "0.25"
std::string figure(double value)
{
    std::string text = fmt::format("{:.{}f}", value, value < 1 ? 2 : 1);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

// Returns the number of lanes whose accesses to shared memory share wavefronts, by the simulator's
// rule: 32 lanes at up to 4 bytes per lane, 16 at 8 bytes, 8 at 16 bytes; but 16 at 16 bytes if
// each active lane has the address of its partner, which is lane ^ 1 for all lanes or lane ^ 2 for
// all.
unsigned lanes_per_group(const worst_request &w)
{
    auto paired = [&](int mask) {
        for (std::size_t k = 0; k < w.lanes.size(); ++k)
            for (std::size_t m = 0; m < w.lanes.size(); ++m)
                if (w.lanes[m] == (w.lanes[k] ^ mask) && w.addresses[m] != w.addresses[k])
                    return false;
        return true;
    };
    unsigned words = std::max(1u, w.bytes / 4);
    if (words == 4 && (paired(1) || paired(2))) return 16;
    return std::max(1u, 32 / words);
}

unsigned groups_of(const worst_request &w)
{
    std::set<unsigned> groups;
    for (int lane : w.lanes) groups.insert(static_cast<unsigned>(lane) / lanes_per_group(w));
    return static_cast<unsigned>(groups.size());
}

double per(std::uint64_t a, std::uint64_t b)
{
    return b ? static_cast<double>(a) / static_cast<double>(b) : 0;
}

// The highest cost that is no waste. Lanes that load the same bytes may still cost a sector for
// each 32 bytes that they ask for; lanes of 8 or 16 bytes access shared memory in groups, each of
// which takes at least one wavefront.
double fair_cost(const worst_request &w)
{
    if (w.shared) return std::max(w.ideal, groups_of(w));
    return std::max<double>(w.ideal, static_cast<double>(w.lanes.size() * w.bytes) / 32);
}

const char *verb(access_kind kind) { return kind == access_kind::load ? "read" : "write"; }

// The strides between the addresses of a request's lanes.
struct stride_pattern {
    std::int64_t stride = 0;   // the most frequent distance per lane, in bytes
    bool always = false;       // every two consecutive active lanes have it
    bool mostly = false;       // at least two thirds of them have it
    bool gaps = false;         // some lanes between the first and the last are inactive
    std::size_t runs = 1;      // of active lanes whose elements adjoin, up or down, or coincide
    std::uint64_t nearest = 0; // bytes between the two closest distinct addresses; 0: there is one
};

std::uint64_t min_distance(std::vector<std::uint64_t> addresses)
{
    std::ranges::sort(addresses);
    std::uint64_t nearest = 0;
    for (std::size_t k = 1; k < addresses.size(); ++k) {
        const std::uint64_t distance = addresses[k] - addresses[k - 1];
        if (distance != 0 && (nearest == 0 || distance < nearest)) nearest = distance;
    }
    return nearest;
}

stride_pattern strides_of(const worst_request &w)
{
    stride_pattern s;
    std::map<std::int64_t, std::size_t> strides;
    for (std::size_t k = 1; k < w.addresses.size(); ++k) {
        auto distance = static_cast<std::int64_t>(w.addresses[k] - w.addresses[k - 1]);
        std::int64_t lanes = w.lanes[k] - w.lanes[k - 1];
        s.gaps |= lanes != 1;
        s.runs += std::abs(distance) != static_cast<std::int64_t>(w.bytes) && distance != 0;
        ++strides[distance % lanes == 0 ? distance / lanes : distance];
    }
    std::size_t max_count = 0, pairs = w.addresses.size() - 1;
    for (auto [stride, count] : strides)
        if (count > max_count) max_count = count, s.stride = stride;
    s.always = pairs > 0 && max_count == pairs;
    s.mostly = pairs > 1 && 3 * max_count >= 2 * pairs;
    s.nearest = min_distance(w.addresses);
    return s;
}

// The cause if the lanes access consecutive elements, and yet more sectors than their bytes fill.
std::string misaligned_cause(const worst_request &w)
{
    auto [lowest, highest] = std::minmax_element(w.addresses.begin(), w.addresses.end());
    return fmt::format("its {} bytes begin {} bytes into a line, not at the start of a sector",
                       *highest + w.bytes - *lowest, *lowest % 128);
}

std::string of_memory(const worst_request &w)
{
    std::string name = w.memory();
    return name.empty() ? "" : fmt::format(" of `{}`", name);
}

std::string uncoalesced_cause(const worst_request &w)
{
    stride_pattern s = strides_of(w);
    auto each = static_cast<std::int64_t>(w.bytes);
    bool consecutive = std::abs(s.stride) == each;
    if (s.runs == 1) return misaligned_cause(w);
    if (s.always && consecutive) // a unit stride, but some lanes are inactive
        return fmt::format("only {} of its 32 lanes take part, and sectors move whole",
                           w.lanes.size());
    if ((s.always || s.mostly) && !consecutive && s.stride != 0)
        return fmt::format("neighbouring threads {} addresses {}{} bytes apart", verb(w.kind),
                           s.always ? "" : "mostly ", std::abs(s.stride));
    if (2 * s.runs <= w.addresses.size())
        return fmt::format("its {} lanes {} {} separate pieces, which do not fill their sectors",
                           w.lanes.size(), verb(w.kind), s.runs);
    if (s.nearest > w.bytes && s.nearest < 32)
        return fmt::format("no two of its {} lanes {} addresses less than {} bytes apart",
                           w.lanes.size(), verb(w.kind), s.nearest);
    return fmt::format("its {} lanes {} addresses that are strewn about", w.lanes.size(),
                       verb(w.kind));
}

// Returns how many distinct words of each bank the whole warp accesses.
std::map<int, std::size_t> words_by_bank(const worst_request &w)
{
    std::set<std::uint64_t> words;
    for (std::uint64_t address : w.addresses)
        for (unsigned k = 0; k < std::max(1u, w.bytes / 4); ++k) words.insert(address / 4 + k);
    std::map<int, std::size_t> banks;
    for (std::uint64_t word : words) ++banks[static_cast<int>(word % 32)];
    return banks;
}

std::string bank_conflict_cause(const worst_request &w)
{
    stride_pattern s = strides_of(w);
    auto stride = static_cast<std::uint64_t>(std::abs(s.stride));
    std::map<int, std::size_t> banks = words_by_bank(w);
    if ((s.always || s.mostly) && !s.gaps && stride > w.bytes && stride % 4 == 0) {
        std::string apart =
            fmt::format("neighbouring threads {} addresses {} bytes apart", verb(w.kind), stride);
        if (stride == 128) return apart + ", a row of all 32 banks, so a column lies in one bank";
        if (stride % 128 == 0)
            return apart + ", whole rows of the 32 banks, so a column lies in one bank";
        if (banks.size() < std::min<std::size_t>(w.lanes.size(), 32))
            return apart + fmt::format(", so they share {} of the 32 banks", banks.size());
    }
    auto busiest = std::ranges::max_element(banks, {}, &std::pair<const int, std::size_t>::second);
    return fmt::format("its lanes {} {} different words of bank {}, which serves one at a time",
                       verb(w.kind), busiest->second, busiest->first);
}

// Describes each warp if all requests of the line cost the same, else the worst one.
std::string excess_words(const access_sum &a, bool shared)
{
    const char *does = shared ? "takes" : "touches", *unit = shared ? "wavefronts" : "sectors";
    std::string cost = figure(per(a.cost, a.requests)), ideal = figure(per(a.ideal, a.requests));
    if (!a.worst)
        return fmt::format("A warp {} {} {} on average where {} would do.", does, cost, unit,
                           ideal);
    const worst_request &w = *a.worst;
    std::string cause = shared ? bank_conflict_cause(w) : uncoalesced_cause(w);
    if (cost == figure(w.cost))
        return fmt::format("Each warp {} {} {} where {} would do: {}.", does, cost, unit, ideal,
                           cause);
    return fmt::format(
        "At worst a warp {} {} {}{} where {} would do: {}. On average it is {} where {} would do.",
        does, w.cost, unit, shared ? "" : of_memory(w), w.ideal, cause, cost, ideal);
}

access_note note_of(const char *what, const access_sum &a, bool shared)
{
    access_note n;
    n.what = what;
    n.figures = fmt::format("{}, {}, ideal {}", quantity(a.requests, "request"),
                            quantity(a.cost, shared ? "wavefront" : "sector"), thousands(a.ideal));
    if (!is_wasteful(a)) return n;
    n.waste = static_cast<double>(a.cost - a.ideal);
    n.sentence = excess_words(a, shared);
    return n;
}

// Every sector of local memory counts as wasted. The counters come from PTX, which register spills
// are not in: ptxas adds those.
access_note note_of_local(const char *what, const access_sum &a)
{
    access_note n = note_of(what, a, false);
    n.waste = static_cast<double>(a.cost);
    n.sentence = "Local memory: an array of each thread's own that is not in registers, because it "
                 "is large, its address is taken, or an index is not known to the compiler.";
    return n;
}

access_note note_of_atomics(const access_counts &c)
{
    access_note n;
    std::uint64_t all = c.global_atomics + c.shared_atomics;
    n.what = c.global_atomics ? "atomics" : "shared atomics";
    n.figures =
        fmt::format("{}, {}", quantity(c.atomic_requests, "request"), quantity(all, "atomic"));
    double together = per(c.atomic_same_address, c.atomic_requests);
    if (together < 2) return n;
    n.waste = static_cast<double>(c.atomic_same_address - c.atomic_requests);
    n.sentence =
        c.worst_atomic && c.worst_atomic->one_address
            ? fmt::format("All {} atomics go to one address{}, one after another: let a warp or a "
                          "block add up first.",
                          thousands(all), of_memory(*c.worst_atomic))
            : fmt::format(
                  "{} lanes of a warp meet at one address on average, and take turns there.",
                  figure(together));
    return n;
}

access_note note_of_constants(const access_counts &c)
{
    access_note n;
    n.what = "constant";
    n.figures = fmt::format("{}, {} different addresses", quantity(c.constant_requests, "request"),
                            thousands(c.constant_addresses));
    double different = per(c.constant_addresses, c.constant_requests);
    if (different < tolerated) return n;
    n.waste = static_cast<double>(c.constant_addresses - c.constant_requests);
    n.sentence = fmt::format("A warp asks for {} different constants at a time, and they come one "
                             "after another.",
                             figure(different));
    return n;
}

} // namespace

bool is_wasteful(const access_sum &a)
{
    bool more =
        a.cost > a.ideal && static_cast<double>(a.cost) >= tolerated * static_cast<double>(a.ideal);
    return more && (!a.worst || a.worst->cost > fair_cost(*a.worst));
}

std::vector<access_note> notes_of(const access_counts &line)
{
    std::vector<access_note> notes;
    auto add = [&](const char *what, const access_sum &a, bool shared) {
        if (a.requests) notes.push_back(note_of(what, a, shared));
    };
    add("load", line.global_load, false);
    add("store", line.global_store, false);
    add("shared load", line.shared_load, true);
    add("shared store", line.shared_store, true);
    if (line.local_load.requests) notes.push_back(note_of_local("local load", line.local_load));
    if (line.local_store.requests) notes.push_back(note_of_local("local store", line.local_store));
    if (line.atomic_requests) notes.push_back(note_of_atomics(line));
    if (line.constant_requests) notes.push_back(note_of_constants(line));
    return notes;
}

access_note redundancy_of(const kernel_counters &k, double min_times)
{
    access_note n;
    n.what = k.name;
    double times = per(k.bytes_loaded, k.bytes_read);
    if (times < min_times) return n;
    n.waste = static_cast<double>(k.bytes_loaded - k.bytes_read) / 32;
    n.sentence = fmt::format("Its warps load {}, of which {} are different: each byte {} times. "
                             "Shared memory or registers can keep what is needed again.",
                             bytes_words(k.bytes_loaded), bytes_words(k.bytes_read), figure(times));
    return n;
}

std::string thousands(std::uint64_t n)
{
    if (n >= 10'000'000'000) return thousands(n / 1'000'000'000) + " G";
    if (n >= 100'000'000) return thousands(n / 1'000'000) + " M";
    std::string digits = std::to_string(n);
    for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3)
        digits.insert(static_cast<std::size_t>(i), " ");
    return digits;
}

std::string quantity(std::uint64_t n, const char *one)
{
    return fmt::format("{} {}{}", thousands(n), one, n == 1 ? "" : "s");
}

std::string bytes_words(std::uint64_t n)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB"};
    double value = static_cast<double>(n);
    int unit = 0;
    while (value >= 1000 && unit < 3) value /= 1000, ++unit;
    return fmt::format("{:.3g} {}", value, units[unit]);
}

std::vector<std::vector<std::vector<int>>> wavefronts_of(const worst_request &w)
{
    unsigned words = std::max(1u, w.bytes / 4), group = lanes_per_group(w);
    std::vector<std::vector<std::vector<int>>> wavefronts;
    for (unsigned first = 0; first < 32; first += group) {
        std::map<std::uint64_t, std::vector<int>> lanes_of; // by word
        for (std::size_t k = 0; k < w.lanes.size(); ++k)
            if (static_cast<unsigned>(w.lanes[k]) / group == first / group)
                for (unsigned part = 0; part < words; ++part)
                    lanes_of[w.addresses[k] / 4 + part].push_back(w.lanes[k]);
        std::size_t first_of_group = wavefronts.size();
        std::size_t served[32] = {}; // words, by bank
        for (const auto &[word, lanes] : lanes_of) {
            std::size_t n = first_of_group + served[word % 32]++;
            if (n == wavefronts.size()) wavefronts.emplace_back(32);
            wavefronts[n][word % 32] = lanes;
        }
    }
    return wavefronts;
}

} // namespace cli
