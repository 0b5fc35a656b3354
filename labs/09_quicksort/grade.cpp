// Grades lab 09, quicksort.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace grading;
using keys = std::vector<unsigned>;

// Inputs.

enum class order { random, sorted, reversed, equal, few, organ_pipe };

// Each key larger than the one before, the first than `key`, by nobody knows how much; less than
// 2^31 in all.
static void rise(std::span<unsigned> data, unsigned key, std::mt19937_64 &random)
{
    std::vector<unsigned char> steps(data.size());
    fill_random(steps, random);
    const std::uint64_t most = (1u << 31) / (data.size() + 1);
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = key += 1 + static_cast<unsigned>((most - 1) * steps[i] / 255);
}

// More random keys than this are drawn on all cores.
constexpr std::size_t many_for_one_core = 1 << 22;

static keys ordered(order o, std::size_t n, std::mt19937_64 &random = random_source())
{
    keys data(n);
    unsigned some[5];
    for (unsigned &key : some) key = static_cast<unsigned>(random());
    std::span<unsigned> all(data), up = all.first(o == order::organ_pipe ? n / 2 : n),
                                   down = all.subspan(up.size());
    switch (o) {
    case order::random:
        if (n > many_for_one_core)
            fill_random({reinterpret_cast<unsigned char *>(data.data()), 4 * n}, random);
        else
            for (unsigned &key : data) key = static_cast<unsigned>(random());
        break;
    case order::equal:
        std::fill(data.begin(), data.end(), some[0]);
        break;
    case order::few:
        if (n > many_for_one_core) {
            fill_random({reinterpret_cast<unsigned char *>(data.data()), 4 * n}, random);
            for_all(n, [&](std::size_t i) {
                data[i] = some[data[i] % 5];
                return true;
            });
        } else
            for (unsigned &key : data) key = some[random() % 5];
        break;
    case order::sorted:
    case order::reversed:
    case order::organ_pipe:
        // Where they fall again they end below the first, so that no key is in its place already.
        rise(down, some[0] / 4, random);
        rise(up, down.empty() ? some[0] / 4 : down[0], random);
        std::reverse(all.begin() + std::ptrdiff_t(o == order::reversed ? 0 : up.size()), all.end());
    }
    return data;
}

// What wrong answers look like.

// A bitonic network whose first step of a run, too, compares keys a distance apart, where each key
// of the first half belongs with its mirror image in the second.
static keys without_mirror_images(keys data)
{
    const std::size_t n = data.size();
    for (std::size_t run = 2; run < 2 * n; run *= 2)
        for (std::size_t d = run / 2; d > 0; d /= 2)
            for (std::size_t low = 0; low + d < n; ++low)
                if ((low & d) == 0 && data[low] > data[low + d])
                    std::swap(data[low], data[low + d]);
    return data;
}

static std::vector<misconception<unsigned>> wrong_orders(const keys &in)
{
    auto sorted_by = [&in](auto less) {
        return [&in, less] {
            keys out = in;
            std::sort(out.begin(), out.end(), less);
            return out;
        };
    };
    return {
        {"The largest keys come first.", "Smaller keys go to the front of a part.",
         sorted_by([](unsigned a, unsigned b) { return a > b; })},
        {"Keys from 2^31 on come first: they were compared as numbers with a sign.",
         "Keys are unsigned; are those variables, too, in which you hold them?",
         sorted_by([](unsigned a, unsigned b) { return int(a) < int(b); })},
        {"This is what a network gives whose steps all compare keys a distance apart.",
         "Two runs that both rise are merged by mirror images first: the first key of the one with "
         "the last of the other, and so on inwards. Only then come distances.",
         [&in] { return without_mirror_images(in); }},
    };
}

// Ends the case where keys have got lost, or have come twice.
static void expect_all_there(const keys &got, const keys &sorted_in)
{
    keys there = got, gone, foreign;
    std::sort(there.begin(), there.end());
    if (there == sorted_in) return;
    std::set_difference(sorted_in.begin(), sorted_in.end(), there.begin(), there.end(),
                        std::back_inserter(gone));
    std::set_difference(there.begin(), there.end(), sorted_in.begin(), sorted_in.end(),
                        std::back_inserter(foreign));
    bool each_left = std::all_of(gone.begin(), gone.end(), [&](unsigned key) {
        return std::binary_search(there.begin(), there.end(), key);
    });
    std::string message =
        "Of " + std::to_string(got.size()) + " keys " + std::to_string(gone.size()) +
        " have got lost, the smallest of them " + show_element(gone[0]) + "; in their places is " +
        show_element(foreign[0]) + (foreign.back() != foreign[0] ? " and others." : ".");
    if (each_left)
        expect(false, verdict::WRONG_ANSWER,
               message + " Each of them occurred more than once, and still does once or more.",
               "What becomes of keys that equal the pivot, and of those that equal each other?");
    bool none_left = std::none_of(gone.begin(), gone.end(), [&](unsigned key) {
        return std::binary_search(there.begin(), there.end(), key);
    });
    const std::size_t all_gone = gone.size();
    gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
    if (none_left && all_gone < got.size() && gone.size() * 500 < got.size())
        expect(false, verdict::WRONG_ANSWER,
               message + " None of its kind is left, as happens to pivots where nobody adds the "
                         "part of what equals them.",
               "A part becomes three: smaller keys, larger ones, and between them those that equal "
               "the pivot, itself among them. TODO 6 of the stub adds all three.");
    expect(false, verdict::WRONG_ANSWER, message,
           "Every key needs a place of its own: look at how many each thread, warp and block adds, "
           "and at the end of a part.");
}

// Where keys are all there and out of order.
static void expect_order(const output<unsigned> &got, const keys &in, const keys &want)
{
    auto known = wrong_orders(in);
    bool recognised = std::any_of(known.begin(), known.end(),
                                  [&](const auto &m) { return m.looks_like() == got.values; });
    if (recognised || !got.again.empty()) return; // expect_equal says it
    std::size_t falls = 0, first = 0, right = 0;
    for (std::size_t i = got.size() - 1; i > 0; --i)
        if (got[i - 1] > got[i]) ++falls, first = i;
    if (falls == 0) return;
    while (got[right] == want[right]) ++right;
    std::string where = std::to_string(first);
    constexpr std::size_t a_block = 256; // keys that hardly anybody splits
    expect(
        false, verdict::WRONG_ANSWER,
        "All " + std::to_string(in.size()) + " keys are there, in " + std::to_string(falls + 1) +
            " runs of which each is sorted: data[" + where + "], " + show_element(got[first]) +
            ", is smaller than the key before it, " + show_element(got[first - 1]) +
            ". The first " + std::to_string(right) + " are as they should be.",
        in.size() <= a_block
            ? "So few keys are a leaf, which one block sorts by itself: which two keys does the "
              "first step that goes wrong compare, and should these two be compared?"
            : "Is every part sorted in the end, by a kernel that was launched or else by the one "
              "that could not launch it, and is it the same part that was split off? Are tiles "
              "and blocks rounded up?");
}

static void expect_sorted(const output<unsigned> &got, const keys &in)
{
    keys want = oracle::quicksort(in);
    expect_changed_in_place(got.values != in || in == want,
                            "quicksort returned, and every key is where it was.",
                            "Does a kernel run at all, and does what it sorts come back to "
                            "`data`?");
    expect_all_there(got.values, want);
    expect_order(got, in, want);
    expect_equal(got, want, {}, [&] { return wrong_orders(in); });
}

// One call. `at` says how many keys past a 256-byte boundary the data begin.
static void try_sort(const keys &in, int at = 0)
{
    output<unsigned> data = changed_in_place(in);
    hint_without_end(
        "A loop cannot end, or a pivot splits off no key, or few. Of each part, look at how many "
        "keys it has, its pivot, its smallest and its largest key: is the pivot always one of its "
        "keys, or can it lie outside of them, as where a sum of keys is more than 32 bits hold? If "
        "each part is much shorter than the one that it came from, it is a loop in a kernel.");
    hint_past_the_end("Keys from n on are none: does a step compare with the key at n, or a thread "
                      "go on to it? Or does a part come here that is longer than the array?",
                      "keys in shared memory", in.size() <= 2048 ? 4 * in.size() : 0);
    hint_one_place("Each key needs a place of its own. In a row of 32 it is told by the votes of "
                   "lower lanes alone, for larger keys counted downwards; the next row begins "
                   "where this one has ended, and each warp where those before it have. Print two "
                   "keys' places that meet: which of these is missing?");
    hint_unwritten(
        "What was split lies in `to`, or wherever yours goes: smaller keys and larger "
        "ones. Nobody has written keys that equal the pivot, and nobody what lies beyond "
        "a part: whose place is it that is read?");
    hint_another_order("Which step hangs on the order in which threads and blocks run? A place "
                       "that atomicAdd gives does: that is right in a part that is still to be "
                       "sorted, and wrong where a key comes to lie at last. Where a part begins "
                       "may not hang on it, nor what is compared with what.");
    host_may_steer(0.5); // by the sizes of parts; a gate counts what it launches
    CALL(quicksort, misaligned(data, at), int(in.size()), scratch);
    expect_sorted(data, in);
}

// Around warps, blocks, and what a block may sort by itself.
static const int awkward_sizes[] = {1,   2,   3,   31,  32,   33,   63,   65,   255, 256,
                                    257, 511, 513, 767, 1023, 1024, 1025, 2047, 2048};

static int many() { return simulated() ? 40000 - 35 : (1 << 20) - 35; }

// What is raced.

// 2^26 keys and a ragged end, where they fit the device seven times with scratch. Naive would take
// seconds: it sorts a 256th of them.
static int raced_keys()
{
    if (simulated()) return 30000 - 35;
    return static_cast<int>(std::min(double(1 << 26), double(device().memory_bytes) / 256)) - 35;
}

static int naive_keys() { return simulated() ? raced_keys() : raced_keys() / 256; }

namespace {

class sorting : public workload {
public:
    sorting(std::mt19937_64 &random, order o, int n)
        : order_(o), in_(ordered(o, std::size_t(n), random)), data_(0)
    {
        data_ = changed_in_place(in_);
    }
    const char *function() const override { return "quicksort"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(quicksort)>::arguments(data_, int(in_.size()), scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        if (order_ == order::organ_pipe) {
            move_both_halves(random);
        } else { // as random, and as few, as they were
            auto bits = static_cast<unsigned>(random());
            for_all(in_.size(), [&](std::size_t i) {
                in_[i] ^= bits;
                return true;
            });
        }
        data_.values = in_;
        return {}; // what is changed in place is restored
    }
    void check() override
    {
        const keys &out = data_.values;
        bool in_order =
            for_all(out.size(), [&](std::size_t i) { return i == 0 || out[i - 1] <= out[i]; });
        if (!in_order ||
            !same_in_any_order(std::as_bytes(std::span(in_)), std::as_bytes(std::span(out))))
            expect_sorted(data_, in_);
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    // By different distances, so that other keys of the two come to lie beside each other. The last
    // key stays below the first, and the largest below 2^32.
    void move_both_halves(std::mt19937_64 &random)
    {
        const auto low = static_cast<unsigned>(random() % (1u << 29));
        const auto first = low + 1 + static_cast<unsigned>(random() % (1u << 29));
        const std::size_t half = in_.size() / 2;
        const unsigned rising = first - in_.front(), falling = low - in_.back();
        for_all(in_.size(), [&](std::size_t i) {
            in_[i] += i < half ? rising : falling;
            return true;
        });
    }

    order order_;
    keys in_;
    output<unsigned> data_;
};

} // namespace

static counted_gate lanes_at_work_on_parts()
{
    counted_gate gate = lanes_at_work(16);
    gate.meaning = "A warp has 32 lanes whether they work or not: let all threads of a block split "
                   "a part together, and sort a small one.";
    return gate;
}

// Of each launch the busiest block counts, so grids of one block add up, also side by side.
static counted_gate share_of_launches()
{
    counted_gate gate = blocks_share(2);
    gate.meaning = "Of each launch the busiest block is taken. Where one block does nearly all of "
                   "a launch's work, as in grids of one block, a large part takes as long as one "
                   "multiprocessor needs for it, and at the beginning all parts are large. Let "
                   "many blocks split a large part together.";
    return gate;
}

static counted_gate launches()
{
    return at_most("launches", {std::floor(8 * std::log2(raced_keys())), 40, 15}, "",
                   "A launch costs as much as a few thousand keys. One grid can split all parts of "
                   "a level: each block finds out which part is its own.",
                   [](const counted &c) { return double(c.launches); });
}

static counted_gate launches_by_the_host()
{
    return at_most("launches by the host", {1}, "",
                   "A loop on the host must wait for the device to know how to go on: let kernels "
                   "launch what follows.",
                   [](const counted &c) { return double(c.launches - c.launches_by_kernels); });
}

static counted_gate work_of_launched()
{
    return at_least("instructions of kernels that kernels launched", {0.5}, "%",
                    "One grid from beginning to end has a size that was fixed before anybody knew "
                    "the parts, and its blocks wait for each other. Let kernels launch what has "
                    "turned up, as large as it is.",
                    [](const counted &c) {
                        return double(c.instructions_by_kernels) /
                               double(std::max<std::uint64_t>(1, c.warp_instructions));
                    });
}

static void race_sorting(order o)
{
    speed_gates gates;
    // By parts, a block each, 19 to 32 on an H200; level by level 900, less on a smaller GPU, for
    // naive waits for launches only.
    gates.speedup = 60;
    gates.counted = {lanes_at_work_on_parts(), share_of_launches(), launches_by_the_host(),
                     launches(), work_of_launched()};
    gates.too_slow = "What works on the largest parts, at the beginning: a thread, a block, or the "
                     "whole device?";
    gates.copy = {0.004, 0.02, 0};
    gates.naive_share = double(naive_keys()) / raced_keys();
    auto make = [o](int n) {
        return [o, n](std::mt19937_64 &random) { return std::make_unique<sorting>(random, o, n); };
    };
    race(make(raced_keys()), gates, make(naive_keys()));
}

CORRECTNESS_CASE("quicksort: a small array", 1.5)
{
    try_sort({3, 0x80000000, 7, 0, 0xffffffff, 5, 7, 1, 0x7fffffff, 2});
    try_sort(ordered(order::random, 10));
}

CORRECTNESS_CASE("quicksort: sizes around a warp and a block", 2)
{
    for (int n : awkward_sizes) try_sort(ordered(order::random, std::size_t(n)));
}

CORRECTNESS_CASE("quicksort: many keys", 3)
{
    for (int n : {2049, 8193, many()}) try_sort(ordered(order::random, std::size_t(n)));
}

CORRECTNESS_CASE("quicksort: sorted, or in reverse", 2)
{
    for (order o : {order::sorted, order::reversed})
        for (int n : {33, 3001, 12289}) try_sort(ordered(o, std::size_t(n)));
}

CORRECTNESS_CASE("quicksort: all equal", 1.5)
{
    for (int n : {33, 1025, 20001}) try_sort(ordered(order::equal, std::size_t(n)));
    for (unsigned key : {0u, 0xffffffffu}) {
        keys in(5001, key);
        try_sort(in);
        in[4000] = 7; // and one that is not
        try_sort(in);
    }
}

CORRECTNESS_CASE("quicksort: few values", 1.5)
{
    for (int n : {65, 1500, 20001}) try_sort(ordered(order::few, std::size_t(n)));
}

CORRECTNESS_CASE("quicksort: up and down again", 1.5)
{
    for (int n : {64, 1999, 12289}) try_sort(ordered(order::organ_pipe, std::size_t(n)));
}

CORRECTNESS_CASE("quicksort: the largest and the smallest keys", 1)
{
    keys in(6001);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = i % 3 == 0 ? 0xffffffff - i % 2 : i % 2;
    try_sort(in);
    for (unsigned &key : in) key = 1u << random_between(0, 31);
    try_sort(in);
}

CORRECTNESS_CASE("quicksort: data that begin anywhere", 1)
{
    for (int at = 1; at < 8; ++at) try_sort(ordered(order::random, 1237), at);
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

CORRECTNESS_CASE("quicksort: launches are refused", 2.5)
{
    for (int places : {1, 2, 3, 5, 16}) {
        limit_launches(places, true);
        try_sort(ordered(order::random, simulated() ? 9001 : 30001));
    }
    try_sort(ordered(order::few, 9001));
}

SPEED_CASE("quicksort: speed", 11.5, 5) { race_sorting(order::random); }

SPEED_CASE("quicksort: speed, few values", 6, 3) { race_sorting(order::few); }

SPEED_CASE("quicksort: speed, up and down again", 4.5, 2) { race_sorting(order::organ_pipe); }
