// Grades lab 07, compaction.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace grading;
using floats = std::vector<float>;
using mark_list = std::vector<unsigned char>;

// Inputs of which about the given share is kept; 0 and 1 mean none and all.

static floats mixed(std::size_t n, double share)
{
    floats in = random_floats(n);
    for (float &x : in) {
        bool positive = share >= 1 || (x + 1) / 2 < share;
        x = std::abs(x) + 0x1p-20f;
        if (!positive) x = x < 0.05f ? 0 : -x; // 0 is not positive, and should be met
    }
    return in;
}

// A mark is any byte but 0.
static mark_list marks(std::size_t n, double share)
{
    mark_list keep;
    for (float x : mixed(n, share))
        keep.push_back(static_cast<unsigned char>(x > 0 ? random_between(1, 255) : 0));
    return keep;
}

static std::size_t kept_of(const mark_list &keep)
{
    return keep.size() - static_cast<std::size_t>(std::count(keep.begin(), keep.end(), 0));
}

// The wrong answers that the grader recognises.

// Tests that let more through than x > 0.
struct loose_test {
    std::string what, next;
    bool (*keeps)(float);
};
static const std::string ask_greater =
    "Of NaN, x > 0 and x <= 0 are both false, so !(x <= 0) is true: test x > 0 itself.";
static const loose_test loose_tests[] = {
    {"Elements that are 0 were", "0 is not greater than 0.", [](float x) { return x >= 0; }},
    {"NaN was", ask_greater, [](float x) { return !(x <= 0); }},
    {"Elements that are 0, and NaN, were", ask_greater, [](float x) { return !(x < 0); }}};

static std::vector<misconception<int>> wrong_counts(const floats &in, int counted)
{
    // How many of the first 2^k are kept, which is what a thread, warp or tile may have counted.
    std::size_t part = 0;
    for (std::size_t first = 16; first < in.size() && part == 0; first *= 2) {
        auto end = in.begin() + std::ptrdiff_t(first);
        if (std::count_if(in.begin(), end, [](float x) { return x > 0; }) == counted) part = first;
    }
    auto exactly = [](auto count) { return [=] { return std::vector<int>{int(count)}; }; };
    auto kept = std::count_if(in.begin(), in.end(), [](float x) { return x > 0; });
    bool last = !in.empty() && in.back() > 0;
    std::vector<misconception<int>> known = {
        {"The last element was not counted.",
         "An exclusive sum is the number of elements kept before an element: the last one leaves "
         "out the last element itself.",
         exactly(kept - last)}};
    for (const loose_test &l : loose_tests)
        known.push_back({l.what + " counted as well.", l.next,
                         exactly(std::count_if(in.begin(), in.end(), l.keeps))});
    known.push_back({"This is how many are not kept.", "Count those that are greater than 0.",
                     exactly(std::ptrdiff_t(in.size()) - kept)});
    known.push_back(
        {"This is how many of the first " + std::to_string(part) + " elements are kept.",
         "Which thread's sum was written? Only the last of the threads that add up the counts has "
         "the total.",
         exactly(part > 0 ? counted : -1)});
    return known;
}

// Wrong answers of compact, which leave more in `out` than the kept elements.
static std::vector<misconception<float>> too_many_kept(const floats &in)
{
    auto all = std::make_shared<floats>(in); // it is used after `in` may be gone
    auto those = [all](auto kept) {
        return [all, kept] {
            floats out;
            std::copy_if(all->begin(), all->end(), std::back_inserter(out), kept);
            return out;
        };
    };
    std::vector<misconception<float>> known;
    for (const loose_test &l : loose_tests)
        known.push_back({l.what + " kept as well.", l.next, those(l.keeps)});
    known.push_back({"Every element that is not 0 was kept.",
                     "An element below 0 is not greater than 0.",
                     those([](float x) { return x != 0; })});
    known.push_back({"Every element was kept, each in its own place.",
                     "Is there a test before the store, and is the element stored at the place "
                     "that was computed?",
                     [all] { return *all; }});
    known.push_back(
        {"Behind the kept elements there are zeros, to the end of the array.",
         "Do not clear `out`: the elements behind the kept ones must stay as they were.", [all] {
             floats out = oracle::compact(*all);
             out.resize(all->size());
             return out;
         }});
    return known;
}

static std::vector<misconception<float>> wrong_unpacks(const floats &packed, const mark_list &keep)
{
    // The next element of `packed` wherever `keep` says so, and 0 elsewhere.
    auto placed = [&packed, &keep](auto marked) {
        return [&packed, &keep, marked] {
            floats out;
            std::size_t next = 0;
            for (unsigned char k : keep)
                out.push_back(marked(k) && next < packed.size() ? packed[next++] : 0);
            return out;
        };
    };
    auto off_by_one = [&packed, &keep] {
        floats out;
        std::size_t next = 0;
        for (unsigned char k : keep) {
            next += k != 0;
            out.push_back(k != 0 && next < packed.size() ? packed[next] : 0);
        }
        return out;
    };
    return {
        {"Only the bytes that are 1 were taken for kept.",
         "Every byte other than 0 keeps its element.",
         placed([](unsigned char k) { return k == 1; })},
        {"Only the lowest bit of each byte was looked at.",
         "Every byte other than 0 keeps its element.",
         placed([](unsigned char k) { return k % 2 == 1; })},
        {"Each place got the element after its own.",
         "The first kept place gets packed[0]: count the kept elements before each element, "
         "without that element.",
         off_by_one},
    };
}

// If every wrong place got another element of `packed`, says which one.
static std::vector<misconception<float>> wrong_places(const floats &packed, const mark_list &keep,
                                                      const output<float> &out)
{
    const floats &got = out.again.empty() ? out.values : out.again;
    floats looks = oracle::unpack(packed, keep), want = looks;
    std::size_t rank = 0, first = 0, belongs = 0, found = packed.size();
    for (std::size_t i = 0; i < keep.size(); ++i) {
        if (got[i] != want[i] && keep[i] != 0) {
            auto at = std::find(packed.begin(), packed.end(), got[i]);
            if (at == packed.end()) return {};
            if (found == packed.size())
                first = i, belongs = rank, found = std::size_t(at - packed.begin());
            looks[i] = got[i];
        }
        rank += keep[i] != 0;
    }
    if (found == packed.size()) return {};
    return {{"out[" + std::to_string(first) + "] got packed[" + std::to_string(found) +
                 "], where packed[" + std::to_string(belongs) + "] belongs: " +
                 std::to_string(found < belongs ? belongs - found : found - belongs) +
                 (found < belongs ? " too few" : " too many") + " were counted before it.",
             "Which counts are added up for that element's place: those of lanes, rows, warps, "
             "tiles? If tiles look back within one kernel: has a tile published its own count, or "
             "the sum of all up to it, and can the reader tell which?",
             [looks] { return looks; }}};
}

static std::vector<misconception<float>> wrong_partitions(const floats &in)
{
    auto middle = [](floats &out) {
        return std::partition_point(out.begin(), out.end(), [](float x) { return x > 0; });
    };
    return {
        {"The elements that are not kept lie in reverse order.",
         "Count upwards from the first place after the kept ones; this needs the total first.",
         [&in, middle] {
             floats out = oracle::partition(in);
             std::reverse(middle(out), out.end());
             return out;
         }},
        {"The elements that are not kept come first.", "First those that are greater than 0.",
         [&in, middle] {
             floats out = oracle::partition(in);
             std::rotate(out.begin(), middle(out), out.end());
             return out;
         }},
        {"The elements that are not kept have become 0.", "Copy them as they are.",
         [&in, middle] {
             floats out = oracle::partition(in);
             std::fill(middle(out), out.end(), 0.0f);
             return out;
         }},
    };
}

// Hints for a wrong place: two elements got it, or it is too far on.
static void hint_places()
{
    hint_one_place("Two elements got one place: print how many are kept before each of the two, in "
                   "lower lanes, in earlier rows and warps, and in earlier tiles. Are the counts "
                   "of all tiles added up, however many there are, and do the elements that are "
                   "not kept begin behind all that are? If tiles look back within one kernel: has "
                   "a tile published its own count, or the sum of all up to it?");
    hint_past_the_end("An element's place is the number kept before it: in lower lanes, in earlier "
                      "rows and warps, and in earlier tiles. Which of these counts includes the "
                      "element itself, or counts something twice?",
                      "out");
}

// One call each. The places say how many elements past a 256-byte boundary an array begins.

static void try_compact(const floats &in, int in_at = 0, int out_at = 0)
{
    floats want = oracle::compact(in);
    output<float> out(in.size(), 0, want.size());
    output<int> count(1);
    hint_places();
    hint_too_many(too_many_kept(in));
    CALL(compact, misaligned(in, in_at), misaligned(out, out_at), count, int(in.size()), scratch);
    expect_equal(count, {int(want.size())}, {}, [&] { return wrong_counts(in, count[0]); });
    want.resize(in.size());
    expect_equal(out, want);
}

static void try_unpack(const mark_list &keep, int packed_at = 0, int keep_at = 0, int out_at = 0)
{
    floats packed = random_floats(kept_of(keep));
    output<float> out(keep.size());
    std::vector<std::size_t> not_kept;
    for (std::size_t i = 0; i < keep.size(); ++i)
        if (keep[i] == 0) not_kept.push_back(i);
    hint_left_out({{std::move(not_kept), "These are the elements whose keep[i] is 0: out[i] is 0 "
                                         "there, and must be written, too."}});
    const bool large = std::any_of(keep.begin(), keep.end(), [](auto k) { return k > 1; });
    hint_past_the_end(std::string(large ? "A mark counts as one, whatever its value: are the marks "
                                          "themselves added up, instead of keep[i] != 0? If not: "
                                        : "") +
                          "`packed` has only as many elements as are kept: does a lane read it "
                          "where keep[i] is 0, at i instead of the place among the kept elements, "
                          "or one place too far because its own element was counted too?",
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
    CALL(partition, misaligned(in, in_at), misaligned(out, out_at), count, int(in.size()), scratch);
    expect_equal(count, {int(kept)}, {}, [&] { return wrong_counts(in, count[0]); });
    expect_equal(out, want, {}, [&] { return wrong_partitions(in); });
}

// Sizes around warps, blocks, and the tiles that a block may handle.
static const int awkward_sizes[] = {1,   2,   31,  32,   33,   63,   65,   255,  256,
                                    257, 511, 513, 1023, 1025, 2049, 4095, 4097, 8193};

// Inputs whose kept elements are not evenly spread.
static std::vector<floats> uneven()
{
    std::vector<floats> all;
    for (auto kept : {+[](std::size_t i) { return i == 0; },             // only the first
                      +[](std::size_t i) { return i == 8999; },          // only the last
                      +[](std::size_t i) { return i >= 4500; },          // one half
                      +[](std::size_t i) { return i / 256 % 3 != 1; },   // whole blocks
                      +[](std::size_t i) { return i % 32 == 31; },       // one lane
                      +[](std::size_t i) { return i / 32 % 2 == 0; }}) { // whole warps
        floats in = mixed(9000, 1);
        for (std::size_t i = 0; i < in.size(); ++i)
            if (!kept(i)) in[i] = -in[i];
        all.push_back(in);
    }
    return all;
}

static mark_list marked(const floats &in)
{
    mark_list keep;
    for (float x : in) keep.push_back(static_cast<unsigned char>(x > 0 ? 4 : 0));
    return keep;
}

// Values at which comparisons differ.
static floats special_values()
{
    using limits = std::numeric_limits<float>;
    floats some = {0.0f,
                   -0.0f,
                   limits::infinity(),
                   -limits::infinity(),
                   limits::quiet_NaN(),
                   -limits::quiet_NaN(),
                   limits::denorm_min(),
                   -limits::denorm_min(),
                   std::bit_cast<float>(0x7fc12345u),
                   std::bit_cast<float>(0xffc54321u),
                   limits::max(),
                   limits::lowest(),
                   1.0f,
                   -1.0f};
    floats in;
    for (int k = 0; k < 700; ++k) in.push_back(some[std::size_t(k * k + k / 3) % some.size()]);
    return in;
}

// NaN equals nothing, so these are compared by their bits.
static void expect_bits(const output<float> &got, const floats &want)
{
    for (std::size_t i = 0; i < want.size(); ++i)
        expect(std::bit_cast<std::uint32_t>(got[i]) == std::bit_cast<std::uint32_t>(want[i]),
               verdict::WRONG_ANSWER,
               "out[" + std::to_string(i) + "] is " + show_element(got[i]) + ", and should be " +
                   show_element(want[i]) + ", bit by bit.",
               "An element is kept if it is greater than 0; -0 and NaN are not. Copy elements "
               "without computing with them.");
}

// The speed cases.

// 2^26 elements and a ragged end, where seven times all arrays and naive's scratch fit the device.
// `where_simulated`: some hundred thousand, so that adding up all elements before a tile costs more
// than a few additional passes.
static int raced_elements(int where_simulated)
{
    if (simulated()) return where_simulated - 35;
    double most = std::min(double(1 << 26), double(device().memory_bytes) / 320);
    return static_cast<int>(most) / 4096 * 4096 - 35;
}

// Returns whether right(i, kept before i) holds for every i < n, where kept(i) says which are kept;
// on all cores. `total` becomes the number kept.
template <class K, class F>
static bool for_all_ranked(std::size_t n, K kept, std::size_t &total, F right)
{
    constexpr int shift = 20; // every range is at least so long but for one that is alone
    std::vector<std::size_t> counts((n >> shift) + 1);
    in_ranges(n, [&](std::size_t first, std::size_t last) {
        std::size_t count = 0;
        for (std::size_t i = first; i < last; ++i) count += kept(i);
        counts[first >> shift] = count;
        return true;
    });
    total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    return in_ranges(n, [&](std::size_t first, std::size_t last) {
        std::size_t rank = std::accumulate(
            counts.begin(), counts.begin() + std::ptrdiff_t(first >> shift), std::size_t{0});
        bool all = true;
        for (std::size_t i = first; i < last; ++i) {
            all &= right(i, rank);
            rank += kept(i);
        }
        return all;
    });
}

// Another order of a stretch of `values`, by which the answer changes but not how many are kept.
template <class T>
static std::span<std::byte> reorder(std::vector<T> &values, std::mt19937_64 &random)
{
    std::size_t count = std::min<std::size_t>(values.size(), 4096);
    std::size_t first = random() % (values.size() - count + 1);
    std::span<T> stretch = std::span(values).subspan(first, count);
    std::shuffle(stretch.begin(), stretch.end(), random);
    return std::as_writable_bytes(stretch);
}

// In [-1, 1) but for a shift by which about `share` is positive.
static floats raced_floats(std::mt19937_64 &random, double share, int n)
{
    floats in(static_cast<std::size_t>(n));
    fill_random(in, random);
    float shift = static_cast<float>(2 * share - 1);
    for_all(in.size(), [&](std::size_t i) {
        in[i] += shift;
        return true;
    });
    return in;
}

namespace {

enum class keeping { only, first }; // compact, partition

class sifting : public workload {
public:
    static int size() { return raced_elements(100000); }
    sifting(std::mt19937_64 &random, keeping what, double share)
        : what_(what),
          in_(raced_floats(random, share, size())),
          kept_(static_cast<std::size_t>(
              std::count_if(in_.begin(), in_.end(), [](float x) { return x > 0; }))),
          out_(in_.size(), 0, what == keeping::only ? kept_ : in_.size()),
          count_(1)
    {
    }
    const char *function() const override
    {
        return what_ == keeping::only ? "compact" : "partition";
    }
    std::vector<argument> arguments() override
    {
        int n = static_cast<int>(in_.size());
        if (what_ == keeping::only)
            return remote<decltype(compact)>::arguments(in_, out_, count_, n, scratch);
        return remote<decltype(partition)>::arguments(in_, out_, count_, n, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {reorder(in_, random)};
    }
    void check() override
    {
        expect_equal(count_, {int(kept_)}, {}, [&] { return wrong_counts(in_, count_[0]); });
        std::size_t total = 0;
        bool all = what_ == keeping::first;
        auto kept = [this](std::size_t i) { return in_[i] > 0; };
        auto right = [&, this](std::size_t i, std::size_t rank) {
            if (in_[i] > 0) return out_.values[rank] == in_[i];
            return !all || out_.values[kept_ + i - rank] == in_[i];
        };
        if (for_all_ranked(in_.size(), kept, total, right)) return;
        floats want = all ? oracle::partition(in_) : oracle::compact(in_);
        want.resize(in_.size());
        expect_equal(out_, want);
    }
    double bytes() const override { return 4.0 * double(in_.size() + out_.count); }

private:
    keeping what_;
    floats in_;
    std::size_t kept_;
    output<float> out_;
    output<int> count_;
};

class spreading : public workload {
public:
    // Marks of a byte are soon added up.
    static int size() { return raced_elements(400000); }
    explicit spreading(std::mt19937_64 &random, double share)
        : keep_(static_cast<std::size_t>(size())), out_(keep_.size())
    {
        floats in = raced_floats(random, share, size());
        for_all(in.size(), [&](std::size_t i) {
            keep_[i] = static_cast<unsigned char>(in[i] > 0 ? 1 + i % 255 : 0);
            return true;
        });
        packed_.resize(kept_of(keep_));
        fill_random(packed_, random);
    }
    const char *function() const override { return "unpack"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(unpack)>::arguments(packed_, keep_, out_, int(keep_.size()),
                                                   scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {reorder(keep_, random), reorder(packed_, random)};
    }
    void check() override
    {
        std::size_t total = 0;
        auto kept = [this](std::size_t i) { return keep_[i] != 0; };
        auto right = [this](std::size_t i, std::size_t rank) {
            return out_.values[i] == (keep_[i] != 0 ? packed_[rank] : 0);
        };
        if (for_all_ranked(keep_.size(), kept, total, right)) return;
        expect_equal(out_, oracle::unpack(packed_, keep_), {},
                     [&] { return wrong_unpacks(packed_, keep_); });
    }
    double bytes() const override
    {
        return 4.0 * double(packed_.size() + out_.size()) + double(keep_.size());
    }

private:
    mark_list keep_;
    floats packed_;
    output<float> out_;
};

} // namespace

static make_workload sift(keeping what, double share)
{
    return [=](std::mt19937_64 &random) { return std::make_unique<sifting>(random, what, share); };
}

// Bytes that each launch must move if it moves every sector once, over all launches.
static counted_gate compulsory_bytes(const steps &most, int (*size)())
{
    return at_most("compulsory bytes per element", most, "bytes",
                   "Every kernel that goes over all elements moves them once more. Which kernels "
                   "can be fused, and which arrays are never needed in memory?",
                   [=](const counted &c) { return double(c.compulsory_bytes) / size(); });
}

static speed_gates gates(const steps &copy, const steps &most_bytes, int (*size)() = sifting::size)
{
    speed_gates gates;
    gates.speedup = 5;
    gates.copy = copy;
    // Naive moves 220 and more; blocks that each go over all before them, by tiles of 1024, 80.
    gates.counted = {
        compulsory_bytes(most_bytes, size),
        moved_bytes(
            "element", [=] { return double(size()); },
            {64, 48, most_bytes.excellent > 0 ? 20.0 : 0},
            "Within one launch, too, an element is moved each time it is requested. Let no block "
            "go over elements that another has counted."),
        // Flags of 4 bytes that are scanned by sums of blocks load 20. Where a tile adds
        // up all before it, tiles of 8192 load 29 and more.
        at_most("bytes loaded per element", {24}, "bytes",
                "It is enough to load each element twice, to count it and to place it, and each "
                "count once. Does a block go over elements that another has counted?",
                [=](const counted &c) { return double(c.load_bytes + c.texture_bytes) / size(); }),
        lanes_at_work(), blocks_share(2)}; // tiles of 16 elements for each of 1024 threads
    gates.too_slow = "Where does the time go? A scan by doubling distances over the whole array "
                     "goes over all elements some twenty times; scans within blocks, then over the "
                     "blocks' sums, go over them twice.";
    return gates;
}

CORRECTNESS_CASE("compact: a small array", 0.5)
{
    try_compact({3, -1, 0, 2, 7, -5, 1, 8, -2, 4});
    try_compact(mixed(10, 0.5));
}

CORRECTNESS_CASE("compact: none or all kept", 0.5)
{
    for (double share : {0.0, 1.0})
        for (int n : {1, 32, 300, 5000}) try_compact(mixed(std::size_t(n), share));
}

CORRECTNESS_CASE("compact: sizes around a warp, a block and a tile", 1.5)
{
    for (int n : awkward_sizes) try_compact(mixed(std::size_t(n), 0.5));
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
    try_compact(mixed(simulated() ? 1100001 : 9000001, 0.4));
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
    race(sift(keeping::only, 0.5), gates({0.25, 0.48, 0}, {42, 11, 6.5}));
}

SPEED_CASE("compact: speed, few kept", 2.5, 1)
{
    race(sift(keeping::only, 0.01), gates({0.20, 0.38, 0}, {40, 9, 4.5}));
}

SPEED_CASE("compact: speed, nearly all kept", 2.5, 1)
{
    race(sift(keeping::only, 0.99), gates({0.28, 0.52, 0}, {44, 13, 8.5}));
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
    for (int n : awkward_sizes) try_unpack(marks(std::size_t(n), 0.5));
}

CORRECTNESS_CASE("unpack: many blocks", 1.5)
{
    try_unpack(marks(simulated() ? 1100001 : 9000001, 0.6));
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
    auto make = [](std::mt19937_64 &random) { return std::make_unique<spreading>(random, 0.5); };
    race(make, gates({0.20, 0.33, 0}, {42, 9, 7.5}, spreading::size));
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
    for (int n : awkward_sizes) try_partition(mixed(std::size_t(n), 0.5));
}

// Hints for NaN, for which both x > 0 and x <= 0 are false: its places stay empty while those
// behind it are filled, or as many stay empty at the end.
static void hint_nan_left_out(const floats &partitioned)
{
    std::vector<std::size_t> own, last;
    for (std::size_t i = 0; i < partitioned.size(); ++i)
        if (std::isnan(partitioned[i])) own.push_back(i);
    for (std::size_t i = partitioned.size() - own.size(); i < partitioned.size(); ++i)
        last.push_back(i);
    const std::string hint =
        "As many elements of `in` are NaN, for which both x > 0 and x <= 0 are false. An element "
        "that is not kept goes behind the others, NaN as well: test !(x > 0) instead.";
    hint_left_out({{own, hint}, {last, hint}});
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
    try_partition(mixed(simulated() ? 140001 : 9000001, 0.6));
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
    race(sift(keeping::first, 0.5), gates({0.25, 0.42, 0}, {46, 13, 0}));
}
