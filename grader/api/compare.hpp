// Comparisons of outputs with expected results; the first difference ends the case.
#pragma once

#include "call.hpp"
#include "text/splitmix64.hpp"
#include "text/verdict.hpp"

#include <atomic>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace grading {

// Shape of an array, which turns an index into coordinates in messages ("row 3, column 5"); empty:
// messages give the plain index.
using extents = std::vector<std::size_t>;

// A known misconception and the wrong answer that it produces, to the bit: for sums of floats draw
// whole numbers, whose sums are exact in any order.
template <class T> struct misconception {
    std::string cause; // a sentence: "Each row was scaled by its own factor."
    std::string next;  // a sentence: "Index `factor` by the column."
    // All elements; compared where the answer is wrong.
    std::function<std::vector<T>()> looks_like = {};
    bool everywhere = false; // must match the right elements, too
};

// Compares bit for bit (but -0 equals +0). T: float, double, and integers of 8 to 64 bits.
template <class T> void expect_equal(const output<T> &got, const std::vector<T> &want,
                                     const extents &shape = {},
                                     const std::vector<misconception<T>> &known = {});
// True if expect_equal would accept the answer. On all cores.
template <class T> bool all_equal(const output<T> &got, const std::vector<T> &want);
// The same with a function that lists the misconceptions. It is called only for a wrong answer: to
// list them can take longer than the comparison.
template <class T, std::invocable Known> void expect_equal(const output<T> &got,
                                                           const std::vector<T> &want,
                                                           const extents &shape, const Known &known)
{
    if (!all_equal(got, want)) expect_equal(got, want, shape, known());
}

// Compares sums in float, with u = 2^-24: |got - want| <= 4 max(sqrt(terms), 2) u magnitude + u
// |want| + tiny. `magnitude`, the sum of the terms' absolute values, is per element or one for
// all.
void expect_close(const output<float> &got, const std::vector<double> &want, double terms,
                  const std::vector<double> &magnitude, const extents &shape = {},
                  const std::vector<misconception<float>> &known = {});

// The bound of expect_close, for one element. Inline: loops over a hundred million elements call
// it.
inline bool within(float value, double reference, double terms, double magnitude)
{
    constexpr double u = 1.0 / 16777216;
    const double tiny = terms * std::numeric_limits<float>::denorm_min();
    const double root = terms > 4 ? std::sqrt(terms) : 2;
    const double bound = 4 * root * u * magnitude + u * std::abs(reference) + tiny;
    return std::abs(static_cast<double>(value) - reference) <= bound; // false for NaN
}

// Ends the case with verdict `otherwise` unless `right`.
void expect(bool right, verdict otherwise, const std::string &message,
            const std::string &hint = {});

// True if right(first, last) holds for ranges that cover [0, n), called on all cores: for outputs
// of a hundred million elements. `per_thread` elements are worth a thread.
bool in_ranges(std::size_t n, const std::function<bool(std::size_t first, std::size_t last)> &right,
               std::size_t per_thread = 1 << 20);
template <class F> bool for_all(std::size_t n, F right, std::size_t per_thread = 1 << 20)
{
    auto all_right = [&](std::size_t first, std::size_t last) {
        bool all = true;
        for (std::size_t i = first; i < last; ++i) all &= right(i);
        return all;
    };
    return in_ranges(n, all_right, per_thread);
}

// True if both hold the same 4-byte elements, each equally often, in any order. Compares sums of
// hashes that no submission can predict. O(n), on all cores.
bool same_in_any_order(std::span<const std::byte> a, std::span<const std::byte> b);
// The same with elements of 64 bits, which a(i) and b(i) give for each i < n.
template <class A, class B> bool same_in_any_order(std::size_t n, A a, B b)
{
    const std::uint64_t salt = unforeseen();
    std::atomic<std::uint64_t> balance = 0;
    in_ranges(n, [&](std::size_t first, std::size_t last) {
        std::uint64_t sum = 0;
        for (std::size_t i = first; i < last; ++i)
            sum += salted_hash(salt, a(i)) - salted_hash(salt, b(i));
        balance += sum;
        return true;
    });
    return balance == 0;
}

// True if each run of `length` elements (the last may be shorter) is sorted and holds the elements
// of the same run of `given`. Compares by hashes as same_in_any_order() does.
bool sorted_in_runs(const std::vector<float> &got, const std::vector<float> &given, int length);
bool sorted_in_runs(const std::vector<unsigned> &got, const std::vector<unsigned> &given,
                    int length);

} // namespace grading
