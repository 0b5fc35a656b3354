// Grades lab 01, memory spaces.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

using namespace grading;

// One call each. The places say how many elements past a 256-byte boundary an array begins.

static void try_polynomial(std::size_t n, int degree, int x_at = 0, int y_at = 0)
{
    floats x = random_floats(n), c = random_floats(std::size_t(degree) + 1);
    output<float> y(n);
    CALL(polynomial, misaligned(x, x_at), misaligned(y, y_at), int(n), host(c), degree);
    oracle::polynomial_result want = oracle::polynomial(x, c);
    expect_close(y, want.values, degree + 1, want.magnitudes, {}, wrong_polynomials(x, c));
}

static void try_follow(std::size_t n, int steps, int start_at = 0, int out_at = 0)
{
    bytes start = random_bytes(n), next = random_table(random_source());
    output<unsigned char> out(n);
    hint_past_the_end("Each block needs the whole table, 256 entries: thread t of a block copies "
                      "entry t, which is threadIdx.x, whatever the block's number is.",
                      "next_state");
    CALL(follow, misaligned(start, start_at), host(next), misaligned(out, out_at), int(n), steps);
    expect_equal(out, oracle::follow(start, next, steps), {},
                 [&] { return wrong_walks(start, next, steps); });
}

static void try_sort(const floats &in, int in_at = 0, int out_at = 0)
{
    output<float> out(in.size());
    hint_another_order("Take a run of 16 descending numbers, and look at it after each round: "
                       "which pairs were compared in that round, and which should be?");
    CALL(small_sort, misaligned(in, in_at), misaligned(out, out_at), int(in.size()));
    expect_equal(out, oracle::small_sort(in), {}, [&] { return wrong_sorts(in); });
}

static void try_reverse(std::size_t n, int block, int at = 0)
{
    floats before = random_floats(n);
    output<float> data = changed_in_place(before);
    hint_past_the_end("The last piece is shorter if n is not a multiple of `block`. How long is "
                      "it? Loading, storing and reversing must all use that length. If it is an "
                      "array in shared memory that ends: a piece begins at its element 0 in every "
                      "block, so its index has no blockIdx.x.",
                      "data");
    CALL(reverse_blocks, misaligned(data, at), int(n), block);
    floats want = oracle::reverse_blocks(before, block);
    expect_changed_in_place(
        want == before || data.values != before,
        "reverse_blocks returned, but every element is as it was",
        "It stored the same values again: is everything moved twice, or stored where it was "
        "loaded?",
        "Does a kernel run at all, and does it write its result?");
    expect_equal(data, want, {}, [&] { return wrong_reversals(before, block); });
}

CORRECTNESS_CASE("device_facts: what the runtime says", 3)
{
    limit_multiprocessors(0);
    output<device_facts_t> out(1);
    grading::call<decltype(::device_facts)>("device_facts", host(out));
    const device_facts_t &got = out.values[0];
    const grading::device_facts &facts = device();
    auto same = [](const char *what, auto said, auto right, const char *hint) {
        expect(said == static_cast<decltype(said)>(right), verdict::WRONG_ANSWER,
               std::string(what) + " is " + std::to_string(said) + ", and should be " +
                   std::to_string(right) + ".",
               hint);
    };
    auto of_a_block = [](auto said, auto of_multiprocessor) {
        return said == static_cast<decltype(said)>(of_multiprocessor)
                   ? "This is the limit of a multiprocessor; one block may use less."
                   : "Which member of cudaDeviceProp is the limit of one block?";
    };
    const char *look = "cudaGetDeviceProperties fills a structure: which of its members is this?";
    same("devices", got.devices, facts.devices, "cudaGetDeviceCount says how many.");
    std::string name(got.name, strnlen(got.name, sizeof got.name));
    const bool is_text = std::all_of(name.begin(), name.end(), [](char c) {
        return std::isprint(static_cast<unsigned char>(c)) != 0;
    });
    expect(is_text && name.size() < 60, verdict::WRONG_ANSWER,
           "name holds bytes that are no device's name, and should be \"" +
               std::string(facts.name) + "\".",
           "Copy the characters and the zero that ends them.");
    const bool nothing_known = name.empty() && got.multiprocessors == 0 && got.warp_size == 0;
    expect(name.substr(0, sizeof facts.name - 1) == facts.name, verdict::WRONG_ANSWER,
           "name is \"" + name + "\", and should be \"" + facts.name + "\"." +
               (nothing_known ? " The numbers are 0, too." : ""),
           nothing_known
               ? "Does cudaGetDeviceProperties(&device, number) fill the structure before?"
               : "Copy the characters and the zero that ends them.");
    same("multiprocessors", got.multiprocessors, facts.multiprocessors, look);
    same("max_threads_per_block", got.max_threads_per_block, facts.max_threads_per_block,
         of_a_block(got.max_threads_per_block, facts.max_threads_per_multiprocessor));
    same("shared_per_block", got.shared_per_block, facts.shared_per_block,
         of_a_block(got.shared_per_block, facts.shared_per_multiprocessor));
    same("constant_memory", got.constant_memory, facts.constant_bytes, look);
    same("l2", got.l2, facts.l2_bytes, look);
    same("warp_size", got.warp_size, facts.warp, look);
    same("copy_engines", got.copy_engines, facts.copy_engines, look);
}

CORRECTNESS_CASE("add_to_global: one more", 1)
{
    for (float start : {-2.5f, 1.0f, 16777216.0f, 0.0f, 3.25f}) {
        output<float> out(1);
        CALL(add_to_global, start, host(out));
        expect_equal(
            out, {start + 1}, {},
            {{"This is the start value: nothing was added.",
              "Three steps, in this order: cudaMemcpyToSymbol, a kernel that adds, "
              "cudaMemcpyFromSymbol. Is each there, and in its place? In host code the variable's "
              "name stands for a copy on the host, not for the one on the device.",
              [=] { return floats{start}; }},
             {"This is 0 + 1: the start value did not come to the device.",
              "Is cudaMemcpyToSymbol called before the launch, and does it count bytes, sizeof "
              "start?",
              [=] { return floats{1}; }}});
    }
}

SPEED_CASE("add_to_global: a kernel does it", 2, 0)
{
    speed_gates gates;
    gates.naive_may_pass = true; // those are held back who leave the kernel out
    gates.counted = {at_least("kernels launched", {1}, "",
                              "The host added and copied the sum there and back: let a kernel add.",
                              &counted::launches),
                     at_least("bytes that the host read back", {4}, "",
                              "The host computed the sum, too, and did not look at the variable: "
                              "read it with cudaMemcpyFromSymbol.",
                              [](const counted &c) {
                                  return double(c.copied_out_bytes + c.shared_with_host_bytes +
                                                c.managed_pages);
                              })};
    race(one_more(), gates);
}

CORRECTNESS_CASE("polynomial: a few elements", 0.5) { try_polynomial(10, 3); }

CORRECTNESS_CASE("polynomial: every degree", 0.5)
{
    for (int degree = max_coefficients - 1; degree >= 0; --degree) try_polynomial(70, degree);
    try_polynomial(0, 4);
}

CORRECTNESS_CASE("polynomial: sizes and places", 1)
{
    for (int n : {1, 31, 32, 33, 255, 257, 1025, 4099}) try_polynomial(std::size_t(n), 5);
    for (int at = 0; at < 16; ++at) try_polynomial(1237, 7, at % 4, at / 4);
}

SPEED_CASE("polynomial: what is loaded", 7, 3)
{
    constexpr int degree = 31;
    speed_gates gates;
    gates.speedup =
        1.5; // 2.4 were measured with four elements per thread on an H200, 0.64 with one
    gates.counted = {
        // From any memory: a load of a coefficient costs about the same from constant memory as
        // from the L1 or from shared memory.
        at_most("loads per element", {9.5}, "",
                "Each coefficient that a thread loads is used for too few elements. Let a thread "
                "have four or more elements, each with a sum in a register: then a loaded "
                "coefficient serves them all.",
                per(raced_elements, [](const counted &c) { return 32 * accesses(c); })),
        moved_bytes("element", raced_elements, {18},
                    "Loading x and storing y move 8 bytes per element if neighbouring threads have "
                    "neighbouring elements: a thread's four are block_size apart, not side by "
                    "side. And all threads read the same coefficient at the same moment: keep the "
                    "coefficients in constant memory."),
        at_most("bytes copied per call", {4 * (degree + 1)}, "",
                "Copy the degree + 1 coefficients, once per call, before the launch.",
                &counted::copied_bytes),
        lanes_at_work(),
    };
    gates.too_slow = "How many elements does a loaded coefficient serve?";
    race(many_values(degree), gates);
}

CORRECTNESS_CASE("follow: a few steps", 1.5)
{
    for (int steps : {3, 1, 0, 7}) try_follow(40, steps);
}

CORRECTNESS_CASE("follow: sizes and places", 1.5)
{
    for (int n : {1, 31, 33, 255, 256, 257, 1025, 4099}) try_follow(std::size_t(n), 5);
    for (int at = 0; at < 16; ++at) try_follow(1237, 4, at % 4, at / 4);
    try_follow(5003, 300, 31, 9);
    try_follow(0, 3);
}

// An element takes 3 bytes where each block of 256 threads brings the table to shared memory, and
// some 500 from global memory.
static counted_gate bytes_of_a_walk()
{
    counted_gate gate =
        moved_bytes("element", raced_elements, {16},
                    "In each step each lane reads another entry of the table. Let each block copy "
                    "the table to shared memory once.");
    gate.cause = [](const counted &c) -> std::string {
        const bool one_lane = c.load_bytes < 4 * c.load_requests;
        if (c.shared_wavefronts == 0 || !one_lane) return {};
        return "One thread copies a block's table alone: each of its 256 loads moves a sector of "
               "32 bytes for one. Let neighbouring lanes copy neighbouring entries.";
    };
    return gate;
}

SPEED_CASE("follow: speed", 7, 4)
{
    speed_gates gates;
    gates.speedup = 5;
    gates.counted = {at_most("constant addresses per request", {1}, "",
                             "Constant memory serves one address at a time to all lanes of a warp; "
                             "lanes that ask for different addresses wait for each other. Keep the "
                             "table in shared memory, which has 32 banks.",
                             per(&counted::constant_requests, &counted::constant_addresses)),
                     bytes_of_a_walk(), lanes_at_work()};
    gates.too_slow = "Each lane takes its own path through the table. In which memory do 32 "
                     "different reads at a time cost least?";
    race(many_walks(64), gates);
}

CORRECTNESS_CASE("small_sort: one run", 1)
{
    try_sort({3, -1, 0, 2, 7, -5, 1, 8, -2, 4, 11, -9, 5, 6, -4, 10});
    try_sort(random_floats(16));
}

CORRECTNESS_CASE("small_sort: a shorter run at the end", 0.5)
{
    for (int n = 34; n >= 0; --n) try_sort(random_floats(std::size_t(n)));
    for (int n : {4081, 4095, 4097, 8193, 8207}) try_sort(random_floats(std::size_t(n)));
}

CORRECTNESS_CASE("small_sort: sorted, reversed, equal and infinite", 0.5)
{
    floats rising, falling, few, odd = random_floats(1001);
    for (int i = 0; i < 999; ++i) {
        rising.push_back(static_cast<float>(i));
        falling.push_back(static_cast<float>(-i));
        few.push_back(static_cast<float>(i * i % 3));
    }
    for (std::size_t i = 0; i < odd.size(); i += 3)
        odd[i] = i % 2 ? std::numeric_limits<float>::infinity()
                       : -std::numeric_limits<float>::infinity();
    for (const floats &in : {rising, falling, few, odd, floats(500, 7.5f)}) try_sort(in);
}

CORRECTNESS_CASE("small_sort: arrays that begin anywhere", 1)
{
    for (int at = 0; at < 16; ++at) try_sort(random_floats(1237), at % 4, at / 4);
    try_sort(random_floats(5003), 31, 9);
}

SPEED_CASE("small_sort: speed", 8, 3)
{
    speed_gates gates;
    gates.speedup = 2;
    gates.counted = {
        at_least(
            "accesses that are not to local memory", {1}, "%",
            "Registers have no addresses: an array lives in them only if every index is known when "
            "the kernel is compiled. Unroll all loops over it, and let no index depend on data.",
            per(
                [](const counted &c) {
                    return c.load_requests + c.store_requests + c.local_requests;
                },
                [](const counted &c) { return c.load_requests + c.store_requests; })),
        // Runs that are loaded and stored by way of shared memory take 4. Conflicts do not count.
        at_most(
            "passes over shared memory per element", {8}, "",
            "Shared memory is no place to compare and exchange in: load a run from it once, "
            "sort it in registers, and store it once.",
            per(raced_elements, [](const counted &c) { return 32 * c.shared_ideal_wavefronts; })),
        // 8 by way of shared memory, 64 where each lane loads and stores its run a float at a time
        moved_bytes("element", raced_elements, {80},
                    "Load a run once and store it once; in between keep it in registers."),
        lanes_at_work()};
    gates.too_slow = "Is the run in registers? Neighbouring lanes must load and store neighbours, "
                     "as bring_runs and take_runs do.";
    race(many_runs(), gates);
}

CORRECTNESS_CASE("reverse_blocks: a few pieces", 1)
{
    try_reverse(10, 5);
    try_reverse(12, 4);
}

CORRECTNESS_CASE("reverse_blocks: a shorter piece at the end", 1)
{
    for (int n : {1, 7, 11, 100, 1001, 2500}) try_reverse(std::size_t(n), 64);
    for (int at = 1; at < 4; ++at) try_reverse(203, 64, at);
    try_reverse(5, 1024);
    try_reverse(0, 8);
}

CORRECTNESS_CASE("reverse_blocks: pieces of any size", 2)
{
    for (int block : {1, 2, 3, 31, 32, 33, 63, 100, 255, 256, 257, 511, 1000, 1023, 1024})
        try_reverse(3001, block);
    // More pieces than a grid has blocks in its second dimension, or than 16 bits hold.
    try_reverse(140003, 2);
}
