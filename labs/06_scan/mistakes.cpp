// Wrong sums, known by what was added before each part of the array, or by how few elements they
// hold.
#include "mistakes.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

using grading::misconception;

namespace {

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

// Running sums of `x`, each without its own.
template <class T> std::vector<T> sums_before(const std::vector<T> &x)
{
    std::vector<T> sums;
    T sum(0);
    for (T y : x) {
        sums.push_back(sum);
        sum = added(sum, y);
    }
    return sums;
}

template <class T> bool own_too(const parts<T> &p, std::size_t from)
{
    bool all = p.before.size() > from;
    for (std::size_t k = 0; k < p.before.size(); ++k)
        all = all && p.before[k] == (k < from ? p.right[k] : added(p.right[k], p.own[k]));
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
    constexpr std::size_t most_of_a_block = 16384;
    const bool rounds = (p.first_wrong & (p.first_wrong - 1)) == 0;
    return p.first_wrong > 0 && (p.each > most_of_a_block || (rounds && p.first_wrong >= 32));
}

} // namespace

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
        count == 1 ? "Every sum has the sum of all elements in it as well."
                   : "Every " + each + " elements got their own sum as well as what lies before.",
        "Before the first warp, and the first block, lies nothing: what comes before is the scan "
        "of the sums without each one's own.");
    add(own_too(p, 1),
        "From element " + each + " on, every " + each +
            " elements got their own sum as well as what lies before.",
        "What lies before " + part + " k is the scan of the sums up to that of " + part +
            " k - 1, and does not hold its own.");
    add(p.before == sums_before(p.first),
        "Before every " + each + " elements only the first element of each " + part +
            " before was added.",
        "Which thread's sum is that of all " + each + "? Its first has only its own element.");
    add(p.before == sums_before(p.last),
        "Before every " + each + " elements only the last element of each " + part +
            " before was added.",
        "Let the last thread pass on its sum, not its element.");
    if constexpr (sizeof(T) > 4)
        add(in_32_bits(p),
            "What was added before every " + each + " elements has lost all but its lower 32 bits.",
            "Of which type is the array that keeps the sums of " + parts + "?");
    const std::string numbers = "The sum before element " + first + " is " +
                                grading::show_element(p.right[p.first_wrong]) + ", and " +
                                grading::show_element(p.before[p.first_wrong]) + " was added.";
    add(too_few_sums(p),
        (p.each > 16384 ? "What lies before is right up to element " + first
                        : "What lies before is right for the first " +
                              std::to_string(p.first_wrong) + " times " + each + " elements") +
            ", and no further. " + numbers,
        "The sums of blocks are more than one round can scan: does whoever scans and adds them go "
        "on to the last, and does each round begin with the sum of all rounds before it?");
    add(count > 1,
        "Every " + each + " elements are added up rightly by themselves, but from element " +
            first + " on what lies before them is wrong. " + numbers,
        "Whose sum is it that was added, and which thread writes and which reads it?");
    return known;
}

template <class T> std::vector<misconception<T>> windows(const std::vector<T> &in, bool exclusive)
{
    std::vector<misconception<T>> known;
    for (std::size_t width = 2; width <= 1024 && width < in.size(); width *= 2) {
        auto sums = [&in, exclusive, width] {
            std::vector<T> up_to = sums_before(in), out;
            for (std::size_t i = 0; i < in.size(); ++i) up_to[i] = added(up_to[i], in[i]);
            for (std::size_t i = 0; i < in.size(); ++i)
                out.push_back(i < width ? up_to[i] : less(up_to[i], up_to[i - width]));
            if (exclusive) {
                out.insert(out.begin(), T(0));
                out.pop_back();
            }
            return out;
        };
        const std::string last = std::to_string(width), half = std::to_string(width / 2);
        known.push_back({width == 2 ? "Each element was added only to the one before it."
                                    : "Each sum has only the last " + last + " elements in it.",
                         "That is what distances up to " + half + " make: go on with " + last +
                             " and so on, until nothing lies so far to the left.",
                         sums});
    }
    return known;
}

template std::vector<misconception<int>> wrong_before_parts(const std::vector<int> &, bool,
                                                            const std::vector<int> &);
template std::vector<misconception<std::int64_t>>
wrong_before_parts(const std::vector<std::int64_t> &, bool, const std::vector<std::int64_t> &);
template std::vector<misconception<int>> windows(const std::vector<int> &, bool);
template std::vector<misconception<std::int64_t>> windows(const std::vector<std::int64_t> &, bool);
