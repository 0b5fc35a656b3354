// Grades lab 00, first kernel.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace grading;

// Each result is exact, whatever way a kernel computes it.
constexpr int max_value = 1000;

// Ends the case unless `changed`: the call left an array as it was.
static void expect_change(bool changed, const std::string &function, const std::string &array,
                          const std::string &to_launch, const std::string &to_store)
{
    expect_changed_in_place(
        changed,
        function + (kernels_launched() ? " returned, and " : " returned without a launch, and ") +
            array + " is as it was.",
        kernels_launched() ? to_store : to_launch);
}

CORRECTNESS_CASE("who_am_i: 64 threads", 4)
{
    output<int> out(64);
    hint_race(advice::one_element_each);
    hint_past_the_end(advice::sixty_four);
    std::vector<std::size_t> all_but_the_first(63);
    std::iota(all_but_the_first.begin(), all_but_the_first.end(), std::size_t{1});
    hint_left_out({{all_but_the_first, advice::thread_0_in_each_block}});
    CALL(who_am_i, out);
    expect_equal(out, oracle::who_am_i(), {}, wrong_numbers());
    const std::uint64_t stored = bytes_stored_by_kernels() / sizeof(int);
    expect(stored <= 2 * 64, verdict::TOO_SLOW,
           "out is right, but the threads stored at least " + std::to_string(stored) +
               " elements in all, where 64 would do.",
           advice::one_store_each);
}

static void try_add_one(int n)
{
    const floats before = whole_numbers(n, max_value);
    auto x = changed_in_place(before);
    hint_race(advice::one_block);
    hint_past_the_end(advice::as_many_threads);
    CALL(add_one, x, n);
    expect_change(x.values != before, "add_one", "x", advice::launch, does_a_kernel_write);
    expect_equal(x, oracle::add_one(before));
}

CORRECTNESS_CASE("add_one: 64 elements", 2) { try_add_one(64); }

CORRECTNESS_CASE("add_one: any number that one block has threads for", 2)
{
    for (int n : {1, 31, 33, 1000, 1024}) try_add_one(n);
}

// Ends the case unless `y` is a * x + before.
static void expect_saxpy(const std::string &function, const output<float> &y, float a,
                         const floats &x, const floats &before)
{
    const floats want = oracle::saxpy(a, x, before);
    expect_change(y.values != before || want == before, function, "y", advice::launch_line,
                  does_a_kernel_write);
    expect_equal(y, want, {}, [&] { return wrong_saxpy(a, x, before, y.values); });
}

static void try_saxpy_blocks(int blocks)
{
    const floats x = whole_numbers(std::size_t(blocks) * block_size, max_value),
                 before = whole_numbers(x.size(), max_value);
    auto y = changed_in_place(before);
    hint_race(advice::shared_elements);
    hint_past_the_end(advice::first_of_the_block);
    CALL(saxpy_blocks, 3.0f, x, y, blocks);
    expect_saxpy("saxpy_blocks", y, 3, x, before);
}

CORRECTNESS_CASE("saxpy_blocks: two blocks", 2) { try_saxpy_blocks(2); }

CORRECTNESS_CASE("saxpy_blocks: any number of blocks", 2)
{
    for (int blocks : {5, 1, 37}) try_saxpy_blocks(blocks);
}

static void try_saxpy(int n)
{
    const floats x = whole_numbers(n, max_value), before = whole_numbers(n, max_value);
    auto y = changed_in_place(before);
    hint_race(advice::shared_elements);
    hint_past_the_end(advice::guard);
    CALL(saxpy, 2.0f, x, y, n);
    expect_saxpy("saxpy", y, 2, x, before);
}

CORRECTNESS_CASE("saxpy: a last block that is not full", 2)
{
    try_saxpy(1000);
    try_saxpy(5);
}

CORRECTNESS_CASE("saxpy: sizes around one block and two", 1)
{
    for (int n : {1, 255, 256, 257, 511, 512, 513}) try_saxpy(n);
    try_saxpy(simulated() ? 270011 : 5000011); // more than 1024 blocks
}

CORRECTNESS_CASE("saxpy: nothing to do", 1)
{
    try_saxpy(10); // nothing at all is no answer
    try_saxpy(0);
}

static floats shades(const bytes &pixels)
{
    floats values;
    for (unsigned char pixel : pixels) values.push_back(static_cast<float>(pixel) / 255);
    return values;
}

static void try_mirror(const bytes &in, int width, int height, const std::string &picture = {})
{
    output<unsigned char> out(in.size());
    out.row = width;
    hint_past_the_end(advice::both_coordinates);
    hint_before_the_start(advice::no_thread_beyond);
    hint_race(advice::one_pixel_each);
    hint_left_out(unwritten_mirrors(width, height));
    CALL(mirror, in, out, width, height);
    if (!picture.empty()) {
        keep_picture(picture + "_before", width, height, shades(in));
        keep_picture(picture + "_after", width, height, shades(out.values));
    }
    expect_equal(out, oracle::mirror(in, width, height), {std::size_t(height), std::size_t(width)},
                 [&] { return wrong_mirrors(in, width, height); });
}

static void try_random_mirror(int width, int height)
{
    try_mirror(random_bytes(std::size_t(width) * height), width, height);
}

CORRECTNESS_CASE("mirror: a wide picture", 2) { try_random_mirror(40, 20); }

CORRECTNESS_CASE("mirror: pictures of any shape", 1)
{
    for (auto [width, height] : {std::array{17, 40}, {1, 33}, {33, 1}, {1, 1}, {16, 16}})
        try_random_mirror(width, height);
}

CORRECTNESS_CASE("mirror: the harbour", 1)
{
    const picture harbour = read_picture("harbour.pgm");
    try_mirror(harbour.pixels, harbour.width, harbour.height, "mirror");
}

static void try_saxpy_host(int n)
{
    const floats x = whole_numbers(n, max_value), before = whole_numbers(n, max_value);
    auto y = changed_in_place(before);
    hint_unwritten(advice::copies);
    hint_past_the_end(advice::bytes_of_an_allocation);
    CALL(saxpy_host, 2.0f, host(x), host(y), n);
    const floats want = oracle::saxpy(2, x, before);
    const bool is_back = simulated() && copied_from_devices() >= sizeof(float) * y.values.size();
    expect_change(y.values != before || n == 0, "saxpy_host", "y_host", advice::five_steps,
                  is_back ? advice::another_array_back : advice::copy_back);
    expect_equal(y, want, {}, [&] { return wrong_copies(2, x, before, y.values); });
    expect_work_of_kernels(12.0 * n, n);
}

CORRECTNESS_CASE("saxpy_host: 1000 elements", 1) { try_saxpy_host(1000); }

CORRECTNESS_CASE("saxpy_host: any number of elements", 1)
{
    for (int n : {1, 257, 5000, 0}) try_saxpy_host(n);
}

CORRECTNESS_CASE("saxpy_host: memory is free again", 2)
{
    try_saxpy_host(1000);
    const std::uint64_t kept = leaks([] { try_saxpy_host(1000); });
    expect(kept == 0, verdict::RESOURCE_LIMIT,
           "After a call of saxpy_host with n = 1000 there are " + std::to_string(kept) +
               " bytes of device memory that stay allocated; an array has 4000.",
           advice::free_both);
}

static void try_launch(int threads, bool possible)
{
    hint_refused_launch(advice::clear_the_error);
    const int error = CALL(launch_error, threads);
    expect(error != -1, verdict::NOT_WRITTEN, "launch_error returned -1, as the stub does.",
           "Launch do_nothing, and ask cudaGetLastError() for the error.");
    // An empty function returns 0.
    expect(kernels_launched(), error == 0 ? verdict::NOT_WRITTEN : verdict::WRONG_ANSWER,
           "launch_error launched no kernel.",
           "Launch do_nothing<<<1, threads>>>() in any case, and let the runtime judge.");
    // cudaErrorInvalidValue, or, from older runtimes, cudaErrorInvalidConfiguration.
    const bool right = possible ? error == 0 : error == 1 || (!simulated() && error == 9);
    expect(right, verdict::WRONG_ANSWER,
           "launch_error returned " + std::to_string(error) + ", but a launch of one block of " +
               std::to_string(threads) +
               (possible ? " threads works: its error is 0, cudaSuccess."
                         : " threads is refused: its error is 1, cudaErrorInvalidValue."),
           possible ? "Is it the error of an earlier launch that was never fetched?"
                    : advice::first_error_after);
}

CORRECTNESS_CASE("launch_error: as many threads as a block may have", 1.5)
{
    try_launch(1, true);
    try_launch(1024, true);
}

CORRECTNESS_CASE("launch_error: launches that are refused", 2.5)
{
    for (int threads : {1025, 0}) {
        try_launch(threads, false);
        try_launch(64, true);
    }
}

static void try_differences(int n)
{
    const floats in = whole_numbers(n, max_value);
    output<float> out(n - 1);
    hint_past_the_end(advice::last_difference);
    CALL(differences, in, out, n);
    expect_equal(out, oracle::differences(in), {}, [&] { return wrong_differences(in); });
}

CORRECTNESS_CASE("differences: 1000 elements", 2) { try_differences(1000); }

CORRECTNESS_CASE("differences: sizes around one block", 2)
{
    for (int n : {2, 255, 256, 257, 258, 1}) try_differences(n);
}

CORRECTNESS_CASE("reverse_block: 256 elements", 4)
{
    const ints before = random_ints(block_size, -max_value, max_value);
    auto data = changed_in_place(before);
    hint_race(advice::wait);
    CALL(reverse_block, data);
    expect(data.values != before || !kernels_stored(), verdict::WRONG_ANSWER,
           "reverse_block returned, and data is as it was, though a kernel stored elements.",
           "Which element of `copy` belongs at place t? The first one moves to the end.");
    expect_change(data.values != before, "reverse_block", "data",
                  "Launch one block of block_size threads.", does_a_kernel_write);
    expect_equal(data, oracle::reverse_block(before), {}, [&] { return wrong_reversals(before); });
}

static void try_block_sums(int blocks)
{
    const ints in = random_ints(std::size_t(blocks) * block_size, -max_value, max_value);
    output<int> out(blocks);
    hint_race(advice::wait_before_each_step);
    hint_one_place(advice::one_sum_per_block);
    hint_barrier(advice::all_must_come);
    CALL(block_sums, in, out, blocks);
    expect_equal(out, oracle::block_sums(in), {}, [&] { return wrong_sums(in); });
}

CORRECTNESS_CASE("block_sums: one block and many", 1)
{
    for (int blocks : {3, 1, 50}) try_block_sums(blocks);
}

namespace {

// The sums of many blocks, of which the simulator counts how many lanes work.
class summing : public workload {
public:
    explicit summing(std::mt19937_64 &random) : in_(std::size_t(blocks) * block_size), out_(blocks)
    {
        draw(in_, random);
    }
    const char *function() const override { return "block_sums"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(block_sums)>::arguments(in_, out_, int(blocks));
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        draw(in_, random);
        return {std::as_writable_bytes(std::span(in_))};
    }
    void check() override { expect_equal(out_, oracle::block_sums(in_)); }
    double bytes() const override { return 4.0 * double(in_.size() + out_.size()); }

private:
    static constexpr int blocks = 64;
    static void draw(ints &values, std::mt19937_64 &random)
    {
        for (int &value : values) value = static_cast<int>(random() % 2001) - 1000;
    }
    ints in_;
    output<int> out_;
};

} // namespace

SPEED_CASE("block_sums: many threads add", 3, 0)
{
    speed_gates gates;
    // One atomic addition per warp is 8 for each block. A tree takes 60 accesses, or 180 if its
    // threads are far apart; threads that each add all 256 elements take 2,050.
    gates.counted = {at_least("threads at work", {12}, "of 32", advice::many_at_work,
                              per(&counted::warp_instructions, &counted::thread_instructions)),
                     at_most("additions to one address per block", {32}, "",
                             advice::sums_of_their_own,
                             per(&counted::blocks, &counted::atomic_same_address)),
                     at_most("accesses of 32 threads per block", {600}, "", advice::each_adds_all,
                             per(&counted::blocks, [](const counted &c) {
                                 return c.load_requests + c.store_requests + c.shared_wavefronts +
                                        c.local_requests;
                             }))};
    gates.too_slow = "Let half of the threads add two elements each, then half of those.";
    race([](std::mt19937_64 &random) { return std::make_unique<summing>(random); }, gates);
}
