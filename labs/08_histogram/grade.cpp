// Grades lab 08, histogram.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

using namespace grading;

// The sum of only a few of them needs more than 32 bits.
static ints any_ints(int n) { return random_ints(std::size_t(n), INT_MIN, INT_MAX); }

static bytes random_bytes(std::size_t n)
{
    return spread_bytes(n, spread::uniform, random_source());
}

// The same, where some lie outside.
static floats floats_around(const bin_range &r, std::size_t n)
{
    float margin = std::max(r.high() - r.low, r.width) / 16;
    return random_floats(n, r.low - margin, r.high() + margin);
}

// Sizes around 16 bytes, warps, rows of 512 bytes, blocks.
static const int awkward_sizes[] = {1,   2,   15,  16,  17,   31,   32,   33,   255,
                                    256, 257, 511, 513, 1023, 1025, 8191, 8193, 16501};

// One call each. The places say how many elements past a 256-byte boundary an array begins.

static void bins_are_overwritten(const char *function)
{
    results_are_counts();
    reading_an_output_means(
        "The counts were added to the old contents of `bins`.",
        "The contents of `bins` are undefined: set all of them to 0 in every call, before the "
        "first kernel adds to them. cudaMemset counts bytes, 4 for each.",
        function);
}

static void try_sum(const ints &in, int in_at = 0, int out_at = 0)
{
    reading_an_output_means(
        "The elements were added to the old contents of `*out`.",
        "The contents of `*out` are undefined: set it to 0 in every call, before the first kernel "
        "adds to it. cudaMemset counts bytes, and a long long has 8.",
        "sum");
    hint_past_the_end("The last block may have threads without an element: they add 0.", "in");
    hint_race(
        "Each step of a tree reads sums that others wrote in the one before: is there a barrier in "
        "between? And all blocks share `*out`: there only an atomic adds correctly.");
    hint_barrier("All threads of a block must reach each of its barriers: leave the barrier out of "
                 "the `if`, and let a thread without an element add 0 instead of returning.");
    output<long long> out(1);
    CALL(sum, misaligned(in, in_at), misaligned(out, out_at), int(in.size()));
    expect_equal(out, oracle::sum(in), {}, [&] { return wrong_sums(in, out[0]); });
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
    hint_past_the_end("A tile at the right or the bottom edge has only the columns and rows that "
                      "are left of the image: is its size limited in both directions?",
                      "image");
    CALL(histogram_tiles, misaligned(image, image_at), width, height, tile,
         misaligned(bins, bins_at));
    expect_equal(bins, want, {}, [&] { return wrong_tiles(image, width, height, tile); });
}

static void try_random_tiles(int width, int height, int tile, int image_at = 0, int bins_at = 0)
{
    try_tiles(random_bytes(std::size_t(width) * height), width, height, tile, image_at, bins_at);
}

// There are more tiles in one direction than a grid may have blocks in y or z, of a pixel each. All
// their bins would take long to simulate: there a few pixels are enough to see that kernels begin.
static void try_row_of_tiles(int width, int height)
{
    if (!simulated()) return try_random_tiles(width, height, 1);
    bytes image = random_bytes(1000);
    output<unsigned> bins(std::size_t(width) * height * 256);
    expect_launches("image", [&] { CALL(histogram_tiles, image, width, height, 1, bins); });
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

// Nearly all bytes are equal, and each warp gets more of them than 16 bits can count.
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
    const repeated all(piece, std::size_t(std::min(warps * 0x10000 / equal, room)));
    output<unsigned> bins(256);
    CALL(histogram, all.in, all.in.size(), bins);
    std::vector<misconception<unsigned>> known;
    add_overflow(known, bins.values, all.want);
    expect_equal(bins, all.want, {}, known);
}

// More bytes than 32 bits can count. Without memory for that many, the grader only checks that the
// function, called for them, reads on beyond those that exist.
static void try_beyond_32_bits()
{
    constexpr std::size_t beyond = std::size_t{1} << 32, rest = 40000;
    const std::string next = "Which of your variables hold a number of elements, or an index? int "
                             "and unsigned have 32 bits, size_t has 64.";
    std::size_t host = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
    bool room = !simulated() && host >> 30 >= 48 && device().memory_bytes >> 30 >= 8;
    output<unsigned> bins(256);
    if (room) {
        const repeated all(random_bytes((1 << 20) + 9), beyond + rest);
        const std::span<const unsigned char> in = all.in;
        CALL(histogram, in, in.size(), bins);
        auto of_first = [&](std::size_t count) {
            auto end = in.begin() + std::ptrdiff_t(std::min(count, in.size()));
            return [&in, end] { return oracle::histogram(bytes(in.begin(), end)); };
        };
        const std::size_t counted =
            std::accumulate(bins.values.begin(), bins.values.end(), std::size_t{0});
        return expect_equal(bins, all.want, {},
                            {{"n was taken as if it had 32 bits.", next, of_first(rest)},
                             {"Only the first " + std::to_string(counted) + " were counted.", next,
                              of_first(counted)}});
    }
    bytes in = random_bytes(1 << 16);
    if (reads_on("in", [&] { CALL(histogram, in, beyond + rest, bins); })) return;
    in.resize(rest);
    bool cut = bins.values == oracle::histogram(in);
    expect(false, verdict::WRONG_ANSWER,
           cut ? "Of 2^32 + 40000 bytes 40000 were counted: n was taken as if it had 32 bits."
               : "Called for 2^32 + 40000 bytes, histogram never read beyond the first 65536.",
           next);
}

// The part of the work that naive does where it is timed, in elements.
static std::size_t for_naive(std::size_t n) { return simulated() ? n : n / naive_part; }

static counted_gate few_atomics(std::size_t elements)
{
    return at_most("global atomics per element", {1.0 / 32}, "",
                   "All atomics on one address wait for each other. Let the threads of a block add "
                   "up their shares of the sum, and one of them add the result to `*out`.",
                   [=](const counted &c) { return double(c.global_atomics) / double(elements); });
}

// Counts how often threads combine their partial sums, in any way. Per element, in blocks of 256:
// one atomic per element 1; a tree 0.63, or 0.32 with two elements per thread; a tree of the warps'
// sums 0.26; shuffles twice 0.07; and proportionally less with more elements per thread.
static counted_gate few_exchanges(std::size_t elements, double limit, const std::string &meaning)
{
    return at_most("atomics, barriers and passes over shared memory per element", {limit}, "",
                   meaning, [=](const counted &c) {
                       return double(c.global_atomics + c.barriers + c.shared_wavefronts) /
                              double(elements);
                   });
}

static counted_gate global_atomics_per_element(std::size_t elements)
{
    // 0.23 where each of 264 blocks, two for each multiprocessor of an H200, adds its 896 bins.
    return at_most(
        "global atomics per element", {0.25}, "",
        "Threads that add to one address in global memory wait for each other. Let a block count "
        "many elements in shared memory, and add its counts to the bins once.",
        [=](const counted &c) { return double(c.global_atomics) / double(elements); });
}

// One byte per lane takes one request for 32 elements.
static counted_gate elements_loaded_once(std::size_t elements)
{
    return at_most(
        "requests to load 32 elements", {2}, "",
        "Every element is loaded many times. Let each thread count elements of its own, each of "
        "them once. Or are there other loads? A thread's own array with an index that is not known "
        "to the compiler lies in memory, too: in local memory.",
        [=](const counted &c) { return 32 * memory_requests(c) / double(elements); });
}

// Loads count by the bytes requested, not by sectors: threads that each have a piece of their own
// load bytes 32 apart, and the rest of each sector stays in the cache for them.
static counted_gate moved_once(std::size_t elements, double limit, const std::string &meaning)
{
    return at_most("bytes moved per element, loads by the bytes requested", {limit}, "bytes",
                   meaning, [=](const counted &c) {
                       constexpr double sector_bytes = 32;
                       double otherwise = moved_sectors(c) - double(c.load_sectors);
                       return (double(c.load_bytes) + sector_bytes * otherwise) / double(elements);
                   });
}

// A tree in steps of one launch each moves 12 bytes per element, and more.
static speed_gates gates_of_sum(std::size_t elements, const counted_gate &gate)
{
    speed_gates gates;
    gates.counted = {
        gate,
        moved_once(elements, 6,
                   "Every element should be read once, by one thread. Intermediate sums go through "
                   "shuffles and shared memory, and through device memory at most one per block."),
        blocks_share(4), lanes_at_work()};
    return gates;
}

static counted_gate lanes_on_one_address()
{
    return at_most("lanes of an atomic on one address", {0, 0, 2}, "", "", [](const counted &c) {
        return c.atomic_requests ? double(c.atomic_same_address) / double(c.atomic_requests) : 1;
    });
}

// Every version of ours loads its inputs once, in tiles of an image up to twice. Counts that a
// thread keeps in local memory move 64 bytes for each that it adds.
static speed_gates gates(double speedup, const steps &copy, std::size_t elements, std::size_t bytes)
{
    speed_gates gates;
    gates.speedup = speedup;
    gates.copy = copy;
    gates.counted = {
        global_atomics_per_element(elements), elements_loaded_once(elements),
        moved_once(elements, 6.0 * double(bytes),
                   "Counts that every thread keeps for itself lie in local memory, which is part "
                   "of device memory. Let a block count in shared memory."),
        blocks_share(4), lanes_at_work()};
    gates.too_slow = "Does a block count in shared memory? Then get more bytes in flight: 16 per "
                     "load, several loads before the first count; and keep lanes from colliding.";
    return gates;
}

static void race_bytes(spread how)
{
    speed_gates g = gates(20, {0.12, 0.35, 0}, bytes_to_count(0), 1);
    if (how != spread::uniform) g.counted.push_back(lanes_on_one_address());
    const std::size_t n = bytes_to_count(0), of_naive = for_naive(n);
    g.naive_share = double(of_naive) / double(n);
    race(count_in(how, 0, n), g, count_in(how, 0, of_naive));
}

// Each digit of the sum is that of one element: what is missing shows.
CORRECTNESS_CASE("sum: a small array", 0.5)
{
    try_sum({1, 20, 300, 4000, 50000, 600000, 7000000, 80000000});
    try_sum({-5});
    try_sum(any_ints(10));
}

CORRECTNESS_CASE("sum: sizes around a warp and a block", 0.5)
{
    try_sum(any_ints(1000)); // where each kind of mistake gives another sum
    for (int n : awkward_sizes) try_sum(any_ints(n));
}

CORRECTNESS_CASE("sum: more than an int holds", 0.5)
{
    for (const ints &in : {ints{INT_MAX, 1}, ints{INT_MIN, -1}, ints(1000, INT_MAX),
                           ints(1000, INT_MIN), ints(3, -1)})
        try_sum(in);
}

CORRECTNESS_CASE("sum: arrays that begin anywhere", 0.5)
{
    for (int at = 0; at < 8; ++at) try_sum(any_ints(1237), at, at % 3);
    for (int n = 1; n < 20; ++n) try_sum(any_ints(n), 20 - n);
}

CORRECTNESS_CASE("sum: many blocks", 0.5)
{
    try_sum(any_ints(simulated() ? (1 << 20) + 77 : 9000007));
}

CORRECTNESS_CASE("sum: no elements", 0.5)
{
    try_sum({3, -1}); // nothing at all is no answer
    try_sum({});
}

// Enough for what is counted per element, and cheap for naive.
constexpr std::size_t counted_ints = (1 << 17) + 21;

SPEED_CASE("sum: few atomics", 1.5, 0)
{
    race(add_ints(counted_ints), gates_of_sum(counted_ints, few_atomics(counted_ints)));
}

SPEED_CASE("sum: few barriers", 1.5, 0)
{
    const std::string shuffles = "Lanes of a warp exchange values by shuffles, without shared "
                                 "memory or a barrier. Only one value per warp needs those.";
    race(add_ints(counted_ints),
         gates_of_sum(counted_ints, few_exchanges(counted_ints, 0.3, shuffles)));
}

SPEED_CASE("sum: speed", 2, 1.5)
{
    const std::size_t n = words_to_read(), of_naive = for_naive(n);
    const std::string many = "Let each thread add up many elements before they are combined.";
    speed_gates g = gates_of_sum(n, few_exchanges(n, 0.03, many));
    g.speedup = 300; // one exchange per block of 256 elements reaches 180 on an H200
    g.copy = {0.30, 0.60, 0};
    g.naive_share = double(of_naive) / double(n);
    g.too_slow = "As many blocks as the device runs at a time are enough. Then get more bytes in "
                 "flight: 16 per load, and several loads before the first addition.";
    race(add_ints(n), g, add_ints(of_naive));
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

CORRECTNESS_CASE("histogram: sizes around 16 bytes, a warp and a block", 1)
{
    for (int n : awkward_sizes) try_bytes(random_bytes(std::size_t(n)));
}

CORRECTNESS_CASE("histogram: arrays that begin anywhere", 1)
{
    for (int at = 0; at < 16; ++at) try_bytes(random_bytes(1237), at, at % 5);
    for (int n = 1; n < 20; ++n) try_bytes(random_bytes(std::size_t(n)), 20 - n);
    try_bytes(random_bytes(5003), 31, 9);
}

CORRECTNESS_CASE("histogram: skewed, one bin, an image", 1)
{
    for (spread how : {spread::skewed, spread::one_bin, spread::image})
        try_bytes(spread_bytes(70003, how, random_source()));
    try_more_than_16_bits();
}

CORRECTNESS_CASE("histogram: many blocks", 0.5)
{
    try_bytes(random_bytes(simulated() ? 300007 : 9000007));
}

CORRECTNESS_CASE("histogram: no bytes", 0.5)
{
    try_bytes(random_bytes(2)); // nothing at all is no answer
    try_bytes({});
}

CORRECTNESS_CASE("histogram: more than 2^32 bytes", 1) { try_beyond_32_bits(); }

SPEED_CASE("histogram: speed, uniform", 2, 1.5) { race_bytes(spread::uniform); }
SPEED_CASE("histogram: speed, 90 % in one bin", 3, 1.5) { race_bytes(spread::skewed); }
SPEED_CASE("histogram: speed, one bin", 3, 1.5) { race_bytes(spread::one_bin); }
SPEED_CASE("histogram: speed, an image", 3, 1) { race_bytes(spread::image); }

CORRECTNESS_CASE("histogram_tiles: a small image", 0.5)
{
    try_tiles({1, 1, 7, 7, 2, 1, 7, 9, 0, 0, 4, 4, 0, 3, 4, 255}, 4, 4, 2);
    try_random_tiles(4, 4, 2);
}

CORRECTNESS_CASE("histogram_tiles: ragged edges", 1.5)
{
    for (auto [width, height, tile] :
         {std::array{70, 64, 16}, {64, 71, 16}, {67, 35, 16}, {101, 203, 50}})
        try_random_tiles(width, height, tile);
}

CORRECTNESS_CASE("histogram_tiles: tiles of every size", 1)
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

SPEED_CASE("histogram_tiles: speed", 3, 1.5)
{
    race(count_in(spread::image, 128, bytes_to_count(128)),
         gates(2, {0, 0.15, 0}, bytes_to_count(128), 1));
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

CORRECTNESS_CASE("histogram_range: any number of bins", 1)
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
    try_range(floats_around(r, simulated() ? 100003 : 9000001), r);
}

CORRECTNESS_CASE("histogram_range: no elements", 0.5)
{
    try_range(floats_around({0, 1, 4}, 2), {0, 1, 4});
    try_range({}, {0, 1, 4});
}

SPEED_CASE("histogram_range: speed", 3, 1.5)
{
    race(count_floats(), gates(10, {0.30, 0.50, 0}, words_to_read(), sizeof(float)));
}
