// Grades lab 09, quicksort.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "workloads.hpp"

#include <cstddef>
#include <string>
#include <vector>

using namespace grading;

// One call. `at` says how many keys past a 256-byte boundary the data begin.
static void try_sort(const keys &in, int at = 0, sort_function f = sort_function::levels)
{
    output<unsigned> data = changed_in_place(in);
    explain_sorting(in.size());
    if (f == sort_function::recursive)
        explain_recursion();
    else
        host_may_steer(0.5); // by the sizes of parts; a gate counts what it launches
    call_sort(f, data, at);
    expect_sorted(data, in);
}

static void try_recursive(const keys &in, int at = 0)
{
    try_sort(in, at, sort_function::recursive);
}

// Random keys, where launches are refused.
static void try_refused(int places, std::size_t n, sort_function f)
{
    limit_launches(places, true);
    try_sort(ordered(order::random, n), 0, f);
}

// Around warps, blocks, and what a block may sort by itself.
static const int awkward_sizes[] = {1,   2,   3,   31,  32,  33,   63,   65,   255,
                                    256, 257, 511, 513, 767, 1023, 1025, 2047, 2048};

static int many() { return simulated() ? 20000 - 35 : (1 << 18) - 35; }

// quicksort_recursive: it counts how the work grows with the keys, of which few are enough.

static void count_recursive(order o, const std::vector<counted_gate> &gates_of_case)
{
    explain_recursion();
    speed_gates gates;
    gates.counted = gates_of_case;
    race(sort_keys(sort_function::recursive, o, recursive_keys), gates);
}

CORRECTNESS_CASE("quicksort_recursive: a small array", 1)
{
    try_recursive({3, 0x80000000, 7, 0, 0xffffffff, 5, 7, 1, 0x7fffffff, 2});
    try_recursive(ordered(order::random, 10));
}

CORRECTNESS_CASE("quicksort_recursive: any number of keys", 1.5)
{
    for (int n : {0, 1, 2, 31, 33, 255, 257, 511, 1023})
        try_recursive(ordered(order::random, std::size_t(n)), n % 8);
}

CORRECTNESS_CASE("quicksort_recursive: any order", 1)
{
    for (order o : {order::sorted, order::reversed, order::organ_pipe})
        try_recursive(ordered(o, 701));
}

SPEED_CASE("quicksort_recursive: split", 2, 0)
{
    count_recursive(order::random,
                    {accesses_per_key(84, "Each key is compared with all others. Split the keys by "
                                          "a pivot: keys of one side are never compared with those "
                                          "of the other.")});
}

SPEED_CASE("quicksort_recursive: launches", 3, 0)
{
    count_recursive(
        order::random,
        {launches_by_kernels(), launches_by_the_host(),
         launches({recursive_keys / 16},
                  "A launch costs as much as sorting thousands of keys. Does one thread of the "
                  "block launch, or each of them? And which parts are so small that the block "
                  "sorts them itself?"),
         accesses_per_key(60, "Parts that are not split any more are still large: launch the "
                              "kernel again for each side, until a part is small."),
         work_of_launched(), lanes_at_work(), instructions_per_key(recursive_keys, 240)});
}

// Counted, since without a launch nothing is refused. Where equal keys go to one side, no grid may
// be launched from the 24th level on.
SPEED_CASE("quicksort_recursive: launches are refused", 2, 0)
{
    for (order o : {order::equal, order::few}) try_recursive(ordered(o, 701));
    for (int places : {1, 2, 3}) try_refused(places, recursive_keys, sort_function::recursive);
    limit_launches(0);
    count_recursive(order::random, {launches_by_kernels(), work_of_launched()});
}

// Five values: with those equal to the pivot aside there are at most five launches; where they are
// shared out to both sides, as many as of random keys; else 24 levels of them.
SPEED_CASE("quicksort_recursive: equal keys", 1.5, 0)
{
    const std::string done =
        "If equal keys all go to one side, it does not shrink from level to level. Those that "
        "equal the pivot are neither smaller nor larger: they are done.";
    count_recursive(order::few, {launches({40}, done), accesses_per_key(60, done),
                                 instructions_per_key(recursive_keys, 240)});
}

CORRECTNESS_CASE("quicksort: a small array", 1)
{
    try_sort({3, 0x80000000, 7, 0, 0xffffffff, 5, 7, 1, 0x7fffffff, 2});
    try_sort(ordered(order::random, 10));
}

CORRECTNESS_CASE("quicksort: sizes around a warp and a block", 1.5)
{
    for (int n : awkward_sizes) try_sort(ordered(order::random, std::size_t(n)));
}

CORRECTNESS_CASE("quicksort: many keys", 2)
{
    for (int n : {2049, 8193, many()}) try_sort(ordered(order::random, std::size_t(n)));
}

CORRECTNESS_CASE("quicksort: sorted, or in reverse", 1.5)
{
    for (order o : {order::sorted, order::reversed})
        for (int n : {33, 3001, 9001}) try_sort(ordered(o, std::size_t(n)));
}

CORRECTNESS_CASE("quicksort: all equal", 1)
{
    for (int n : {33, 1025, 9001}) try_sort(ordered(order::equal, std::size_t(n)));
    for (unsigned key : {0u, 0xffffffffu}) {
        keys in(5001, key);
        in[4000] = 7; // and one that is not
        try_sort(in);
    }
}

CORRECTNESS_CASE("quicksort: few values", 1)
{
    for (int n : {65, 1500, 9001}) try_sort(ordered(order::few, std::size_t(n)));
}

CORRECTNESS_CASE("quicksort: up and down again", 1)
{
    for (int n : {64, 1999, 9001}) try_sort(ordered(order::organ_pipe, std::size_t(n)));
}

CORRECTNESS_CASE("quicksort: the largest and the smallest keys", 0.5)
{
    keys in(5001);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = i % 3 == 0 ? 0xffffffff - i % 2 : i % 2;
    try_sort(in);
    for (unsigned &key : in) key = 1u << random_between(0, 31);
    try_sort(in);
}

CORRECTNESS_CASE("quicksort: data that begin anywhere", 0.5)
{
    for (int at = 1; at < 8; ++at) try_sort(ordered(order::random, 637), at);
    try_sort(ordered(order::random, 5003), 31);
}

CORRECTNESS_CASE("quicksort: no keys", 0.5)
{
    expect_scratch_for_many("quicksort", [](int n) {
        static output<unsigned> none(0);
        return remote<decltype(quicksort)>::arguments(none, n, scratch);
    });
    try_sort(ordered(order::reversed, 2)); // nothing at all is no answer
    try_sort({});
}

CORRECTNESS_CASE("quicksort: launches are refused", 2)
{
    for (int places : {1, 2, 3, 5})
        try_refused(places, simulated() ? 9001 : 30001, sort_function::levels);
    try_sort(ordered(order::few, 9001));
}

// Counted only. A single thread of a warp is one lane at work.
SPEED_CASE("quicksort: lanes at work", 2, 0) { count_lanes(); }

// With keys that equal the pivot aside each is moved about twice; else until it is in a leaf.
SPEED_CASE("quicksort: equal keys", 1.5, 0) { count_moves_of_equal_keys(); }

SPEED_CASE("quicksort: speed", 6.5, 5) { race_levels(order::random); }

SPEED_CASE("quicksort: speed, few values", 2.5, 3) { race_levels(order::few); }

SPEED_CASE("quicksort: speed, up and down again", 3, 2) { race_levels(order::organ_pipe); }
