// Knows wrong sums by what was added before each part of the array, by how few elements they hold,
// or by what a simulation of the mistake gives.
#include "mistakes.hpp"

#include "oracle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

using grading::misconception;

namespace {

// Overflows as a GPU does.
template <class T> T added(T a, T b)
{
    if constexpr (std::is_same_v<T, float>)
        return a + b;
    else
        return static_cast<T>(std::uint64_t(a) + std::uint64_t(b));
}

template <class T> T less(T a, T b) { return static_cast<T>(std::uint64_t(a) - std::uint64_t(b)); }

// An answer, cut where it goes on wrongly: `each` elements a part, the last may have fewer.
template <class T> struct parts {
    std::size_t each = 0;        // a power of two; 0: there are no such parts
    std::vector<T> before;       // what was added before each,
    std::vector<T> right;        // and should have been
    std::vector<T> first, last;  // elements of each
    std::vector<T> own;          // sum of each
    std::size_t first_wrong = 0; // part
};

template <class T> parts<T> cut(const std::vector<T> &in, bool exclusive, const std::vector<T> &got)
{
    constexpr std::size_t warp = 32;
    parts<T> p;
    std::size_t breaks = 0; // all their indices together: its lowest bit is the largest common one
    for (std::size_t i = 1; i < in.size(); ++i)
        if (less(got[i], got[i - 1]) != in[i - exclusive]) breaks |= i;
    p.each = breaks & (~breaks + 1);
    if (breaks == 0)
        for (p.each = warp; p.each < in.size();) p.each *= 2;
    if (in.empty() || p.each < warp) return {};
    T sum(0);
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (i % p.each == 0) {
            p.before.push_back(exclusive ? got[i] : less(got[i], in[i]));
            p.right.push_back(sum);
            p.first.push_back(in[i]);
            p.last.push_back(T(0));
            p.own.push_back(T(0));
        }
        sum = added(sum, in[i]);
        p.last.back() = in[i];
        p.own.back() = added(p.own.back(), in[i]);
    }
    while (p.first_wrong < p.before.size() && p.before[p.first_wrong] == p.right[p.first_wrong])
        ++p.first_wrong;
    return p;
}

template <class T> std::vector<T> one_later(std::vector<T> sums)
{
    sums.insert(sums.begin(), T(0));
    sums.pop_back();
    return sums;
}

template <class T> bool own_too(const parts<T> &p, std::size_t from)
{
    bool all = p.before.size() > from;
    for (std::size_t k = 0; k < p.before.size(); ++k)
        all = all && p.before[k] == (k < from ? p.right[k] : added(p.right[k], p.own[k]));
    return all;
}

// True if each part got the sum of the 32 parts before it, which a warp sees at once.
template <class T> bool one_window(const parts<T> &p)
{
    constexpr std::size_t lanes = 32;
    bool all = p.before.size() > lanes + 1;
    for (std::size_t k = 0; k < p.before.size(); ++k)
        all = all && p.before[k] == (k < lanes ? p.right[k] : less(p.right[k], p.right[k - lanes]));
    return all;
}

template <class T> bool in_32_bits(const parts<T> &p)
{
    for (std::size_t k = 0; k < p.before.size(); ++k)
        if (p.before[k] != static_cast<T>(static_cast<std::int32_t>(p.right[k]))) return false;
    return true;
}

// So many parts are right, or elements, that whoever scans their sums will have stopped there.
template <class T> bool too_few_sums(const parts<T> &p)
{
    constexpr std::size_t max_of_a_block = 16384;
    const bool rounds = (p.first_wrong & (p.first_wrong - 1)) == 0;
    return p.first_wrong > 0 && (p.each > max_of_a_block || (rounds && p.first_wrong >= 32));
}

template <class T> std::vector<misconception<T>>
wrong_before_parts(const std::vector<T> &in, bool exclusive, const std::vector<T> &got)
{
    const parts<T> p = cut(in, exclusive, got);
    const std::size_t count = p.before.size();
    if (p.each == 0 || p.first_wrong == count) return {};
    const std::string each = std::to_string(p.each), first = std::to_string(p.first_wrong * p.each);
    const std::string part = p.each == 32 ? "warp" : "block", parts = part + "s";
    std::vector<misconception<T>> known;
    auto add = [&](bool is, const std::string &cause, const std::string &next) {
        if (is) known.push_back({cause, next, [&got] { return got; }});
    };
    add(own_too(p, 0),
        count == 1
            ? "Every sum also includes the sum of all elements."
            : "Every " + each + " elements got their own sum as well as the sum before them.",
        "Nothing lies before the first warp or the first block: add the exclusive scan of the "
        "sums.");
    add(own_too(p, 1),
        "From element " + each + " on, every " + each +
            " elements got their own sum as well as the sum before them.",
        "The sum before " + part + " k is the scan of the sums up to that of " + part +
            " k - 1, and does not include its own.");
    add(p.before == right_sums(p.first, true),
        "Before every " + each + " elements only the first element of each earlier " + part +
            " was added.",
        "Which thread has the sum of all " + each + "? The first one has only its own element.");
    add(p.before == right_sums(p.last, true),
        "Before every " + each + " elements only the last element of each earlier " + part +
            " was added.",
        "Let the last thread pass on its sum, not its element.");
    if constexpr (sizeof(T) > 4)
        add(in_32_bits(p),
            "The sum added before every " + each + " elements has lost all but its lower 32 bits.",
            "What type does the array have that holds the sums of " + parts + "?");
    add(one_window(p),
        "Before every " + each + " elements only the 32 " + parts + " before were added.",
        "A look-back that has found no prefix goes on with the next 32 tiles.");
    const std::string numbers = "The sum before element " + first + " is " +
                                grading::show_element(p.right[p.first_wrong]) + ", and " +
                                grading::show_element(p.before[p.first_wrong]) + " was added.";
    add(too_few_sums(p),
        (p.each > 16384 ? "The sums before are right up to element " + first
                        : "The sums before are right for the first " +
                              std::to_string(p.first_wrong) + " times " + each + " elements") +
            ", and no further. " + numbers,
        "There are more sums of blocks than one round can scan: do the threads that scan and add "
        "them go on to the last, and does each round begin with the sum of all rounds before it?");
    add(count > 1,
        "Every " + each + " elements are added up correctly by themselves, but from element " +
            first + " on the sum before them is wrong. " + numbers,
        "Which sum was added, which thread writes it, and which thread reads it?");
    return known;
}

template <class T> std::vector<misconception<T>> windows(const std::vector<T> &in, bool exclusive)
{
    std::vector<misconception<T>> known;
    for (std::size_t width = 2; width <= 1024 && width < in.size(); width *= 2) {
        auto sums = [&in, exclusive, width] {
            const std::vector<T> up_to = right_sums(in, false);
            std::vector<T> out = up_to;
            for (std::size_t i = width; i < in.size(); ++i)
                out[i] = less(up_to[i], up_to[i - width]);
            return exclusive ? one_later(std::move(out)) : out;
        };
        const std::string last = std::to_string(width), half = std::to_string(width / 2);
        known.push_back({width == 2 ? "Only the element before it was added to each element."
                                    : "Each sum includes only the last " + last + " elements.",
                         "That is the result of distances up to " + half + ": go on with " + last +
                             " and so on, until no element lies that far to the left.",
                         sums});
    }
    return known;
}

template <class T> std::vector<T> from_the_end(std::vector<T> in)
{
    std::reverse(in.begin(), in.end());
    std::vector<T> sums = right_sums(in, false);
    std::reverse(sums.begin(), sums.end());
    return sums;
}

// As if every `part` elements were an array of their own; `and_the_last`: to which the sum of the
// part just before was added.
template <class T>
std::vector<T> in_parts(const std::vector<T> &in, std::size_t part, bool and_the_last)
{
    std::vector<T> out, before;
    for (std::size_t first = 0; first < in.size(); first += part) {
        auto from = in.begin() + std::ptrdiff_t(first);
        auto to = in.begin() + std::ptrdiff_t(std::min(first + part, in.size()));
        std::vector<T> sums = right_sums(std::vector<T>(from, to), false);
        T added = and_the_last && !before.empty() ? before.back() : T(0);
        for (T x : sums) out.push_back(added + x);
        before = std::move(sums);
    }
    return out;
}

// What the two sweeps make of an array that is taken for a whole tree.
template <class T> std::vector<T> swept(std::vector<T> sums)
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

// True if a lane adds what a shuffle over `distance` brings it.
using condition = bool (*)(int lane, int distance);

// What five shuffles make of the elements of a warp. Where a lane has nobody so far to its left, a
// shuffle brings it its own value.
template <class T> std::array<T, 32> shuffled(std::array<T, 32> sums, condition adds)
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
template <class T> std::vector<T> of_warp(const std::vector<T> &in, bool exclusive,
                                          std::size_t first, std::size_t each, condition adds,
                                          bool taken_off)
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
template <class T> std::vector<T> as_shuffled(const std::vector<T> &in, const std::vector<T> &got,
                                              bool exclusive, bool second_warp, condition adds)
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

} // namespace

template <class T> std::vector<T> right_sums(const std::vector<T> &in, bool exclusive)
{
    std::vector<T> sums;
    if constexpr (std::is_same_v<T, float>) {
        const std::vector<double> exact = oracle::inclusive(in).sums;
        sums.assign(exact.begin(), exact.end());
    } else
        sums = oracle::inclusive(in);
    return exclusive ? one_later(std::move(sums)) : sums;
}

template <class T> std::vector<misconception<T>>
wrong_sums(const std::vector<T> &in, bool exclusive, const std::vector<T> &got)
{
    std::vector<misconception<T>> known;
    auto learn = [&known](const std::vector<misconception<T>> &more) {
        known.insert(known.end(), more.begin(), more.end());
    };
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
        learn({{"Every " + size + " elements were added up by themselves.",
                "The sum before them is missing: add the sums of all warps, and all blocks, "
                "before.",
                [parts] { return parts(false); }},
               {"Every " + size + " elements got the sum of the " + size +
                    " just before them, not of all elements before.",
                part == 32 ? "The warps' sums must be scanned, too, before they are added: a warp "
                             "needs the sum of all warps before it, not of the last one alone."
                           : "The blocks' sums must be scanned, too, before they are added. In one "
                             "pass the look-back must go on beyond a tile that has published only "
                             "its aggregate.",
                [parts] { return parts(true); }}});
    }
    if constexpr (!std::is_same_v<T, float>) learn(windows(in, exclusive));
    auto as_if = [&in, &got, exclusive](bool second_warp, condition adds) {
        return [&in, &got, exclusive, second_warp, adds] {
            return as_shuffled(in, got, exclusive, second_warp, adds);
        };
    };
    condition always = [](int, int) { return true; };
    learn(
        {{"The sums run from the end to the beginning.",
          "A lane takes from its left: from a lower index, or by __shfl_up_sync.",
          [&in, exclusive] { return exclusive ? one_later(from_the_end(in)) : from_the_end(in); }},
         {"Lanes that have no lane at that distance to their left still added.",
          "__shfl_up_sync returns such a lane its own value: add only where the lane's number is "
          "at least the distance.",
          as_if(false, always)},
         {"In all warps but the first, lanes that have no lane at that distance to their left "
          "still added.",
          "A lane is a thread's number in its warp, threadIdx.x % 32: compare that with the "
          "distance.",
          as_if(true, always)},
         {"Elements, or lanes, whose number equals the distance did not add.",
          "Element 0, or lane 0, lies at that distance to their left: add where the number is at "
          "least the distance.",
          as_if(false, [](int lane, int distance) { return lane > distance; })},
         {exclusive ? "This is the inclusive scan: each sum includes its own element."
                    : "This is the exclusive scan: each sum leaves its own element out.",
          exclusive ? "out[0] = 0, and out[i] ends with in[i - 1]."
                    : "out[0] = in[0], and out[i] ends with in[i].",
          [&in, exclusive] { return right_sums(in, !exclusive); }}});
    // The last: the ones before say more where they fit, too.
    if constexpr (!std::is_same_v<T, float>) learn(wrong_before_parts(in, exclusive, got));
    return known;
}

std::vector<misconception<int>> wrong_tree(const ints &in, const ints &got)
{
    std::vector<misconception<int>> known = {
        {"Every sum includes the sum of all elements.",
         "Before the down-sweep the root becomes 0: nothing lies before it.",
         [&in] {
             ints sums = right_sums(in, true);
             const int all = std::accumulate(in.begin(), in.end(), 0, added<int>);
             for (int &x : sums) x = added(x, all);
             return sums;
         }},
        {"The tree is as wide as the array: the last element is its root only if that width is a "
         "power of two.",
         "Make the tree as wide as the next power of two, or as `max_in_block`, with 0 beyond n.",
         [&in] { return swept(in); }},
        {"Every sum is 0.",
         "In the down-sweep, does the right run get the left run's old sum, or the value that has "
         "overwritten it, the 0 that comes from the root?",
         [&in] { return ints(in.size()); }}};
    const std::vector<misconception<int>> others = wrong_sums(in, true, got);
    known.insert(known.end(), others.begin(), others.end());
    return known;
}

std::vector<misconception<std::int64_t>> wrong_longs(const longs &in, const longs &got)
{
    std::vector<misconception<std::int64_t>> known = wrong_sums(in, false, got);
    known.push_back({"The sums have lost all but their lower 32 bits.",
                     "Keep every sum as std::int64_t, also in shared memory and in scratch.",
                     [&in] {
                         longs sums = oracle::inclusive(in);
                         for (std::int64_t &x : sums) x = static_cast<std::int32_t>(x);
                         return sums;
                     }});
    return known;
}

std::vector<misconception<float>> wrong_with_a_large_one(const floats &in, const floats &got)
{
    // A sum with 1e10 in it is rounded to a multiple of 1024.
    auto rounded = [&in, &got] {
        const std::vector<double> want = oracle::inclusive(in).sums;
        bool near = true;
        for (std::size_t i = 0; i < want.size(); ++i) near &= std::abs(got[i] - want[i]) < 2048;
        return near ? got : floats{};
    };
    std::vector<misconception<float>> known = wrong_sums(in, false, got);
    known.push_back(
        {"Sums before a large element were rounded as if they included it.",
         "Never compute the sum before an element as the sum up to it minus the element: "
         "take it from the thread, or block, to the left.",
         rounded});
    return known;
}

template ints right_sums(const ints &, bool);
template longs right_sums(const longs &, bool);
template floats right_sums(const floats &, bool);
template std::vector<misconception<int>> wrong_sums(const ints &, bool, const ints &);
template std::vector<misconception<std::int64_t>> wrong_sums(const longs &, bool, const longs &);
template std::vector<misconception<float>> wrong_sums(const floats &, bool, const floats &);
