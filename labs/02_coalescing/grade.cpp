// Grades lab 02, coalescing.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "quizzes.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

using namespace grading;

// One call each. The places say how many floats past a 256-byte boundary an array begins.

static void try_scale(int rows, int cols, int in_at = 0, int out_at = 0, int factor_at = 0)
{
    floats in = random_floats(std::size_t(rows) * cols), factor = random_floats(cols);
    output<float> out(in.size());
    CALL(scale_columns, misaligned(in, in_at), misaligned(out, out_at), rows, cols,
         misaligned(factor, factor_at));
    expect_equal(out, oracle::scale_columns(in, rows, cols, factor),
                 {std::size_t(rows), std::size_t(cols)},
                 [&] { return wrong_scales(in, rows, cols, factor, out); });
}

struct places {
    int a = 0, b = 0, c = 0;
};

static void try_sums(sum_of what, int n, int offset, const places &at = {})
{
    const bool reads = what == sum_of::reading, writes = what == sum_of::writing;
    floats a = random_floats(n), b = random_floats(n);
    floats sums = reads    ? oracle::read_offset(a, b, offset)
                  : writes ? oracle::write_offset(a, b, offset)
                           : oracle::add(a, b);
    output<float> c(n, writes ? std::min(offset, n) : 0, sums.size());
    auto a_at = misaligned(a, at.a), b_at = misaligned(b, at.b);
    auto c_at = misaligned(c, at.c);
    if (reads)
        CALL(read_offset, a_at, b_at, c_at, n, offset);
    else if (writes)
        CALL(write_offset, a_at, b_at, c_at, n, offset);
    else
        CALL(add_unrolled, a_at, b_at, c_at, n);
    expect_equal(c, put_at(writes ? offset : 0, sums, n), {}, [&] {
        return reads ? wrong_reads(a, b, offset) : writes ? wrong_writes(a, b) : wrong_sums(a, b);
    });
}

static void try_add(int n, const places &at = {}) { try_sums(sum_of::adding, n, 0, at); }

// Places of which no two arrays agree, and some where they do.
static const places odd_places[] = {{1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},  {1, 2, 3},
                                    {3, 1, 0}, {2, 2, 1}, {4, 0, 8}, {5, 30, 7}, {31, 9, 33}};

// Sectors moved for an element of the result; bytes used of a sector alone would not see that
// everything is read twice.
static counted_gate sectors_per_element(bool stores, int offset, double most)
{
    return at_most(
        stores ? "sectors stored per element" : "sectors loaded per element", {most}, "",
        stores ? "Is each element stored only once? If so: a store of a warp that begins within a "
                 "sector touches five sectors instead of four. Let every warp begin its stores at "
                 "a sector boundary, and guard both ends."
               : "Is each element loaded only once, not again by a second warp? If so: a load of a "
                 "warp that begins within a sector touches five sectors instead of four. Load from "
                 "the boundary before it, pass the floats between lanes by shuffles, and guard "
                 "both ends.",
        per([offset] { return raced_sums() - offset; },
            stores ? &counted::store_sectors : &counted::load_sectors));
}

// What goes another way is in no count of loads and stores: textures and atomics, local memory,
// constants, copies.
static counted_gate by_loads_and_stores()
{
    return at_most("bytes by textures and atomics", {0.01}, "%",
                   "Textures, atomics, copies, printf, and arrays in local memory (whose index is "
                   "not known when the kernel is compiled) move bytes, too. Use plain loads and "
                   "stores here, so that the sectors can be counted.",
                   [](const counted &c) {
                       double all = moved_sectors(c);
                       return all > 0 ? 1 - double(c.load_sectors + c.store_sectors) / all : 0;
                   });
}

static counted_gate bytes_loaded_per_thread(double min)
{
    return at_least(
        "bytes loaded per thread", {min}, "",
        "A thread that has only two floats in flight waits for them most of the time. Load several "
        "elements before the first is used.",
        per(&counted::threads, &counted::load_bytes));
}

// Returns these gates among those that each counted case has.
static std::vector<counted_gate> gated(std::vector<counted_gate> gates)
{
    gates.insert(gates.begin(), by_loads_and_stores());
    gates.push_back(lanes_at_work());
    // 1024 threads with 32 floats each, which is more than helps, have two blocks here.
    gates.push_back(blocks_share(1.5));
    return gates;
}

CORRECTNESS_CASE("scale_columns: a small matrix", 0.5) { try_scale(3, 5); }

CORRECTNESS_CASE("scale_columns: sizes around a warp and a block", 0.5)
{
    for (int rows : {1, 31, 32, 33}) try_scale(rows, 33);
    for (int cols : {1, 31, 32, 255, 256, 257}) try_scale(7, cols);
}

CORRECTNESS_CASE("scale_columns: more columns than rows", 0.5)
{
    try_scale(2, 1031);
    try_scale(1, 1);
    try_scale(13, 509);
}

CORRECTNESS_CASE("scale_columns: more rows than columns", 0.5)
{
    try_scale(1021, 3);
    try_scale(311, 37);
    // More rows than a grid has blocks in its second dimension, 32 rows to each; and so many
    // elements that a float does not hold their numbers.
    try_scale(2100001, 8);
}

CORRECTNESS_CASE("scale_columns: no rows or no columns", 0.5)
{
    try_scale(2, 2); // nothing at all is no answer
    try_scale(0, 7);
    try_scale(7, 0);
    try_scale(0, 0);
}

CORRECTNESS_CASE("scale_columns: arrays that begin anywhere", 0.5)
{
    for (int in_at = 0; in_at < 4; ++in_at)
        for (int out_at = 0; out_at < 4; ++out_at) try_scale(23, 36, in_at, out_at, in_at ^ out_at);
    for (const places &at : odd_places) try_scale(19, 41, at.a, at.b, at.c);
}

SPEED_CASE("scale_columns: speed", 4.5, 10)
{
    speed_gates gates;
    gates.speedup = 3;
    gates.copy = {0.45, 0.65, 0.90}; // one float a thread, coalesced: 58 % on an H200
    gates.counted =
        gated({used_by_loads(0.95), used_by_stores(0.95),
               // 12 with a factor for each element; a sector for each loads and stores 64.
               moved_bytes(
                   "element", [] { return double(raced_rows()) * raced_cols; }, {24},
                   "A lane that requests its element alone moves a whole sector for it. Let the "
                   "lanes of a warp handle neighbouring elements of a row.")});
    gates.too_slow = "Do the lanes of a warp handle neighbours in a row? If they do, more bytes in "
                     "flight help: several elements per thread, or float4.";
    race(scaling_rows(), gates);
}

// The cases of read_offset and write_offset, which differ in the side that is offset.

static void every_offset(sum_of what)
{
    // Downwards: at 33 more mistakes can be told apart than at 1.
    for (int offset = 33; offset >= 0; --offset) try_sums(what, 1000, offset);
}

static void around_blocks(sum_of what)
{
    for (int n : {1, 31, 32, 33, 255, 256, 257, 1023, 1025, 4099}) {
        try_sums(what, n, 0);
        try_sums(what, n, 1);
        try_sums(what, n + 5, 5);
    }
}

static void at_the_end(sum_of what)
{
    for (int offset : {99, 100, 101, 1000}) try_sums(what, 100, offset);
    try_sums(what, 0, 0);
    try_sums(what, 0, 3);
}

static void arrays_anywhere(sum_of what)
{
    for (const places &at : odd_places)
        for (int offset : {0, 6, 11}) try_sums(what, 1237, offset, at);
    // Whole blocks, of whatever size, less up to a sector: who begins at the boundary before the
    // first element needs a warp more than who does not.
    for (int less = 0; less < 8; ++less) try_sums(what, 4096 + 11 - less, 11, odd_places[less]);
}

// Not timed: a misaligned offset costs a few per cent where caches are large.
static void race_offset(sum_of what, int offset)
{
    speed_gates gates;
    gates.counted =
        gated({sectors_per_element(false, offset, 0.27), sectors_per_element(true, offset, 0.13),
               used_by_loads(0.97), used_by_stores(0.97)});
    race(sums_at(what, offset), gates);
}

constexpr sum_of reading = sum_of::reading, writing = sum_of::writing;

CORRECTNESS_CASE("read_offset: a small array", 0.5) { try_sums(reading, 10, 3); }
CORRECTNESS_CASE("read_offset: every offset within a line", 0.5) { every_offset(reading); }
CORRECTNESS_CASE("read_offset: sizes around a warp and a block", 0.5) { around_blocks(reading); }
CORRECTNESS_CASE("read_offset: an offset at the end or beyond it", 0.5) { at_the_end(reading); }
CORRECTNESS_CASE("read_offset: arrays that begin anywhere", 1) { arrays_anywhere(reading); }
SPEED_CASE("read_offset: sectors at offset 11", 4.5, 0) { race_offset(reading, 11); }

CORRECTNESS_CASE("write_offset: a small array", 0.5) { try_sums(writing, 10, 3); }
CORRECTNESS_CASE("write_offset: every offset within a line", 0.5) { every_offset(writing); }
CORRECTNESS_CASE("write_offset: sizes around a warp and a block", 0.5) { around_blocks(writing); }
CORRECTNESS_CASE("write_offset: an offset at the end or beyond it", 0.5) { at_the_end(writing); }
CORRECTNESS_CASE("write_offset: arrays that begin anywhere", 1) { arrays_anywhere(writing); }
SPEED_CASE("write_offset: sectors at offset 11", 4.5, 0) { race_offset(writing, 11); }

CORRECTNESS_CASE("add_unrolled: a small array", 0.5) { try_add(10); }

CORRECTNESS_CASE("add_unrolled: every length of a tail", 1)
{
    for (int n = 0; n <= 40; ++n) try_add(n);
    for (int n = 1020; n <= 1028; ++n) try_add(n);
}

CORRECTNESS_CASE("add_unrolled: sizes around a block", 0.5)
{
    for (int n : {255, 256, 257, 511, 513, 2047, 2049, 8209}) try_add(n);
    try_add(simulated() ? 20011 : 5000011);
}

CORRECTNESS_CASE("add_unrolled: arrays that begin anywhere", 1)
{
    for (const places &at : odd_places) {
        try_add(1237, at);
        try_add(2, at);
        // The first of these places are the same for all three arrays.
        hint_misaligned(
            "The result was right when all three arrays began at the same place within 16 bytes: "
            "is the head peeled for one of them, or only one's address tested? The others may be "
            "aligned differently: test each, and load floats where float4 is not allowed.");
    }
}

SPEED_CASE("add_unrolled: speed", 4.5, 0)
{
    speed_gates gates;
    // Not timed: naive reaches 81 % of the copy bandwidth of an H200.
    // 32 bytes a thread, but for the threads behind the last element.
    gates.counted = gated({used_by_loads(0.95), used_by_stores(0.95), bytes_loaded_per_thread(31),
                           sectors_per_element(false, 0, 0.27)});
    gates.too_slow = "Too few bytes are in flight at a time. Let each thread load several "
                     "elements, or float4, before it uses the first.";
    race(sums_at(sum_of::adding, 0), gates);
}

CORRECTNESS_CASE("predict: neighbours", 2)
{
    quiz_patterns({{pattern_kind::contiguous, {0, 1, 8, 11, 32}, 2, 4096},
                   {pattern_kind::reversed, {0, 3}, 1, 4096},
                   {pattern_kind::shuffled, {0, 5}, 1, 4096},
                   {pattern_kind::one_address, {0}, 1, 4096},
                   {pattern_kind::bytes, {0, 1, 100}, 2, 4096},
                   {pattern_kind::float2_each, {0, 1, 4, 8}, 2, 4096},
                   {pattern_kind::float4_each, {0, 1, 2, 4, 8}, 2, 4096}});
}

CORRECTNESS_CASE("predict: far apart", 1.5)
{
    quiz_patterns({{pattern_kind::strided, {1, 2, 8, 32}, 3, 100},
                   {pattern_kind::strided, {}, 3, 31},
                   {pattern_kind::scattered, {0}, 1, 1023}});
}

CORRECTNESS_CASE("predict: part of a warp, and two rows", 1.5)
{
    quiz_patterns({{pattern_kind::first_lanes, {1, 16, 32}, 2, 31},
                   {pattern_kind::even_lanes, {0, 1}, 2, 4096},
                   {pattern_kind::two_rows, {16, 32, 33}, 17, 31},
                   {pattern_kind::two_rows, {}, 34, 4096}});
}

CORRECTNESS_CASE("resident_blocks: threads and blocks", 1.5) { quiz_residency(limit::threads); }

CORRECTNESS_CASE("resident_blocks: registers", 1) { quiz_residency(limit::registers); }

CORRECTNESS_CASE("resident_blocks: shared memory", 1.5) { quiz_residency(limit::shared_memory); }

CORRECTNESS_CASE("warps_hiding_latency: any memory", 1) { quiz_latency(); }
