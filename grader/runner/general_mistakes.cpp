// Recognises mistakes that many kernels make: shifted, transposed, partial or imprecise results.
#include "general_mistakes.hpp"

#include "call_counters.hpp"
#include "case_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

namespace grading {

namespace {

// True if kernels of the last call used atomics, or if no counters are known.
bool may_use_atomics()
{
    return counters().of_last_call.empty() || counts_of_last_call().atomic_requests > 0;
}

template <class T> std::optional<recognised> all_zero(const mistake<T> &m)
{
    for (std::size_t i : m.wrong)
        if (!same(m.got[i], T(0))) return {};
    // Elements that were never written have a verdict of their own, so a 0 was stored.
    return recognised{"The wrong elements are all 0.",
                      "A 0 was stored there. Print what the first of these threads loads and "
                      "computes: which value is 0 first, one that nothing was loaded or added to, "
                      "or one that was truncated to an integer?"};
}

// True for got[i] == want[i + d] wherever the answer is wrong.
template <class T> std::optional<recognised> shifted(const mistake<T> &m)
{
    for (int distance : {1, 2, 3, 4, 8, 16, 32})
        for (int d : {distance, -distance}) {
            std::size_t explained = 0, outside = 0;
            for (std::size_t i : m.wrong) {
                auto j = static_cast<std::ptrdiff_t>(i) + d;
                bool inside = j >= static_cast<std::ptrdiff_t>(m.first) &&
                              j < static_cast<std::ptrdiff_t>(m.first + m.count);
                if (!inside)
                    ++outside;
                else if (same(m.got[i], m.want[static_cast<std::size_t>(j)]))
                    ++explained;
            }
            // The fewer elements are compared, the likelier they agree by chance.
            if (explained >= 2 && explained >= outside && explained + outside == m.wrong.size())
                return recognised{fmt::format("Element i holds what belongs at i {} {}.",
                                              d > 0 ? '+' : '-', distance),
                                  "Check the index that is added or left out."};
        }
    return {};
}

template <class T> std::optional<recognised> transposed(const mistake<T> &m)
{
    if (m.shape.size() != 2 || m.wrong.size() < 3) return {};
    std::size_t rows = m.shape[0], columns = m.shape[1];
    for (std::size_t i : m.wrong) {
        // Element (r, c) was stored at c * rows + r.
        std::size_t c = i / rows, r = i % rows, j = r * columns + c;
        if (j >= m.want.size() || !same(m.got[i], m.want[j])) return {};
    }
    return recognised{"The result is transposed.",
                      "Which index runs along a row, and which down a column?"};
}

// Finds one factor or one difference between got and want, the same wherever the answer is wrong.
template <class T> std::optional<recognised> constant_factor(const mistake<T> &m)
{
    if (m.wrong.size() < 3) return {};
    double lowest_ratio = std::numeric_limits<double>::infinity(), highest_ratio = -lowest_ratio;
    double lowest_difference = lowest_ratio, highest_difference = highest_ratio, largest = 0;
    for (std::size_t i : m.wrong) {
        double g = static_cast<double>(m.got[i]), w = static_cast<double>(m.want[i]);
        double ratio = g / w, difference = g - w;
        if (!std::isfinite(ratio) || !std::isfinite(difference)) return {};
        lowest_ratio = std::min(lowest_ratio, ratio),
        highest_ratio = std::max(highest_ratio, ratio);
        lowest_difference = std::min(lowest_difference, difference),
        highest_difference = std::max(highest_difference, difference);
        largest = std::max(largest, std::abs(w));
    }
    constexpr double by_rounding = 1e-5; // a ratio so near 1 comes from rounding, not a factor
    if (highest_ratio - lowest_ratio <= 1e-5 * std::abs(highest_ratio) &&
        std::abs(highest_ratio - 1) > by_rounding)
        return recognised{
            fmt::format("Every wrong element is {:.4g} times what it should be.", highest_ratio),
            "Look for a factor that is applied twice, or not at all."};
    // If the error dwarfs the wanted values, every wrong element differs by the same amount.
    if (std::abs(highest_difference) > 1e4 * largest && largest > 0) return {};
    if (highest_difference - lowest_difference <= 1e-5 * std::abs(highest_difference))
        return recognised{fmt::format("Every wrong element is off by {:.4g}.", highest_difference),
                          "Look for a term that is added twice, or not at all."};
    return {};
}

// For a histogram: distinguishes lost values, values counted twice, and values in the wrong bin.
template <class T> std::optional<recognised> miscounted(const mistake<T> &m)
{
    if (!current_case().results_are_counts || !std::is_integral_v<T>) return {};
    double more = 0; // exact: counts are small
    for (std::size_t i : m.wrong)
        more += static_cast<double>(m.got[i]) - static_cast<double>(m.want[i]);
    const std::size_t bin = m.wrong.front();
    if (more < 0)
        return recognised{
            fmt::format("All counts together are {:.0f} too few.", -more),
            fmt::format("Which elements belong in bin {}? Which of them is counted nowhere, and "
                        "which test or index leaves it out? If bins have bounds, begin with the "
                        "numbers next to them.",
                        bin)};
    if (more > 0)
        return recognised{fmt::format("All counts together are {:.0f} too many.", more),
                          "Is a value counted by two threads, or one that should be left out? Or "
                          "is a count of before in there, or added twice?"};
    return recognised{
        "All counts together are as many as they should be.",
        fmt::format("Elements are in a bin that is not theirs. Take those of bin {}, if bins have "
                    "bounds those next to them, and print what is computed for them on the way to "
                    "their bin.",
                    bin)};
}

// True if the elements from `from` on may be a block or vector that is cut off by the array's end.
template <class T> bool may_be_cut_off(const mistake<T> &m, std::size_t from)
{
    const std::size_t rest = m.first + m.count - from, unit = from & (~from + 1);
    const std::size_t vector = 16 / sizeof(T); // may begin anywhere in the array
    return rest < unit || rest < vector;
}

template <class T> std::optional<recognised> one_end(const mistake<T> &m)
{
    const std::size_t n = m.wrong.size(), from = m.wrong.front(), to = m.wrong.back();
    const std::size_t end = m.first + m.count;
    constexpr std::size_t not_by_chance = 8; // so many elements are not wrong together by chance
    // A few elements behind the beginning of a block may be right by chance.
    const bool begins = from % 32 == 0 && from > m.first && n >= not_by_chance;
    const bool nearly = begins && 4 * n >= 3 * (end - from);
    if (to - from + 1 != n && !nearly) return {};
    if (2 * n > m.count && (from - m.first < not_by_chance || !nearly)) return {};
    if (to + 1 == end || nearly) {
        const bool all = to + 1 == end && to - from + 1 == n;
        const std::string cause =
            all ? fmt::format("Everything from element {} on is wrong, the rest is right.", from)
                : fmt::format("Everything before element {} is right, and nearly all behind it "
                              "wrong.",
                              from);
        if (may_be_cut_off(m, from))
            return recognised{cause, "How is the last, partial block or vector handled?"};
        return recognised{
            cause,
            fmt::format("Who computes element {}? If a thread that computed another before it: "
                        "what is worked out once that must be worked out anew for each element? "
                        "If the first thread of another block: what does that lack?",
                        from)};
    }
    if (from == m.first)
        return recognised{
            fmt::format("Everything up to element {} is wrong, the rest is right.", to),
            "How is the beginning, before the first aligned element, handled?"};
    return {};
}

// Finds errors in exactly the first element of each warp, block or tile except the first.
template <class T> std::optional<recognised> first_of_each(const mistake<T> &m)
{
    const std::size_t step = m.wrong.front(), end = m.first + m.count;
    if (m.first != 0 || step == 0 || step % 32 != 0 || m.wrong.size() < 2) return {};
    if (m.wrong.size() != (end - 1) / step) return {};
    bool twice = true; // each wrong element holds the sum since the one before it twice
    for (std::size_t k = 0; k < m.wrong.size(); ++k) {
        const std::size_t i = m.wrong[k];
        if (i != (k + 1) * step) return {};
        const double want = static_cast<double>(m.want[i]), got = static_cast<double>(m.got[i]);
        const double since = want - static_cast<double>(m.want[i - step]);
        twice &= std::abs(got - want - since) <= 1e-5 * (std::abs(want) + std::abs(since));
    }
    std::string cause = fmt::format("They are the first of each {} elements, but for those at the "
                                    "beginning",
                                    step);
    cause += twice ? ", and what was added since the last such place is in them twice." : ".";
    return recognised{
        cause, fmt::format("Print element {0} after each store to it. Which thread stores it: the "
                           "last one before that place, or the first one behind it? Is the same "
                           "{1} once more afterwards?",
                           step, twice ? "sum added to it" : "done to it")};
}

template <class T> std::optional<recognised> index_in_float(const mistake<T> &m)
{
    constexpr std::size_t first_not_exact = (1 << 24) + 1; // in a float
    if (m.wrong.front() != first_not_exact) return {};
    return recognised{fmt::format("Everything before element {} is right.", first_not_exact),
                      "A float holds no whole number beyond 2^24 but every second, fourth, ...: is "
                      "an index, a row or a column computed in floats?"};
}

template <class T> std::optional<recognised> every_nth(const mistake<T> &m)
{
    if (m.wrong.size() < 3) return {};
    std::size_t step = m.wrong[1] - m.wrong[0];
    if (step < 2) return {};
    for (std::size_t k = 1; k < m.wrong.size(); ++k)
        if (m.wrong[k] - m.wrong[k - 1] != step) return {};
    return recognised{fmt::format("One element in {} is wrong, starting at {}.", step, m.wrong[0]),
                      step % 32 == 0 ? "What happens where one warp, or block, meets the next?"
                                     : "What is special about these indices?"};
}

// Recognises rounding errors. They are relative to the root mean square of the whole result,
// because a sum whose terms nearly cancel is small by chance.
template <class T> std::optional<recognised> less_precise(const mistake<T> &m)
{
    if (!std::is_same_v<T, float>) return {};
    double squares = 0, worst = 0;
    for (std::size_t i = m.first; i < m.first + m.count; ++i)
        squares += double(m.want[i]) * double(m.want[i]);
    double rms = std::sqrt(squares / static_cast<double>(m.count));
    for (std::size_t i : m.wrong) {
        double scale = std::max({1e-30, rms, std::abs(double(m.want[i]))});
        double error = std::abs(double(m.got[i]) - double(m.want[i])) / scale;
        if (!(error < 2e-3)) return {}; // rejects NaN, too
        worst = std::max(worst, error);
    }
    constexpr double few_roundings = 3e-7;
    if (worst < few_roundings)
        return recognised{"Only the last bits differ.",
                          "Are these the contract's operations, each as often and in the order it "
                          "says, and each result rounded to float? A power or a factor computed "
                          "beforehand is rounded elsewhere."};
    return recognised{
        fmt::format("The answer is close (within {:.1e}) but not as precise as float arithmetic.",
                    worst),
        "Compute in float throughout: no half precision, no TF32, no fast-math intrinsics."};
}

// If most elements are slightly off, the others are right by chance, and positions mean nothing.
template <class T> std::optional<recognised> mostly_less_precise(const mistake<T> &m)
{
    if (m.wrong.size() <= m.count / 2) return {};
    return less_precise(m);
}

} // namespace

template <class T> std::optional<recognised> reordered(const mistake<T> &m)
{
    auto sorted = [&m](const std::vector<T> &values) {
        std::vector<T> part;
        for (std::size_t i : m.wrong) part.push_back(values[i]);
        std::sort(part.begin(), part.end());
        return part;
    };
    if (m.wrong.size() < 2) return {};
    for (std::size_t i : m.wrong)
        // NaN is unordered.
        if (!same(m.got[i], m.got[i]) || !same(m.want[i], m.want[i])) return {};
    if (sorted(m.got) != sorted(m.want)) return {};
    std::string next = current_case().another_order_hint;
    if (next.empty())
        next =
            may_use_atomics()
                ? "Positions that threads take from a counter are in the order of their arrival: "
                  "compute the place of an element from what lies before it."
                : "Follow the first of them: which place was computed for it, or with which "
                  "other element was it compared or exchanged, and where should it be?";
    return recognised{"The right elements are there, but in another order.", next};
}

template <class T> std::optional<recognised> recognise_general(const mistake<T> &m)
{
    using general = std::optional<recognised> (*)(const mistake<T> &);
    for (general look :
         {general(all_zero<T>), general(transposed<T>), general(reordered<T>), general(shifted<T>),
          general(first_of_each<T>), general(constant_factor<T>), general(mostly_less_precise<T>),
          general(index_in_float<T>), general(every_nth<T>), general(miscounted<T>),
          general(one_end<T>), general(less_precise<T>)})
        if (auto r = look(m)) return r;
    return {};
}

#define GRADING_INSTANTIATE(T)                                                                     \
    template std::optional<recognised> recognise_general(const mistake<T> &);                      \
    template std::optional<recognised> reordered(const mistake<T> &);
GRADING_ELEMENT_TYPES(GRADING_INSTANTIATE)
#undef GRADING_INSTANTIATE

} // namespace grading
