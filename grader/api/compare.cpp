// Compares results with the oracle's, and recognises known and common mistakes.
#include "grading.hpp"
#include "runner/call_counters.hpp"
#include "runner/case_run.hpp"
#include "runner/report.hpp"
#include "simulator/core/nobodys_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <future>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace grading {

namespace {

template <class T> bool same(T x, T y) { return x == y; } // NaN equals nothing, -0 equals +0

std::string coordinates(std::size_t index, const extents &shape)
{
    if (shape.size() < 2) return {};
    static const char *const names[][3] = {{"row", "column", ""}, {"slice", "row", "column"}};
    std::vector<std::size_t> at(shape.size());
    for (std::size_t d = shape.size(); d-- > 0; index /= shape[d]) at[d] = index % shape[d];
    std::string text = " (";
    for (std::size_t d = 0; d < at.size(); ++d) {
        if (d) text += ", ";
        if (at.size() <= 3)
            text += fmt::format("{} {}", names[at.size() - 2][d], at[d]);
        else
            text += std::to_string(at[d]);
    }
    return text + ")";
}

// "out[7]"; with several buffers "buffers[1][2]".
template <class T> std::string element_name(const output<T> &got, std::size_t i)
{
    for (const auto &[data, name, each] : current_case().outputs)
        if (data == got.values.data() && !name.empty())
            return each ? fmt::format("{}[{}][{}]", name, i / each, i % each)
                        : fmt::format("{}[{}]", name, i);
    return fmt::format("the output[{}]", i);
}

// A wrong answer, as the recognisers see it.
template <class T> struct mistake {
    const std::vector<T> &got, &want;
    std::size_t first, count;       // the elements asked for
    std::vector<std::size_t> wrong; // ascending
    const extents &shape;
};

struct recognised {
    std::string cause, next;
};

template <class T> bool is_nan(T x) { return x != x; }

template <class T> std::optional<recognised> all_zero(const mistake<T> &m)
{
    for (std::size_t i : m.wrong)
        if (!same(m.got[i], T(0))) return {};
    // Elements that were never written have a verdict of their own, so a 0 was stored.
    return recognised{"The wrong elements are all 0.",
                      "A 0 was stored there. Print what the first of these threads loads and "
                      "computes: which value is 0 first, one that nothing was loaded or added to, "
                      "or one that was cut to a whole number?"};
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

// The wrong elements are a permutation of the right ones.
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
    std::string next = current_case().another_order;
    if (next.empty())
        next = may_count_by_atomics()
                   ? "Places that threads take from a counter are in the order of their arrival: "
                     "compute the place of an element from what lies before it."
                   : "Follow the first of them: which place was computed for it, or with which "
                     "other element was it compared or exchanged, and where should it be?";
    return recognised{"The right elements are there, but in another order.", next};
}

// For a histogram: distinguishes lost values, values counted twice, and values in the wrong bin.
template <class T> std::optional<recognised> miscounted(const mistake<T> &m)
{
    if (!current_case().counting || !std::is_integral_v<T>) return {};
    double more = 0; // exact: counts are small
    for (std::size_t i : m.wrong)
        more += static_cast<double>(m.got[i]) - static_cast<double>(m.want[i]);
    const std::size_t bin = m.wrong.front();
    if (more < 0)
        return recognised{
            fmt::format("All counts together are {:.0f} too few.", -more),
            fmt::format("Take the values that belong into bin {}, those next to its bounds first: "
                        "which of them is counted nowhere, and which test leaves it out?",
                        bin)};
    if (more > 0)
        return recognised{fmt::format("All counts together are {:.0f} too many.", more),
                          "Is a value counted by two threads, or one that should be left out? Or "
                          "is a count of before in there, or added twice?"};
    return recognised{
        "All counts together are as many as they should be.",
        fmt::format("Values are in a bin that is not theirs. Take those next to the bounds of bin "
                    "{}, and print what is computed for them on the way to their bin.",
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
    constexpr std::size_t no_chance = 8;
    // A few elements behind the beginning of a block may be right by chance.
    const bool begins = from % 32 == 0 && from > m.first && n >= no_chance;
    const bool nearly = begins && 4 * n >= 3 * (end - from);
    if (to - from + 1 != n && !nearly) return {};
    if (2 * n > m.count && (from - m.first < no_chance || !nearly)) return {};
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
    bool again = true; // in sums: the sum since the last such place
    for (std::size_t k = 0; k < m.wrong.size(); ++k) {
        const std::size_t i = m.wrong[k];
        if (i != (k + 1) * step) return {};
        const double want = static_cast<double>(m.want[i]), got = static_cast<double>(m.got[i]);
        const double since = want - static_cast<double>(m.want[i - step]);
        again &= std::abs(got - want - since) <= 1e-5 * (std::abs(want) + std::abs(since));
    }
    std::string cause = fmt::format("They are the first of each {} elements, but for those at the "
                                    "beginning",
                                    step);
    cause += again ? ", and what was added since the last such place is in them twice." : ".";
    return recognised{
        cause, fmt::format("Print element {0} after each store to it. Which thread stores it: the "
                           "last one before that place, or the first one behind it? Is the same "
                           "{1} once more afterwards?",
                           step, again ? "sum added to it" : "done to it")};
}

template <class T> std::optional<recognised> numbers_in_float(const mistake<T> &m)
{
    constexpr std::size_t first_not_held = (1 << 24) + 1; // by a float
    if (m.wrong.front() != first_not_held) return {};
    return recognised{fmt::format("Everything before element {} is right.", first_not_held),
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

// Relative to the magnitude of the whole result: a sum whose terms nearly cancel is small by
// chance.
template <class T> std::optional<recognised> less_precise(const mistake<T> &m)
{
    if (!std::is_same_v<T, float>) return {};
    double squares = 0, worst = 0;
    for (std::size_t i = m.first; i < m.first + m.count; ++i)
        squares += double(m.want[i]) * double(m.want[i]);
    double usual = std::sqrt(squares / static_cast<double>(m.count));
    for (std::size_t i : m.wrong) {
        double scale = std::max({1e-30, usual, std::abs(double(m.want[i]))});
        double error = std::abs(double(m.got[i]) - double(m.want[i])) / scale;
        if (!(error < 2e-3)) return {}; // rejects NaN, too
        worst = std::max(worst, error);
    }
    constexpr double few_roundings = 3e-7;
    if (worst < few_roundings)
        return recognised{"Only the last bits are others.",
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

// True if the right elements are the same in `alternative`.
template <class T> bool right_where_it_is(const mistake<T> &m, const std::vector<T> &alternative)
{
    std::size_t k = 0;
    for (std::size_t i = m.first; i < m.first + m.count; ++i) {
        if (k < m.wrong.size() && m.wrong[k] == i)
            ++k;
        else if (!same(m.got[i], alternative[i]))
            return false;
    }
    return true;
}

// A misconception that explains every element, also the right ones, takes precedence over those
// that explain only the wrong ones.
template <class T> std::optional<recognised>
recognise_known(const mistake<T> &m, const std::vector<misconception<T>> &known)
{
    std::optional<recognised> of_wrong_ones;
    for (const misconception<T> &k : known) {
        std::vector<T> alternative = k.looks_like();
        if (alternative.size() != m.got.size()) continue;
        auto fits = [&](std::size_t i) {
            return same(m.got[i], alternative[i]) || (is_nan(m.got[i]) && is_nan(alternative[i]));
        };
        if (!std::all_of(m.wrong.begin(), m.wrong.end(), fits)) continue;
        if (right_where_it_is(m, alternative)) return recognised{k.cause, k.next};
        if (!k.everywhere && !of_wrong_ones) of_wrong_ones = recognised{k.cause, k.next};
    }
    return of_wrong_ones;
}

// Outputs of 4-byte elements hold NaN before the call.
template <class T> std::optional<recognised> recognise_read_output(const mistake<T> &m)
{
    case_record &r = current_case();
    auto nan = [&](std::size_t i) { return is_nan(m.got[i]); };
    bool all = m.wrong.size() == m.count && std::all_of(m.wrong.begin(), m.wrong.end(), nan);
    if (r.output_read.cause.empty() || !all) return {};
    r.about = r.output_read.function;
    return recognised{r.output_read.cause, r.output_read.next};
}

// Recognises the value that a shuffle returns for a lane that takes no part, if it was only summed
// or multiplied.
template <class T> std::optional<recognised> recognise_nobodys_value(const mistake<T> &m)
{
    if (!options().simulated || sizeof(T) < 4) return {};
    for (std::size_t i : m.wrong) {
        std::uint32_t words[2];
        std::memcpy(words, &m.got[i], 4);
        std::memcpy(words + 1, reinterpret_cast<const char *>(&m.got[i]) + sizeof(T) - 4, 4);
        if (words[0] != inactive_lane_value || words[1] != inactive_lane_value) return {};
    }
    return recognised{"It is what the simulator gives for a shuffle from a lane that takes no part "
                      "in it.",
                      "From which lane does __shfl_sync read there, and had that lane returned, or "
                      "does it not come to this line? A lane without an element of its own must "
                      "still shuffle: guard its load and its store, not the shuffle."};
}

template <class T> std::optional<recognised> recognise_general(const mistake<T> &m)
{
    using general = std::optional<recognised> (*)(const mistake<T> &);
    for (general look :
         {general(transposed<T>), general(reordered<T>), general(shifted<T>), general(all_zero<T>),
          general(first_of_each<T>), general(constant_factor<T>), general(mostly_less_precise<T>),
          general(numbers_in_float<T>), general(every_nth<T>), general(miscounted<T>),
          general(one_end<T>), general(less_precise<T>)})
        if (auto r = look(m)) return r;
    return {};
}

template <class T> [[noreturn]] void end_wrong(const mistake<T> &m, const std::string &name,
                                               const std::vector<misconception<T>> &known,
                                               verdict v)
{
    std::size_t i = m.wrong.front();
    std::string message =
        fmt::format("{} of {} elements {} wrong; the first is {}{}: expected {}, got {}.",
                    m.wrong.size(), m.count, m.wrong.size() == 1 ? "is" : "are", name,
                    coordinates(i, m.shape), show_element(m.want[i]), show_element(m.got[i]));
    std::string next;
    bool nan = is_nan(m.got[i]);
    if (nan) message += " It is NaN, no number.";
    std::optional<recognised> why = recognise_read_output(m);
    // The first call was right, so the mistake is not systematic, even if it looks like one by
    // chance.
    if (!why && v == verdict::NONDETERMINISTIC && !nan) why = reordered(m);
    if (!why) why = recognise_nobodys_value(m);
    const bool said = why.has_value();
    if (!why) why = recognise_known(m, known);
    const bool by_lab = !said && why.has_value(); // the lab also says what to do about it
    if (!why && !nan) why = recognise_general(m);
    if (why) {
        message += " " + why->cause;
        next = why->next;
    } else if (nan) {
        next = "Where does the NaN come from? An output or scratch value read before it was "
               "written is one";
        next += options().simulated
                    ? ", and so is what a shuffle takes from a lane that has returned, or does not "
                      "come to that line; 0 / 0, and the root of less than 0."
                    : ".";
    }
    if (v == verdict::NONDETERMINISTIC && !said)
        next = (by_lab && !next.empty() ? next + " " : "") +
               "Which of these can differ between two calls: a static or __device__ variable, or "
               "scratch, that still holds what the first call left; or the order in which threads "
               "and blocks come to something?";
    if (v == verdict::NONDETERMINISTIC)
        message = "A first call was right and a second, with the same inputs, was not: " + message;
    end_case(v, message, next);
}

template <class T, class Right> void judge(const output<T> &got, const std::vector<T> &want,
                                           const extents &shape,
                                           const std::vector<misconception<T>> &known, Right right)
{
    if (want.size() != got.size())
        end_case(verdict::INFRA_ERROR,
                 fmt::format("The oracle gave {} elements for an output of {}.", want.size(),
                             got.size()));
    auto look = [&](const std::vector<T> &values, verdict v) {
        mistake<T> m{values, want, got.first, got.count, {}, shape};
        for (std::size_t i = got.first; i < got.first + got.count; ++i)
            if (!right(values[i], i)) m.wrong.push_back(i);
        if (!m.wrong.empty()) end_wrong(m, element_name(got, m.wrong.front()), known, v);
    };
    look(got.values, verdict::WRONG_ANSWER);
    if (!got.again.empty()) look(got.again, verdict::NONDETERMINISTIC);
}

} // namespace

template <class T> void expect_equal(const output<T> &got, const std::vector<T> &want,
                                     const extents &shape,
                                     const std::vector<misconception<T>> &known)
{
    judge(got, want, shape, known, [&](T value, std::size_t i) { return same(value, want[i]); });
}

template void expect_equal(const output<float> &, const std::vector<float> &, const extents &,
                           const std::vector<misconception<float>> &);
template void expect_equal(const output<double> &, const std::vector<double> &, const extents &,
                           const std::vector<misconception<double>> &);
template void expect_equal(const output<std::int8_t> &, const std::vector<std::int8_t> &,
                           const extents &, const std::vector<misconception<std::int8_t>> &);
template void expect_equal(const output<std::uint8_t> &, const std::vector<std::uint8_t> &,
                           const extents &, const std::vector<misconception<std::uint8_t>> &);
template void expect_equal(const output<std::int32_t> &, const std::vector<std::int32_t> &,
                           const extents &, const std::vector<misconception<std::int32_t>> &);
template void expect_equal(const output<std::uint32_t> &, const std::vector<std::uint32_t> &,
                           const extents &, const std::vector<misconception<std::uint32_t>> &);
template void expect_equal(const output<std::int64_t> &, const std::vector<std::int64_t> &,
                           const extents &, const std::vector<misconception<std::int64_t>> &);
template void expect_equal(const output<std::uint64_t> &, const std::vector<std::uint64_t> &,
                           const extents &, const std::vector<misconception<std::uint64_t>> &);

void expect_close(const output<float> &got, const std::vector<double> &want, double terms,
                  const std::vector<double> &magnitude, const extents &shape,
                  const std::vector<misconception<float>> &known)
{
    if (magnitude.size() != want.size() && magnitude.size() != 1)
        end_case(verdict::INFRA_ERROR, "The oracle gave no magnitude for each element.");
    std::vector<float> nearest(want.begin(), want.end());
    judge(got, nearest, shape, known, [&](float value, std::size_t i) {
        double s = magnitude.size() == 1 ? magnitude[0] : magnitude[i];
        return within(value, want[i], terms, s);
    });
}

bool within(float value, double reference, double terms, double magnitude)
{
    constexpr double u = 1.0 / 16777216;
    double tiny = terms * std::numeric_limits<float>::denorm_min();
    double bound =
        4 * std::max(std::sqrt(terms), 2.0) * u * magnitude + u * std::abs(reference) + tiny;
    return std::abs(static_cast<double>(value) - reference) <= bound; // false for NaN
}

bool in_ranges(std::size_t n, const std::function<bool(std::size_t, std::size_t)> &right,
               std::size_t per_thread)
{
    std::size_t parts = std::clamp<std::size_t>(n / per_thread, 1,
                                                std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::future<bool>> others;
    for (std::size_t k = 1; k < parts; ++k)
        others.push_back(std::async(std::launch::async, right, n * k / parts, n * (k + 1) / parts));
    bool all = right(0, n / parts);
    for (std::future<bool> &other : others) all &= other.get();
    return all;
}

void reading_an_output_means(const std::string &cause, const std::string &next,
                             const std::string &function)
{
    current_case().output_read = {cause, next, function};
}

void hint_past_the_end(const std::string &hint, const std::string &array, std::size_t in_use)
{
    current_case().past_the_end = {hint, array, in_use};
}

void results_are_counts() { current_case().counting = true; }

void results_are_copied() { current_case().copied = true; }

void host_may_steer(double share, std::size_t bytes)
{
    current_case().host.share = share;
    current_case().host.bytes = bytes;
    current_case().host.steers = true;
}

void host_may_work() { current_case().host.exempt = true; }

void hint_another_order(const std::string &hint) { current_case().another_order = hint; }

void hint_one_place(const std::string &hint) { current_case().one_place = hint; }

void hint_unwritten(const std::string &hint) { current_case().unwritten = hint; }

void hint_left_out(const std::vector<std::vector<std::size_t>> &lists, const std::string &hint)
{
    current_case().left_out = {{}, hint};
    for (const auto &elements : lists)
        current_case().left_out.lists.emplace_back(elements.begin(), elements.end());
}

void hint_too_many(std::vector<misconception<float>> known)
{
    current_case().too_many = std::move(known);
}

void hint_misaligned(const std::string &hint) { current_case().misaligned = hint; }

void hint_without_end(const std::string &hint) { current_case().without_end = hint; }

void run_streams(stream_work when) { current_case().streams = when; }

void begin_any_blocks_first() { current_case().any_blocks_first = true; }

void close_peers(const std::vector<std::pair<int, int>> &pairs)
{
    for (auto [device, peer] : pairs)
        current_case().closed_peers |= std::uint64_t{1} << (8 * device + peer);
}

void limit_multiprocessors(int count) { current_case().multiprocessors = count; }

void limit_launches(int places, bool others_launch)
{
    current_case().launch_places = places;
    current_case().others_launch = others_launch;
}

void expect(bool right, verdict otherwise, const std::string &message, const std::string &hint)
{
    if (!right) end_case(otherwise, message, hint);
}

} // namespace grading
