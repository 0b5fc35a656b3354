// Grades lab 10, radix sort.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

using namespace grading;

// A sort in place counts as not written if the array is unchanged.
template <class T, class Known>
static void expect_sorted(const char *function, const output<T> &got, const std::vector<T> &before,
                          const std::vector<T> &want, Known known)
{
    expect_changed_in_place(
        want == before || got.values != before,
        std::string(function) + " returned, and every key is where it was.",
        "Does a kernel run at all, and does it write its result? Is it left in scratch?");
    expect_equal(got, want, {}, known);
}

// One call each. The places say how many elements past a 256-byte boundary an array begins.

static void try_warps(const uints &before, int at = 0)
{
    output<unsigned> keys = changed_in_place(before);
    hint_past_the_end(
        "Do all 32 lanes of a warp take part in each vote? One that has returned counts as a 0. "
        "Let those beyond n vote as if they had the largest key, and store nothing.");
    CALL(sort_warps, misaligned(keys, at), int(before.size()));
    expect_sorted("sort_warps", keys, before, oracle::sort_warps(before),
                  [&] { return wrong_runs(keys, before); });
}

static void try_sort(const uints &before, int at = 0)
{
    output<unsigned> keys = changed_in_place(before);
    explain_sorting("radix_sort");
    CALL(radix_sort, misaligned(keys, at), int(before.size()), scratch);
    expect_sorted("radix_sort", keys, before, oracle::radix_sort(before),
                  [&] { return wrong_orders(keys, before); });
}

static void try_pairs(const uints &of_keys, int keys_at = 0, int values_at = 0)
{
    oracle::pairs before{of_keys, random_keys(of_keys.size())};
    oracle::pairs want = oracle::radix_sort_pairs(before);
    output<unsigned> keys = changed_in_place(before.keys);
    output<unsigned> values = changed_in_place(before.values);
    explain_sorting("radix_sort_pairs");
    CALL(radix_sort_pairs, misaligned(keys, keys_at), misaligned(values, values_at),
         int(of_keys.size()), scratch);
    expect_sorted("radix_sort_pairs", keys, before.keys, want.keys,
                  [&] { return wrong_orders(keys, before.keys); });
    expect_equal(values, want.values, {}, [&] { return wrong_values(values, before, want); });
}

static void try_floats(const floats &before, int at = 0)
{
    output<float> keys = changed_in_place(before);
    explain_sorting("radix_sort_floats");
    CALL(radix_sort_floats, misaligned(keys, at), int(before.size()), scratch);
    floats want = oracle::radix_sort_floats(before);
    expect_sorted("radix_sort_floats", keys, before, want,
                  [&] { return wrong_floats(keys, before); });
    for (std::size_t i = 0; i < want.size(); ++i) // -0 equals 0
        if (std::signbit(keys[i]) != std::signbit(want[i]))
            expect(false, verdict::WRONG_ANSWER,
                   "Of the zeros, keys[" + std::to_string(i) + "] is " + show_element(keys[i]) +
                       ", and should be " + show_element(want[i]) + ": -0 comes before 0.",
                   "As numbers the two are equal; sort by the bits, flipped so that their order is "
                   "that of the numbers.");
}

static const std::size_t awkward_sizes[] = {1, 2, 31, 33, 255, 257, 1023, 1025};

CORRECTNESS_CASE("sort_warps: a few keys", 0.5)
{
    try_warps({7, 14, 4, 1, 0x80000003, 3, 4, 0xffffffff});
    try_warps(random_keys(8));
}

CORRECTNESS_CASE("sort_warps: sizes around a run and a block", 1)
{
    for (std::size_t n : {1, 2, 31, 32, 33, 64, 255, 257, 3000}) try_warps(random_keys(n));
}

CORRECTNESS_CASE("sort_warps: equal keys, and keys in order", 0.5)
{
    for (const uints &keys : known_orders(200)) try_warps(keys);
    try_warps(uints(77, 0xffffffff));
}

CORRECTNESS_CASE("sort_warps: single bits", 0.5) { try_warps(single_bits(1000)); }

CORRECTNESS_CASE("sort_warps: arrays that begin anywhere", 0.5)
{
    for (int at : {1, 2, 3, 7, 33}) try_warps(random_keys(301), at);
}

CORRECTNESS_CASE("sort_warps: no keys", 0.5)
{
    try_warps(two_falling()); // nothing at all is no answer
    try_warps({});
}

SPEED_CASE("sort_warps: speed", 4.5, 2) { race(sort_many(task::runs), gates_of_runs()); }

CORRECTNESS_CASE("radix_sort: a few keys", 0.5)
{
    try_sort({7, 14, 4, 1, 0, 12, 5, 4, 9, 15});
    try_sort(random_keys(10));
    expect_scratch_for_many("radix_sort", [](int n) {
        static output<unsigned> none(0);
        return remote<decltype(radix_sort)>::arguments(none, n, scratch);
    });
}

CORRECTNESS_CASE("radix_sort: random keys", 0.5) { try_sort(random_keys(300)); }

CORRECTNESS_CASE("radix_sort: sizes around a tile", 1)
{
    for (std::size_t n : awkward_sizes) try_sort(random_keys(n));
    for (std::size_t n : {4095, 4097}) try_sort(random_keys(n));
}

CORRECTNESS_CASE("radix_sort: single bits", 1)
{
    try_sort(single_bits(700));
    try_sort(uints{0x80000000, 0, 0x7fffffff, 0xffffffff, 0x10000, 0xffff, 1});
}

CORRECTNESS_CASE("radix_sort: equal keys, and keys in order", 0.5)
{
    for (const uints &keys : known_orders(1500)) try_sort(keys);
    try_sort(uints(500, 0xffffffff)); // the padding of a tile may be a key, too
}

CORRECTNESS_CASE("radix_sort: many tiles", 1)
{
    try_sort(random_keys(simulated() ? 24011 : 500009));
    try_sort(few_keys(simulated() ? 9001 : 1000003, 2));
}

// Tiles have 4096 keys; a row of counts is scanned one round of tiles at a time.
CORRECTNESS_CASE("radix_sort: more tiles than a round", 0.5)
{
    try_sort(random_keys(33 * 4096 + 7));
}

CORRECTNESS_CASE("radix_sort: arrays that begin anywhere", 0.5)
{
    for (int at : {1, 2, 3, 33}) try_sort(random_keys(333), at);
}

CORRECTNESS_CASE("radix_sort: no keys", 0.5)
{
    try_sort(two_falling()); // nothing at all is no answer
    try_sort({});
}

SPEED_CASE("radix_sort: speed", 7, 4)
{
    race(sort_many(task::keys), sorting_gates(4.1, {110, 56, 40}, {280, 230, 200}));
}

// Counted only.
SPEED_CASE("radix_sort: launches", 1.5, 0) { count_launches(); }

CORRECTNESS_CASE("radix_sort_pairs: a few keys", 0.5)
{
    try_pairs({7, 14, 4, 1, 0, 12, 5, 4, 9, 15});
    try_pairs(random_keys(10));
    expect_scratch_for_many("radix_sort_pairs", [](int n) {
        static output<unsigned> none(0);
        return remote<decltype(radix_sort_pairs)>::arguments(none, none, n, scratch);
    });
}

CORRECTNESS_CASE("radix_sort_pairs: sizes around a tile", 1)
{
    for (std::size_t n : {1, 33, 257, 1023, 4097}) try_pairs(random_keys(n));
}

CORRECTNESS_CASE("radix_sort_pairs: equal keys", 2)
{
    for (int count : {1, 2, 40}) try_pairs(few_keys(1300, count));
    try_pairs(few_keys(9001, 5));
}

CORRECTNESS_CASE("radix_sort_pairs: many tiles", 0.5)
{
    try_pairs(random_keys(simulated() ? 10021 : 500009));
}

CORRECTNESS_CASE("radix_sort_pairs: arrays that begin anywhere", 0.5)
{
    for (int at : {1, 2, 3}) try_pairs(random_keys(333), at, 33 - at);
}

CORRECTNESS_CASE("radix_sort_pairs: no keys", 0.5)
{
    try_pairs(two_falling());
    try_pairs({});
}

SPEED_CASE("radix_sort_pairs: speed", 4.5, 2)
{
    race(sort_many(task::pairs), sorting_gates(2.8, {180, 92, 74}, {480, 400, 340}));
}

CORRECTNESS_CASE("radix_sort_floats: a few numbers", 0.5)
{
    try_floats({7, -14, 4, 1, 0, -0.5f, 1e30f, -1e-30f, 4, -3});
    try_floats(random_numbers(10));
}

CORRECTNESS_CASE("radix_sort_floats: zeros and infinities", 1) { try_floats(special_numbers(700)); }

CORRECTNESS_CASE("radix_sort_floats: sizes around a tile", 1)
{
    for (std::size_t n : {1, 33, 257, 1023, 4097}) try_floats(random_numbers(n));
}

CORRECTNESS_CASE("radix_sort_floats: many tiles", 0.5)
{
    try_floats(random_numbers(simulated() ? 10021 : 500009), 3);
}

CORRECTNESS_CASE("radix_sort_floats: no numbers", 0.5)
{
    const float low = random_floats(1)[0];
    try_floats({low + 1, low});
    try_floats({});
}

SPEED_CASE("radix_sort_floats: speed", 4.5, 2)
{
    race(sort_many(task::numbers), sorting_gates(4.1, {110, 56, 40}, {280, 230, 200}));
}
