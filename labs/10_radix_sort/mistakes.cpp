// Tells wrong answers of lab 10 from their causes: a sort by other parts of the keys, or of pieces.
#include "mistakes.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace grading;

void explain_sorting(const std::string &function)
{
    hint_another_order("Each pass must leave keys of the same digit in the order in which it found "
                       "them: an atomic assigns places in the order of arrival. Count the keys "
                       "before a key instead.");
    hint_past_the_end(
        "If it is an array in shared memory: compare the index with that array's size; a block "
        "has more threads than there are digits. If it is scratch: add up the arrays in it. Does " +
            function +
            "_scratch return the bytes of all of them? If it does, a key's place is too large: "
            "print, for one key, how many there are of smaller digits, of its own in earlier "
            "tiles, and before it in its tile. Do counting and placing use the same digit, and is "
            "a count read where it was written?",
        "scratch");
    hint_one_place("Each key of a pass needs a place of its own: behind all keys of smaller "
                   "digits, all of its own digit in earlier tiles, however many tiles there are, "
                   "and those of its digit before it in its tile; only lanes whose digits agree in "
                   "every bit are peers. Print these numbers for two keys with the same place: "
                   "which is wrong?");
    hint_unwritten("In which array should this element be, keys or values or counts? A value goes "
                   "where its key goes, but in the array of values; and all counts of all tiles "
                   "are written before they are added up.");
    // The host may add up counts of digits: 256 in each of 4 passes, for many tiles more.
    host_may_steer(0.5, 4 * 256 * sizeof(unsigned));
}

constexpr unsigned sign_bit = 1u << 31;

// A sort of keys that has gone wrong in one of these ways.
struct wrong_sort {
    unsigned flipped = 0, kept = ~0u; // bits of a key by which it sorts
    int digit = 32;                   // bits per pass
    bool highest_first = false, stable = true;
    std::size_t piece = 0; // keys that it sorts by themselves
};

static uints sorted_wrongly(uints keys, const wrong_sort &how)
{
    for (std::size_t first = 0; first < keys.size(); first += how.piece) {
        auto from = keys.begin() + std::ptrdiff_t(first);
        auto to = from + std::ptrdiff_t(std::min(how.piece, keys.size() - first));
        for (int done = 0; done < 32; done += how.digit) {
            const int shift = how.highest_first ? 32 - how.digit - done : done;
            const unsigned bits = how.kept & ~0u >> (32 - how.digit) << shift;
            auto part = [&](unsigned key) { return (key ^ how.flipped) & bits; };
            if (!how.stable) std::reverse(from, to);
            std::stable_sort(from, to, [&](unsigned x, unsigned y) { return part(x) < part(y); });
        }
    }
    return keys;
}

// Returns the bits by which `got` is sorted, if it is by some of them: from the highest bit down,
// those that never fall between neighbours that the bits above leave equal.
static unsigned sorting_bits(const uints &got)
{
    unsigned bits = 0;
    for (unsigned bit = sign_bit; bit != 0; bit /= 2) {
        bool falls = false;
        for (std::size_t i = 1; i < got.size() && !falls; ++i)
            falls = ((got[i - 1] ^ got[i]) & bits) == 0 && (got[i - 1] & ~got[i] & bit) != 0;
        if (!falls) bits |= bit;
    }
    return bits;
}

// "bit 3", "bits 3, 7 and 11", or of many the first four and how many more there are.
static std::string names_of(unsigned bits)
{
    std::string names;
    int named = 0, all = std::popcount(bits);
    for (int bit = 0; bit < 32 && !(named == 4 && all > 5); ++bit) {
        if ((bits >> bit & 1) == 0) continue;
        names += (named == 0 ? "" : named + 1 == all ? " and " : ", ") + std::to_string(bit);
        ++named;
    }
    if (named < all) names += " and " + std::to_string(all - named) + " others";
    return (all == 1 ? "bit " : "bits ") + names + (all == 1 ? " plays" : " play");
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
    return {
        "The keys are sorted as if they did not have all their bits: " + names_of(~bits) +
            " no part in it.",
        "There are 32 bits, 0 to 31, and each must be used once: does a digit have all of its "
        "bits, and do the passes cover all digits?",
        [&before, bits, piece] { return sorted_wrongly(before, {.kept = bits, .piece = piece}); }};
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
        [&keys = got.values, shift = 32 - bits] {
            bool rise = std::is_sorted(keys.begin(), keys.end(), [shift](unsigned x, unsigned y) {
                return x >> shift < y >> shift;
            });
            bool several = !keys.empty() && keys.front() >> shift != keys.back() >> shift;
            return rise && several ? keys : uints();
        }};
}

template <class T> static bool same_elements(std::vector<T> x, std::vector<T> y)
{
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    return x == y;
}

template <class T> static misconception<T> lost(const output<T> &got, const std::vector<T> &before)
{
    return {"Some elements are lost, and others are there more than once.",
            "Every element must get a place of its own: are there two with the same place, or "
            "does an element count itself?",
            [&] { return same_elements(got.values, before) ? std::vector<T>() : got.values; }};
}

// The elements that were given, where nothing else is known.
template <class T>
static misconception<T> out_of_order(const output<T> &got, const std::vector<T> &before)
{
    return {"All of them are there, but not in order.",
            "Take two neighbours that are in the wrong order and follow them on paper: which bit "
            "separates them, and what do the passes after it do?",
            [&] { return same_elements(got.values, before) ? got.values : std::vector<T>(); }};
}

static const char *const smallest_first = "The smallest comes first.";

// Keys sorted otherwise, all of them or in pieces of so many, as sort_warps does.
static std::vector<misconception<unsigned>> sorted_otherwise(const uints &before, std::size_t piece)
{
    std::vector<misconception<unsigned>> known;
    auto add = [&](const std::string &message, const std::string &hint, wrong_sort how) {
        how.piece = how.piece ? how.piece : piece;
        known.push_back({message, hint, [&before, how] { return sorted_wrongly(before, how); }});
    };
    add("The keys are sorted as if they had a sign.",
        "A key whose bit 31 is set is a large number, not a negative one.", {.flipped = sign_bit});
    for (int bits : {31, 16, 28, 24})
        add("The keys are sorted by their lower " + std::to_string(bits) + " bits only: " +
                (bits == 31   ? "bit 31 is left out."
                 : bits == 16 ? "as if half of the passes were missing."
                              : "as if the last pass were missing."),
            "There are 32 bits, 0 to 31. Do the passes cover all digits? Is their number odd, so "
            "that the last result is still in scratch?",
            {.kept = (1u << bits) - 1});
    add("The largest comes first.", smallest_first, {.flipped = ~0u});
    for (int bits : {4, 8, 1})
        add(std::string(bits == 1 ? "The votes or passes went from the highest bit"
                                  : "The passes went from the highest digit") +
                " to the lowest.",
            "A later one outweighs an earlier one: the lowest comes first, and the highest last.",
            {.digit = bits, .highest_first = true});
    for (int bits : {4, 8})
        add("Keys with the same digit have changed their order in each pass.",
            "Equal digits must stay in order: count only the keys before a key, in earlier tiles, "
            "warps, rows and lanes.",
            {.digit = bits, .stable = false});
    for (std::size_t other = 32; other < piece && other <= 16384; other *= 2)
        add("Each piece of " + std::to_string(other) + " keys is sorted by itself.",
            "All keys with a smaller digit come before a key, even those of later tiles: scan the "
            "counts digit by digit, and for each digit tile by tile.",
            {.piece = other});
    return known;
}

std::vector<misconception<unsigned>> wrong_orders(const output<unsigned> &got, const uints &before)
{
    if (!got.again.empty()) return {}; // right once, then not: chance, not a misconception
    const std::size_t all = std::max<std::size_t>(1, before.size());
    auto known = sorted_otherwise(before, all);
    known.push_back(bits_left_out(got, before, all));
    known.push_back(lost(got, before));
    for (int bits : {8, 4}) known.push_back(by_highest_digit(got, bits));
    known.push_back(out_of_order(got, before));
    return known;
}

std::vector<misconception<unsigned>> wrong_runs(const output<unsigned> &got, const uints &before)
{
    auto known = sorted_otherwise(before, 32);
    known.push_back({"The last run, which has fewer than 32 keys, is not sorted.",
                     "All 32 lanes must vote: give those without a key one that goes last.",
                     [&before] {
                         uints keys = oracle::sort_warps(before);
                         auto whole = std::ptrdiff_t(before.size() / 32 * 32);
                         std::copy(before.begin() + whole, before.end(), keys.begin() + whole);
                         return keys;
                     }});
    known.push_back({"All keys are sorted, over the ends of their runs.",
                     "Each run of 32 is sorted by itself.",
                     [&before] { return oracle::radix_sort(before); }});
    known.push_back(bits_left_out(got, before, 32));
    known.push_back(lost(got, before));
    known.push_back(out_of_order(got, before));
    return known;
}

std::vector<misconception<float>> wrong_floats(const output<float> &got, const floats &before)
{
    if (!got.again.empty()) return {};
    auto by = [&before](auto part) {
        return [&before, part] {
            floats keys = before;
            std::stable_sort(keys.begin(), keys.end(),
                             [part](float x, float y) { return part(x) < part(y); });
            return keys;
        };
    };
    return {
        {"The keys are sorted by their bits, as if these were whole numbers without a sign.",
         "Bit 31 is the sign: flip bits so that negative numbers come first, and the largest of "
         "them last.",
         by([](float key) { return std::bit_cast<std::uint32_t>(key); })},
        {"Negative keys come first, but among them the order is reversed.",
         "The larger the pattern of a negative number, the smaller the number: flip all of its "
         "bits, not the sign alone.",
         by([](float key) { return std::bit_cast<std::int32_t>(key); })},
        {"The largest comes first.", smallest_first, by([](float key) { return -key; })},
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

std::vector<misconception<unsigned>>
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
