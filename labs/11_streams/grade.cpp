// Grades lab 11, streams.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace grading;
using floats = std::vector<float>;
using pixels = std::vector<unsigned char>;

// Inputs.

static pixels random_bytes(std::size_t n)
{
    pixels all(n);
    fill_random(all, random_source());
    return all;
}

// Inputs in [-1/2, 1/2], so that sums stay in [-1, 1].
static floats random_halves(std::size_t n) { return random_floats(n, -0.5f, 0.5f); }

// The wrong answers that the grader recognises.

static std::vector<misconception<float>> wrong_works(const floats &a, const floats &b, int rounds)
{
    auto with = [](const floats &x, const floats &y, int k) {
        return [&x, &y, k] { return oracle::add_pipelined(x, y, k); };
    };
    return {
        {"This is the sum alone: `work` was left out.", "c = work(a + b, rounds).", with(a, b, 0)},
        {"`work` did one round, whatever `rounds` is.", "Pass `rounds` on to the kernel.",
         with(a, b, 1)},
        {"`a` was added to itself.", "Two arrays are copied in, to two places in the slot.",
         with(a, a, rounds)},
    };
}

// If each wrong sum is that of other elements, says of which; for few elements only.
static std::vector<misconception<float>> wrong_elements(const floats &a, const floats &b,
                                                        int rounds, const output<float> &c)
{
    constexpr std::size_t few = 32;
    const floats want = oracle::add_pipelined(a, b, rounds);
    if (a.size() > few) return {};
    floats looks = want;
    std::string first;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t k = 0; c[i] != want[i] && k < a.size() * a.size(); ++k) {
            const std::size_t of_a = k / a.size(), of_b = k % a.size();
            if (oracle::work(a[of_a] + b[of_b], rounds) != c[i]) continue;
            looks[i] = c[i];
            if (first.empty())
                first = "c_host[" + std::to_string(i) + "] of a_host[" + std::to_string(of_a) +
                        "] and b_host[" + std::to_string(of_b) + "]";
        }
    return {{"Each of them is computed from elements with other indices: " + first + ".",
             "Which copy loaded these: does each begin at its piece's first element, in both "
             "arrays and in the slot? And what waits until the previous piece in the slot is done?",
             [looks] { return looks; }}};
}

static std::vector<misconception<unsigned char>> wrong_merges(const pixels &first,
                                                              const pixels &second, int of_image)
{
    auto each = [&first, &second](auto merged) {
        return [&first, &second, merged] {
            pixels out;
            for (std::size_t i = 0; i < first.size(); ++i)
                out.push_back(static_cast<unsigned char>(merged(int(first[i]), int(second[i]))));
            return out;
        };
    };
    return {
        {"The weights are exchanged.", "Three parts of the first image, one of the second.",
         each([](int f, int s) { return (f + 3 * s + 2) / 4; })},
        {"The mean was not rounded.", "Add 2 before you divide by 4.",
         each([](int f, int s) { return (3 * f + s) / 4; })},
        {"Both images have the same weight.", "Three parts of the first image, one of the second.",
         each([](int f, int s) { return (f + s + 1) / 2; })},
        {"3 * first does not fit in a byte, and its upper bits were lost.",
         "Compute as int, and convert only the result to a byte.",
         each([](int f, int s) { return ((3 * f + s + 2) % 256) / 4; })},
        {"Every image is merged as the first of the batch.",
         "Image k begins at k * width * height, in all three arrays.",
         [&first, &second, of_image] {
             pixels one = oracle::merge_images(first, second), out;
             for (std::size_t i = 0; i < one.size(); ++i)
                 out.push_back(one[i % std::size_t(of_image)]);
             return out;
         }},
    };
}

static std::vector<misconception<float>> wrong_rights(const oracle::diamond_result &want,
                                                      int rounds)
{
    return {
        {"top was read from its first element on.", "right[i] is computed from top[n - 1 - i].",
         [&want, rounds] {
             floats right;
             for (float x : want.top) right.push_back(oracle::work(x / 2, rounds));
             return right;
         }},
        {"This is the other branch, backwards.", "The right one begins with half of top.",
         [&want] { return floats(want.left.rbegin(), want.left.rend()); }},
    };
}

static std::vector<misconception<float>> wrong_outs(const oracle::diamond_result &want)
{
    return {
        {"This is right - left.", "left - right.",
         [&want] {
             floats out = want.out;
             for (float &x : out) x = -x;
             return out;
         }},
        {"This is left alone.", "Was `right` complete when the branches were joined?",
         [&want] { return want.left; }},
    };
}

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
    expect_equal(c, oracle::add_pipelined(a, b, rounds), {}, [&] {
        auto known = wrong_works(a, b, rounds);
        for (auto &other : wrong_elements(a, b, rounds, c)) known.push_back(std::move(other));
        return known;
    });
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
        "A step began before those that it needs had ended.",
        "Only an event orders the work of two streams: record it behind the work that must come "
        "first, and wait for it before the work that comes next.",
        "diamond");
    CALL(diamond, misaligned(in, in_at), left, right, misaligned(out, out_at), int(n), rounds,
         scratch);
    oracle::diamond_result want = oracle::diamond(in, rounds);
    expect_equal(left, want.left);
    expect_equal(right, want.right, {}, [&] { return wrong_rights(want, rounds); });
    expect_equal(out, want.out, {}, [&] { return wrong_outs(want); });
}

// The speed cases.

// Arrays of 2^25 elements, or fewer where memory is small.
static std::size_t raced_elements()
{
    if (simulated()) return (1 << 18) - 35; // some pieces, if they have 256 KiB at least
    double most = std::min(double(1 << 25), double(device().memory_bytes) / 1024);
    return static_cast<std::size_t>(most) / 4096 * 4096 - 35;
}

// As many different sums as there are elements, or nearly: |x| stays below 1/2.
static void fill_with_halves(floats &x, std::mt19937_64 &random)
{
    fill_random(x, random);
    for_all(x.size(), [&](std::size_t i) {
        x[i] *= 0.499997f;
        return true;
    });
}

// The elements that a check looks at: all on the simulator; on a GPU one of each thousand or so,
// of which no submission can know, for each takes thousands of steps.
static std::vector<std::size_t> looked_at(std::size_t n)
{
    const std::size_t each = simulated() ? 1 : 1024;
    std::vector<std::size_t> chosen;
    std::mt19937_64 random(unforeseen());
    for (std::size_t first = 0; first < n; first += each)
        chosen.push_back(first + random() % std::min(each, n - first));
    return chosen;
}

// Another order of a stretch of `values`.
template <class T>
static std::span<std::byte> reorder(std::vector<T> &values, std::mt19937_64 &random)
{
    std::size_t count = std::min<std::size_t>(values.size(), 4096);
    std::size_t first = random() % (values.size() - count + 1);
    std::span<T> stretch = std::span(values).subspan(first, count);
    std::shuffle(stretch.begin(), stretch.end(), random);
    return std::as_writable_bytes(stretch);
}

namespace {

class adding : public workload {
public:
    adding(std::mt19937_64 &random, int rounds)
        : rounds_(rounds), a_(raced_elements()), b_(a_.size()), c_(a_.size())
    {
        fill_with_halves(a_, random);
        fill_with_halves(b_, random);
    }
    const char *function() const override { return "add_pipelined"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(add_pipelined)>::arguments(pinned(a_), pinned(b_), pinned(c_),
                                                          int(a_.size()), rounds_, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {reorder(a_, random), reorder(b_, random)};
    }
    void check() override
    {
        auto want = [this](std::size_t i) { return oracle::work(a_[i] + b_[i], rounds_); };
        const std::vector<std::size_t> chosen = looked_at(a_.size());
        auto right = [&](std::size_t i) { return c_.values[i] == want(i); };
        constexpr std::size_t a_thread = 512;
        if (for_all(
                chosen.size(), [&](std::size_t k) { return right(chosen[k]); }, a_thread))
            return;
        if (simulated())
            expect_equal(c_, oracle::add_pipelined(a_, b_, rounds_), {},
                         [&] { return wrong_works(a_, b_, rounds_); });
        std::size_t i = *std::find_if_not(chosen.begin(), chosen.end(), right);
        expect(false, verdict::WRONG_ANSWER,
               "c_host[" + std::to_string(i) + "] should be " + show_element(want(i)) + " and is " +
                   show_element(c_[i]) + ".",
               "The smaller cases are right, so look for what only many pieces have: slots that "
               "are used again, and the last piece.");
    }

private:
    int rounds_;
    floats a_, b_;
    output<float> c_;
};

class merging : public workload {
public:
    explicit merging(std::mt19937_64 &random)
        : first_(std::size_t(width_) * height_ * count_),
          second_(first_.size()),
          out_(first_.size())
    {
        fill_random(first_, random);
        fill_random(second_, random);
    }
    const char *function() const override { return "merge_images"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(merge_images)>::arguments(
            pinned(first_), pinned(second_), pinned(out_), width_, height_, count_, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {reorder(first_, random), reorder(second_, random)};
    }
    void check() override
    {
        auto right = [this](std::size_t i) {
            return out_.values[i] == (3 * first_[i] + second_[i] + 2) / 4;
        };
        if (!for_all(first_.size(), right))
            expect_equal(out_, oracle::merge_images(first_, second_),
                         {std::size_t(count_), std::size_t(height_), std::size_t(width_)},
                         [&] { return wrong_merges(first_, second_, width_ * height_); });
    }

    // As with sums, 1 MiB where it is simulated.
    static constexpr int simulated_width = 301, simulated_height = 313, count_ = 12;
    static constexpr double simulated_bytes = double(simulated_width) * simulated_height * count_;

private:
    int width_ = simulated() ? simulated_width : 1921;
    int height_ = simulated() ? simulated_height : 1081;
    pixels first_, second_;
    output<unsigned char> out_;
};

// Few elements, so that a kernel leaves most of the device idle.
class branching : public workload {
public:
    explicit branching(std::mt19937_64 &random) : in_(raced_values())
    {
        // Few different values, which make the answer cheap to check.
        for (float &x : in_) x = float(random() % 64) / 64 - 0.5f;
    }
    // work() multiplies twice per round.
    static double multiplications() { return double(raced_values()) * (4.0 * raced_rounds() + 2); }
    const char *function() const override { return "diamond"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(diamond)>::arguments(in_, left_, right_, out_, int(in_.size()),
                                                    rounds_, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {reorder(in_, random)};
    }
    void check() override
    {
        const auto &[lefts, rights] = of_kinds_;
        std::size_t n = in_.size();
        oracle::diamond_result want;
        for (std::size_t i = 0; i < n; ++i) {
            want.left.push_back(lefts[kind_of(i)]);
            want.right.push_back(rights[kind_of(n - 1 - i)]);
            want.out.push_back(want.left[i] - want.right[i]);
        }
        expect_equal(left_, want.left);
        expect_equal(right_, want.right);
        expect_equal(out_, want.out, {}, [&] { return wrong_outs(want); });
    }

private:
    // The results for each of the 64 values on either side.
    static std::pair<floats, floats> answers(int rounds)
    {
        floats kinds;
        for (int k = 0; k < 64; ++k) kinds.push_back(float(k) / 64 - 0.5f);
        floats turned(kinds.rbegin(), kinds.rend());
        return {oracle::diamond(kinds, rounds).left, oracle::diamond(turned, rounds).right};
    }
    std::size_t kind_of(std::size_t i) const { return std::size_t((in_[i] + 0.5f) * 64); }
    static std::size_t raced_values() { return simulated() ? 31 : 4093; }
    static int raced_rounds() { return simulated() ? 1200 : 100000; }

    int rounds_ = raced_rounds();
    std::pair<floats, floats> of_kinds_ = answers(rounds_);
    floats in_;
    output<float> left_{in_.size()}, right_{in_.size()}, out_{in_.size()};
};

} // namespace

static make_workload add_race(int rounds)
{
    return [=](std::mt19937_64 &random) { return std::make_unique<adding>(random, rounds); };
}

// As many rounds as make the kernel take as long as the two copies in. Naive then takes as long as
// five copies; without any round, as long as three, and a little more for the sum.
static int balanced_rounds()
{
    constexpr double more = 0.63; // (2 - k) / (3 + k), where the sum takes k of a copy: about 6 %
    double copies = naive_cost(add_race(0));
    double rounds = simulated() ? 128 : 2048;
    for (int k = 0; k < 3; ++k) {
        double kernel = naive_cost(add_race(int(rounds))) - copies;
        rounds = std::clamp(rounds * more * copies / std::max(kernel, copies / 64), 1.0, 65536.0);
    }
    return int(rounds);
}

// The gates that the simulator counts.

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

static counted_gate makespan_of_pieces(const steps &most)
{
    counted_gate gate = makespan(most);
    gate.cause = [usual = gate.cause](const counted &c) {
        const std::string known = usual(c);
        return known.empty() ? too_few_pieces(c) : known;
    };
    return gate;
}

// `in`, `out`: bytes that must be copied to the device and back. `multiplications`: by kernels.
static std::vector<counted_gate> overlap_gates(double in, double out, double multiplications,
                                               const steps &most)
{
    return {
        at_least("crossing the link by copies", {1}, "%",
                 "Kernels can access pinned memory directly, at the speed of the link; this lab "
                 "asks for copies, because only copies are seen to overlap with kernels here.",
                 [](const counted &c) { return share(c.copied_bytes, double(c.host_link_bytes)); }),
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
        makespan_of_pieces(most)};
}

// Kernels may also compute something else: that is not seen here.
static counted_gate branches_computed()
{
    return at_least(
        "multiplications by kernels, of those of both branches", {0.95}, "%",
        "Every call must compute both branches anew, in kernels.",
        [](const counted &c) { return share(c.multiplications, branching::multiplications()); });
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
    gates.speedup = 1.55;   // two pieces reach 1.42 on an H200, the solution 2.1
    gates.most_speedup = 3; // two arrays come in, of the five that naive's time is long
    int rounds = balanced_rounds();
    double n = double(raced_elements());
    gates.counted = overlap_gates(8 * n, 4 * n, n * rounds, {0.6, 0.5, 0.45});
    gates.too_slow = "How many pieces are there, is each in a stream, together with its launch, "
                     "and does the host wait for one before it queues the next?";
    pieces_are_copied();
    right_in_any_order(add_race(3));
    race(add_race(rounds), gates);
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
    constexpr double bytes = merging::simulated_bytes;
    gates.counted = overlap_gates(2 * bytes, bytes, 0, {0.8, 0.7, 0});
    make_workload images = [](std::mt19937_64 &random) {
        return std::make_unique<merging>(random);
    };
    results_are_copied();
    right_in_any_order(images);
    race(images, gates);
}

CORRECTNESS_CASE("diamond: a few elements", 1) { try_diamond(10, 3); }

CORRECTNESS_CASE("diamond: sizes, rounds and places", 1)
{
    for (int n : {1, 2, 32, 255, 257, 1025, 5003}) try_diamond(std::size_t(n), 2);
    for (int rounds : {0, 1, 50}) try_diamond(300, rounds, rounds % 4, 3);
    try_diamond(0, 1);
    const std::uint64_t more = leaked_handles([] { try_diamond(100, 2); });
    expect(more == 0, verdict::RESOURCE_LIMIT,
           "After each call of diamond there are " + std::to_string(more) +
               " streams and events more than before it, which were never destroyed.",
           "Create them once, in static variables, and use them in every call; or destroy them "
           "before the function returns.");
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
                     branches_computed()};
    gates.too_slow = "The branches need not wait for each other: is each in a stream of its own?";
    make_workload branches = [](std::mt19937_64 &random) {
        return std::make_unique<branching>(random);
    };
    right_in_any_order(branches);
    race(branches, gates);
}
