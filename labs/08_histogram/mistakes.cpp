// Wrong sums and counts of lab 08, recognised by the elements they leave out, repeat or misplace.
#include "mistakes.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

using namespace grading;

// Returns the sum in which element i counts weight(i) times, modulo 2^64.
template <class W> static long long weighted_sum(const ints &in, W weight)
{
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < in.size(); ++i)
        sum += std::uint64_t(weight(i)) * std::uint64_t(std::int64_t(in[i]));
    return std::int64_t(sum);
}

// Returns how many elements, from the first or the last on, have the given sum; n + 1: none have.
static std::size_t added(const ints &in, long long got, bool from_the_last)
{
    const std::size_t n = in.size();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (sum == std::uint64_t(got)) return i;
        sum += std::uint64_t(std::int64_t(in[from_the_last ? n - 1 - i : i]));
    }
    return n + 1;
}

std::vector<misconception<long long>> wrong_sums(const ints &in, long long got)
{
    std::vector<misconception<long long>> known;
    auto add = [&](bool is, const std::string &cause, const std::string &next) {
        if (is) known.push_back({cause, next, [got] { return std::vector{got}; }});
    };
    auto is_sum_of = [&](auto weight) { return got == weighted_sum(in, weight); };
    const std::size_t n = in.size(), first = added(in, got, false), last = added(in, got, true);
    const auto all = std::uint64_t(oracle::sum(in)[0]), off = std::uint64_t(got) - all;
    const auto negative =
        std::uint64_t(std::count_if(in.begin(), in.end(), [](int x) { return x < 0; }));
    const std::string wide = "An int holds no more than 2^31 - 1. Which types hold the sums of a "
                             "thread, a warp, a block and the atomic? Each must be a long long.";
    add(got == std::int32_t(std::uint32_t(all)), "The sum has lost all but its lower 32 bits.",
        wide);
    add(negative > 0 && off == negative << 32,
        "Negative elements were taken as unsigned numbers: each adds 2^32 too much.",
        "Convert the int to a long long before anything else.");
    add(std::uint32_t(off) == 0,
        "It is wrong by " + std::to_string(std::int64_t(off) / (std::int64_t{1} << 32)) +
            " times 2^32: intermediate sums had only 32 bits.",
        wide);
    std::size_t whole = 1024; // of which the first elements are a multiple
    while (whole > 1 && n / whole * whole != first) whole /= 2;
    add(first == 0, "Nothing was added.", does_a_kernel_write);
    add(first == 1, "Only the first element was added.",
        "After the last step the sum is in shares[0]: is that what thread 0 returns, or still its "
        "own share? And does the tree's loop run at all?");
    add(first <= n && whole > 1,
        "The elements behind the last whole " + std::to_string(whole) + " elements were not added.",
        "n need not be a multiple of anything: round the number of blocks up, and let a thread "
        "without an element add 0.");
    add(first <= n, "Only the first " + std::to_string(first) + " elements were added.",
        "Does every block take part, does it add its sum to that of the others, and does each "
        "thread stride on until there are no elements left?");
    add(last <= n, "Only the last " + std::to_string(last) + " elements were added.",
        "Is a thread's share the sum of all its elements (x += in[i]), or only its last one? If "
        "the shares are right: a block that stores its sum overwrites that of another, so add it "
        "to `*out` by an atomic.");
    for (std::uint64_t times = 2; times <= 2048; ++times)
        add(std::uint64_t(got) == times * all,
            "Everything was added " + std::to_string(times) + " times.",
            "Which threads add to `*out`? Only the one that has the sum of its warp or block may. "
            "And each share must be added once: not by itself and again in its warp's sum.");
    constexpr std::size_t max_searched = 1 << 21; // the rest takes many passes over the elements
    if (!known.empty() || n > max_searched) return known;
    for (std::size_t p = 1; p <= 1024; p *= 2) {
        const std::string each = std::to_string(p),
                          of_every = "Of every " + each + " elements only the ";
        add(is_sum_of([p](std::size_t i) { return (i & p) == 0; }),
            "Of every " + std::to_string(2 * p) + " elements only the first " +
                (p > 1 ? each + " were" : "was") + " added: the step over a distance of " + each +
                " is missing.",
            "Distances halve, from half of the threads down to 1: does the loop take the first "
            "one, and the last?");
        if (p == 1) continue;
        for (bool of_last : {false, true}) {
            const std::string which = of_last ? "last" : "first";
            add(is_sum_of([=](std::size_t i) { return i % p == (of_last ? p - 1 : 0); }),
                of_every + which + " was added.",
                "Which thread has the whole sum after the last step? Its share must be used.");
            add(p > 32 && is_sum_of([=](std::size_t i) {
                    return of_last ? i % p + 32 >= p : i % p < 32;
                }),
                of_every + which + " 32 were added.",
                "The sums of all warps of a block must go to shared memory, and all of them must "
                "be added.");
        }
        add(is_sum_of([p](std::size_t i) { return i / p + 1; }),
            "An element was added once more for every " + each + " elements before it.",
            "The stride of a thread is the number of threads in the whole grid, not in one block.");
        const std::size_t blocks = (n + p - 1) / p;
        add(p >= 32 && blocks > 1 && is_sum_of([=](std::size_t i) { return i < p ? blocks : 0; }),
            "Every block added the first " + each + " elements.", "Is blockIdx.x in the index?");
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
                     "number of threads in the whole grid? And is each of a block's counts added "
                     "to `bins` by one thread only?",
                     [&got] { return got; }});
}

// Counters may have fewer bits than a count needs: what is missing are as many times all that they
// hold, and each time a neighbour in the same word may have got one more.
std::vector<misconception<unsigned>> short_counters(const counts &got, const counts &want)
{
    if (std::count(want.begin(), want.end(), 0u) + 1 >= std::ptrdiff_t(want.size()))
        return {}; // whatever is left out of equal bytes is missing in one bin
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
        return {{"Bin " + std::to_string(bin) + " is short by " +
                     std::to_string((want[bin] - got[bin]) >> bits) + " times " +
                     std::to_string(1 << bits) + ", at which a counter of " + std::to_string(bits) +
                     " bits wraps around.",
                 "How many equal bytes can one counter of a thread, a warp or a block receive "
                 "before its count is added to the bins, and how many bits does it have?",
                 [&got] { return got; }}};
    }
    return {};
}

std::vector<misconception<unsigned>> wrong_bytes(const bytes &in, int at, const counts &got)
{
    const std::size_t n = in.size(), head = std::size_t((16 - at % 16) % 16);
    const std::size_t whole = head < n ? head + (n - head) / 16 * 16 : 0;
    const std::size_t counted = std::accumulate(got.begin(), got.end(), std::size_t{0});
    // If all but some of the whole 16 bytes are counted.
    const std::size_t missing = n > counted ? n - counted : 0;
    const std::size_t in_wide = whole > head + missing ? (whole - head - missing) / 16 : 0;
    // Counts the bytes from `first` up to `last`, without those of a part in between.
    auto only = [&in, n](std::size_t first, std::size_t last, std::size_t from = 0,
                         std::size_t to = 0) {
        return [=, &in] {
            counts bins(256);
            for (std::size_t i = first; i < std::min(last, n); ++i)
                if (i < from || i >= to) ++bins[in[i]];
            return bins;
        };
    };
    const std::string rest =
        "n need not be a multiple of the bytes per load: count the rest one by one.";
    std::vector<misconception<unsigned>> known = {
        {"No byte was counted.",
         "Does each thread count, and are the block's counts added to `bins`? If loads bring 16 "
         "bytes: so few lie behind the last whole 16, and must be counted one by one.",
         only(0, 0)},
        {"The bytes behind the last whole 16 were not counted.", rest, only(head, whole)},
        {"The bytes behind the last whole 16 were not counted.", rest, only(0, n / 16 * 16)},
        {"The bytes before the first 16-byte boundary were not counted.",
         "`in` may begin anywhere: count the bytes before the boundary one by one.", only(head, n)},
        {"The last byte was not counted.", "The bytes are in[0] to in[n - 1].", only(0, n - 1)},
        {"The first byte was not counted.",
         "Which thread has in[0]? Either it begins behind that element, or its count is left out "
         "when the counts are added up.",
         only(1, n)},
        {"Of the whole 16 bytes only the first " + std::to_string(in_wide) + " were counted.",
         "The grid has fewer threads than there are loads of 16 bytes: each must stride on, by the "
         "number of threads in the grid, until there are none left.",
         only(0, n, head + in_wide * 16, whole)},
        {"Only the first " + std::to_string(counted) + " bytes were counted.",
         "Does each thread go on to its next element, until there are none left?",
         only(0, counted)},
    };
    add_same_in_every_block(known, got, [&] { return oracle::histogram(in); });
    return known;
}

std::vector<misconception<unsigned>> wrong_tiles(const bytes &image, int width, int height,
                                                 int tile)
{
    const int across = (width - 1) / tile + 1, down = (height - 1) / tile + 1;
    struct square {
        int column, row, left, top, columns, rows;
    };
    // Counts pixel(tile, i) for each of a tile's pixels in the tile with the given number; pixels
    // and tiles that are not there are left out.
    auto by = [=, &image](auto number, auto pixel) {
        return [=, &image] {
            counts bins(std::size_t(across) * down * 256);
            for (int t = 0; t < across * down; ++t) {
                const int c = t % across, r = t / across, left = c * tile, top = r * tile;
                const square s{
                    c, r, left, top, std::min(tile, width - left), std::min(tile, height - top)};
                for (int i = 0; i < s.columns * s.rows; ++i)
                    if (std::size_t p = pixel(s, i); p < image.size() && number(s) < across * down)
                        ++bins[std::size_t(number(s)) * 256 + image[p]];
            }
            return bins;
        };
    };
    auto in_order = [=](const square &s) { return s.row * across + s.column; };
    auto place = [=](const square &s, int i) {
        return std::size_t(s.top + i / s.columns) * width + s.left + i % s.columns;
    };
    const std::string narrow = "A row was taken to begin as many pixels after the one above as the "
                               "tile has columns.",
                      by_width = "A row of the image begins `width` pixels after the one above, "
                                 "within a tile, too.";
    return {
        {"In the tiles at the edges, which are not whole, nothing was counted.",
         "A tile has only the columns and rows that are left, width - left and height - top: is "
         "one of the two computed from the other's numbers, or is such a tile left out?",
         by(in_order,
            [=](const square &s, int i) {
                return s.columns * s.rows == tile * tile ? place(s, i) : ~std::size_t{0};
            })},
        {"Every row of a tile was taken to have `tile` pixels.",
         "At the right edge there are fewer: divide by the columns that the tile has.",
         by(in_order,
            [=](const square &s, int i) {
                return std::size_t(s.top + i / tile) * width + s.left + i % tile;
            })},
        {narrow, by_width,
         by(in_order,
            [=](const square &s, int i) { return std::size_t(s.top) * width + s.left + i; })},
        {narrow, by_width,
         by(in_order,
            [=](const square &s, int i) { return std::size_t(s.top) * s.columns + s.left + i; })},
        {"The tiles were numbered down the columns.",
         "lab.hpp has them row by row: tile (r, c) is number r * across + c.",
         by([=](const square &s) { return s.column * down + s.row; }, place)},
        {"Only the whole tiles of a row were numbered.",
         "There are width / tile tiles in a row, rounded up: the last may be smaller.",
         by([=](const square &s) { return s.row * (width / tile) + s.column; }, place)},
        {"Every tile has the counts of the whole image.",
         "Which pixels belong to the tile? `left` to `left + tile`, and not beyond the image.",
         [=, &image] {
             const counts all = oracle::histogram(image);
             counts bins;
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
    there = std::min((there + 31) / 32 * 32, got.size()); // bins are written by warps
    // Each number is counted in the bin that bin_of says, in none where that is not there. It gets
    // the number, x, and where it lies in bins, `at`.
    auto by = [&in, r](auto bin_of) {
        return [=, &in] {
            counts bins(std::size_t(r.bins));
            for (float x : in) {
                const float b = bin_of(x, (x - r.low) / r.width);
                if (b > -1 && b < float(r.bins)) ++bins[std::size_t(std::max(b, 0.0f))];
            }
            return bins;
        };
    };
    auto inside = [r](float x) { return x >= r.low && x < r.high(); };
    const auto last = float(r.bins - 1);
    const char *const rounded_up = "The difference x - low was rounded up to the next bound.";
    const char *const compare = "Compare with the bound, which is exact: where x < low + b * "
                                "width, x is in the bin before. Do so for every bound.";
    std::vector<misconception<unsigned>> known = {
        {rounded_up, compare,
         by([=](float x, float at) { return inside(x) ? std::floor(at) : -1; })},
        {rounded_up, compare,
         by([=](float x, float at) { return inside(x) ? std::min(std::floor(at), last) : -1; })},
        {"Numbers below low by less than a bin were counted in bin 0.",
         "A conversion to int truncates towards 0, also for -0.5: compare x with low first.",
         by([=](float x, float at) { return x < r.high() ? std::trunc(at) : -1; })},
        {"Numbers outside the range were counted in the first and the last bin.",
         "They must not be counted.", by([=](float x, float at) {
             return std::isnan(x) ? -1 : std::clamp(std::floor(at), 0.0f, last);
         })},
        {"NaN was counted in bin 0.",
         "With NaN <, <=, >, >= and == are all false: test for inside, not for outside.",
         by([=](float x, float at) {
             return inside(x) ? std::floor(at) : std::isnan(x) ? 0 : -1;
         })},
        {"Numbers equal to high were counted in the last bin.",
         "The upper bound of a bin is not in the bin, and high is not in the range.",
         by([=](float x, float at) {
             return inside(x) ? std::min(std::floor(at), last) : x == r.high() ? last : -1;
         })},
        {"No number was counted.",
         "Does the kernel run that counts, does each thread count, and are the counts added to "
         "`bins`?",
         [=] { return counts(std::size_t(r.bins)); }},
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
         by([=](float x, float at) { return inside(x) ? std::round(at) : -1; })},
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
