// Grades lab 06, scan.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace grading;

// Inputs have both signs, so that the largest sum is not the last; sums of 2^21 ints fit.
static ints some_ints(int n) { return random_ints(std::size_t(n), -1000, 1000); }

// Sums of neighbours go far beyond 32 bits, and soon.
static longs some_longs(int n)
{
    longs in;
    for (int x : random_ints(std::size_t(n), -(1 << 30), 1 << 30))
        in.push_back((std::int64_t(x) << 12) + random_between(0, 4095));
    return in;
}

// One call each. The places say how many elements past a 256-byte boundary an array begins.

enum class scan { block_inclusive, block_exclusive, inclusive, exclusive };

static void try_ints(scan what, const ints &in, int in_at = 0, int out_at = 0)
{
    const int n = int(in.size());
    output<int> out(in.size());
    auto from = misaligned(in, in_at);
    auto to = misaligned(out, out_at);
    if (what == scan::block_inclusive) CALL(scan_block_inclusive, from, to, n);
    if (what == scan::block_exclusive) CALL(scan_block_exclusive, from, to, n);
    if (what == scan::inclusive) CALL(scan_inclusive, from, to, n, scratch);
    if (what == scan::exclusive) CALL(scan_exclusive, from, to, n, scratch);
    const bool exclusive = what == scan::block_exclusive || what == scan::exclusive;
    expect_equal(out, exclusive ? oracle::exclusive(in) : oracle::inclusive(in), {}, [&] {
        return what == scan::block_exclusive ? wrong_tree(in, out.values)
                                             : wrong_sums(in, exclusive, out.values);
    });
}

static void try_longs(const longs &in, int in_at = 0, int out_at = 0)
{
    output<std::int64_t> out(in.size());
    CALL(scan_inclusive_int64, misaligned(in, in_at), misaligned(out, out_at), int(in.size()),
         scratch);
    expect_equal(out, oracle::inclusive(in), {}, [&] { return wrong_longs(in, out.values); });
}

// `large`: one element is so large that right after it the sums are as large, and may be as
// inexact.
static void try_floats(const floats &in, int in_at = 0, int out_at = 0, bool large = false)
{
    output<float> out(in.size());
    CALL(scan_inclusive_float, misaligned(in, in_at), misaligned(out, out_at), int(in.size()),
         scratch);
    oracle::float_sums want = oracle::inclusive(in);
    expect_close(out, want.sums, double(in.size()), want.magnitudes, {},
                 large ? wrong_with_a_large_one(in, out.values)
                       : wrong_sums(in, false, out.values));
}

// Suites of calls. Sizes lie around warps, blocks and tiles, and few are powers of two. Of two that
// show the same mistake the larger comes first, and shows more of it.

static const ints sizes_of_a_block = {1,   2,   31,  32,   95,   33,   63,   65,   96,  255,
                                      256, 257, 511, 1000, 1023, 1024, 1999, 1025, 2047};
static const ints awkward_sizes = {1,   2,    31,   32,   95,   33,   63,   65,   255,  256,
                                   257, 1023, 1024, 3000, 1025, 2049, 4095, 4097, 6145, 8193};
static const int sizes_beyond_ints[] = {0, 1, 33, 257, 1025, 3073, 20001};

static void try_small(scan what, int n)
{
    ints in = {3, 1, 7, -4, 1, 6, 3, 2, -8, 5};
    in.resize(std::size_t(n));
    try_ints(what, in);
    try_ints(what, some_ints(n));
}

static void try_sizes(scan what, const ints &sizes)
{
    for (int n : sizes) try_ints(what, some_ints(n));
}

static void try_anywhere(scan what, int n)
{
    for (int at = 0; at < 16; ++at) try_ints(what, some_ints(n), at % 4, at / 4);
}

static void try_none(scan what) { try_sizes(what, {2, 0}); } // nothing at all is no answer

static void try_largest_block(scan what)
{
    try_ints(what, some_ints(2048));
    try_ints(what, ints(2048, random_between(900000, 1000000)));
}

CORRECTNESS_CASE("scan_block_inclusive: a small array", 0.5)
{
    try_small(scan::block_inclusive, 10);
}

CORRECTNESS_CASE("scan_block_inclusive: sizes around a warp and a block", 2)
{
    try_sizes(scan::block_inclusive, sizes_of_a_block);
}

CORRECTNESS_CASE("scan_block_inclusive: as many as a block may have", 0.5)
{
    try_largest_block(scan::block_inclusive);
}

CORRECTNESS_CASE("scan_block_inclusive: arrays that begin anywhere", 0.5)
{
    try_anywhere(scan::block_inclusive, 137);
}

CORRECTNESS_CASE("scan_block_inclusive: no elements", 0.5) { try_none(scan::block_inclusive); }

CORRECTNESS_CASE("scan_block_exclusive: a small array", 0.5)
{
    try_small(scan::block_exclusive, 8);
}

CORRECTNESS_CASE("scan_block_exclusive: sizes around a warp and a block", 1.5)
{
    try_sizes(scan::block_exclusive, sizes_of_a_block);
}

CORRECTNESS_CASE("scan_block_exclusive: as many as a block may have", 0.5)
{
    try_largest_block(scan::block_exclusive);
}

CORRECTNESS_CASE("scan_block_exclusive: arrays that begin anywhere", 0.5)
{
    try_anywhere(scan::block_exclusive, 137);
}

CORRECTNESS_CASE("scan_block_exclusive: no elements", 0.5) { try_none(scan::block_exclusive); }

// Counted only: on one block's time there is nothing to judge.
SPEED_CASE("scan_block_exclusive: shared memory", 5, 0) { race(scan_block(), gates_of_block()); }

CORRECTNESS_CASE("scan_inclusive: a small array", 0.5) { try_small(scan::inclusive, 10); }

// The calls of this case need no sum of a block, and begin with the largest.
CORRECTNESS_CASE("scan_inclusive: one block", 0.5) { try_sizes(scan::inclusive, {1000, 97, 256}); }

CORRECTNESS_CASE("scan_inclusive: sizes around a warp, a block and a tile", 1)
{
    try_sizes(scan::inclusive, awkward_sizes);
}

CORRECTNESS_CASE("scan_inclusive: many blocks", 0.5)
{
    // More than 1024 blocks of 1024, so that whoever scans the stub's sums has more than one each.
    try_ints(scan::inclusive, some_ints(2200001));
}

CORRECTNESS_CASE("scan_inclusive: blocks in any order", 0.5)
{
    begin_any_blocks_first();
    // On the simulator eight blocks run at once. So many tiles, of as many as 12288 elements, that
    // each of them finds those before it begun only by taking a ticket, and not by luck.
    try_ints(scan::inclusive, some_ints(300001));
}

CORRECTNESS_CASE("scan_inclusive: large sums", 0.5)
{
    const int large = random_between(1000000, 1040000); // all but 2^31 at its end, and down again
    ints in(2049, large);
    in.resize(4100, -large);
    try_ints(scan::inclusive, in);
}

CORRECTNESS_CASE("scan_inclusive: arrays that begin anywhere", 1.5)
{
    try_anywhere(scan::inclusive, 1237);
    try_ints(scan::inclusive, some_ints(9003), 31, 9);
}

CORRECTNESS_CASE("scan_inclusive: no elements", 0.5) { try_none(scan::inclusive); }

SPEED_CASE("scan_inclusive: speed", 3.5, 4)
{
    race(scan_ints(elements_to_scan(sizeof(int))), gates_of(sizeof(int), 0));
}

// Five tiles of 12288 elements are as few as tell one block from many. The ragged last one costs
// more instructions than the others.
SPEED_CASE("scan_inclusive: one pass", 3, 0)
{
    constexpr int n = 5 * 12288 - 35;
    race(scan_ints(n), gates_of_one_pass(n, 2.5));
}

SPEED_CASE("scan_inclusive: large tiles", 0.5, 0)
{
    constexpr int n = 4 * 12288 - 35;
    race(scan_ints(n), gates_of_large_tiles(n));
}

CORRECTNESS_CASE("scan_exclusive: a small array", 0.5) { try_small(scan::exclusive, 10); }

CORRECTNESS_CASE("scan_exclusive: sizes around a warp, a block and a tile", 0.5)
{
    try_sizes(scan::exclusive, awkward_sizes);
}

CORRECTNESS_CASE("scan_exclusive: many blocks", 0.5)
{
    try_ints(scan::exclusive, some_ints(simulated() ? 70001 : 1100003));
}

CORRECTNESS_CASE("scan_exclusive: arrays that begin anywhere", 0.5)
{
    try_anywhere(scan::exclusive, 1237);
    try_ints(scan::exclusive, some_ints(9003), 31, 9);
}

CORRECTNESS_CASE("scan_exclusive: no elements", 0.5) { try_none(scan::exclusive); }

SPEED_CASE("scan_exclusive: speed", 5, 2)
{
    race(scan_ints_exclusive(elements_to_scan(sizeof(int))), gates_of(sizeof(int)));
}

CORRECTNESS_CASE("scan_inclusive_int64: sums beyond 32 bits", 0.5)
{
    try_longs({3, 1, 7, -4, 1, std::int64_t(1) << 40, 3, -(std::int64_t(1) << 33), 5});
    try_longs(some_longs(1000));
}

CORRECTNESS_CASE("scan_inclusive_int64: any size and any beginning", 0.5)
{
    for (int n : sizes_beyond_ints) try_longs(some_longs(n));
    for (int at = 0; at < 4; ++at) try_longs(some_longs(1237), at % 2, at / 2);
}

SPEED_CASE("scan_inclusive_int64: speed", 2.5, 2)
{
    race(scan_longs(elements_to_scan(sizeof(std::int64_t))), gates_of(sizeof(std::int64_t)));
}

CORRECTNESS_CASE("scan_inclusive_float: the precision of float", 0.5)
{
    for (int n : {256, 33, 7}) try_floats(random_floats(std::size_t(n)));
    try_floats({0.5f, 0.25f, -3, 0.1f, 7, 1e-3f, -2});
}

CORRECTNESS_CASE("scan_inclusive_float: any size and any beginning", 0.5)
{
    for (int n : sizes_beyond_ints) try_floats(random_floats(std::size_t(n)));
    try_floats(random_floats(5000, 0, 1)); // sums that only grow
    for (int at = 0; at < 16; ++at) try_floats(random_floats(1237), at % 4, at / 4);
}

CORRECTNESS_CASE("scan_inclusive_float: small sums before large ones", 0.5)
{
    for (std::size_t at : {5u, 40u, 700u, 3000u, 15000u}) {
        floats in = random_floats(20001);
        in[at] = 1e10f;
        try_floats(in, 0, 0, true);
    }
}

SPEED_CASE("scan_inclusive_float: speed", 2.5, 2)
{
    race(scan_floats(elements_to_scan(sizeof(float))), gates_of(sizeof(float)));
}
