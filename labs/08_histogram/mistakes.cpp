// Wrong sums and counts of lab 08, recognised by the elements they leave out, repeat or misplace.
#include "mistakes.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>

using namespace grading;

namespace {

// Sums of an array, in one pass, that leave out or repeat all elements of a kind; for powers of two
// up to the largest block.
struct partial_sums {
    static constexpr int powers = 11; // of 2: 1, 2, ... 1024
    using by_power = std::array<std::uint64_t, powers>;
    std::uint64_t all = 0, negative = 0;        // the sum, and how many elements are below 0
    by_power first_halves{}, firsts{}, lasts{}; // per 2 * 2^k, 2^k and 2^k elements
    by_power first_warps{}, last_warps{};       // per 2^k elements, 32 of them
    by_power once_more{};                       // each element once more per 2^k before it
    std::size_t prefix = 0, suffix = 0;         // the number of elements that have the given sum
    bool has_prefix = false, has_suffix = false;

    partial_sums(const ints &in, std::uint64_t got)
    {
        for (int x : in) all += std::uint64_t(std::int64_t(x)), negative += x < 0;
        std::uint64_t before = 0;
        for (std::size_t i = 0; i < in.size(); ++i) {
            if (before == got) prefix = i, has_prefix = true;
            if (all - before == got && !has_suffix) suffix = in.size() - i, has_suffix = true;
            add(i, std::uint64_t(std::int64_t(in[i])));
            before += std::uint64_t(std::int64_t(in[i]));
        }
    }

private:
    void add(std::size_t i, std::uint64_t x)
    {
        constexpr std::size_t warp = 32;
        for (int k = 0; k < powers; ++k) {
            const std::size_t each = std::size_t{1} << k, place = i % each;
            if ((i & each) == 0) first_halves[std::size_t(k)] += x;
            if (place == 0) firsts[std::size_t(k)] += x;
            if (place == each - 1) lasts[std::size_t(k)] += x;
            if (place < warp) first_warps[std::size_t(k)] += x;
            if (place + warp >= each) last_warps[std::size_t(k)] += x;
            once_more[std::size_t(k)] += x * (i / each + 1);
        }
    }
};

// Says which elements were added, if they are the first ones, or the last.
void add_parts(std::vector<misconception<long long>> &known, const partial_sums &p, std::size_t n,
               const std::function<misconception<long long>(std::string, std::string)> &mistake)
{
    const std::string go_on =
        "Does every block take part, does it add its sum to that of the others, and does each "
        "thread stride on until there are no elements left?";
    if (p.has_prefix) {
        std::size_t whole = 1024;
        while (whole > 1 && n / whole * whole != p.prefix) whole /= 2;
        if (p.prefix == 0)
            known.push_back(mistake("Nothing was added.", does_a_kernel_write));
        else if (whole > 1)
            known.push_back(mistake("The elements behind the last whole " + std::to_string(whole) +
                                        " elements were not added.",
                                    "n need not be a multiple of anything: round the number of "
                                    "blocks up, and let a thread without an element add 0."));
        else
            known.push_back(mistake(
                "Only the first " + std::to_string(p.prefix) + " elements were added.", go_on));
    } else if (p.has_suffix)
        known.push_back(
            mistake("Only the last " + std::to_string(p.suffix) + " elements were added.",
                    "A block that stores its sum overwrites that of another: add it to `*out` by "
                    "an atomic."));
}

} // namespace

std::vector<misconception<long long>> wrong_sums(const ints &in, long long got)
{
    const std::uint64_t given = std::uint64_t(got);
    const partial_sums p(in, given);
    const std::uint64_t off = given - p.all;
    std::vector<misconception<long long>> known;
    auto mistake = [got](const std::string &cause, const std::string &next) {
        return misconception<long long>{cause, next, [got] { return std::vector{got}; }};
    };
    auto add = [&](bool is, const std::string &cause, const std::string &next) {
        if (is) known.push_back(mistake(cause, next));
    };
    const std::string wide = "An int holds no more than 2^31 - 1. Which types hold the sums of a "
                             "thread, a warp, a block and the atomic? Each must be a long long.";
    add(got == std::int32_t(std::uint32_t(p.all)), "The sum has lost all but its lower 32 bits.",
        wide);
    add(p.negative > 0 && off == p.negative << 32,
        "Negative elements were taken as unsigned numbers: each adds 2^32 too much.",
        "Convert the int to a long long before anything else.");
    add(std::uint32_t(off) == 0,
        "It is wrong by " + std::to_string(std::int64_t(off) / (std::int64_t{1} << 32)) +
            " times 2^32: intermediate sums had only 32 bits.",
        wide);
    add_parts(known, p, in.size(), mistake);
    for (std::uint64_t times = 2; times <= 2048; ++times)
        add(given == times * p.all, "Everything was added " + std::to_string(times) + " times.",
            "Which threads add to `*out`? Only the one that has the sum of its warp or block may. "
            "And each share must be added once: not by itself and again in its warp's sum.");
    for (int k = 0; k < partial_sums::powers; ++k) {
        const auto at = std::size_t(k);
        const std::string each = std::to_string(1 << k), twice = std::to_string(2 << k);
        add(given == p.first_halves[at],
            "Of every " + twice + " elements only the first " + (k > 0 ? each + " were" : "was") +
                " added: the step over a distance of " + each + " is missing.",
            "Distances halve, from half of the threads down to 1: does the loop take the first "
            "one, and the last?");
        if (k == 0) continue;
        add(given == p.firsts[at] || given == p.lasts[at],
            "Of every " + each + " elements only the " +
                (given == p.firsts[at] ? "first" : "last") + " was added.",
            "Which thread has the whole sum after the last step? Its share must be used.");
        add(given == p.once_more[at],
            "An element was added once more for every " + each + " elements before it.",
            "The stride of a thread is the number of threads in the whole grid, not in one block.");
        if (k <= 5) continue;
        add(given == p.first_warps[at] || given == p.last_warps[at],
            "Of every " + each + " elements only the " +
                (given == p.first_warps[at] ? "first" : "last") + " 32 were added.",
            "The sums of all warps of a block must go to shared memory, and all of them must be "
            "added.");
    }
    for (std::size_t each = 32; each <= 1024; each *= 2) {
        const auto end = in.begin() + std::ptrdiff_t(std::min(each, in.size()));
        const std::uint64_t first = std::uint64_t(std::accumulate(in.begin(), end, 0LL));
        const std::uint64_t blocks = (in.size() + each - 1) / each;
        add(blocks > 1 && given == blocks * first,
            "Every block added the first " + std::to_string(each) + " elements.",
            "Is blockIdx.x in the index?");
    }
    return known;
}

// Blocks may all count the same elements: then each count is a multiple of a possible count, with
// one factor.
template <class F> static void add_same_in_every_block(std::vector<misconception<unsigned>> &known,
                                                       const counts &got, F right)
{
    unsigned times = 0, counted = 0;
    for (unsigned x : got) times = std::gcd(times, x), counted += x > 0;
    constexpr unsigned by_chance = 4; // so few counts may have a divisor in common
    if (times < 2 || counted <= by_chance) return;
    const counts want = right();
    for (std::size_t b = 0; b < got.size(); ++b)
        if (got[b] / times > want[b]) return;
    known.push_back({"Every count is a multiple of " + std::to_string(times) +
                         ", as if that many blocks, or threads, had counted the same elements.",
                     "Is blockIdx.x in the index with which a thread begins, and is its stride the "
                     "number of threads in the whole grid?",
                     [&got] { return got; }});
}

// Counters may have fewer bits than a count needs: what is missing are as many times all that they
// hold, and each time a neighbour in the same word may have got one more.
void add_overflow(std::vector<misconception<unsigned>> &known, const counts &got,
                  const counts &want)
{
    if (std::count(want.begin(), want.end(), 0u) + 1 >= std::ptrdiff_t(want.size()))
        return; // whatever is left out of equal bytes is missing in one bin
    for (int bits : {16, 8}) {
        std::size_t lost = 0, carried = 0, bin = want.size();
        bool whole = true;
        for (std::size_t b = 0; b < want.size(); ++b) {
            if (got[b] > want[b]) carried += got[b] - want[b];
            if (got[b] >= want[b]) continue;
            bin = std::min(bin, b);
            whole &= (want[b] - got[b]) % (1u << bits) == 0;
            lost += (want[b] - got[b]) >> bits;
        }
        if (!whole || lost == 0 || carried > lost) continue;
        const std::string full = std::to_string(1 << bits);
        known.push_back(
            {"Bin " + std::to_string(bin) + " is short by " +
                 std::to_string((want[bin] - got[bin]) >> bits) + " times " + full +
                 ", at which a counter of " + std::to_string(bits) + " bits wraps around.",
             "How many equal bytes can one counter of a thread, a warp or a block receive before "
             "its count is added to the bins, and how many bits does it have?",
             [&got] { return got; }});
        return;
    }
}

std::vector<misconception<unsigned>> wrong_bytes(const bytes &in, int at, const counts &got)
{
    std::size_t counted = std::accumulate(got.begin(), got.end(), std::size_t{0});
    auto of_part = [&in](std::size_t first, std::size_t last) {
        first = std::min(first, in.size());
        last = std::clamp(last, first, in.size());
        return [&in, first, last] {
            return oracle::histogram(
                bytes(in.begin() + std::ptrdiff_t(first), in.begin() + std::ptrdiff_t(last)));
        };
    };
    std::size_t n = in.size(), head = std::size_t((16 - at % 16) % 16);
    std::size_t whole = head < n ? head + (n - head) / 16 * 16 : 0;
    // If all but some of the whole 16 bytes are counted.
    std::size_t missing = n > counted ? n - counted : 0;
    std::size_t in_wide = whole > head + missing ? (whole - head - missing) / 16 : 0;
    auto without = [&in](std::size_t first, std::size_t last) {
        return [&in, first, last] {
            if (first >= last) return counts{};
            bytes rest(in.begin(), in.begin() + std::ptrdiff_t(first));
            rest.insert(rest.end(), in.begin() + std::ptrdiff_t(last), in.end());
            return oracle::histogram(rest);
        };
    };
    const std::string rest =
        "n need not be a multiple of the bytes per load: count the rest one by one.";
    std::vector<misconception<unsigned>> known = {
        {"The bytes behind the last whole 16 were not counted.", rest, of_part(head, whole)},
        {"The bytes behind the last whole 16 were not counted.", rest, of_part(0, n / 16 * 16)},
        {"The bytes before the first 16-byte boundary were not counted.",
         "`in` may begin anywhere: count the bytes before the boundary one by one.",
         of_part(head, n)},
        {"The last byte was not counted.", "The bytes are in[0] to in[n - 1].", of_part(0, n - 1)},
        {"The first byte was not counted.",
         "Which thread has in[0]? Either it begins behind that element, or its count is left out "
         "when the counts are added up.",
         of_part(1, n)},
        {"Of the whole 16 bytes only the first " + std::to_string(in_wide) + " were counted.",
         "The grid has fewer threads than there are loads of 16 bytes: each must stride on, by the "
         "number of threads in the grid, until there are none left.",
         without(head + in_wide * 16, whole)},
        {"Only the first " + std::to_string(counted) + " bytes were counted.",
         "Does each thread go on to its next element, until there are none left?",
         of_part(0, counted)},
    };
    add_same_in_every_block(known, got, [&] { return oracle::histogram(in); });
    return known;
}

std::vector<misconception<unsigned>> wrong_tiles(const bytes &image, int width, int height,
                                                 int tile)
{
    int across = (width - 1) / tile + 1, down = (height - 1) / tile + 1;
    // Pixel (x, y) is counted in the tile that tile_of(x, y) says, in none where that is not there.
    auto counted_in = [&image, width, height, across, down](auto tile_of) {
        return [=, &image] {
            counts bins(std::size_t(across) * down * 256);
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x) {
                    int t = tile_of(x, y);
                    if (t >= 0 && t < across * down)
                        ++bins[std::size_t(t) * 256 + image[std::size_t(y) * width + x]];
                }
            return bins;
        };
    };
    // The image's rows taken to be as long as the tile's, below its top or below that of the image.
    const std::string
        narrow =
            "A row was taken to begin as many pixels after the one above as the tile has columns.",
        by_width =
            "A row of the image begins `width` pixels after the one above, within a tile, too.";
    auto counted_with_rows_of_tile = [=, &image](bool below_the_top) {
        return [=, &image] {
            counts bins(std::size_t(across) * down * 256);
            for (int t = 0; t < across * down; ++t) {
                int left = t % across * tile, top = t / across * tile;
                int columns = std::min(tile, width - left), rows = std::min(tile, height - top);
                for (int y = 0; y < rows; ++y)
                    for (int x = 0; x < columns; ++x) {
                        std::size_t row = std::size_t(top) * (below_the_top ? width : columns);
                        std::size_t pixel = row + std::size_t(y) * columns + left + x;
                        ++bins[std::size_t(t) * 256 + image[pixel]];
                    }
            }
            return bins;
        };
    };
    return {
        {"The tiles at the edges, which are not whole, were left out.",
         "A tile at the right or the bottom edge has only the columns and rows that are left.",
         counted_in([=](int x, int y) {
             bool whole = x / tile < width / tile && y / tile < height / tile;
             return whole ? y / tile * across + x / tile : -1;
         })},
        {"Every row of a tile was taken to have `tile` pixels.",
         "At the right edge there are fewer: divide by the columns that the tile has.",
         [=, &image] {
             counts bins(std::size_t(across) * down * 256);
             for (int t = 0; t < across * down; ++t) {
                 int left = t % across * tile, top = t / across * tile;
                 int columns = std::min(tile, width - left), rows = std::min(tile, height - top);
                 for (int i = 0; i < columns * rows; ++i) {
                     std::size_t pixel = std::size_t(top + i / tile) * width + left + i % tile;
                     if (pixel < image.size()) ++bins[std::size_t(t) * 256 + image[pixel]];
                 }
             }
             return bins;
         }},
        {narrow, by_width, counted_with_rows_of_tile(true)},
        {narrow, by_width, counted_with_rows_of_tile(false)},
        {"The tiles were numbered down the columns.",
         "lab.hpp has them row by row: tile (r, c) is number r * across + c.",
         counted_in([=](int x, int y) { return x / tile * down + y / tile; })},
        {"Only the whole tiles of a row were numbered.",
         "There are width / tile tiles in a row, rounded up: the last may be smaller.",
         counted_in([=](int x, int y) { return y / tile * (width / tile) + x / tile; })},
        {"Every tile has the counts of the whole image.",
         "Which pixels belong to the tile? `left` to `left + tile`, and not beyond the image.",
         [=, &image] {
             counts all = oracle::histogram(image), bins;
             for (int t = 0; t < across * down; ++t)
                 bins.insert(bins.end(), all.begin(), all.end());
             return bins;
         }},
    };
}

std::vector<misconception<unsigned>> wrong_ranges(const floats &in, const bin_range &r,
                                                  const counts &got)
{
    std::size_t there = got.size();
    while (there > 0 && got[there - 1] == 0) --there;
    there = (there + 31) / 32 * 32; // bins are written by warps
    there = std::min(there, got.size());
    // Each number is counted in the bin that bin_of says, in none where that is not there.
    auto counted_in = [&in, r](auto bin_of) {
        return [=, &in] {
            counts bins(std::size_t(r.bins));
            for (float x : in) {
                float b = bin_of(x);
                if (b > -1 && b < float(r.bins)) ++bins[std::size_t(std::max(b, 0.0f))];
            }
            return bins;
        };
    };
    auto inside = [r](float x) { return x >= r.low && x < r.high(); };
    auto rounded = [r](float x) { return (x - r.low) / r.width; };
    auto last = float(r.bins - 1);
    const char *const rounded_up = "The difference x - low was rounded up to the next bound.";
    const char *const compare = "Compare with the bound, which is exact: where x < low + b * "
                                "width, x is in the bin before. Do so for every bound.";
    std::vector<misconception<unsigned>> known = {
        {rounded_up, compare,
         counted_in([=](float x) { return inside(x) ? std::floor(rounded(x)) : -1; })},
        {rounded_up, compare, counted_in([=](float x) {
             return inside(x) ? std::min(std::floor(rounded(x)), last) : -1;
         })},
        {"Numbers below low by less than a bin were counted in bin 0.",
         "A conversion to int truncates towards 0, also for -0.5: compare x with low first.",
         counted_in([=](float x) { return x < r.high() ? std::trunc(rounded(x)) : -1; })},
        {"Numbers outside the range were counted in the first and the last bin.",
         "They must not be counted.", counted_in([=](float x) {
             return std::isnan(x) ? -1 : std::clamp(std::floor(rounded(x)), 0.0f, last);
         })},
        {"NaN was counted in bin 0.",
         "No comparison with NaN is true: test for inside, not for outside.",
         counted_in([=](float x) {
             return inside(x) ? std::floor(rounded(x)) : std::isnan(x) ? 0 : -1;
         })},
        {"Numbers equal to high were counted in the last bin.",
         "The upper bound of a bin is not in the bin, and high is not in the range.",
         counted_in([=](float x) {
             return inside(x) ? std::min(std::floor(rounded(x)), last) : x == r.high() ? last : -1;
         })},
        {"Only the first " + std::to_string(there) + " bins have counts.",
         "There may be up to 2048 bins, and more of them than a block has threads: does each "
         "thread go on to its next bin, wherever bins are set to 0, merged or written?",
         [=, &in] {
             counts bins = oracle::histogram_range(in, r.low, r.high(), r.bins);
             std::fill(bins.begin() + std::ptrdiff_t(there), bins.end(), 0u);
             return bins;
         }},
        {"Each number was counted in the bin whose lower bound is nearest to it.",
         "Bin b begins at low + b * width and ends before the next: round down.",
         counted_in([=](float x) { return inside(x) ? std::round(rounded(x)) : -1; })},
    };
    add_same_in_every_block(known, got,
                            [&] { return oracle::histogram_range(in, r.low, r.high(), r.bins); });
    return known;
}

std::string behind_the_last_bin(const floats &in, const bin_range &r)
{
    bool rounded = false, outside = false;
    for (float x : in) {
        bool behind = std::floor((x - r.low) / r.width) == float(r.bins);
        (x < r.high() ? rounded : outside) |= behind;
    }
    std::string hint;
    if (outside) hint = "`high` itself and numbers above it are outside: only x < high counts.";
    if (rounded)
        hint += std::string(outside ? " And just" : "Just") +
                " below `high` the difference x - low is rounded up to high - low, as if x were in "
                "bin bin_count: where x < low + b * width, x is in the bin before.";
    return hint;
}
