// Grades lab 06, scan.
#include "grader/counted.hpp"
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace grading;
using ints = std::vector<int>;
using longs = std::vector<std::int64_t>;
using floats = std::vector<float>;

// Inputs. Of both signs, so that the largest sum is not the last; those of 2^21 ints fit.
static ints some_ints(int n) { return random_ints(std::size_t(n), -1000, 1000); }

// Sums of neighbours go far beyond 32 bits, and soon.
static longs some_longs(int n)
{
    longs in;
    for (int x : random_ints(std::size_t(n), -(1 << 30), 1 << 30))
        in.push_back((std::int64_t(x) << 12) + random_between(0, 4095));
    return in;
}

// What wrong answers look like.

template <class T> static std::vector<T> inclusive(const std::vector<T> &in)
{
    if constexpr (std::is_same_v<T, float>) {
        std::vector<double> sums = oracle::inclusive(in).sums;
        return floats(sums.begin(), sums.end());
    } else
        return oracle::inclusive(in);
}

template <class T> static std::vector<T> one_later(std::vector<T> sums)
{
    sums.insert(sums.begin(), T(0));
    sums.pop_back();
    return sums;
}

template <class T> static std::vector<T> from_the_end(std::vector<T> in)
{
    std::reverse(in.begin(), in.end());
    std::vector<T> sums = inclusive(in);
    std::reverse(sums.begin(), sums.end());
    return sums;
}

// As if every `part` elements were an array of their own; `and_the_last`: to which the sum of the
// part just before was added.
template <class T>
static std::vector<T> in_parts(const std::vector<T> &in, std::size_t part, bool and_the_last)
{
    std::vector<T> out, before;
    for (std::size_t first = 0; first < in.size(); first += part) {
        auto from = in.begin() + std::ptrdiff_t(first);
        auto to = in.begin() + std::ptrdiff_t(std::min(first + part, in.size()));
        std::vector<T> sums = inclusive(std::vector<T>(from, to));
        T added = and_the_last && !before.empty() ? before.back() : T(0);
        for (T x : sums) out.push_back(added + x);
        before = std::move(sums);
    }
    return out;
}

// What the two sweeps make of an array that is taken for a whole tree.
template <class T> static std::vector<T> swept(std::vector<T> sums)
{
    std::size_t n = sums.size(), width = 1;
    for (; width < n; width *= 2)
        for (std::size_t right = 2 * width - 1; right < n; right += 2 * width)
            sums[right] += sums[right - width];
    if (n > 0) sums[n - 1] = 0;
    while ((width /= 2) > 0)
        for (std::size_t right = 2 * width - 1; right < n; right += 2 * width) {
            T left = std::exchange(sums[right - width], sums[right]);
            sums[right] += left;
        }
    return sums;
}

// Whether a lane adds what a shuffle over `distance` brings it.
using condition = bool (*)(int lane, int distance);

// What five shuffles make of the elements of a warp. Where a lane has nobody so far to its left, a
// shuffle brings it its own value.
template <class T> static std::array<T, 32> shuffled(std::array<T, 32> sums, condition adds)
{
    for (int distance = 1; distance < 32; distance *= 2)
        for (int lane = 31; lane >= 0; --lane) {
            std::size_t to = std::size_t(lane), from = to - std::size_t(distance);
            if (adds(lane, distance)) sums[to] = added(sums[to], sums[lane < distance ? to : from]);
        }
    return sums;
}

// The sums of a warp that has `each` neighbours a thread, the first of them in[first], and adds as
// said; and, right, of what lies before. `taken_off`: what comes before a thread was told by its
// own sum, less what is its own, and not by the lane to the left.
template <class T> static std::vector<T> of_warp(const std::vector<T> &in, bool exclusive,
                                                 std::size_t first, std::size_t each,
                                                 condition adds, bool taken_off)
{
    std::vector<T> sums;
    T before(0);
    for (std::size_t i = 0; i < first; ++i) {
        T up_to = added(before, in[i]);
        sums.push_back(exclusive ? before : up_to);
        before = up_to;
    }
    auto element = [&in](std::size_t i) { return i < in.size() ? in[i] : T(0); };
    std::array<T, 32> own{};
    for (std::size_t k = 0; k < 32 * each; ++k)
        own[k / each] = added(own[k / each], element(first + k));
    const std::array<T, 32> up_to = shuffled(own, adds);
    for (std::size_t lane = 0; lane < 32; ++lane) {
        T left = taken_off  ? added(up_to[lane], static_cast<T>(-own[lane]))
                 : lane > 0 ? up_to[lane - 1]
                            : T(0);
        T sum = added(before, left);
        for (std::size_t i = first + lane * each; i < first + (lane + 1) * each; ++i) {
            T with = added(sum, element(i));
            sums.push_back(exclusive ? sum : with);
            sum = with;
        }
    }
    sums.resize(std::min(sums.size(), in.size()));
    return sums;
}

// `got` if its first warp, or else its second, looks as if lanes added as said; else nothing. What
// comes behind hangs on how warps and blocks tell each other, and says no more.
template <class T> static std::vector<T> as_shuffled(const std::vector<T> &in,
                                                     const std::vector<T> &got, bool exclusive,
                                                     bool second_warp, condition adds)
{
    // Float sums may be rounded in another order: by no more than a little of the largest so far.
    auto fits = [&got](const std::vector<T> &sums) {
        double most = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
            most = std::max(most, std::abs(double(sums[i])));
            bool near = std::abs(double(got[i]) - double(sums[i])) <= 1e-5 * most;
            if (std::is_same_v<T, float> ? !near : got[i] != sums[i]) return false;
        }
        return true;
    };
    condition right = [](int lane, int distance) { return lane >= distance; };
    for (std::size_t each : {1u, 2u, 4u, 8u})
        for (bool taken_off : {true, false}) {
            std::size_t first = second_warp ? 32 * each : 0;
            if (first >= in.size()) continue;
            auto sums = [&](condition c) {
                return of_warp(in, exclusive, first, each, c, taken_off);
            };
            if (fits(sums(adds)) && !fits(sums(right))) return got;
        }
    return {};
}

// `exclusive`: what was asked for.
template <class T> static std::vector<misconception<T>>
wrong_sums(const std::vector<T> &in, bool exclusive, const std::vector<T> &got)
{
    auto asked = [exclusive](std::vector<T> sums) {
        return exclusive ? one_later(std::move(sums)) : sums;
    };
    std::vector<misconception<T>> known;
    // The largest first: where they meet, all smaller parts look the same.
    for (std::size_t part = 16384; part >= 32; part /= 2) {
        if (part >= in.size()) continue;
        // Exclusive sums of parts begin with 0 in each.
        auto parts = [&in, part, exclusive](bool and_the_last) {
            std::vector<T> sums = in_parts(in, part, and_the_last);
            if (exclusive)
                for (std::size_t i = 0; i < sums.size(); ++i) sums[i] -= in[i];
            return sums;
        };
        std::string size = std::to_string(part);
        known.push_back({"Every " + size + " elements were added up by themselves.",
                         "What lies before them is missing: add the sums of all warps, and all "
                         "blocks, before.",
                         [parts] { return parts(false); }});
        known.push_back({"Every " + size + " elements got the sum of the " + size +
                             " just before them, and not of all that lie before.",
                         "The blocks' sums must be scanned, too, before they are added.",
                         [parts] { return parts(true); }});
    }
    auto learn = [&known](std::vector<misconception<T>> more) {
        for (misconception<T> &m : more) known.push_back(std::move(m));
    };
    if constexpr (!std::is_same_v<T, float>) learn(windows(in, exclusive));
    known.push_back({"The sums run from the end to the beginning.",
                     "A lane takes from its left: from a lower index, or by __shfl_up_sync.",
                     [&in, asked] { return asked(from_the_end(in)); }});
    auto as_if = [&in, &got, exclusive](bool second_warp, condition adds) {
        return [&in, &got, exclusive, second_warp, adds] {
            return as_shuffled(in, got, exclusive, second_warp, adds);
        };
    };
    known.push_back({"Lanes that have nobody so far to their left added all the same.",
                     "There __shfl_up_sync gives a lane its own value back: add only where the "
                     "lane is at least the distance.",
                     as_if(false, [](int, int) { return true; })});
    known.push_back({"In all warps but the first, lanes that have nobody so far to their left "
                     "added all the same.",
                     "A lane is a thread's number in its warp, threadIdx.x % 32: compare that "
                     "with the distance.",
                     as_if(true, [](int, int) { return true; })});
    known.push_back({"Lanes whose number is just the distance did not add.",
                     "Lane 0 lies so far to their left: add where the lane is at least the "
                     "distance.",
                     as_if(false, [](int lane, int distance) { return lane > distance; })});
    if (exclusive) {
        known.push_back({"This is the inclusive scan: each sum holds its own element.",
                         "out[0] = 0, and out[i] ends with in[i - 1].",
                         [&in] { return inclusive(in); }});
    } else
        known.push_back({"This is the exclusive scan: each sum leaves its own element out.",
                         "out[0] = in[0], and out[i] ends with in[i].",
                         [&in] { return one_later(inclusive(in)); }});
    // The last: the ones before say more where they fit, too.
    if constexpr (!std::is_same_v<T, float>) learn(wrong_before_parts(in, exclusive, got));
    return known;
}

// The same, and what the way down a tree makes of it.
static std::vector<misconception<int>> wrong_tree(const ints &in, const ints &got)
{
    auto with_all = [&in] {
        ints sums = inclusive(in);
        int all = sums.empty() ? 0 : sums.back();
        sums = one_later(std::move(sums));
        for (int &x : sums) x += all;
        return sums;
    };
    std::vector<misconception<int>> known = {
        {"Every sum has the sum of all elements in it.",
         "Before the way down the root becomes 0: nothing lies before it.", with_all},
        {"The tree is as wide as the array: only where that is a power of two is the last element "
         "its root.",
         "Let the tree be as wide as the next power of two, or as `most`, with 0 for what lies "
         "beyond n.",
         [&in] { return swept(in); }},
        {"Every sum is 0.",
         "On the way down, does the right run get the left run's sum as it was, or what has "
         "overwritten that, the 0 that comes from the root?",
         [&in] { return ints(in.size()); }}};
    for (misconception<int> &m : wrong_sums(in, true, got)) known.push_back(std::move(m));
    return known;
}

static std::vector<misconception<std::int64_t>> wrong_longs(const longs &in, const longs &got)
{
    std::vector<misconception<std::int64_t>> known = wrong_sums(in, false, got);
    auto cut = [](longs values) {
        for (std::int64_t &x : values) x = static_cast<std::int32_t>(x);
        return values;
    };
    known.push_back({"The sums have lost all but their lower 32 bits.",
                     "Keep every sum as std::int64_t, also in shared memory and in scratch.",
                     [&in, cut] { return cut(oracle::inclusive(in)); }});
    return known;
}

// One call each. The places say how many elements past a 256-byte boundary an array begins.

static void try_block_inclusive(const ints &in, int in_at = 0, int out_at = 0)
{
    output<int> out(in.size());
    CALL(scan_block_inclusive, misaligned(in, in_at), misaligned(out, out_at), int(in.size()));
    expect_equal(out, oracle::inclusive(in), {}, [&] { return wrong_sums(in, false, out.values); });
}

static void try_block_exclusive(const ints &in, int in_at = 0, int out_at = 0)
{
    output<int> out(in.size());
    CALL(scan_block_exclusive, misaligned(in, in_at), misaligned(out, out_at), int(in.size()));
    expect_equal(out, oracle::exclusive(in), {}, [&] { return wrong_tree(in, out.values); });
}

static void try_inclusive(const ints &in, int in_at = 0, int out_at = 0)
{
    output<int> out(in.size());
    CALL(scan_inclusive, misaligned(in, in_at), misaligned(out, out_at), int(in.size()), scratch);
    expect_equal(out, oracle::inclusive(in), {}, [&] { return wrong_sums(in, false, out.values); });
}

static void try_exclusive(const ints &in, int in_at = 0, int out_at = 0)
{
    output<int> out(in.size());
    CALL(scan_exclusive, misaligned(in, in_at), misaligned(out, out_at), int(in.size()), scratch);
    expect_equal(out, oracle::exclusive(in), {}, [&] { return wrong_sums(in, true, out.values); });
}

static void try_longs(const longs &in, int in_at = 0, int out_at = 0)
{
    output<std::int64_t> out(in.size());
    CALL(scan_inclusive_int64, misaligned(in, in_at), misaligned(out, out_at), int(in.size()),
         scratch);
    expect_equal(out, oracle::inclusive(in), {}, [&] { return wrong_longs(in, out.values); });
}

static void try_floats(const floats &in, int in_at = 0, int out_at = 0)
{
    output<float> out(in.size());
    CALL(scan_inclusive_float, misaligned(in, in_at), misaligned(out, out_at), int(in.size()),
         scratch);
    oracle::float_sums want = oracle::inclusive(in);
    expect_close(out, want.sums, double(in.size()), want.magnitudes, {},
                 wrong_sums(in, false, out.values));
}

// What is added to a sum and taken off again has rounded it, here to a multiple of 1024. Right
// after that element the sums are as large, and may be as inexact.
static void try_with_a_large_one(std::size_t n, std::size_t at)
{
    floats in = random_floats(n);
    in[at] = 1e10f;
    output<float> out(n);
    CALL(scan_inclusive_float, in, out, int(n), scratch);
    oracle::float_sums want = oracle::inclusive(in);
    auto rounded = [&] {
        bool near = true;
        for (std::size_t i = 0; i < n; ++i) near &= std::abs(out[i] - want.sums[i]) < 2048;
        return near ? out.values : floats{};
    };
    std::vector<misconception<float>> known = wrong_sums(in, false, out.values);
    known.push_back({"Sums before a large element were rounded as if they held it.",
                     "Never compute what lies before as what lies up to here, less what is here: "
                     "take it from the thread, or block, to the left.",
                     rounded});
    expect_close(out, want.sums, double(n), want.magnitudes, {}, known);
}

// Around warps, blocks, and what a block may handle; few are powers of two. Of two that show the
// same mistake the larger comes first, and shows more of it.
static const int sizes_of_a_block[] = {1,   2,   31,  32,   95,   33,   63,   65,   96,  255,
                                       256, 257, 511, 1000, 1023, 1024, 1999, 1025, 2047};
static const int awkward_sizes[] = {1,   2,    31,   32,   95,   33,   63,   65,   255,  256,
                                    257, 1023, 1024, 3000, 1025, 2049, 4095, 4097, 6145, 8193};

// What is raced.

// 2^26 elements of 4 bytes and a ragged end, where seven times all arrays and naive's scratch fit
// the device.
static int raced_elements(std::size_t element)
{
    if (simulated()) return 100000 - 35;
    double most = std::min(double(1 << 28), double(device().memory_bytes) / 30) / double(element);
    return static_cast<int>(most) / 4096 * 4096 - 35;
}

static constexpr int raced_in_a_block = 2048 - 35;

// In [-1, 1), made larger: of which any sum of neighbours fits T, and is exact in float, too.
template <class T> static T enlarged(float x)
{
    if (std::is_same_v<T, std::int64_t>) return static_cast<T>(x * 0x1p40f);
    return static_cast<T>(static_cast<int>(x * (std::is_same_v<T, float> ? 100.0f : 1000.0f)));
}

template <class T> static void fill(std::span<T> values, std::mt19937_64 &random)
{
    floats parts(values.size());
    fill_random(parts, random);
    for_all(values.size(), [&](std::size_t i) {
        values[i] = enlarged<T>(parts[i]);
        return true;
    });
}

// Whether b - a == difference; what a wrong answer holds may not overflow on the way.
template <class T> static bool apart_by(T a, T b, T difference)
{
    if constexpr (std::is_same_v<T, float>)
        return b - a == difference;
    else
        return std::uint64_t(b) - std::uint64_t(a) == std::uint64_t(difference);
}

namespace {

template <class T, class F> class scanning : public workload {
public:
    scanning(std::mt19937_64 &random, const char *function, std::size_t n, bool exclusive)
        : function_(function), exclusive_(exclusive), in_(n), out_(n)
    {
        fill<T>(in_, random);
    }
    const char *function() const override { return function_; }
    std::vector<argument> arguments() override
    {
        int n = static_cast<int>(in_.size());
        if constexpr (std::is_same_v<F, decltype(scan_block_inclusive)>)
            return remote<F>::arguments(in_, out_, n);
        else
            return remote<F>::arguments(in_, out_, n, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        std::size_t count = std::min<std::size_t>(in_.size(), 4096);
        std::span<T> stretch = std::span(in_).subspan(random() % (in_.size() - count + 1), count);
        fill<T>(stretch, random);
        return {std::as_writable_bytes(stretch)};
    }
    // A first sum and every difference say as much as all sums.
    void check() override
    {
        const std::vector<T> &sums = out_.values;
        auto right = [&](std::size_t i) {
            if (i == 0) return sums[0] == (exclusive_ ? T(0) : in_[0]);
            return apart_by(sums[i - 1], sums[i], in_[i - exclusive_]);
        };
        if (for_all(in_.size(), right)) return;
        std::vector<T> want = inclusive(in_);
        expect_equal(out_, exclusive_ ? one_later(want) : want, {},
                     [&] { return wrong_sums(in_, exclusive_, out_.values); });
    }
    double bytes() const override { return 2.0 * double(in_.size()) * sizeof(T); }

private:
    const char *function_;
    bool exclusive_;
    std::vector<T> in_;
    output<T> out_;
};

} // namespace

template <class T, class F>
static make_workload scan_by(F &, const char *function, bool exclusive = false)
{
    return [=](std::mt19937_64 &random) {
        std::size_t n = static_cast<std::size_t>(std::is_same_v<F, decltype(scan_block_exclusive)>
                                                     ? raced_in_a_block
                                                     : raced_elements(sizeof(T)));
        return std::make_unique<scanning<T, F>>(random, function, n, exclusive);
    };
}
#define SCAN_BY(T, function, ...) scan_by<T>(function, #function __VA_OPT__(, ) __VA_ARGS__)

// Of int: steps for other elements are as many times as large.
static speed_gates gates_of(std::size_t element, const steps &copy)
{
    double times = double(element) / sizeof(int), n = raced_elements(element);
    speed_gates gates;
    gates.speedup = 3.5; // sums of blocks, which move twice as much, reach 6.5 on an H200
    gates.copy = copy;
    gates.counted = {
        at_most("compulsory bytes an element", {17 * times, 0, 8.5 * times}, "bytes",
                "Every kernel that goes over all elements moves them once more. How often does "
                "each of them pass through memory, and how often need it?",
                [=](const counted &c) { return double(c.compulsory_bytes) / n; }),
        // Naive moves 210, in however few launches; blocks that each add up all before them, by
        // tiles of 2048, 106; sums of blocks 17, and 44 where a thread loads four neighbours.
        moved_bytes(
            "an element", [n] { return n; }, {80 * times, 0, 40 * times},
            "Within one launch, too, memory moves an element each time that it is asked "
            "for. Let no block load what another has added up, and neighbouring lanes load "
            "neighbours."),
        // Sums of blocks load every element three times, CUB once. Blocks that each add up all
        // before them load 28 bytes by tiles of 8192.
        at_most("bytes loaded an element", {16 * times}, "bytes",
                "Each element need be loaded once, and where sums of blocks are added afterwards "
                "three times. Let no block load what another has added up.",
                [=](const counted &c) { return double(c.load_bytes + c.texture_bytes) / n; }),
        blocks_share(4), lanes_at_work()};
    gates.too_slow = "Where does the time go? A sum that doubles its distance goes over all "
                     "elements some twenty times; sums within blocks, then over blocks, twice.";
    return gates;
}

CORRECTNESS_CASE("scan_block_inclusive: a small array", 0.5)
{
    try_block_inclusive({3, 1, 7, -4, 1, 6, 3, 2, -8, 5});
    try_block_inclusive(some_ints(10));
}

CORRECTNESS_CASE("scan_block_inclusive: sizes around a warp and a block", 2)
{
    for (int n : sizes_of_a_block) try_block_inclusive(some_ints(n));
}

CORRECTNESS_CASE("scan_block_inclusive: as many as a block may have", 0.5)
{
    try_block_inclusive(some_ints(2048));
    try_block_inclusive(ints(2048, random_between(900000, 1000000)));
}

CORRECTNESS_CASE("scan_block_inclusive: arrays that begin anywhere", 0.5)
{
    for (int at = 0; at < 16; ++at) try_block_inclusive(some_ints(137), at % 4, at / 4);
}

CORRECTNESS_CASE("scan_block_inclusive: no elements", 0.5)
{
    try_block_inclusive(some_ints(2)); // nothing at all is no answer
    try_block_inclusive({});
}

CORRECTNESS_CASE("scan_block_exclusive: a small array", 0.5)
{
    try_block_exclusive({3, 1, 7, -4, 1, 6, 3, 2});
    try_block_exclusive(some_ints(8));
}

CORRECTNESS_CASE("scan_block_exclusive: sizes around a warp and a block", 1.5)
{
    for (int n : sizes_of_a_block) try_block_exclusive(some_ints(n));
}

CORRECTNESS_CASE("scan_block_exclusive: as many as a block may have", 0.5)
{
    try_block_exclusive(some_ints(2048));
    try_block_exclusive(ints(2048, random_between(900000, 1000000)));
}

CORRECTNESS_CASE("scan_block_exclusive: arrays that begin anywhere", 0.5)
{
    for (int at = 0; at < 16; ++at) try_block_exclusive(some_ints(137), at % 4, at / 4);
}

CORRECTNESS_CASE("scan_block_exclusive: no elements", 0.5)
{
    try_block_exclusive(some_ints(2));
    try_block_exclusive({});
}

// Counted only: on one block's time there is nothing to judge.
SPEED_CASE("scan_block_exclusive: shared memory", 5, 0)
{
    counted_gate conflicts = bank_conflicts(
        1.1, "At width w neighbouring pairs lie 2 w words apart, and for w = 16 all lanes of a "
             "warp meet in one of the 32 banks. Which words do the lanes ask for at that line? A "
             "word skipped after every 32 keeps them apart, if every load and every store goes by "
             "it.");
    conflicts.cause = {}; // a tree has no rows to be made longer
    speed_gates gates;
    gates.counted = {
        at_most("bytes loaded an element", {4.5}, "bytes",
                "Each element need be loaded from global memory once. Keep the sums, while they "
                "grow, in shared memory or in registers.",
                [](const counted &c) { return double(c.load_bytes) / raced_in_a_block; }),
        // Naive moves 140; two neighbours a thread 16, 32 where loads and stores are not shared.
        moved_bytes(
            "an element", [] { return double(raced_in_a_block); }, {64},
            "Sums that grow in device memory pass through it for every distance. Keep them "
            "in shared memory or in registers."),
        at_most("requests to load an element", {0.125}, "",
                "A request serves up to 32 lanes, but most of them have nothing to do. Let every "
                "thread of the block take its elements.",
                [](const counted &c) { return memory_requests(c) / raced_in_a_block; }),
        conflicts, conflicts_an_element([] { return double(raced_in_a_block); }, 0.15),
        lanes_at_work()};
    race(SCAN_BY(int, scan_block_exclusive, true), gates);
}

CORRECTNESS_CASE("scan_inclusive: a small array", 0.5)
{
    try_inclusive({3, 1, 7, -4, 1, 6, 3, 2, -8, 5});
    try_inclusive(some_ints(10));
}

CORRECTNESS_CASE("scan_inclusive: sizes around a warp, a block and a tile", 1.5)
{
    for (int n : awkward_sizes) try_inclusive(some_ints(n));
}

CORRECTNESS_CASE("scan_inclusive: many blocks", 0.5)
{
    // More than 1024 blocks of 1024, so that whoever scans the stub's sums has more than one each.
    try_inclusive(some_ints(simulated() ? 2200001 : 4000001));
}

CORRECTNESS_CASE("scan_inclusive: blocks in any order", 0.5)
{
    begin_any_blocks_first();
    // On the simulator eight blocks run at once. So many tiles, of as many as 12288 elements, that
    // each of them finds those before it begun only by taking a ticket, and not by luck.
    try_inclusive(some_ints(300001));
}

CORRECTNESS_CASE("scan_inclusive: large sums", 0.5)
{
    const int large = random_between(1000000, 1040000); // all but 2^31 at its end, and down again
    ints in(2049, large);
    in.resize(4100, -large);
    try_inclusive(in);
}

CORRECTNESS_CASE("scan_inclusive: arrays that begin anywhere", 1.5)
{
    for (int at = 0; at < 16; ++at) try_inclusive(some_ints(1237), at % 4, at / 4);
    try_inclusive(some_ints(9003), 31, 9);
}

CORRECTNESS_CASE("scan_inclusive: no elements", 0.5)
{
    try_inclusive(some_ints(2));
    try_inclusive({});
}

SPEED_CASE("scan_inclusive: speed", 7, 4)
{
    race(SCAN_BY(int, scan_inclusive), gates_of(sizeof(int), {0, 0.55, 0}));
}

CORRECTNESS_CASE("scan_exclusive: a small array", 0.5)
{
    try_exclusive({3, 1, 7, -4, 1, 6, 3, 2, -8, 5});
    try_exclusive(some_ints(10));
}

CORRECTNESS_CASE("scan_exclusive: sizes around a warp, a block and a tile", 0.5)
{
    for (int n : awkward_sizes) try_exclusive(some_ints(n));
}

CORRECTNESS_CASE("scan_exclusive: many blocks", 0.5)
{
    try_exclusive(some_ints(simulated() ? 70001 : 2000001));
}

CORRECTNESS_CASE("scan_exclusive: arrays that begin anywhere", 0.5)
{
    for (int at = 0; at < 16; ++at) try_exclusive(some_ints(1237), at % 4, at / 4);
    try_exclusive(some_ints(9003), 31, 9);
}

CORRECTNESS_CASE("scan_exclusive: no elements", 0.5)
{
    try_exclusive(some_ints(2));
    try_exclusive({});
}

SPEED_CASE("scan_exclusive: speed", 5, 2)
{
    race(SCAN_BY(int, scan_exclusive, true), gates_of(sizeof(int), {0, 0.55, 0}));
}

CORRECTNESS_CASE("scan_inclusive_int64: sums beyond 32 bits", 0.5)
{
    try_longs({3, 1, 7, -4, 1, std::int64_t(1) << 40, 3, -(std::int64_t(1) << 33), 5});
    try_longs(some_longs(1000));
}

CORRECTNESS_CASE("scan_inclusive_int64: any size and any beginning", 0.5)
{
    for (int n : {0, 1, 33, 257, 1025, 3073, 20001}) try_longs(some_longs(n));
    for (int at = 0; at < 4; ++at) try_longs(some_longs(1237), at % 2, at / 2);
}

SPEED_CASE("scan_inclusive_int64: speed", 2.5, 2)
{
    race(SCAN_BY(std::int64_t, scan_inclusive_int64), gates_of(8, {0, 0.55, 0}));
}

CORRECTNESS_CASE("scan_inclusive_float: the precision of float", 0.5)
{
    for (int n : {256, 33, 7}) try_floats(random_floats(std::size_t(n)));
    try_floats({0.5f, 0.25f, -3, 0.1f, 7, 1e-3f, -2});
}

CORRECTNESS_CASE("scan_inclusive_float: any size and any beginning", 0.5)
{
    for (int n : {0, 1, 33, 257, 1025, 3073, 20001}) try_floats(random_floats(std::size_t(n)));
    try_floats(random_floats(5000, 0, 1)); // sums that only grow
    for (int at = 0; at < 16; ++at) try_floats(random_floats(1237), at % 4, at / 4);
}

CORRECTNESS_CASE("scan_inclusive_float: small sums before large ones", 0.5)
{
    for (std::size_t at : {5u, 40u, 700u, 3000u, 15000u}) try_with_a_large_one(20001, at);
}

SPEED_CASE("scan_inclusive_float: speed", 2.5, 2)
{
    race(SCAN_BY(float, scan_inclusive_float), gates_of(sizeof(float), {0, 0.55, 0}));
}
