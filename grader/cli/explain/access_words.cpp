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

// Returns how many lanes access shared memory together, by the simulator's rule: two groups at
// 8 bytes per lane; four at 16 bytes, or two if lanes pair up with a neighbour.
unsigned group_size(const worst_request &w)
{
    auto paired = [&](int distance) {
        for (std::size_t k = 0; k < w.lanes.size(); ++k)
            for (std::size_t m = 0; m < w.lanes.size(); ++m)
                if (w.lanes[m] == (w.lanes[k] ^ distance) && w.at[m] != w.at[k]) return false;
        return true;
    };
    unsigned words = std::max(1u, w.bytes / 4);
    if (words == 4 && (paired(1) || paired(2))) return 16;
    return std::max(1u, 32 / words);
}

unsigned groups_of(const worst_request &w)
{
    std::set<unsigned> groups;
    for (int lane : w.lanes) groups.insert(static_cast<unsigned>(lane) / group_size(w));
    return static_cast<unsigned>(groups.size());
}

double per(std::uint64_t a, std::uint64_t b)
{
    return b ? static_cast<double>(a) / static_cast<double>(b) : 0;
}

// The fewest sectors or wavefronts that hardware needs for such a request. A sector may serve many
// lanes that ask for the same bytes; lanes of 8 or 16 bytes access shared memory in groups.
double min_cost(const worst_request &w)
{
    if (w.shared) return std::max(w.ideal, groups_of(w));
    return std::max<double>(w.ideal, static_cast<double>(w.lanes.size() * w.bytes) / 32);
}

const char *verb(access_kind kind) { return kind == access_kind::load ? "read" : "write"; }

// The distances between the addresses of a request's lanes.
struct spacing {
    std::int64_t step = 0;     // the most frequent distance from a lane to the next, in bytes
    bool always = false;       // every pair of lanes has it
    bool mostly = false;       // most pairs have it
    bool gaps = false;         // some lanes between the first and the last are inactive
    std::size_t pieces = 1;    // runs of lanes whose elements follow each other without a gap
    std::uint64_t nearest = 0; // bytes between the two closest addresses that differ
};

std::uint64_t nearest_two(std::vector<std::uint64_t> at)
{
    std::sort(at.begin(), at.end());
    std::uint64_t nearest = 0;
    for (std::size_t k = 1; k < at.size(); ++k)
        if (at[k] != at[k - 1] && (nearest == 0 || at[k] - at[k - 1] < nearest))
            nearest = at[k] - at[k - 1];
    return nearest;
}

spacing spacing_of(const worst_request &w)
{
    spacing s;
    std::map<std::int64_t, std::size_t> steps;
    for (std::size_t k = 1; k < w.at.size(); ++k) {
        auto distance = static_cast<std::int64_t>(w.at[k] - w.at[k - 1]);
        std::int64_t lanes = w.lanes[k] - w.lanes[k - 1];
        s.gaps |= lanes != 1;
        s.pieces += std::abs(distance) != static_cast<std::int64_t>(w.bytes) && distance != 0;
        ++steps[distance % lanes == 0 ? distance / lanes : distance];
    }
    std::size_t max_count = 0, pairs = w.at.size() - 1;
    for (auto [step, count] : steps)
        if (count > max_count) max_count = count, s.step = step;
    s.always = pairs > 0 && max_count == pairs;
    s.mostly = pairs > 1 && 3 * max_count >= 2 * pairs;
    s.nearest = nearest_two(w.at);
    return s;
}

// For lanes that access consecutive elements, and yet more sectors than the bytes fill.
std::string misaligned(const worst_request &w)
{
    auto [lowest, highest] = std::minmax_element(w.at.begin(), w.at.end());
    return fmt::format("its {} bytes begin {} bytes into a line, not at the start of a sector",
                       *highest + w.bytes - *lowest, *lowest % 128);
}

std::string of_memory(const worst_request &w)
{
    std::string name = w.memory();
    return name.empty() ? "" : fmt::format(" of `{}`", name);
}

std::string cause_in_device(const worst_request &w)
{
    spacing s = spacing_of(w);
    auto each = static_cast<std::int64_t>(w.bytes);
    bool neighbours = std::abs(s.step) == each;
    if (s.pieces == 1) return misaligned(w);
    if (s.always && neighbours) // in the order of lanes, but some lanes are inactive
        return fmt::format("only {} of its 32 lanes take part, and sectors move whole",
                           w.lanes.size());
    if ((s.always || s.mostly) && !neighbours && s.step != 0)
        return fmt::format("neighbouring threads {} addresses {}{} bytes apart", verb(w.kind),
                           s.always ? "" : "mostly ", std::abs(s.step));
    if (2 * s.pieces <= w.at.size())
        return fmt::format("its {} lanes {} {} separate pieces, which do not fill their sectors",
                           w.lanes.size(), verb(w.kind), s.pieces);
    if (s.nearest > w.bytes && s.nearest < 32)
        return fmt::format("no two of its {} lanes {} addresses less than {} bytes apart",
                           w.lanes.size(), verb(w.kind), s.nearest);
    return fmt::format("its {} lanes {} addresses that are strewn about", w.lanes.size(),
                       verb(w.kind));
}

// Returns how many different words each bank must serve.
std::map<int, std::size_t> words_by_bank(const worst_request &w)
{
    std::set<std::uint64_t> words;
    for (std::uint64_t at : w.at)
        for (unsigned k = 0; k < std::max(1u, w.bytes / 4); ++k) words.insert(at / 4 + k);
    std::map<int, std::size_t> banks;
    for (std::uint64_t word : words) ++banks[static_cast<int>(word % 32)];
    return banks;
}

std::string cause_in_shared(const worst_request &w)
{
    spacing s = spacing_of(w);
    auto step = static_cast<std::uint64_t>(std::abs(s.step));
    std::map<int, std::size_t> banks = words_by_bank(w);
    if ((s.always || s.mostly) && !s.gaps && step > w.bytes && step % 4 == 0) {
        std::string apart =
            fmt::format("neighbouring threads {} addresses {} bytes apart", verb(w.kind), step);
        if (step == 128) return apart + ", a row of all 32 banks, so a column lies in one bank";
        if (step % 128 == 0)
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
    std::string cause = shared ? cause_in_shared(w) : cause_in_device(w);
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
    n.figures = fmt::format("{}, {}, ideal {}", counted(a.requests, "request"),
                            counted(a.cost, shared ? "wavefront" : "sector"), thousands(a.ideal));
    if (!is_off(a)) return n;
    n.waste = static_cast<double>(a.cost - a.ideal);
    n.sentence = excess_words(a, shared);
    return n;
}

access_note note_of_local(const char *what, const access_sum &a)
{
    access_note n = note_of(what, a, false);
    n.waste = static_cast<double>(a.cost);
    n.sentence = "Local memory: an array of each thread's own that is not in registers, because an "
                 "index is not known to the compiler.";
    return n;
}

access_note note_of_atomics(const access_counts &c)
{
    access_note n;
    std::uint64_t all = c.global_atomics + c.shared_atomics;
    n.what = c.global_atomics ? "atomics" : "shared atomics";
    n.figures =
        fmt::format("{}, {}", counted(c.atomic_requests, "request"), counted(all, "atomic"));
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
    n.figures = fmt::format("{}, {} different addresses", counted(c.constant_requests, "request"),
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

bool is_off(const access_sum &a)
{
    bool more =
        a.cost > a.ideal && static_cast<double>(a.cost) >= tolerated * static_cast<double>(a.ideal);
    return more && (!a.worst || a.worst->cost > min_cost(*a.worst));
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

access_note redundancy_of(const counted_kernel &k, double min_times)
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

std::string counted(std::uint64_t n, const char *one)
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

std::vector<std::vector<std::vector<int>>> bank_rows(const worst_request &w)
{
    unsigned words = std::max(1u, w.bytes / 4), group = group_size(w);
    std::vector<std::vector<std::vector<int>>> rows;
    for (unsigned first = 0; first < 32; first += group) {
        std::map<std::uint64_t, std::vector<int>> lanes_of; // by word
        for (std::size_t k = 0; k < w.lanes.size(); ++k)
            if (static_cast<unsigned>(w.lanes[k]) / group == first / group)
                for (unsigned part = 0; part < words; ++part)
                    lanes_of[w.at[k] / 4 + part].push_back(w.lanes[k]);
        std::size_t begin = rows.size();
        std::size_t used[32] = {};
        for (const auto &[word, lanes] : lanes_of) {
            std::size_t row = begin + used[word % 32]++;
            if (row == rows.size()) rows.emplace_back(32);
            rows[row][word % 32] = lanes;
        }
    }
    return rows;
}

} // namespace cli
