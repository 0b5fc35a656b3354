// Grades lab 08, histogram.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <numeric>
#include <string>

using namespace grading;

// One call each. The places say how many elements past a 256-byte boundary an array begins.
static void must_begin_at_0(const char *function, const std::string &result)
{
    reading_an_output_means("Elements were added to the old contents of `" + result + "`.",
                            "They are undefined: all must be 0 before the first kernel adds to "
                            "them, in every call. cudaMemset counts bytes, not numbers.",
                            function);
}

static void try_sum(const ints &in, int in_at = 0, int out_at = 0)
{
    must_begin_at_0("sum", "*out");
    hint_past_the_end("If it is `in`: the last block may have threads without an element, and they "
                      "add 0. If it is shared memory: in each step of a tree only the threads of "
                      "the lower half add; the others would read beyond the array.",
                      "in");
    hint_race("Do several threads add to one number by +=? No barrier helps there. Else: a step of "
              "a tree reads what others wrote in the one before: is a barrier in between? And all "
              "blocks share `*out`: there only an atomic adds correctly.");
    hint_barrier("All threads of a block must reach each of its barriers: leave the barrier out of "
                 "the `if`, and let a thread without an element add 0 instead of returning.");
    output<long long> out(1);
    CALL(sum, misaligned(in, in_at), misaligned(out, out_at), int(in.size()));
    expect_equal(out, oracle::sum(in), {}, [&] { return wrong_sums(in, out[0]); });
}

static output<unsigned> bins_of(const char *function, std::size_t count)
{
    results_are_counts();
    must_begin_at_0(function, "bins");
    return output<unsigned>(count);
}

static void try_bytes(const bytes &in, int in_at = 0, int bins_at = 0)
{
    output<unsigned> bins = bins_of("histogram", 256);
    hint_misaligned("A load of several bytes at once, as in TODO 11, needs an address that is a "
                    "multiple of their number, and `in` may begin anywhere: count the bytes before "
                    "the first such address one by one, and those after the last.");
    CALL(histogram, misaligned(in, in_at), in.size(), misaligned(bins, bins_at));
    expect_equal(bins, oracle::histogram(in), {},
                 [&] { return wrong_bytes(in, in_at, bins.values); });
}

static void try_tiles(const bytes &image, int width, int height, int tile, int image_at = 0,
                      int bins_at = 0)
{
    const counts want = oracle::histogram_tiles(image, width, height, tile);
    output<unsigned> bins = bins_of("histogram_tiles", want.size());
    hint_past_the_end("If it is shared memory: how many numbers has the array, and what is the "
                      "largest index? If it is `image`: a tile at the right or the bottom edge has "
                      "only the columns and rows that are left. Is its size limited in both "
                      "directions?",
                      "image");
    CALL(histogram_tiles, misaligned(image, image_at), width, height, tile,
         misaligned(bins, bins_at));
    expect_equal(bins, want, {}, [&] { return wrong_tiles(image, width, height, tile); });
}

static void try_random_tiles(int width, int height, int tile, int image_at = 0, int bins_at = 0)
{
    try_tiles(uniform_bytes(std::size_t(width) * height), width, height, tile, image_at, bins_at);
}

// There are more tiles in one direction than a grid may have blocks in y or z, of a pixel each. All
// their bins would take long to simulate: there a few pixels are enough to see that kernels begin.
static void try_row_of_tiles(int width, int height)
{
    if (!simulated()) return try_random_tiles(width, height, 1);
    const bytes image = uniform_bytes(1000);
    output<unsigned> bins(std::size_t(width) * height * 256);
    expect_launches("image", [&] { CALL(histogram_tiles, image, width, height, 1, bins); });
}

static void try_range(const floats &in, const bin_range &r, int in_at = 0, int bins_at = 0)
{
    hint_past_the_end(behind_the_last_bin(in, r), "bins", std::size_t(r.bins) * sizeof(unsigned));
    output<unsigned> bins = bins_of("histogram_range", std::size_t(r.bins));
    CALL(histogram_range, misaligned(in, in_at), int(in.size()), r.low, r.high(), r.bins,
         misaligned(bins, bins_at));
    expect_equal(bins, oracle::histogram_range(in, r.low, r.high(), r.bins), {},
                 [&] { return wrong_ranges(in, r, bins.values); });
}

static void race_bytes(spread how)
{
    const std::size_t n = bytes_to_count();
    race(count_bytes(how, n), fast_bytes(how), count_bytes(how, for_naive(n)));
}

static std::size_t many(std::size_t in_simulator) { return simulated() ? in_simulator : 2000003; }

// Each digit of the sum is that of one element: what is missing shows.
CORRECTNESS_CASE("sum: a small array", 0.5)
{
    try_sum({1, 20, 300, 4000, 50000, 600000, 7000000, 80000000});
    for (const ints &in : {ints{-5}, any_ints(10)}) try_sum(in);
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

CORRECTNESS_CASE("sum: many blocks", 0.5) { try_sum(any_ints(many((1 << 20) + 77))); }

// Nothing at all is no answer, here and below.
CORRECTNESS_CASE("sum: no elements", 0.5)
{
    for (int n : {2, 0}) try_sum(any_ints(n));
}

SPEED_CASE("sum: few atomics", 1.5, 0) { race(add_ints(counted_ints), few_atomics()); }
SPEED_CASE("sum: few barriers", 1.5, 0) { race(add_ints(counted_ints), few_barriers()); }
SPEED_CASE("sum: speed", 2, 1.5)
{
    race(add_ints(words_to_read()), fast_sum(), add_ints(for_naive(words_to_read())));
}

CORRECTNESS_CASE("histogram: a small array", 0.5)
{
    try_bytes({3, 0, 255, 3, 3, 128, 127, 0, 3, 7});
    try_bytes(uniform_bytes(10));
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
    for (int n : awkward_sizes) try_bytes(uniform_bytes(std::size_t(n)));
}

CORRECTNESS_CASE("histogram: arrays that begin anywhere", 1)
{
    for (int at = 0; at < 16; ++at) try_bytes(uniform_bytes(1237), at, at % 5);
    for (int n = 1; n < 20; ++n) try_bytes(uniform_bytes(std::size_t(n)), 20 - n);
    try_bytes(uniform_bytes(5003), 31, 9);
}

CORRECTNESS_CASE("histogram: skewed, one bin, an image", 1)
{
    for (spread how : {spread::skewed, spread::one_bin, spread::image})
        try_bytes(spread_bytes(70003, how, random_source()));
    limit_multiprocessors(1); // with the fewest warps, so that each gets many bytes
    const many_bytes all = more_than_16_bits();
    const counts want = all.counts_of_first(all.n);
    output<unsigned> bins(256);
    CALL(histogram, all.in(), all.n, bins);
    expect_equal(bins, want, {}, [&] { return short_counters(bins.values, want); });
}

CORRECTNESS_CASE("histogram: many blocks", 0.5) { try_bytes(uniform_bytes(many(300007))); }

CORRECTNESS_CASE("histogram: no bytes", 0.5)
{
    for (std::size_t n : {2, 0}) try_bytes(uniform_bytes(n));
}

// Without memory for that many, the grader only checks that the function, called for them, reads on
// beyond those that exist.
CORRECTNESS_CASE("histogram: more than 2^32 bytes", 1)
{
    constexpr std::size_t beyond = std::size_t{1} << 32, rest = 40000;
    const std::string next = "Which of your variables hold a number of elements, or an index? int "
                             "and unsigned have 32 bits, size_t has 64.";
    output<unsigned> bins(256);
    if (there_is_room_for_more_than_32_bits()) {
        const many_bytes all{uniform_bytes((1 << 20) + 9), beyond + rest};
        CALL(histogram, all.in(), all.n, bins);
        const std::size_t n =
            std::accumulate(bins.values.begin(), bins.values.end(), std::size_t{0});
        return expect_equal(
            bins, all.counts_of_first(all.n), {},
            {{"n was taken as if it had 32 bits.", next, [&] { return all.counts_of_first(rest); }},
             {"Only the first " + std::to_string(n) + " were counted.", next,
              [&] { return all.counts_of_first(n); }}});
    }
    bytes in = uniform_bytes(1 << 16);
    if (reads_on("in", [&] { CALL(histogram, in, beyond + rest, bins); })) return;
    in.resize(rest);
    expect(false, verdict::WRONG_ANSWER,
           bins.values == oracle::histogram(in)
               ? "Of 2^32 + 40000 bytes 40000 were counted: n was taken as if it had 32 bits."
               : "Called for 2^32 + 40000 bytes, histogram never read beyond the first 65536.",
           next);
}

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
    for (auto [w, h] : {std::array{70, 64}, {64, 71}, {67, 35}}) try_random_tiles(w, h, 16);
    try_random_tiles(101, 203, 50);
}

CORRECTNESS_CASE("histogram_tiles: tiles of every size", 1)
{
    for (int tile : {1, 2, 3, 5}) try_random_tiles(13, 11, tile);
    for (int tile : {15, 16, 17, 31, 33, 64, 96, 97, 98, 1000}) try_random_tiles(97, 83, tile);
    try_random_tiles(701, 1, 64);
    try_random_tiles(1, 701, 64);
    try_row_of_tiles(1, 70000);
    try_row_of_tiles(70000, 1);
}

CORRECTNESS_CASE("histogram_tiles: an image", 0.5)
{
    const picture p = read_picture("harbour.pgm");
    try_tiles(p.pixels, p.width, p.height, 64);
}

CORRECTNESS_CASE("histogram_tiles: images that begin anywhere", 0.5)
{
    for (int at = 0; at < 16; ++at) try_random_tiles(53, 37, 20, at, at % 3);
}

CORRECTNESS_CASE("histogram_tiles: no pixels", 0.5)
{
    for (auto [w, h] : {std::array{2, 1}, {0, 5}, {5, 0}}) try_random_tiles(w, h, 4);
}

SPEED_CASE("histogram_tiles: speed", 3, 1.5) { race(count_pixels(), fast_tiles()); }

CORRECTNESS_CASE("histogram_range: a small array", 0.5)
{
    try_range({0.5f, 0, 3.75f, 2, 2.5f, 1, 3, 0.25f}, {0, 1, 4});
    try_range(floats_around({0, 1, 4}, 8), {0, 1, 4});
}

CORRECTNESS_CASE("histogram_range: numbers at the bounds", 1.5)
{
    for (const bin_range &r : {bin_range{-1, 0.25f, 8}, bin_range{-2, 2, 3},
                               bin_range{-1000, 0x1p-3f, 2048}, bin_range{7, 1, 5}})
        try_range(floats_at_bounds(r), r);
}

CORRECTNESS_CASE("histogram_range: outside, infinity and NaN", 0.5)
{
    const bin_range r{-1, 0.25f, 8};
    floats in = floats_around(r, 999);
    try_range(in, r);
    for (float x : floats_outside(r)) in.insert(in.end(), 3, x);
    try_range(in, r);
}

CORRECTNESS_CASE("histogram_range: any number of bins", 1)
{
    for (int bins : {1, 2, 3, 7, 31, 33, 255, 256, 257, 511, 513, 1000, 1025, 2047, 2048})
        try_range(floats_around({-3, 0x1p-4f, bins}, 3001), {-3, 0x1p-4f, bins});
}

CORRECTNESS_CASE("histogram_range: arrays of any size that begin anywhere", 0.5)
{
    const bin_range r{2, 0.5f, 100};
    for (int n : awkward_sizes) try_range(floats_around(r, std::size_t(n)), r, n % 4, n % 7);
    try_range(floats_around(r, many(100003)), r);
}

CORRECTNESS_CASE("histogram_range: no elements", 0.5)
{
    for (std::size_t n : {2, 0}) try_range(floats_around({0, 1, 4}, n), {0, 1, 4});
}

SPEED_CASE("histogram_range: speed", 3, 1.5) { race(count_floats(), fast_ranges()); }
