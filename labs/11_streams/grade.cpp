// Grades lab 11, streams.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace grading;

// One call each. Places say how many elements past a 256-byte boundary an array begins.

template <class V> static auto pinned_at(V &v, int elements)
{
    auto p = pinned(v);
    p.misalign = elements;
    return p;
}

static void pieces_are_copied()
{
    hint_past_the_end("The last piece may be shorter than the others: n - first elements are left, "
                      "for the copies and for the kernel.");
    results_are_copied();
}

static void try_add(std::size_t n, int rounds, int a_at = 0, int b_at = 0, int c_at = 0)
{
    floats a = random_halves(n), b = random_halves(n);
    output<float> c(n);
    pieces_are_copied();
    hint_unwritten("Not all elements of a piece were copied: do the copies count bytes, for both "
                   "arrays, and does no thread go beyond the piece's last element?");
    CALL(add_pipelined, pinned_at(a, a_at), pinned_at(b, b_at), pinned_at(c, c_at), int(n), rounds,
         scratch);
    expect_equal(c, oracle::add_pipelined(a, b, rounds), {},
                 [&] { return wrong_sums(a, b, rounds, c); });
    expect_work_of_kernels(12.0 * double(n), double(n) * rounds);
}

static void try_merge(int width, int height, int count, int first_at = 0, int second_at = 0,
                      int out_at = 0)
{
    std::size_t n = std::size_t(width) * height * count;
    pixels first = random_bytes(n), second = random_bytes(n);
    output<unsigned char> out(n);
    results_are_copied();
    CALL(merge_images, pinned_at(first, first_at), pinned_at(second, second_at),
         pinned_at(out, out_at), width, height, count, scratch);
    expect_equal(out, oracle::merge_images(first, second),
                 {std::size_t(count), std::size_t(height), std::size_t(width)},
                 [&] { return wrong_merges(first, second, std::max(width * height, 1)); });
    expect_work_of_kernels(3.0 * double(n));
}

static void try_diamond(std::size_t n, int rounds, int in_at = 0, int out_at = 0)
{
    floats in = random_floats(n);
    output<float> left(n), right(n), out(n);
    reading_an_output_means(
        "A step began before those that it needs had ended, or was given the wrong array.",
        "Is each of the four kernels launched, behind those that it needs, with its arrays in the "
        "order of its parameters? Between two streams only an event orders work: record it behind "
        "the work that must come first, and wait for it before the work that comes next.",
        "diamond");
    CALL(diamond, misaligned(in, in_at), left, right, misaligned(out, out_at), int(n), rounds,
         scratch);
    oracle::diamond_result want = oracle::diamond(in, rounds);
    expect_equal(left, want.left);
    expect_equal(right, want.right, {}, [&] { return wrong_rights(want, rounds); });
    expect_equal(out, want.out, {}, [&] { return wrong_outs(want); });
}

static double share(std::uint64_t part, double whole)
{
    return whole > 0 ? double(part) / whole : 0;
}

static counted_gate several_streams()
{
    counted_gate gate = streams_at_work(2);
    gate.cause = [](const counted &c) -> std::string {
        if (c.launches != 1) return {};
        return "There is only one piece, so nothing can overlap. The arrays are "
               "smaller here than on a GPU, 1 MiB each: how long may a piece be at least, and how "
               "many are there then?";
    };
    return gate;
}

// The message if pieces overlap as well as their number allows, and that is not enough.
static std::string too_few_pieces(const counted &c)
{
    if (c.launches < 2 || c.launches > 64 || c.streams < 2) return {};
    const double pieces = double(c.launches), all = double(c.serial_ticks);
    const double kernels = double(c.kernel_ticks);
    const double copies_in =
        (all - kernels) * share(c.copied_in_bytes, double(c.copied_in_bytes + c.copied_out_bytes));
    const double best = all / pieces + (1 - 1 / pieces) * std::max(copies_in, kernels);
    constexpr double no_more = 1.03; // what launches cost
    if (double(c.ticks) > no_more * best) return {};
    return "The " + std::to_string(c.launches) +
           " pieces overlap as well as so few can: while the first is copied in and the last "
           "copied out, nothing else runs. More and smaller pieces shorten that time.";
}

static counted_gate makespan_of_pieces(const steps &max)
{
    counted_gate gate = makespan(max);
    gate.cause = [usual = gate.cause](const counted &c) {
        const std::string known = usual(c);
        return known.empty() ? too_few_pieces(c) : known;
    };
    return gate;
}

// `in`, `out`: bytes that must be copied to the device and back. `multiplications`: by kernels.
static std::vector<counted_gate> overlap_gates(double in, double out, double multiplications,
                                               const steps &max)
{
    return {
        at_least("crossing the link by copies", {1}, "%",
                 "Kernels can access pinned memory directly, at the speed of the link; this lab "
                 "asks for copies, because only copies are seen to overlap with kernels here.",
                 per(&counted::host_link_bytes, &counted::copied_bytes)),
        at_least("copied from and to pinned memory", {1}, "%",
                 "Copies from and to ordinary, pageable memory go through a pinned buffer of the "
                 "driver, and the call returns only when that is done, so nothing is queued "
                 "meanwhile. Copy directly from and to the caller's memory, which is pinned: no "
                 "std::vector, malloc or new in between.",
                 [](const counted &c) {
                     return 1 - share(c.pageable_bytes + c.pageable_out_bytes,
                                      double(c.copied_bytes + c.copied_out_bytes));
                 }),
        at_least("done by kernels", {1}, "%", "Let kernels do the work: the host only queues it.",
                 [=](const counted &c) {
                     double computed =
                         multiplications > 0 ? share(c.multiplications, multiplications) : 1;
                     return std::min({1.0, share(c.compulsory_bytes, in + out), computed});
                 }),
        at_least("copied to the device and back", {1}, "%",
                 "Every element of the inputs is copied to the device, and every element of "
                 "the result back from there.",
                 [=](const counted &c) {
                     return std::min(
                         {1.0, share(c.copied_in_bytes, in), share(c.copied_out_bytes, out)});
                 }),
        several_streams(),
        makespan_of_pieces(max)};
}

// Kernels may also compute something else: that is not seen here.
static counted_gate branches_computed()
{
    return at_least("multiplications by kernels, of those of both branches", {0.95}, "%",
                    "Every call must compute both branches anew, in kernels.",
                    per(multiplications_of_branches, &counted::multiplications));
}

// A wait when everything is queued does no harm. The grader's own wait, behind the call, counts.
static counted_gate order_by_events()
{
    return at_most("waits of the host, with the grader's at the end", {2}, "",
                   "The host waits before it has queued everything, and can queue nothing "
                   "meanwhile. Let events order the two streams: cudaEventRecord in the one, "
                   "cudaStreamWaitEvent in the other.",
                   &counted::host_waits);
}

CORRECTNESS_CASE("add_pipelined: a few elements", 1.5) { try_add(10, 3); }

CORRECTNESS_CASE("add_pipelined: sizes around a block and a piece", 2)
{
    for (int n : {1, 2, 3, 5, 31, 33, 255, 256, 257, 1025, 4099, 8191}) try_add(std::size_t(n), 4);
    for (int n : {1024, 8192, 16384}) try_add(std::size_t(n), 1); // where pieces leave no rest
    try_add(50021, 2);
}

CORRECTNESS_CASE("add_pipelined: rounds and places", 1.5)
{
    for (int rounds : {0, 1, 2, 7, 100}) try_add(700, rounds);
    for (int at = 0; at < 8; ++at) try_add(1237, 2, at % 4, at / 2, 7 - at);
    try_add(0, 3);
}

CORRECTNESS_CASE("add_pipelined: streams as late as can be", 2.5)
{
    run_streams(stream_work::late);
    for (int n : {7, 1000, 70001}) try_add(std::size_t(n), 3);
}

CORRECTNESS_CASE("add_pipelined: streams in any order", 1.5)
{
    run_streams(stream_work::shuffled);
    for (int n : {9, 3001, 70001}) try_add(std::size_t(n), 2);
}

SPEED_CASE("add_pipelined: speed", 11.5, 7)
{
    speed_gates gates;
    gates.speedup = 1.55;  // two pieces reach 1.42 on an H200, the solution 2.1
    gates.max_speedup = 3; // two arrays come in, of the five that naive's time is long
    int rounds = balanced_rounds();
    double n = double(raced_elements());
    gates.counted = overlap_gates(8 * n, 4 * n, n * rounds, {0.6, 0.5, 0.45});
    gates.too_slow = "How many pieces are there, is each in a stream, together with its launch, "
                     "and does the host wait for one before it queues the next?";
    pieces_are_copied();
    right_in_any_order(add_pieces(3));
    race(add_pieces(rounds), gates);
}

CORRECTNESS_CASE("merge_images: a small batch", 1.5) { try_merge(5, 3, 4); }

CORRECTNESS_CASE("merge_images: images of any size and number", 1)
{
    for (int count : {1, 2, 3, 5, 9}) try_merge(17, 13, count);
    for (int width : {1, 32, 257}) try_merge(width, 3, 6, width % 7, width % 5, width % 3);
    try_merge(1, 1, 1000);
    try_merge(0, 7, 3);
    try_merge(7, 7, 0);
}

CORRECTNESS_CASE("merge_images: streams as late as can be", 1)
{
    run_streams(stream_work::late);
    for (int count : {1, 3, 11}) try_merge(101, 33, count);
}

CORRECTNESS_CASE("merge_images: streams in any order", 0.5)
{
    run_streams(stream_work::shuffled);
    for (int count : {2, 11}) try_merge(101, 33, count);
}

SPEED_CASE("merge_images: both ways at once", 6.5, 0)
{
    // Not timed: see the handout.
    speed_gates gates;
    const double bytes = merged_bytes();
    gates.counted = overlap_gates(2 * bytes, bytes, 0, {0.8, 0.7, 0});
    results_are_copied();
    right_in_any_order(merge_batch());
    race(merge_batch(), gates);
}

CORRECTNESS_CASE("diamond: a few elements", 1) { try_diamond(10, 3); }

CORRECTNESS_CASE("diamond: sizes, rounds and places", 1)
{
    for (int n : {1, 2, 32, 255, 257, 1025, 5003}) try_diamond(std::size_t(n), 2);
    for (int rounds : {0, 1, 50}) try_diamond(300, rounds, rounds % 4, 3);
    try_diamond(0, 1);
    expect_handles_destroyed(
        "diamond", [] { try_diamond(100, 2); },
        "Create them once, in static variables, and use them in every call; or destroy them before "
        "the function returns.");
}

CORRECTNESS_CASE("diamond: streams as late as can be", 2)
{
    run_streams(stream_work::late);
    for (int n : {3, 1000}) try_diamond(std::size_t(n), 4);
}

CORRECTNESS_CASE("diamond: streams in any order", 1)
{
    run_streams(stream_work::shuffled);
    for (int n = 20; n < 40; ++n) try_diamond(std::size_t(n), 3);
    try_diamond(2000, 2);
}

SPEED_CASE("diamond: two branches at once", 4, 3)
{
    speed_gates gates;
    gates.speedup = 1.35;
    gates.counted = {streams_at_work(2), kernels_side_by_side(0.5), makespan({0.65, 0, 0}),
                     branches_computed(), order_by_events()};
    gates.too_slow = "The branches need not wait for each other: is each in a stream of its own?";
    right_in_any_order(compute_branches());
    race(compute_branches(), gates);
}
