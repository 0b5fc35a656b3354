// Grades lab 08, histogram.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

using namespace grading;
using bytes = std::vector<unsigned char>;
using floats = std::vector<float>;
using counts = std::vector<unsigned>;

// Inputs.

enum class spread { uniform, skewed, one_bin, image };

// skewed: nine of ten bytes are the same; image: the picture over and over.
static bytes spread_bytes(std::size_t n, spread how, std::mt19937_64 &random)
{
    bytes in(n), dice;
    auto usual = static_cast<unsigned char>(random() % 256);
    if (how == spread::one_bin)
        std::fill(in.begin(), in.end(), usual);
    else if (how != spread::image)
        fill_random(in, random);
    if (how == spread::skewed) {
        dice.resize(n);
        fill_random(dice, random);
        for_all(n, [&](std::size_t i) {
            if (dice[i] < 230) in[i] = usual;
            return true;
        });
    }
    if (how == spread::image) {
        picture p = read_picture("harbour.pgm");
        in_ranges(n, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first, count; i < last; i += count) {
                const std::size_t at = i % p.pixels.size();
                count = std::min(p.pixels.size() - at, last - i);
                std::copy_n(p.pixels.begin() + std::ptrdiff_t(at), count, &in[i]);
            }
            return true;
        });
    }
    return in;
}

static bytes random_bytes(std::size_t n)
{
    return spread_bytes(n, spread::uniform, random_source());
}

// Where the numbers are counted: from `low` on, in bins of `width`, a power of two of which `low`
// is a multiple.
struct bin_range {
    float low, width;
    int bins;
    float high() const { return low + float(bins) * width; }
};

// As many again of which some lie outside.
static floats floats_around(const bin_range &r, std::size_t n)
{
    float margin = std::max(r.high() - r.low, r.width) / 16;
    return random_floats(n, r.low - margin, r.high() + margin);
}

// What wrong answers look like.

// Of blocks that all count the same elements: each count is so many times one that these can have.
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
                         ", as if so many blocks, or threads, had counted the same elements.",
                     "Is blockIdx.x in the index with which a thread begins, and does it go on by "
                     "as many as the whole grid has threads?",
                     [&got] { return got; }});
}

// Of counters with fewer bits than a count needs: what is missing are as many times all that they
// hold, and each time a neighbour in the same word may have got one more.
static void add_overflow(std::vector<misconception<unsigned>> &known, const counts &got,
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
                 ", at which a counter of " + std::to_string(bits) + " bits begins anew.",
             "How many equal bytes can come to one counter of a thread, a warp or a block before "
             "its count is added to the bins, and how many bits does it have?",
             [&got] { return got; }});
        return;
    }
}

static std::vector<misconception<unsigned>> wrong_bytes(const bytes &in, int at, const counts &got)
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
    const std::string rest = "n need not be a multiple of what one load brings: count the rest one "
                             "by one.";
    std::vector<misconception<unsigned>> known = {
        {"The bytes behind the last whole 16 were not counted.", rest, of_part(head, whole)},
        {"The bytes behind the last whole 16 were not counted.", rest, of_part(0, n / 16 * 16)},
        {"The bytes before the first 16-byte boundary were not counted.",
         "`in` may begin anywhere: count what lies before the boundary one by one.",
         of_part(head, n)},
        {"The last byte was not counted.", "The bytes are in[0] to in[n - 1].", of_part(0, n - 1)},
        {"The first byte was not counted.",
         "Which thread has in[0]? Either it begins behind that, or what it has counted is left out "
         "when the counts are added up.",
         of_part(1, n)},
        {"Of the whole 16 bytes only the first " + std::to_string(in_wide) + " were counted.",
         "The grid has fewer threads than there are loads of 16 bytes: each must go on, by as many "
         "as the grid has threads, until there are none left.",
         without(head + in_wide * 16, whole)},
        {"Only the first " + std::to_string(counted) + " bytes were counted.",
         "Does each thread go on to its next element, until there are none left?",
         of_part(0, counted)},
    };
    add_same_in_every_block(known, got, [&] { return oracle::histogram(in); });
    return known;
}

static std::size_t sum_of(const output<unsigned> &bins)
{
    return std::accumulate(bins.values.begin(), bins.values.end(), std::size_t{0});
}

static std::vector<misconception<unsigned>> wrong_tiles(const bytes &image, int width, int height,
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
    const std::string narrow =
                          "A row was taken to begin as many pixels behind the one above as the "
                          "tile has columns.",
                      by_width = "A row of the image begins `width` pixels behind the one above, "
                                 "within a tile, too.";
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
         "A tile at the right or the bottom edge has as many columns and rows as are left.",
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

static std::vector<misconception<unsigned>> wrong_ranges(const floats &in, const bin_range &r,
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
                                "width, x is in the bin before. That goes for each of them.";
    std::vector<misconception<unsigned>> known = {
        {rounded_up, compare,
         counted_in([=](float x) { return inside(x) ? std::floor(rounded(x)) : -1; })},
        {rounded_up, compare, counted_in([=](float x) {
             return inside(x) ? std::min(std::floor(rounded(x)), last) : -1;
         })},
        {"What lies below low by less than a bin was counted in bin 0.",
         "A conversion to int cuts towards 0, -0.5 as well: compare x with low first.",
         counted_in([=](float x) { return x < r.high() ? std::trunc(rounded(x)) : -1; })},
        {"What lies outside the range was counted in the first and the last bin.",
         "It counts nowhere.", counted_in([=](float x) {
             return std::isnan(x) ? -1 : std::clamp(std::floor(rounded(x)), 0.0f, last);
         })},
        {"NaN was counted in bin 0.",
         "No comparison with NaN is true: ask for what is inside, not for what is outside.",
         counted_in([=](float x) {
             return inside(x) ? std::floor(rounded(x)) : std::isnan(x) ? 0 : -1;
         })},
        {"What is equal to high was counted in the last bin.",
         "The upper bound of a bin is not in it, nor is high in the range.",
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

// One call each. The places say how many elements past a 256-byte boundary an array begins.

static void bins_are_overwritten(const char *function)
{
    results_are_counts();
    reading_an_output_means("The counts were added to what `bins` held.",
                            "`bins` hold anything: set all of them to 0 in every call, before the "
                            "first kernel adds to them. cudaMemset counts bytes, 4 for each.",
                            function);
}

static void try_bytes(const bytes &in, int in_at = 0, int bins_at = 0)
{
    output<unsigned> bins(256);
    bins_are_overwritten("histogram");
    CALL(histogram, misaligned(in, in_at), in.size(), misaligned(bins, bins_at));
    expect_equal(bins, oracle::histogram(in), {},
                 [&] { return wrong_bytes(in, in_at, bins.values); });
}

static void try_tiles(const bytes &image, int width, int height, int tile, int image_at = 0,
                      int bins_at = 0)
{
    counts want = oracle::histogram_tiles(image, width, height, tile);
    output<unsigned> bins(want.size());
    bins_are_overwritten("histogram_tiles");
    hint_past_the_end("A tile at the right or the bottom edge has only as many columns and rows as "
                      "are left of the image: is its size cut in both directions?",
                      "image");
    CALL(histogram_tiles, misaligned(image, image_at), width, height, tile,
         misaligned(bins, bins_at));
    expect_equal(bins, want, {}, [&] { return wrong_tiles(image, width, height, tile); });
}

static void try_random_tiles(int width, int height, int tile, int image_at = 0, int bins_at = 0)
{
    try_tiles(random_bytes(std::size_t(width) * height), width, height, tile, image_at, bins_at);
}

// Of more tiles in one direction than a grid may have blocks in y or z, of a pixel each. All their
// bins would take long to simulate: there a few pixels are enough to see that kernels begin.
static void try_row_of_tiles(int width, int height)
{
    if (!simulated()) return try_random_tiles(width, height, 1);
    bytes image = random_bytes(1000);
    output<unsigned> bins(std::size_t(width) * height * 256);
    expect_launches("image", [&] { CALL(histogram_tiles, image, width, height, 1, bins); });
}

// Which numbers may be taken for ones of bin bin_count, which there is not.
static std::string behind_the_last_bin(const floats &in, const bin_range &r)
{
    bool rounded = false, outside = false;
    for (float x : in) {
        bool behind = std::floor((x - r.low) / r.width) == float(r.bins);
        (x < r.high() ? rounded : outside) |= behind;
    }
    std::string hint;
    if (outside) hint = "`high` itself and what lies above is outside: only x < high counts.";
    if (rounded)
        hint += std::string(outside ? " And just" : "Just") +
                " below `high` the difference x - low is rounded up to high - low, as if x were in "
                "bin bin_count: where x < low + b * width, x is in the bin before.";
    return hint;
}

static void try_range(const floats &in, const bin_range &r, int in_at = 0, int bins_at = 0)
{
    hint_past_the_end(behind_the_last_bin(in, r), "bins", std::size_t(r.bins) * sizeof(unsigned));
    output<unsigned> bins(std::size_t(r.bins));
    bins_are_overwritten("histogram_range");
    CALL(histogram_range, misaligned(in, in_at), int(in.size()), r.low, r.high(), r.bins,
         misaligned(bins, bins_at));
    expect_equal(bins, oracle::histogram_range(in, r.low, r.high(), r.bins), {},
                 [&] { return wrong_ranges(in, r, bins.values); });
}

// Around 16 bytes, warps, rows of 512 bytes, blocks.
static const int awkward_sizes[] = {1,   2,   15,  16,  17,   31,   32,   33,   255,
                                    256, 257, 511, 513, 1023, 1025, 8191, 8193, 16501};

struct bytes_and_counts {
    std::unique_ptr<unsigned char[]>
        memory; // not cleared: for billions of bytes that takes seconds
    std::span<const unsigned char> in;
    counts want;
};

// n bytes: `piece` over and over.
static bytes_and_counts repeated(const bytes &piece, std::size_t n)
{
    bytes_and_counts all{
        std::make_unique_for_overwrite<unsigned char[]>(n), {}, oracle::histogram(piece)};
    all.in = {all.memory.get(), n};
    in_ranges(n, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first, count; i < last; i += count) {
            const std::size_t at = i % piece.size();
            count = std::min(piece.size() - at, last - i);
            std::copy_n(piece.begin() + std::ptrdiff_t(at), count, &all.memory[i]);
        }
        return true;
    });
    const auto times = static_cast<unsigned>(n / piece.size());
    const counts left =
        oracle::histogram(bytes(piece.begin(), piece.begin() + std::ptrdiff_t(n % piece.size())));
    for (std::size_t v = 0; v < all.want.size(); ++v) all.want[v] = times * all.want[v] + left[v];
    return all;
}

// Nearly all bytes are equal, and so many that each warp comes to more of them than 16 bits count.
// A device of one multiprocessor needs the fewest: there it is enough for 16 warps, as many bytes
// as are raced, so that a thread that looks at more than its own still ends in time.
static void try_more_than_16_bits()
{
    limit_multiprocessors(1);
    constexpr std::size_t one_other_in = 64;
    constexpr double most_warps = 64, equal = 1 - 1.1 / one_other_in;
    const double warps = simulated() ? 16.5 : most_warps * device().multiprocessors;
    const double room = double(device().memory_bytes) / 32;
    bytes piece = spread_bytes(70003, spread::one_bin, random_source());
    for (std::size_t i = 0; i < piece.size(); i += one_other_in)
        piece[i] = static_cast<unsigned char>(random_between(0, 255));
    const bytes_and_counts all =
        repeated(piece, std::size_t(std::min(warps * 0x10000 / equal, room)));
    output<unsigned> bins(256);
    CALL(histogram, all.in, all.in.size(), bins);
    std::vector<misconception<unsigned>> known;
    add_overflow(known, bins.values, all.want);
    expect_equal(bins, all.want, {}, known);
}

// More bytes than 32 bits can count. Where there is no room for so many, that much is seen: told of
// them, the function goes on behind those that are there.
static void try_beyond_32_bits()
{
    constexpr std::size_t beyond = std::size_t{1} << 32, rest = 40000;
    const std::string next = "Which of your variables hold a number of elements, or an index? int "
                             "and unsigned have 32 bits, size_t has 64.";
    std::size_t host = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
    bool room = !simulated() && host >> 30 >= 48 && device().memory_bytes >> 30 >= 8;
    output<unsigned> bins(256);
    if (room) {
        const bytes_and_counts all = repeated(random_bytes((1 << 20) + 9), beyond + rest);
        const std::span<const unsigned char> in = all.in;
        CALL(histogram, in, in.size(), bins);
        auto of_first = [&](std::size_t count) {
            auto end = in.begin() + std::ptrdiff_t(std::min(count, in.size()));
            return [&in, end] { return oracle::histogram(bytes(in.begin(), end)); };
        };
        std::string counted = std::to_string(sum_of(bins));
        return expect_equal(
            bins, all.want, {},
            {{"n was taken as if it had 32 bits.", next, of_first(rest)},
             {"Only the first " + counted + " were counted.", next, of_first(sum_of(bins))}});
    }
    bytes in = random_bytes(1 << 16);
    if (reads_on("in", [&] { CALL(histogram, in, beyond + rest, bins); })) return;
    in.resize(rest);
    bool cut = bins.values == oracle::histogram(in);
    expect(false, verdict::WRONG_ANSWER,
           cut ? "Of 2^32 + 40000 bytes 40000 were counted: n was taken as if it had 32 bits."
               : "Told of 2^32 + 40000 bytes, histogram never looked behind the first 65536.",
           next);
}

// What is raced.

// Counts what is in [first, last) on all cores; count(i, bins) counts element i.
template <class F> static counts count_all(std::size_t n, std::size_t bins, F count)
{
    counts sum(bins);
    std::mutex one_at_a_time;
    in_ranges(n, [&](std::size_t first, std::size_t last) {
        counts mine(bins);
        for (std::size_t i = first; i < last; ++i) count(i, mine);
        std::lock_guard lock(one_at_a_time);
        for (std::size_t b = 0; b < bins; ++b) sum[b] += mine[b];
        return true;
    });
    return sum;
}

// A stretch of `values`, at most 4096 of them.
template <class T> static std::span<T> stretch_of(std::vector<T> &values, std::mt19937_64 &random)
{
    std::size_t count = std::min<std::size_t>(values.size(), 4096);
    return std::span(values).subspan(random() % (values.size() - count + 1), count);
}

namespace {

// The bytes of a file, or the pixels of an image where tile > 0.
class counting_bytes : public workload {
public:
    static int width(int tile) { return tile == 0 ? 1 : simulated() ? 1021 : 16381; }
    // Naive takes a fraction of a second for as many: its time grows with the bytes, of which it
    // counts a 16th.
    static constexpr std::size_t naive_part = 16;
    static std::size_t naive_size() { return simulated() ? size(0) : size(0) / naive_part; }
    static std::size_t size(int tile)
    {
        if (tile > 0) return std::size_t(width(tile)) * (simulated() ? 1027 : 16383);
        double most = std::min(double(1 << 28), double(device().memory_bytes) / 32);
        return simulated() ? (1 << 20) + 21 : std::size_t(most) - 37;
    }
    counting_bytes(std::mt19937_64 &random, spread how, int tile, std::size_t n)
        : tile_(tile),
          width_(width(tile)),
          in_(spread_bytes(n, how, random)),
          across_(tile == 0 ? 1 : (width_ - 1) / tile + 1),
          bins_(bin_count())
    {
        if (tile_ == 0)
            want_ = count_all(in_.size(), bins_.size(),
                              [this](std::size_t i, counts &bins) { ++bins[in_[i]]; });
        else
            count_tiles();
    }
    const char *function() const override { return tile_ == 0 ? "histogram" : "histogram_tiles"; }
    std::vector<argument> arguments() override
    {
        if (tile_ == 0) return remote<decltype(histogram)>::arguments(in_, in_.size(), bins_);
        return remote<decltype(histogram_tiles)>::arguments(in_, width_, height(), tile_, bins_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        std::span<unsigned char> stretch = stretch_of(in_, random);
        auto first = static_cast<std::size_t>(stretch.data() - in_.data());
        for (std::size_t i = first; i < first + stretch.size(); ++i) --want_[bin_of(i)];
        std::fill(stretch.begin(), stretch.end(), static_cast<unsigned char>(random() % 256));
        for (std::size_t i = first; i < first + stretch.size(); ++i) ++want_[bin_of(i)];
        return {std::as_writable_bytes(stretch)};
    }
    void check() override
    {
        if (tile_ == 0)
            return expect_equal(bins_, want_, {},
                                [&] { return wrong_bytes(in_, 0, bins_.values); });
        expect_equal(bins_, want_, {}, [&] { return wrong_tiles(in_, width_, height(), tile_); });
    }
    double bytes() const override { return double(in_.size()) + 4.0 * double(want_.size()); }

private:
    int height() const { return static_cast<int>(in_.size() / std::size_t(width_)); }
    // A row of tiles has bins of its own.
    void count_tiles()
    {
        const std::size_t rows = std::size_t(height()), w = std::size_t(width_),
                          t = std::size_t(tile_);
        want_.resize(bins_.size());
        in_ranges((rows - 1) / t + 1,
                  [&](std::size_t first, std::size_t last) {
                      for (std::size_t y = first * t; y < std::min(rows, last * t); ++y)
                          for (std::size_t x = 0; x < w; x += t) {
                              unsigned *bins = &want_[(y / t * std::size_t(across_) + x / t) * 256];
                              const unsigned char *in = &in_[y * w];
                              for (std::size_t k = x; k < std::min(w, x + t); ++k) ++bins[in[k]];
                          }
                      return true;
                  },
                  1);
    }
    std::size_t bin_count() const
    {
        return tile_ == 0 ? 256 : std::size_t(across_) * ((height() - 1) / tile_ + 1) * 256;
    }
    std::size_t bin_of(std::size_t i) const
    {
        if (tile_ == 0) return in_[i];
        std::size_t x = i % std::size_t(width_), y = i / std::size_t(width_), t = tile_;
        return (y / t * across_ + x / t) * 256 + in_[i];
    }

    int tile_, width_;
    ::bytes in_;
    int across_;
    counts want_;
    output<unsigned> bins_;
};

class counting_floats : public workload {
public:
    static std::size_t size()
    {
        double most = std::min(double(1 << 26), double(device().memory_bytes) / 128);
        return simulated() ? (1 << 20) + 21 : std::size_t(most) - 37;
    }
    explicit counting_floats(std::mt19937_64 &random) : in_(size()), bins_(range().bins)
    {
        fill_random(in_, random);
        want_ = count_all(in_.size(), bins_.size(), [this](std::size_t i, counts &bins) {
            if (std::size_t b = bin_of(in_[i]); b < bins.size()) ++bins[b];
        });
    }
    const char *function() const override { return "histogram_range"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(histogram_range)>::arguments(in_, int(in_.size()), range().low,
                                                            range().high(), range().bins, bins_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        std::span<float> stretch = stretch_of(in_, random);
        for (float x : stretch)
            if (std::size_t b = bin_of(x); b < want_.size()) --want_[b];
        fill_random(stretch, random);
        for (float x : stretch)
            if (std::size_t b = bin_of(x); b < want_.size()) ++want_[b];
        return {std::as_writable_bytes(stretch)};
    }
    void check() override
    {
        expect_equal(bins_, want_, {}, [&] { return wrong_ranges(in_, range(), bins_.values); });
    }
    double bytes() const override { return 4.0 * double(in_.size() + want_.size()); }

private:
    // The inputs, in [-1, 1), are multiples of 2^-23: so computed, the bin is exact. An eighth of
    // them lies outside.
    static bin_range range() { return {-0.875f, 0x1p-9f, 896}; }
    static std::size_t bin_of(float x)
    {
        double b = std::floor((double(x) - range().low) / range().width);
        return b < 0 ? ~std::size_t{0} : std::size_t(b);
    }

    floats in_;
    counts want_;
    output<unsigned> bins_;
};

} // namespace

static make_workload count_in(spread how, int tile, std::size_t n)
{
    return [=](std::mt19937_64 &random) {
        return std::make_unique<counting_bytes>(random, how, tile, n);
    };
}

static counted_gate global_atomics_an_element(std::size_t elements)
{
    // 0.23 where each of 264 blocks, two for each multiprocessor of an H200, adds its 896 bins.
    return at_most("global atomics an element", {0.25}, "",
                   "All that add to one address in global memory wait for each other. Let a block "
                   "count many elements in shared memory, and add its counts to the bins once.",
                   [=](const counted &c) { return double(c.global_atomics) / double(elements); });
}

// A byte a lane takes a request for 32 elements.
static counted_gate elements_loaded_once(std::size_t elements)
{
    return at_most(
        "requests to load 32 elements", {2}, "",
        "Every element is loaded many times. Let each thread count elements of its own, each of "
        "them once. Or are there other loads? An array of a thread's own, with an index that is "
        "computed, lies in memory, too: in local memory.",
        [=](const counted &c) { return 32 * memory_requests(c) / double(elements); });
}

// Every version of ours loads its inputs once, in tiles of an image up to twice. Counts that a
// thread keeps in local memory move 64 bytes for each that it adds. What loads ask for is counted
// and not the sectors that bring it: threads that each have a piece of their own load bytes 32
// apart, and the rest of a sector waits for them in the cache.
static counted_gate moved_once(std::size_t elements, std::size_t bytes)
{
    return at_most("bytes moved an element, of sectors loaded those asked for",
                   {6.0 * double(bytes)}, "bytes",
                   "Counts that every thread keeps for itself lie in local memory, which is "
                   "device memory. Let a block count in shared memory.",
                   [=](const counted &c) {
                       constexpr double sector_bytes = 32;
                       double otherwise = moved_sectors(c) - double(c.load_sectors);
                       return (double(c.load_bytes) + sector_bytes * otherwise) / double(elements);
                   });
}

static counted_gate lanes_on_one_address()
{
    return at_most("lanes of an atomic on one address", {0, 0, 2}, "", "", [](const counted &c) {
        return c.atomic_requests ? double(c.atomic_same_address) / double(c.atomic_requests) : 1;
    });
}

static speed_gates gates(double speedup, const steps &copy, std::size_t elements, std::size_t bytes)
{
    speed_gates gates;
    gates.speedup = speedup;
    gates.copy = copy;
    gates.counted = {global_atomics_an_element(elements), elements_loaded_once(elements),
                     moved_once(elements, bytes), blocks_share(4), lanes_at_work()};
    gates.too_slow = "Does a block count in shared memory? Then bytes on their way: 16 a load, "
                     "several loads before the first count; and lanes that do not meet.";
    return gates;
}

static void race_bytes(spread how)
{
    speed_gates g = gates(20, {0.12, 0.35, 0}, counting_bytes::size(0), 1);
    if (how != spread::uniform) g.counted.push_back(lanes_on_one_address());
    const std::size_t n = counting_bytes::size(0), of_naive = counting_bytes::naive_size();
    g.naive_share = double(of_naive) / double(n);
    race(count_in(how, 0, n), g, count_in(how, 0, of_naive));
}

CORRECTNESS_CASE("histogram: a small array", 0.5)
{
    try_bytes({3, 0, 255, 3, 3, 128, 127, 0, 3, 7});
    try_bytes(random_bytes(10));
}

CORRECTNESS_CASE("histogram: any bytes", 0.5)
{
    bytes in;
    for (int v = 0; v < 256; ++v) in.insert(in.end(), std::size_t(1 + v * 5 % 17), v);
    std::shuffle(in.begin(), in.end(), random_source());
    try_bytes(in);
}

CORRECTNESS_CASE("histogram: sizes around 16 bytes, a warp and a block", 1.5)
{
    for (int n : awkward_sizes) try_bytes(random_bytes(std::size_t(n)));
}

CORRECTNESS_CASE("histogram: arrays that begin anywhere", 1.5)
{
    for (int at = 0; at < 16; ++at) try_bytes(random_bytes(1237), at, at % 5);
    for (int n = 1; n < 20; ++n) try_bytes(random_bytes(std::size_t(n)), 20 - n);
    try_bytes(random_bytes(5003), 31, 9);
}

CORRECTNESS_CASE("histogram: skewed, one bin, an image", 1.5)
{
    for (spread how : {spread::skewed, spread::one_bin, spread::image})
        try_bytes(spread_bytes(70003, how, random_source()));
    try_more_than_16_bits();
}

CORRECTNESS_CASE("histogram: many blocks", 0.5)
{
    try_bytes(random_bytes(simulated() ? 300007 : 90000007));
}

CORRECTNESS_CASE("histogram: no bytes", 0.5)
{
    try_bytes(random_bytes(2)); // nothing at all is no answer
    try_bytes({});
}

CORRECTNESS_CASE("histogram: more than 2^32 bytes", 1.5) { try_beyond_32_bits(); }

SPEED_CASE("histogram: speed, uniform", 4, 2) { race_bytes(spread::uniform); }

SPEED_CASE("histogram: speed, 90 % in one bin", 4, 2) { race_bytes(spread::skewed); }

SPEED_CASE("histogram: speed, one bin", 3, 1.5) { race_bytes(spread::one_bin); }

SPEED_CASE("histogram: speed, an image", 3, 1.5) { race_bytes(spread::image); }

CORRECTNESS_CASE("histogram_tiles: a small image", 0.5)
{
    try_tiles({1, 1, 7, 7, 2, 1, 7, 9, 0, 0, 4, 4, 0, 3, 4, 255}, 4, 4, 2);
    try_random_tiles(4, 4, 2);
}

CORRECTNESS_CASE("histogram_tiles: ragged edges", 1.5)
{
    try_random_tiles(70, 64, 16);
    try_random_tiles(64, 71, 16);
    try_random_tiles(67, 35, 16);
    try_random_tiles(101, 203, 50);
}

CORRECTNESS_CASE("histogram_tiles: tiles of every size", 1.5)
{
    for (int tile : {1, 2, 3, 5}) try_random_tiles(13, 11, tile);
    for (int tile : {15, 16, 17, 31, 33, 64}) try_random_tiles(97, 83, tile);
    for (int tile : {96, 97, 98, 1000}) try_random_tiles(97, 83, tile);
    try_random_tiles(701, 1, 64);
    try_random_tiles(1, 701, 64);
    try_row_of_tiles(1, 70000);
    try_row_of_tiles(70000, 1);
}

CORRECTNESS_CASE("histogram_tiles: an image", 0.5)
{
    picture p = read_picture("harbour.pgm");
    try_tiles(p.pixels, p.width, p.height, 64);
}

CORRECTNESS_CASE("histogram_tiles: images that begin anywhere", 0.5)
{
    for (int at = 0; at < 16; ++at) try_random_tiles(53, 37, 20, at, at % 3);
}

CORRECTNESS_CASE("histogram_tiles: no pixels", 0.5)
{
    try_random_tiles(2, 1, 4);
    try_tiles({}, 0, 5, 4);
    try_tiles({}, 5, 0, 4);
}

SPEED_CASE("histogram_tiles: speed", 4, 1.5)
{
    race(count_in(spread::image, 128, counting_bytes::size(128)),
         gates(2, {0, 0.15, 0}, counting_bytes::size(128), 1));
}

CORRECTNESS_CASE("histogram_range: a small array", 0.5)
{
    try_range({0.5f, 0, 3.75f, 2, 2.5f, 1, 3, 0.25f}, {0, 1, 4});
    try_range(floats_around({0, 1, 4}, 8), {0, 1, 4});
}

// Just below, at and just above each bound, inside the range.
CORRECTNESS_CASE("histogram_range: numbers at the bounds", 1.5)
{
    for (const bin_range &r : {bin_range{-1, 0.25f, 8}, bin_range{-2, 2, 3},
                               bin_range{-1000, 0x1p-3f, 2048}, bin_range{7, 1, 5}}) {
        floats in = {-1e-45f, -0.0f, 1e-45f, -1e-30f, -1e-9f};
        std::erase_if(in, [&](float x) { return x < r.low; });
        for (int b = 0; b <= r.bins; ++b) {
            float bound = r.low + float(b) * r.width, lowest = std::nextafter(bound, -1e9f);
            if (b > 0) in.push_back(lowest);
            if (b < r.bins) in.insert(in.end(), {bound, std::nextafter(bound, 1e9f)});
        }
        try_range(in, r);
    }
}

CORRECTNESS_CASE("histogram_range: outside, infinity and NaN", 0.5)
{
    using limits = std::numeric_limits<float>;
    bin_range r{-1, 0.25f, 8};
    floats in = floats_around(r, 999);
    try_range(in, r);
    float below = std::nextafter(r.low, -9.0f), above = std::nextafter(r.high(), 9.0f);
    for (float x : {limits::infinity(), limits::quiet_NaN(), limits::max(), limits::lowest(), below,
                    above, r.high(), -limits::infinity(), -limits::quiet_NaN(), 3e9f, -3e9f})
        in.insert(in.end(), 3, x);
    try_range(in, r);
}

CORRECTNESS_CASE("histogram_range: any number of bins", 1.5)
{
    for (int bins : {1, 2, 3, 7, 31, 33, 255, 256, 257, 511, 513, 1000, 1025, 2047, 2048}) {
        bin_range r{-3, 0x1p-4f, bins};
        try_range(floats_around(r, 3001), r);
    }
}

CORRECTNESS_CASE("histogram_range: arrays of any size that begin anywhere", 0.5)
{
    bin_range r{2, 0.5f, 100};
    for (int n : awkward_sizes) try_range(floats_around(r, std::size_t(n)), r, n % 4, n % 7);
    try_range(floats_around(r, simulated() ? 100003 : 30000001), r);
}

CORRECTNESS_CASE("histogram_range: no elements", 0.5)
{
    try_range(floats_around({0, 1, 4}, 2), {0, 1, 4});
    try_range({}, {0, 1, 4});
}

SPEED_CASE("histogram_range: speed", 4, 1.5)
{
    auto make = [](std::mt19937_64 &random) { return std::make_unique<counting_floats>(random); };
    race(make, gates(10, {0.30, 0.50, 0}, counting_floats::size(), sizeof(float)));
}
