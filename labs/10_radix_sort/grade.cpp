// Grades lab 10, radix sort.
#include "grader/counted.hpp"
#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace grading;
using uints = std::vector<unsigned>;
using floats = std::vector<float>;

// Inputs.

static uints random_keys(std::size_t n)
{
    uints keys(n);
    for (unsigned &key : keys) key = static_cast<unsigned>(random_source()());
    return keys;
}

// The larger one first.
static uints two_falling()
{
    const unsigned low = random_keys(1)[0] / 2;
    return {low + 1 + random_keys(1)[0] / 2, low};
}

// Draws from `count` different keys, which differ in all digits.
static uints few_keys(std::size_t n, int count)
{
    uints some = random_keys(std::size_t(count)), keys(n);
    for (unsigned &key : keys) key = some[std::size_t(random_between(0, count - 1))];
    return keys;
}

// Each differs from the others in a single bit or two, whatever bit that is.
static uints single_bits(std::size_t n)
{
    uints keys(n);
    unsigned rest = random_keys(1)[0];
    for (unsigned &key : keys) key = rest ^ 1u << random_between(0, 31);
    return keys;
}

// No NaN among them, and every other pattern of bits as likely as any.
static float some_number(std::uint32_t bits)
{
    constexpr std::uint32_t exponent = 0x7f800000, most = 0x40000000;
    return std::bit_cast<float>((bits & exponent) == exponent ? bits & ~most : bits);
}

static floats random_numbers(std::size_t n)
{
    floats keys;
    for (unsigned bits : random_keys(n)) keys.push_back(some_number(bits));
    return keys;
}

// The numbers at which orders differ, many times each.
static floats special_numbers(std::size_t n)
{
    using limits = std::numeric_limits<float>;
    floats some = {0.0f,
                   -0.0f,
                   limits::infinity(),
                   -limits::infinity(),
                   limits::denorm_min(),
                   -limits::denorm_min(),
                   limits::max(),
                   limits::lowest(),
                   limits::min(),
                   -limits::min(),
                   1,
                   -1,
                   -2.5f};
    floats keys;
    for (std::size_t i = 0; i < n; ++i)
        keys.push_back(some[std::size_t(random_between(0, int(some.size()) - 1))]);
    return keys;
}

// The wrong answers that the grader recognises.

template <class T, class K> static std::vector<T> sorted_by(std::vector<T> keys, K part)
{
    std::stable_sort(keys.begin(), keys.end(), [part](T x, T y) { return part(x) < part(y); });
    return keys;
}

// Sorts each piece by itself.
template <class K> static uints pieces_by(const uints &keys, std::size_t piece, K part)
{
    uints sorted;
    for (std::size_t first = 0; first < keys.size(); first += piece) {
        auto from = keys.begin() + std::ptrdiff_t(first);
        auto to = from + std::ptrdiff_t(std::min(piece, keys.size() - first));
        uints one = sorted_by(uints(from, to), part);
        sorted.insert(sorted.end(), one.begin(), one.end());
    }
    return sorted;
}

// After passes over digits of some bits, each of which is stable or else turns round what is equal.
static uints after_passes(uints keys, int bits, bool highest_first, bool stable)
{
    for (int pass = 0; pass < 32 / bits; ++pass) {
        int shift = highest_first ? 32 - bits - pass * bits : pass * bits;
        if (!stable) std::reverse(keys.begin(), keys.end());
        keys = sorted_by(keys, [=](unsigned key) { return key >> shift & ((1u << bits) - 1); });
    }
    return keys;
}

// Elements that were given and are gone.
// Bit 0 as bit 31, and so on.
static unsigned turned_round(unsigned key)
{
    unsigned result = 0;
    for (int bit = 0; bit < 32; ++bit) result = result << 1 | (key >> bit & 1);
    return result;
}

// By which bits of their keys `got` is sorted, if it is by some of them. From the highest bit down:
// whichever never falls between neighbours that the bits above leave equal.
static unsigned sorting_bits(const uints &got)
{
    unsigned bits = 0;
    for (unsigned bit = 1u << 31; bit != 0; bit /= 2) {
        bool falls = false;
        for (std::size_t i = 1; i < got.size() && !falls; ++i)
            falls = ((got[i - 1] ^ got[i]) & bits) == 0 && (got[i - 1] & ~got[i] & bit) != 0;
        if (!falls) bits |= bit;
    }
    return bits;
}

// "bits 3, 7 and 11", or of more the first and how many there are.
static std::string names_of(unsigned bits)
{
    std::string names = std::popcount(bits) == 1 ? "bit " : "bits ";
    int named = 0, all = std::popcount(bits);
    for (int bit = 0; bit < 32; ++bit) {
        if ((bits >> bit & 1) == 0) continue;
        if (named == 4 && all > 5) return names + " and " + std::to_string(all - named) + " others";
        names += (named == 0 ? "" : named + 1 == all ? " and " : ", ") + std::to_string(bit);
        ++named;
    }
    return names;
}

// Sorted without regard to some bits, or in pieces of a number of keys each.
static misconception<unsigned> bits_left_out(const output<unsigned> &got, const uints &before,
                                             std::size_t piece)
{
    unsigned bits = ~0u;
    for (std::size_t first = 0; first < got.size(); first += piece) {
        auto from = got.values.begin() + std::ptrdiff_t(first);
        auto to = from + std::ptrdiff_t(std::min(piece, got.size() - first));
        if (!std::is_sorted(from, to)) bits &= sorting_bits(uints(from, to));
    }
    return {"The keys are sorted as if they did not have all their bits: " + names_of(~bits) +
                (std::popcount(~bits) == 1 ? " plays" : " play") + " no part in it.",
            "There are 32 bits, 0 to 31, and each must be used once: does a digit have all of its "
            "bits, and do the passes cover all digits?",
            [&before, bits, piece] {
                return pieces_by(before, piece, [bits](unsigned key) { return key & bits; });
            }};
}

// The elements that were given, where nothing else is known.
template <class T>
static misconception<T> out_of_order(const output<T> &got, const std::vector<T> &before)
{
    return {"All of them are there, but not in order.",
            "Take two neighbours that are in the wrong order and follow them on paper: which bit "
            "separates them, and what do the passes after it do?",
            [&got, &before] {
                std::vector<T> now = got.values, then = before;
                std::sort(now.begin(), now.end());
                std::sort(then.begin(), then.end());
                return now == then ? got.values : std::vector<T>();
            }};
}

// Right as far as the highest digit goes: of 8 bits, or of 4.
static misconception<unsigned> by_highest_digit(const output<unsigned> &got, int bits)
{
    return {
        "The keys are in order by their highest " + std::to_string(bits) +
            " bits, but keys that share these bits are not.",
        "A pass must leave keys of the same digit in the order in which it found them. Which keys "
        "does your pass count as before a key? They must be those at smaller indices: do the "
        "tiles, then the warps, the rows and the lanes go through the keys in memory order?",
        [&got, bits] {
            auto digits_fall = [bits](unsigned x, unsigned y) {
                return x >> (32 - bits) > y >> (32 - bits);
            };
            const uints &keys = got.values;
            bool rise = std::adjacent_find(keys.begin(), keys.end(), digits_fall) == keys.end();
            bool several =
                !keys.empty() && keys.front() >> (32 - bits) != keys.back() >> (32 - bits);
            return rise && several ? keys : uints();
        }};
}

template <class T> static misconception<T> lost(const output<T> &got, const std::vector<T> &before)
{
    return {"Some elements are lost, and others are there more than once.",
            "Every element must get a place of its own: are there two with the same place, or "
            "does an element count itself?",
            [&got, &before] {
                std::vector<T> now = got.values, then = before;
                std::sort(now.begin(), now.end());
                std::sort(then.begin(), then.end());
                return now == then ? std::vector<T>() : got.values;
            }};
}

static std::vector<misconception<unsigned>> wrong_orders(const output<unsigned> &got,
                                                         const uints &before)
{
    if (!got.again.empty()) return {}; // right once, then not: chance, not a misconception
    auto by = [&before](auto part) { return [&before, part] { return sorted_by(before, part); }; };
    auto passes = [&before](int bits, bool highest_first, bool stable) {
        return [&before, bits, highest_first, stable] {
            return after_passes(before, bits, highest_first, stable);
        };
    };
    std::string from_the_top = "The passes went from the highest digit to the lowest.",
                lowest_first = "A later pass must not undo an earlier one: the lowest digit comes "
                               "first, and the highest last.",
                turned = "Keys with the same digit have changed their order in each pass.",
                keep_order = "Equal digits must stay in order: count only the keys before a key, "
                             "in earlier tiles, warps, rows and lanes.",
                missing = ": as if the last pass were missing.",
                even = "Is the number of passes odd, so that the last result is still in scratch? "
                       "Are there as many passes as digits?";
    std::vector<misconception<unsigned>> known = {
        {"The keys are sorted as if they had a sign.",
         "A key whose bit 31 is set is a large number, not a negative one.",
         by([](unsigned key) { return static_cast<int>(key); })},
        {"The keys are sorted by their lower 31 bits: bit 31 is left out.",
         "There are 32 bits, 0 to 31.", by([](unsigned key) { return key & 0x7fffffff; })},
        {"The keys are sorted by their lower 16 bits only.",
         "There are 32 bits: 8 digits of 4, or 4 of 8.",
         by([](unsigned key) { return key & 0xffff; })},
        {"The largest comes first.", "The smallest comes first.",
         by([](unsigned key) { return ~key; })},
        {"The keys are sorted by their lower 28 bits only" + missing, even,
         by([](unsigned key) { return key & 0xfffffff; })},
        {"The keys are sorted by their lower 24 bits only" + missing, even,
         by([](unsigned key) { return key & 0xffffff; })},
        {from_the_top, lowest_first, passes(4, true, true)},
        {from_the_top, lowest_first, passes(8, true, true)},
        {"The passes went from the highest bit to the lowest.",
         "A later pass must not undo an earlier one: the lowest bit comes first, and the highest "
         "last.",
         by(turned_round)},
        {turned, keep_order, passes(4, false, false)},
        {turned, keep_order, passes(8, false, false)},
    };
    for (std::size_t piece = 32; piece < before.size() && piece <= 16384; piece *= 2)
        known.push_back({"Each piece of " + std::to_string(piece) + " keys is sorted by itself.",
                         "All keys with a smaller digit come before a key, even those of later "
                         "tiles: scan the counts digit by digit, and for each digit tile by tile.",
                         [&before, piece] { return pieces_by(before, piece, std::identity()); }});
    known.push_back(bits_left_out(got, before, std::max<std::size_t>(1, before.size())));
    known.push_back(lost(got, before));
    for (int bits : {8, 4}) known.push_back(by_highest_digit(got, bits));
    known.push_back(out_of_order(got, before));
    return known;
}

static std::vector<misconception<unsigned>> wrong_runs(const output<unsigned> &got,
                                                       const uints &before)
{
    auto by = [&before](auto part) {
        return [&before, part] { return pieces_by(before, 32, part); };
    };
    return {
        {"Each run is sorted, but by its lower 31 bits: bit 31 is left out.",
         "There are 32 bits, 0 to 31.", by([](unsigned key) { return key & 0x7fffffff; })},
        {"The runs are sorted as if the keys had a sign.",
         "A key whose bit 31 is set is a large number, not a negative one.",
         by([](unsigned key) { return static_cast<int>(key); })},
        {"The votes went from the highest bit to the lowest.",
         "A later vote outweighs an earlier one: begin with bit 0 and end with bit 31.",
         by(turned_round)},
        {"The last run, which has fewer than 32 keys, is not sorted.",
         "All 32 lanes must vote: give those without a key one that goes last.",
         [&before] {
             uints keys = oracle::sort_warps(before);
             auto whole = std::ptrdiff_t(before.size() / 32 * 32);
             std::copy(before.begin() + whole, before.end(), keys.begin() + whole);
             return keys;
         }},
        {"The largest of each run comes first.", "The smallest comes first.",
         by([](unsigned key) { return ~key; })},
        {"All keys are sorted, over the ends of their runs.", "Each run of 32 is sorted by itself.",
         [&before] { return oracle::radix_sort(before); }},
        bits_left_out(got, before, 32),
        lost(got, before),
        out_of_order(got, before),
    };
}

static std::vector<misconception<float>> wrong_floats(const output<float> &got,
                                                      const floats &before)
{
    if (!got.again.empty()) return {};
    auto by = [&before](auto part) { return [&before, part] { return sorted_by(before, part); }; };
    return {
        {"The keys are sorted by their bits, as if these were whole numbers without a sign.",
         "Bit 31 is the sign: flip bits so that negative numbers come first, and the largest of "
         "them last.",
         by([](float key) { return std::bit_cast<std::uint32_t>(key); })},
        {"Negative keys come first, but among them the order is reversed.",
         "The larger the pattern of a negative number, the smaller the number: flip all of its "
         "bits, not the sign alone.",
         by([](float key) { return std::bit_cast<std::int32_t>(key); })},
        {"The largest comes first.", "The smallest comes first.",
         by([](float key) { return -key; })},
        {"The positive keys come first and then the negative ones, both in order.",
         "Bit 31, too, has to be flipped, in positive keys and in negative ones: it is part of the "
         "last digit, and negative keys come first.",
         by([](float key) { return std::pair(std::signbit(key), key); })},
        {"The keys are sorted by their whole parts alone.",
         "A conversion to an integer rounds. Take the digits from the float's bits: "
         "__float_as_uint, or a pointer to unsigned.",
         by([](float key) { return std::trunc(std::clamp(key, -0x1p31f, 0x1p31f)); })},
        lost(got, before),
        out_of_order(got, before),
    };
}

static std::vector<misconception<unsigned>>
wrong_values(const output<unsigned> &got, const oracle::pairs &before, const oracle::pairs &want)
{
    // True if each value is among those of its key.
    auto with_its_key = [&got, &want] {
        uints found = got.values, right = want.values;
        for (std::size_t first = 0, last; first < right.size(); first = last) {
            for (last = first; last < right.size() && want.keys[last] == want.keys[first];) ++last;
            std::sort(found.begin() + std::ptrdiff_t(first), found.begin() + std::ptrdiff_t(last));
            std::sort(right.begin() + std::ptrdiff_t(first), right.begin() + std::ptrdiff_t(last));
        }
        return found == right;
    };
    return {
        {"The values are where they were.", "A value goes where its key goes, in every pass.",
         [&before] { return before.values; }},
        {"The values are sorted by themselves.", "A value goes where its key goes.",
         [&before] { return oracle::radix_sort(before.values); }},
        {"Each value is with its key, but values of equal keys have changed their order.",
         "Keys of equal digit must stay in order in every pass: an atomic assigns places in the "
         "order of arrival.",
         [&got, with_its_key] { return with_its_key() ? got.values : uints(); }},
        lost(got, before.values),
    };
}

// One call each. The places say how many elements past a 256-byte boundary an array begins.

// A sort in place counts as not written if the array is unchanged.
template <class T> static void expect_changed(const char *function, const output<T> &got,
                                              const std::vector<T> &before,
                                              const std::vector<T> &want)
{
    expect_changed_in_place(
        want == before || got.values != before,
        std::string(function) + " returned, and every key is where it was.",
        "Does a kernel run at all, and does it write its result? Is it left in scratch?");
}

// Hints for a sort in passes.
static void order_is_kept()
{
    hint_another_order("Each pass must leave keys of the same digit in the order in which it found "
                       "them: an atomic assigns places in the order of arrival. Count the keys "
                       "before a key instead.");
}

static void places_are_told(const char *function)
{
    hint_past_the_end(
        std::string("Add up the arrays in scratch: does ") + function +
            "_scratch return the bytes of all of them? If it does, a key's place is too large: "
            "print, "
            "for one key, how many there are of smaller digits, of its own in earlier tiles, and "
            "before it in its tile. Do counting and placing use the same digit, and is a count "
            "read where it was written?",
        "scratch");
    hint_one_place(
        "Each key of a pass needs a place of its own: behind all keys of smaller "
        "digits, all of its own digit in earlier tiles, however many tiles there are, "
        "and those of its digit before it in its tile; only lanes whose digits agree in every bit "
        "are peers. Print these numbers for two keys with the same place: which is wrong?");
    hint_unwritten("In which array should this element be, keys or values or counts? A value goes "
                   "where its key goes, but in the array of values; and all counts of all tiles "
                   "are written before they are added up.");
}

// The host may add up counts of digits: 256 in each of 4 passes, for many tiles more.
static void host_may_add_counts() { host_may_steer(0.5, 4 * 256 * sizeof(unsigned)); }

static void try_warps(const uints &before, int at = 0)
{
    output<unsigned> keys = changed_in_place(before);
    hint_past_the_end(
        "Do all 32 lanes of a warp take part in each vote? One that has returned counts as a 0. "
        "Let those beyond n vote as if they had the largest key, and store "
        "nothing.");
    CALL(sort_warps, misaligned(keys, at), int(before.size()));
    uints want = oracle::sort_warps(before);
    expect_changed("sort_warps", keys, before, want);
    expect_equal(keys, want, {}, [&] { return wrong_runs(keys, before); });
}

static void try_sort(const uints &before, int at = 0)
{
    output<unsigned> keys = changed_in_place(before);
    order_is_kept();
    places_are_told("radix_sort");
    host_may_add_counts();
    CALL(radix_sort, misaligned(keys, at), int(before.size()), scratch);
    uints want = oracle::radix_sort(before);
    expect_changed("radix_sort", keys, before, want);
    expect_equal(keys, want, {}, [&] { return wrong_orders(keys, before); });
}

static void try_pairs(const uints &of_keys, int keys_at = 0, int values_at = 0)
{
    oracle::pairs before{of_keys, random_keys(of_keys.size())};
    oracle::pairs want = oracle::radix_sort_pairs(before);
    output<unsigned> keys = changed_in_place(before.keys);
    output<unsigned> values = changed_in_place(before.values);
    order_is_kept();
    places_are_told("radix_sort_pairs");
    host_may_add_counts();
    CALL(radix_sort_pairs, misaligned(keys, keys_at), misaligned(values, values_at),
         int(of_keys.size()), scratch);
    expect_changed("radix_sort_pairs", keys, before.keys, want.keys);
    expect_equal(keys, want.keys, {}, [&] { return wrong_orders(keys, before.keys); });
    expect_equal(values, want.values, {}, [&] { return wrong_values(values, before, want); });
}

static void try_floats(const floats &before, int at = 0)
{
    output<float> keys = changed_in_place(before);
    order_is_kept();
    places_are_told("radix_sort_floats");
    host_may_add_counts();
    CALL(radix_sort_floats, misaligned(keys, at), int(before.size()), scratch);
    floats want = oracle::radix_sort_floats(before);
    expect_changed("radix_sort_floats", keys, before, want);
    expect_equal(keys, want, {}, [&] { return wrong_floats(keys, before); });
    for (std::size_t i = 0; i < want.size(); ++i) // -0 equals 0
        if (std::signbit(keys[i]) != std::signbit(want[i]))
            expect(false, verdict::WRONG_ANSWER,
                   "Of the zeros, keys[" + std::to_string(i) + "] is " + show_element(keys[i]) +
                       ", and should be " + show_element(want[i]) + ": -0 comes before 0.",
                   "As numbers the two are equal; sort by the bits, flipped so that their order is "
                   "that of the numbers.");
}

static const int awkward_sizes[] = {1, 2, 31, 33, 255, 257, 1023, 1025};

// Keys in an order that a sort may meet.
static std::vector<uints> known_orders(std::size_t n)
{
    uints up = random_keys(n);
    std::sort(up.begin(), up.end());
    uints down(up.rbegin(), up.rend());
    return {uints(n, 0xdeadbeef), up, down, few_keys(n, 3)};
}

// The speed cases.

// 2^26 keys and a ragged end, where seven times all arrays and naive's scratch fit the device.
static int raced_keys()
{
    if (simulated()) return 24000 - 35; // two tiles and more, however large they are
    double most = std::min(double(1 << 26), double(device().memory_bytes) / 192);
    return static_cast<int>(most) / 4096 * 4096 - 35;
}

// Bits in the order of the keys.
static std::uint32_t turned(unsigned key) { return key; }
static std::uint32_t turned(float key)
{
    auto bits = std::bit_cast<std::uint32_t>(key);
    return bits >> 31 ? ~bits : bits ^ 0x80000000;
}

template <class T> static void fill_keys(std::span<T> keys, std::mt19937_64 &random)
{
    auto *bytes = reinterpret_cast<unsigned char *>(keys.data());
    fill_random(std::span(bytes, keys.size_bytes()), random);
    if constexpr (std::is_same_v<T, float>)
        for_all(keys.size(), [&](std::size_t i) {
            keys[i] = some_number(std::bit_cast<std::uint32_t>(keys[i]));
            return true;
        });
}

// Another one for each key, in no order that the old one tells of: an odd factor gives each its
// own.
static unsigned other_key(unsigned key, std::uint32_t bits) { return key * (bits << 1 | 1) ^ bits; }
static float other_key(float key, std::uint32_t bits)
{
    return some_number(other_key(std::bit_cast<std::uint32_t>(key), bits));
}

enum class task { runs, keys, pairs, numbers };

namespace {

template <class T> class sorting : public workload {
public:
    sorting(std::mt19937_64 &random, task what)
        : what_(what),
          before_(static_cast<std::size_t>(raced_keys())),
          keys_(0),
          values_(0),
          salt_(static_cast<unsigned>(random()))
    {
        fill_keys(std::span(before_), random);
        keys_ = changed_in_place(before_);
        if (what == task::pairs) values_ = changed_in_place(uints(before_.size()));
        set_values();
    }
    const char *function() const override
    {
        switch (what_) {
        case task::runs:
            return "sort_warps";
        case task::keys:
            return "radix_sort";
        case task::pairs:
            return "radix_sort_pairs";
        default:
            return "radix_sort_floats";
        }
    }
    std::vector<argument> arguments() override
    {
        int n = static_cast<int>(before_.size());
        if constexpr (std::is_same_v<T, float>)
            return remote<decltype(radix_sort_floats)>::arguments(keys_, n, scratch);
        else if (what_ == task::runs)
            return remote<decltype(sort_warps)>::arguments(keys_, n);
        else if (what_ == task::keys)
            return remote<decltype(radix_sort)>::arguments(keys_, n, scratch);
        else
            return remote<decltype(radix_sort_pairs)>::arguments(keys_, values_, n, scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        auto bits = static_cast<std::uint32_t>(random());
        for_all(before_.size(), [&](std::size_t i) {
            keys_.values[i] = before_[i] = other_key(before_[i], bits);
            return true;
        });
        set_values();
        return {}; // what is changed in place is restored
    }
    void check() override
    {
        expect(!std::equal(keys_.values.begin(), keys_.values.end(), before_.begin(), same_bits),
               verdict::NOT_WRITTEN,
               std::string(function()) + " returned, and every key is where it was.",
               "Does a kernel run at all, and does it write its result?");
        bool right = what_ == task::runs ? sorted_in_runs(keys_.values, before_, 32)
                                         : in_order() && is_permutation();
        expect(right, verdict::WRONG_ANSWER,
               "Of " + std::to_string(before_.size()) + " keys, not all are where they should be" +
                   (in_order() || what_ == task::runs
                        ? std::string(what_ == task::pairs ? ", or a value is not." : ".")
                        : ": they are not in order."),
               "The smaller cases are right, so look for what only many keys have: many tiles, "
               "and counts of digits that overflow their type.");
    }
    double bytes() const override { return (what_ == task::pairs ? 16 : 8) * double(keys_.size()); }

private:
    static bool same_bits(T x, T y) { return turned(x) == turned(y); }
    void set_values() // which element it was, so that the order of equal keys is seen
    {
        for_all(values_.size(), [this](std::size_t i) {
            values_.values[i] = static_cast<unsigned>(i) ^ salt_;
            return true;
        });
    }
    bool in_order() const
    {
        return for_all(before_.size(), [this](std::size_t i) {
            return i == 0 || turned(keys_[i - 1]) <= turned(keys_[i]);
        });
    }
    // For pairs: the values of equal keys rise, so that none is there twice, and each has its key.
    bool is_permutation() const
    {
        if (what_ != task::pairs)
            return same_in_any_order(std::as_bytes(std::span(keys_.values)),
                                     std::as_bytes(std::span(before_)));
        return for_all(before_.size(), [this](std::size_t i) {
            std::size_t was = values_[i] ^ salt_;
            bool rises =
                i == 0 || !same_bits(keys_[i - 1], keys_[i]) || (values_[i - 1] ^ salt_) < was;
            return rises && was < before_.size() && same_bits(before_[was], keys_[i]);
        });
    }

    task what_;
    std::vector<T> before_;
    output<T> keys_;
    output<unsigned> values_;
    unsigned salt_;
};

} // namespace

template <class T = unsigned> static make_workload sort(task what)
{
    return [what](std::mt19937_64 &random) { return std::make_unique<sorting<T>>(random, what); };
}

// Bytes that each launch must move if it moves every sector once, over all launches.
static counted_gate compulsory_bytes(const steps &most)
{
    return at_most("compulsory bytes per key", most, "bytes",
                   "Every kernel that goes over all keys moves them once more. How many passes are "
                   "there, and how often does each go over the keys?",
                   [](const counted &c) { return double(c.compulsory_bytes) / raced_keys(); });
}

// A launch that goes over the keys again and again has no more compulsory bytes than one that does
// so once: this gate counts all bytes moved.
static counted_gate moved_bytes_per_key(const steps &most)
{
    return moved_bytes(
        "key", [] { return double(raced_keys()); }, most,
        "Each load and store of a warp moves whole sectors of 32 bytes: how often is a key moved, "
        "and do neighbouring lanes load, and store, neighbouring keys?");
}

// Other blocks that only seem to work do not help. Our versions have 5 at most.
static counted_gate busiest_block()
{
    return at_most(
        "instructions of the busiest block per key", {9}, "",
        "This adds up the busiest block of each launch, and those blocks sort a large part of all "
        "keys. Let every block take a tile.",
        [](const counted &c) { return double(c.busiest_block_instructions) / raced_keys(); });
}

// On an H200 one bit per pass, however it is tuned, reaches 3.3 times naive's speed with keys
// and 1.8 with pairs; digits of 4 bits 4.9 and 2.3, of 8 bits 6.3 and 3.4.
static speed_gates gates(double speedup, const steps &most_bytes, const steps &most_moved)
{
    speed_gates gates;
    gates.speedup = speedup;
    gates.counted = {compulsory_bytes(most_bytes), moved_bytes_per_key(most_moved), blocks_share(2),
                     lanes_at_work(), busiest_block()};
    gates.too_slow =
        "Where does the time go? A pass for each bit goes over the keys 32 times; digits of 4 bits "
        "make it 8, digits of 8 bits 4. And do neighbouring lanes store "
        "at neighbouring places? Sort the keys of a tile by digit in shared memory first.";
    return gates;
}

CORRECTNESS_CASE("sort_warps: a few keys", 0.5)
{
    try_warps({7, 14, 4, 1, 0x80000003, 3, 4, 0xffffffff});
    try_warps(random_keys(8));
}

CORRECTNESS_CASE("sort_warps: sizes around a run and a block", 1)
{
    for (int n : {1, 2, 31, 32, 33, 64, 255, 257, 3000}) try_warps(random_keys(std::size_t(n)));
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

SPEED_CASE("sort_warps: speed", 4.5, 2)
{
    speed_gates gates;
    gates.speedup = 5;
    gates.counted = {used_by_loads(0.95), used_by_stores(0.95), moved_bytes_per_key({10}),
                     blocks_share(4), lanes_at_work()};
    gates.too_slow = "Do the lanes of a warp read neighbours? The 32 lanes have 32 keys in their "
                     "registers, and can rank them by votes.";
    race(sort(task::runs), gates);
}

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
    for (int n : awkward_sizes) try_sort(random_keys(std::size_t(n)));
    for (int n : {4095, 4097}) try_sort(random_keys(std::size_t(n)));
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
    try_sort(random_keys(simulated() ? 24011 : 2000003));
    try_sort(few_keys(simulated() ? 9001 : 3000001, 2));
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

SPEED_CASE("radix_sort: speed", 8.5, 4)
{
    race(sort(task::keys), gates(4.1, {110, 56, 40}, {280, 230, 200}));
}

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
    for (int n : {1, 33, 257, 1023, 4097}) try_pairs(random_keys(std::size_t(n)));
}

CORRECTNESS_CASE("radix_sort_pairs: equal keys", 2)
{
    for (int count : {1, 2, 40}) try_pairs(few_keys(1300, count));
    try_pairs(few_keys(9001, 5));
}

CORRECTNESS_CASE("radix_sort_pairs: many tiles", 0.5)
{
    try_pairs(random_keys(simulated() ? 10021 : 2000003));
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
    race(sort(task::pairs), gates(2.8, {180, 92, 74}, {480, 400, 340}));
}

CORRECTNESS_CASE("radix_sort_floats: a few numbers", 0.5)
{
    try_floats({7, -14, 4, 1, 0, -0.5f, 1e30f, -1e-30f, 4, -3});
    try_floats(random_numbers(10));
}

CORRECTNESS_CASE("radix_sort_floats: zeros and infinities", 1) { try_floats(special_numbers(700)); }

CORRECTNESS_CASE("radix_sort_floats: sizes around a tile", 1)
{
    for (int n : {1, 33, 257, 1023, 4097}) try_floats(random_numbers(std::size_t(n)));
}

CORRECTNESS_CASE("radix_sort_floats: many tiles", 0.5)
{
    try_floats(random_numbers(simulated() ? 10021 : 2000003), 3);
}

CORRECTNESS_CASE("radix_sort_floats: no numbers", 0.5)
{
    const float low = random_floats(1)[0];
    try_floats({low + 1, low});
    try_floats({});
}

SPEED_CASE("radix_sort_floats: speed", 4.5, 2)
{
    race(sort<float>(task::numbers), gates(4.1, {110, 56, 40}, {280, 230, 200}));
}
