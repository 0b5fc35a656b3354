// Tells wrong answers of lab 07 from their causes: another test, or a place counted otherwise.
#include "mistakes.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace grading;

namespace {

// Tests that let more through than x > 0.
struct loose_test {
    std::string what, next;
    bool (*keeps)(float);
};

} // namespace

static const std::string ask_greater =
    "Of NaN, x > 0 and x <= 0 are both false, so !(x <= 0) is true: test x > 0 itself.";
static const loose_test loose_tests[] = {
    {"Elements that are 0 were", "0 is not greater than 0.", [](float x) { return x >= 0; }},
    {"NaN was", ask_greater, [](float x) { return !(x <= 0); }},
    {"Elements that are 0, and NaN, were", ask_greater, [](float x) { return !(x < 0); }}};

std::vector<misconception<int>> wrong_counts(const floats &in, int counted)
{
    // How many of the first 2^k are kept, which is what a thread, warp or tile may have counted.
    std::size_t part = 0;
    for (std::size_t first = 16; first < in.size() && part == 0; first *= 2) {
        auto end = in.begin() + std::ptrdiff_t(first);
        if (std::count_if(in.begin(), end, positive) == counted) part = first;
    }
    // The last tile's sum, if each adds up the sums of all tiles before it, which are not those of
    // the tiles alone. Two tiles come out right.
    const auto adds_sums = [&in, counted](std::size_t tile) {
        std::uint32_t sums = 0, last = 0; // modulo 2^32, as in an int, since they double
        for (std::size_t at = 0; at < in.size(); at += tile, sums += last) {
            const auto from = in.begin() + std::ptrdiff_t(at);
            const std::size_t size = std::min(tile, in.size() - at);
            last = sums + std::uint32_t(std::count_if(from, from + std::ptrdiff_t(size), positive));
        }
        return in.size() > 2 * tile && last == std::uint32_t(counted);
    };
    bool added_twice = false;
    for (std::size_t tile = 256; tile <= in.size() / 2; tile *= 2)
        added_twice |= adds_sums(tile) || adds_sums(tile / 2 * 3);
    auto exactly = [](auto count) { return [=] { return std::vector<int>{int(count)}; }; };
    auto kept = std::count_if(in.begin(), in.end(), positive);
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
    known.push_back({"Some tiles were counted twice: this is what comes out if a tile adds up the "
                     "sums of all tiles before it, each of which holds those before that one.",
                     "If tiles look back within one kernel, TODO 7: does looking back stop at the "
                     "first inclusive prefix?",
                     exactly(added_twice ? counted : -1)});
    return known;
}

// Wrong answers of compact, which leave more in `out` than the kept elements.
std::vector<misconception<float>> too_many_kept(const floats &in)
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

std::vector<misconception<float>> wrong_unpacks(const floats &packed, const mark_list &keep)
{
    // The next element of `packed`, or one further on, wherever `keep` says so, and 0 elsewhere.
    auto placed = [&packed, &keep](auto marked, std::size_t further = 0) {
        return [&packed, &keep, marked, further] {
            floats out;
            std::size_t next = further;
            for (unsigned char k : keep)
                out.push_back(marked(k) && next < packed.size() ? packed[next++] : 0);
            return out;
        };
    };
    const char *any_byte = "Every byte other than 0 keeps its element.";
    return {
        {"Only the bytes that are 1 were taken for kept.", any_byte,
         placed([](unsigned char k) { return k == 1; })},
        {"Only the lowest bit of each byte was looked at.", any_byte,
         placed([](unsigned char k) { return k % 2 == 1; })},
        {"Each place got the element after its own.",
         "The first kept place gets packed[0]: count the kept elements before each element, "
         "without that element.",
         placed([](unsigned char k) { return k != 0; }, 1)},
    };
}

// If every wrong place got another element of `packed`, says which one.
std::vector<misconception<float>> wrong_places(const floats &packed, const mark_list &keep,
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

std::vector<misconception<float>> wrong_partitions(const floats &in)
{
    auto changed = [&in](auto change) {
        return [&in, change] {
            floats out = oracle::partition(in);
            change(out, std::partition_point(out.begin(), out.end(), positive));
            return out;
        };
    };
    return {
        {"The elements that are not kept lie in reverse order.",
         "Count upwards from the first place after the kept ones; this needs the total first.",
         changed([](floats &out, auto middle) { std::reverse(middle, out.end()); })},
        {"The elements that are not kept come first.", "First those that are greater than 0.",
         changed([](floats &out, auto middle) { std::rotate(out.begin(), middle, out.end()); })},
        {"The elements that are not kept have become 0.", "Copy them as they are.",
         changed([](floats &out, auto middle) { std::fill(middle, out.end(), 0.0f); })},
    };
}

void hint_stub()
{
    hint_barrier("All 32 lanes must come to a vote, and all threads to a barrier. For a lane "
                 "without an element nothing is kept: let it call count_row with false, as in "
                 "count_row(i < n && kept(i)), instead of an `if` around the call. No thread "
                 "may return before.");
    hint_race_of_blocks("scan_counts", "scan_counts is for one block, which goes over the counts "
                                       "of all tiles: launch it with a grid of 1.");
}

std::vector<elements_left_out> rows_in_one_place(std::size_t n)
{
    constexpr std::size_t row = 32, warp = 16 * row; // as in the stub
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < n; ++i)
        if (i % warp >= row) missing.push_back(i);
    return {{std::move(missing),
             "Of a warp's elements only the first 32 have a place, as many as a row has. Does "
             "each row begin where the one before it ended, `to` plus all that were kept there, "
             "and are all rows stored?"}};
}

void hint_places()
{
    hint_one_place("Two elements got one place: print how many are kept before each of the two, in "
                   "lower lanes, in earlier rows and warps, and in earlier tiles. Are the counts "
                   "of all tiles added up, however many there are, and do the elements that are "
                   "not kept begin behind all that are? If tiles look back within one kernel: has "
                   "a tile published its own count, or the sum of all up to it?");
    hint_past_the_end("An element's place is the number kept before it: in lower lanes, in earlier "
                      "rows and warps, and in earlier tiles. Which of these counts includes the "
                      "element itself, or counts something twice? If it is an array in shared "
                      "memory that ends: one with an element for each warp is indexed by "
                      "threadIdx.x / 32.",
                      "out");
}

void hint_nan_left_out(const floats &partitioned)
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

void expect_bits(const output<float> &got, const floats &want)
{
    for (std::size_t i = 0; i < want.size(); ++i)
        expect(std::bit_cast<std::uint32_t>(got[i]) == std::bit_cast<std::uint32_t>(want[i]),
               verdict::WRONG_ANSWER,
               "out[" + std::to_string(i) + "] is " + show_element(got[i]) + ", and should be " +
                   show_element(want[i]) + ", bit by bit.",
               "An element is kept if it is greater than 0; -0 and NaN are not. Copy elements "
               "without computing with them.");
}
