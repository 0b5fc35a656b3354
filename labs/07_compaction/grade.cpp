// Grades lab 07, compaction.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace grading;

// One call each. The places say how many elements past a 256-byte boundary an array begins.

static void try_compact(const floats &in, int in_at = 0, int out_at = 0)
{
    floats want = oracle::compact(in);
    output<float> out(in.size(), 0, want.size());
    output<int> count(1);
    hint_places();
    hint_stub();
    if (want.size() == in.size()) hint_left_out(rows_in_one_place(in.size()));
    hint_too_many(too_many_kept(in));
    CALL(compact, misaligned(in, in_at), misaligned(out, out_at), count, int(in.size()), scratch);
    expect_equal(count, {int(want.size())}, {}, [&] { return wrong_counts(in, count[0]); });
    want.resize(in.size());
    expect_equal(out, want);
}

static void try_unpack(const mark_list &keep, int packed_at = 0, int keep_at = 0, int out_at = 0)
{
    floats packed = random_floats(kept_of(keep));
    hint_stub();
    output<float> out(keep.size());
    std::vector<std::size_t> not_kept;
    for (std::size_t i = 0; i < keep.size(); ++i)
        if (keep[i] == 0) not_kept.push_back(i);
    hint_left_out({{std::move(not_kept), "These are the elements whose keep[i] is 0: out[i] is 0 "
                                         "there, and must be written, too."}});
    const bool large = std::any_of(keep.begin(), keep.end(), [](auto k) { return k > 1; });
    hint_past_the_end(
        std::string(large ? "A mark counts as one, whatever its value: are the marks "
                            "themselves added up, instead of keep[i] != 0? If not: "
                          : "") +
            "`packed` has only as many elements as are kept: does a lane read it "
            "where keep[i] is 0, at i instead of the place among the kept elements, "
            "or one place too far because its own element was counted too? If it is an "
            "array in shared memory that ends: one with an element for each warp is "
            "indexed by threadIdx.x / 32.",
        "packed");
    CALL(unpack, misaligned(packed, packed_at), misaligned(keep, keep_at), misaligned(out, out_at),
         int(keep.size()), scratch);
    expect_equal(out, oracle::unpack(packed, keep), {}, [&] {
        auto known = wrong_unpacks(packed, keep);
        for (auto &other : wrong_places(packed, keep, out)) known.push_back(std::move(other));
        return known;
    });
}

static void try_partition(const floats &in, int in_at = 0, int out_at = 0)
{
    floats want = oracle::partition(in);
    std::size_t kept = oracle::compact(in).size();
    output<float> out(in.size());
    output<int> count(1);
    hint_places();
    hint_stub();
    CALL(partition, misaligned(in, in_at), misaligned(out, out_at), count, int(in.size()), scratch);
    expect_equal(count, {int(kept)}, {}, [&] { return wrong_counts(in, count[0]); });
    expect_equal(out, want, {}, [&] { return wrong_partitions(in); });
}

// Sizes around warps, blocks, and the tiles that a block may handle.
static const std::size_t awkward_sizes[] = {1,   2,   31,  32,   33,   63,   65,   255,  256,
                                            257, 511, 513, 1023, 1025, 2049, 4095, 4097, 8193};

// Bytes that each launch must move if it moves every sector once, over all launches.
static counted_gate compulsory_bytes(const steps &max, task what)
{
    return at_most("compulsory bytes per element", max, "bytes",
                   "Every kernel that goes over all elements moves them once more. Which kernels "
                   "can be fused, and which arrays are never needed in memory?",
                   per([what] { return raced_elements(what); }, &counted::compulsory_bytes));
}

// Of T tiles that each count all before them the busiest has a T-th of the work, and T / 2 times
// the elements are loaded: few tiles are as bad as many. With floats that makes 2.2 for any T, with
// marks of a byte 0.55.
static counted_gate loaded_for_each_block(task what)
{
    counted_gate gate =
        at_most("bytes loaded per element, for each block at work",
                {what == task::unpack ? 0.45 : 1.8}, "bytes",
                "A few blocks load elements again that others have counted, and the rest of the "
                "device has nothing to do. Let each block count its own tile alone.",
                [=](const counted &c) {
                    return double(c.load_bytes + c.texture_bytes) / raced_elements(what) *
                           double(c.busiest_block_instructions) /
                           double(std::max<std::uint64_t>(1, c.warp_instructions));
                });
    gate.best_of_schedules = true;
    return gate;
}

static void race_share(task what, double share, const steps &copy, const steps &max_bytes)
{
    speed_gates gates;
    gates.speedup = 5;
    gates.copy = copy;
    // Naive moves 220 and more; blocks that each go over all before them, by tiles of 1024, 80.
    gates.counted = {
        compulsory_bytes(max_bytes, what),
        moved_bytes(
            "element", [=] { return double(raced_elements(what)); },
            {64, 48, max_bytes.excellent > 0 ? 20.0 : 0},
            "Within one launch, too, an element is moved each time it is requested. Let no block "
            "go over elements that another has counted."),
        // Flags of 4 bytes that are scanned by sums of blocks load 20. Where a tile adds
        // up all before it, tiles of 8192 load 29 and more.
        at_most("bytes loaded per element", {24}, "bytes",
                "It is enough to load each element twice, to count it and to place it, and each "
                "count once. Does a block go over elements that another has counted?",
                per([what] { return raced_elements(what); },
                    [](const counted &c) { return c.load_bytes + c.texture_bytes; })),
        lanes_at_work(), blocks_share(2), // tiles of 16 elements for each of 1024 threads
        loaded_for_each_block(what)};
    gates.too_slow = "Where does the time go? A scan by doubling distances over the whole array "
                     "goes over all elements some twenty times; scans within blocks, then over the "
                     "blocks' sums, go over them twice.";
    race(pack(what, share), gates);
}

CORRECTNESS_CASE("compact: a small array", 0.5)
{
    try_compact({3, -1, 0, 2, 7, -5, 1, 8, -2, 4});
    try_compact(mixed(10, 0.5));
}

CORRECTNESS_CASE("compact: none or all kept", 0.5)
{
    for (double share : {0.0, 1.0})
        for (std::size_t n : {1, 32, 300, 5000}) try_compact(mixed(n, share));
}

CORRECTNESS_CASE("compact: sizes around a warp, a block and a tile", 1.5)
{
    for (std::size_t n : awkward_sizes) try_compact(mixed(n, 0.5));
}

CORRECTNESS_CASE("compact: few or nearly all kept", 0.5)
{
    for (double share : {0.01, 0.99}) try_compact(mixed(25001, share)); // some tiles
}

CORRECTNESS_CASE("compact: kept elements in runs", 0.5)
{
    for (const floats &in : uneven()) try_compact(in);
}

CORRECTNESS_CASE("compact: what is positive", 0.5)
{
    floats in = special_values(), want = oracle::compact(in);
    output<float> out(in.size(), 0, want.size());
    output<int> count(1);
    hint_too_many(too_many_kept(in));
    CALL(compact, in, out, count, int(in.size()), scratch);
    expect_equal(count, {int(want.size())}, {}, [&] { return wrong_counts(in, count[0]); });
    expect_bits(out, want);
}

CORRECTNESS_CASE("compact: many blocks", 0.5)
{
    // More than 256 tiles of 4096, so that each thread that scans the stub's counts has more than
    // one.
    try_compact(mixed(simulated() ? 1100001 : 2000003, 0.4));
}

CORRECTNESS_CASE("compact: blocks in any order", 0.5)
{
    begin_any_blocks_first();
    // On the simulator eight blocks run at once. There are so many tiles, of up to 8192 elements,
    // that a tile can rely on those before it only with a ticket, and not by luck.
    try_compact(mixed(250001, 0.5));
}

CORRECTNESS_CASE("compact: arrays that begin anywhere", 1.5)
{
    for (int in_at = 0; in_at < 4; ++in_at)
        for (int out_at = 0; out_at < 4; ++out_at) try_compact(mixed(1237, 0.5), in_at, out_at);
    try_compact(mixed(5003, 0.9), 31, 9);
}

CORRECTNESS_CASE("compact: no elements", 0.5)
{
    try_compact(random_floats(2, 1, 2)); // nothing at all is no answer
    try_compact({});
}

SPEED_CASE("compact: speed, half kept", 5, 3)
{
    race_share(task::compact, 0.5, {0.25, 0.48, 0}, {42, 11, 6.5});
}

SPEED_CASE("compact: speed, few kept", 2.5, 1)
{
    race_share(task::compact, 0.01, {0.20, 0.38, 0}, {40, 9, 4.5});
}

SPEED_CASE("compact: speed, nearly all kept", 2.5, 1)
{
    race_share(task::compact, 0.99, {0.28, 0.52, 0}, {44, 13, 8.5});
}

CORRECTNESS_CASE("unpack: a small array", 0.5) { try_unpack({1, 0, 0, 1, 1, 0, 1, 1, 0, 1}); }

CORRECTNESS_CASE("unpack: marks of any value", 0.5)
{
    try_unpack({0, 1, 2, 0, 128, 255, 0, 7, 64, 0, 1, 3});
    try_unpack(marks(1000, 0.5));
}

CORRECTNESS_CASE("unpack: few, nearly all, none or all kept", 0.5)
{
    for (double share : {0.0, 0.01, 0.99, 1.0}) try_unpack(marks(25001, share)); // some tiles
    for (const floats &in : uneven()) try_unpack(marked(in));
}

CORRECTNESS_CASE("unpack: sizes around a warp, a block and a tile", 1.5)
{
    for (std::size_t n : awkward_sizes) try_unpack(marks(n, 0.5));
}

CORRECTNESS_CASE("unpack: many blocks", 1.5)
{
    try_unpack(marks(simulated() ? 1100001 : 2000003, 0.6));
}

CORRECTNESS_CASE("unpack: arrays that begin anywhere", 1)
{
    for (int at = 0; at < 16; ++at) try_unpack(marks(1237, 0.5), at % 4, at, at / 4);
    try_unpack(marks(5003, 0.9), 31, 9, 1);
}

CORRECTNESS_CASE("unpack: no elements", 0.5)
{
    try_unpack({1, 0});
    try_unpack({});
}

SPEED_CASE("unpack: speed", 6, 2.5)
{
    race_share(task::unpack, 0.5, {0.20, 0.33, 0}, {42, 9, 7.5});
}

CORRECTNESS_CASE("partition: a small array", 0.5)
{
    try_partition({3, -1, 0, 2, 7, -5, 1, 8, -2, 4});
    try_partition(mixed(10, 0.5));
}

CORRECTNESS_CASE("partition: few, nearly all, none or all kept", 1)
{
    for (double share : {0.0, 0.01, 0.99, 1.0}) try_partition(mixed(9001, share));
    for (const floats &in : uneven()) try_partition(in);
}

CORRECTNESS_CASE("partition: sizes around a warp, a block and a tile", 1)
{
    for (std::size_t n : awkward_sizes) try_partition(mixed(n, 0.5));
}

CORRECTNESS_CASE("partition: what is positive", 0.5)
{
    floats in = special_values();
    output<float> out(in.size());
    output<int> count(1);
    hint_nan_left_out(oracle::partition(in));
    CALL(partition, in, out, count, int(in.size()), scratch);
    expect_equal(count, {int(oracle::compact(in).size())}, {},
                 [&] { return wrong_counts(in, count[0]); });
    expect_bits(out, oracle::partition(in));
}

CORRECTNESS_CASE("partition: many blocks", 0.5)
{
    try_partition(mixed(simulated() ? 140001 : 2000003, 0.6));
}

CORRECTNESS_CASE("partition: arrays that begin anywhere", 1)
{
    for (int at = 0; at < 16; ++at) try_partition(mixed(1237, 0.5), at % 4, at / 4);
    try_partition(mixed(5003, 0.9), 31, 9);
}

CORRECTNESS_CASE("partition: no elements", 0.5)
{
    try_partition({random_floats(1, 1, 2)[0], random_floats(1, -2, -1)[0]});
    try_partition({});
}

SPEED_CASE("partition: speed", 6, 2.5)
{
    race_share(task::partition, 0.5, {0.25, 0.42, 0}, {46, 13, 0});
}
