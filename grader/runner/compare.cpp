// Compares results with the oracle's, and names the likely mistake behind a wrong answer.
#include "api/compare.hpp"
#include "api/call.hpp"
#include "case_record.hpp"
#include "case_run.hpp"
#include "general_mistakes.hpp"
#include "resources.hpp"
#include "simulator/core/inactive_lane_value.hpp"
#include "text/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <future>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace grading {

namespace {

std::string coordinates(std::size_t index, const extents &shape)
{
    if (shape.size() < 2) return {};
    static const char *const names[][3] = {{"row", "column", ""}, {"slice", "row", "column"}};
    std::vector<std::size_t> coordinate(shape.size());
    for (std::size_t d = shape.size(); d-- > 0; index /= shape[d]) coordinate[d] = index % shape[d];
    std::string text = " (";
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (d) text += ", ";
        if (shape.size() <= 3)
            text += fmt::format("{} {}", names[shape.size() - 2][d], coordinate[d]);
        else
            text += std::to_string(coordinate[d]);
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

// True if `alternative` also has the elements of the answer that are right.
template <class T> bool right_elements_agree(const mistake<T> &m, const std::vector<T> &alternative)
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
    std::optional<recognised> explains_wrong_ones;
    for (const misconception<T> &k : known) {
        std::vector<T> alternative = k.looks_like();
        if (alternative.size() != m.got.size()) continue;
        auto fits = [&](std::size_t i) {
            return same(m.got[i], alternative[i]) || (is_nan(m.got[i]) && is_nan(alternative[i]));
        };
        if (!std::all_of(m.wrong.begin(), m.wrong.end(), fits)) continue;
        if (right_elements_agree(m, alternative)) return recognised{k.cause, k.next};
        if (!k.everywhere && !explains_wrong_ones)
            explains_wrong_ones = recognised{k.cause, k.next};
    }
    return explains_wrong_ones;
}

// Recognises a call that computed with the contents of its output: 4-byte elements are NaN before
// the call.
template <class T> std::optional<recognised> recognise_read_output(const mistake<T> &m)
{
    case_record &r = current_case();
    auto nan = [&](std::size_t i) { return is_nan(m.got[i]); };
    bool all = m.wrong.size() == m.count && std::all_of(m.wrong.begin(), m.wrong.end(), nan);
    if (r.output_read.cause.empty() || !all) return {};
    r.about = r.output_read.function;
    return recognised{r.output_read.cause, r.output_read.next};
}

// True if a right sum of 64 bits has the value of inactive lanes added to it, some times. An
// integer does not preserve it as a NaN does.
template <class T> bool added_to_sum(T got, T want)
{
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
        constexpr std::uint64_t value =
                                    std::uint64_t{inactive_lane_value} << 32 | inactive_lane_value,
                                max_times = 1 << 16;
        const std::uint64_t added = std::uint64_t(got) - std::uint64_t(want);
        for (std::uint64_t times = 1; times <= max_times; ++times)
            if (times * value == added) return true;
    }
    return false;
}

// Recognises the value that a shuffle from an inactive lane, undefined in CUDA, has on the
// simulator: a NaN whose payload the simulator's sums and products preserve.
template <class T> std::optional<recognised> recognise_inactive_lane_value(const mistake<T> &m)
{
    if (!options().simulated || sizeof(T) < 4) return {};
    bool in_sum = false;
    for (std::size_t i : m.wrong) {
        std::uint32_t words[2];
        std::memcpy(words, &m.got[i], 4);
        std::memcpy(words + 1, reinterpret_cast<const char *>(&m.got[i]) + sizeof(T) - 4, 4);
        const bool is = words[0] == inactive_lane_value && words[1] == inactive_lane_value;
        if (!is && !added_to_sum(m.got[i], m.want[i])) return {};
        in_sum |= !is;
    }
    return recognised{std::string(in_sum ? "It holds" : "It is") +
                          " what the simulator gives for a shuffle from a lane that takes no part "
                          "in it.",
                      "From which lane does __shfl_sync read there, and had that lane returned, or "
                      "does it not come to this line? A lane without an element of its own must "
                      "still shuffle: guard its load and its store, not the shuffle."};
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
    if (!why) why = recognise_inactive_lane_value(m);
    const bool by_grader = why.has_value();
    if (!why) why = recognise_known(m, known);
    const bool by_lab = !by_grader && why.has_value(); // the lab also says what to do about it
    if (!why && !nan) why = recognise_general(m);
    if (why) {
        message += " " + why->cause;
        next = why->next;
    } else if (nan) {
        next = "Where does the NaN come from? An output or scratch value read before it was "
               "written is one";
        if (options().simulated && warps_are_taught())
            next += ", and so is what a shuffle takes from a lane that has returned, or does not "
                    "come to that line; 0 / 0, and the root of less than 0";
        next += ".";
    }
    if (v == verdict::NONDETERMINISTIC && !by_grader)
        next = (by_lab && !next.empty() ? next + " " : "") +
               "Which of these can differ between two calls: a static or __device__ variable, or "
               "scratch, that still holds what the first call left; or the order in which threads "
               "and blocks come to something?";
    if (v == verdict::NONDETERMINISTIC)
        message = "A first call was right and a second, with the same inputs, was not: " + message;
    end_case(v, message, next);
}

// True if right(value, index) holds for all elements that the call must write.
template <class T, class Right>
bool all_right(const output<T> &got, const std::vector<T> &values, Right right)
{
    return for_all(got.count,
                   [&](std::size_t i) { return right(values[got.first + i], got.first + i); });
}

template <class T, class Right> void judge(const output<T> &got, const std::vector<T> &want,
                                           const extents &shape,
                                           const std::vector<misconception<T>> &known, Right right)
{
    if (want.size() != got.size())
        end_case(verdict::INFRA_ERROR,
                 fmt::format("The oracle gave {} elements for an output of {}.", want.size(),
                             got.size()));
    auto judge_values = [&](const std::vector<T> &values, verdict v) {
        if (all_right(got, values, right)) return;
        mistake<T> m{values, want, got.first, got.count, {}, shape};
        for (std::size_t i = got.first; i < got.first + got.count; ++i)
            if (!right(values[i], i)) m.wrong.push_back(i);
        end_wrong(m, element_name(got, m.wrong.front()), known, v);
    };
    judge_values(got.values, verdict::WRONG_ANSWER);
    if (!got.again.empty()) judge_values(got.again, verdict::NONDETERMINISTIC);
}

} // namespace

template <class T> void expect_equal(const output<T> &got, const std::vector<T> &want,
                                     const extents &shape,
                                     const std::vector<misconception<T>> &known)
{
    judge(got, want, shape, known, [&](T value, std::size_t i) { return same(value, want[i]); });
}

template <class T> bool all_equal(const output<T> &got, const std::vector<T> &want)
{
    const auto right = [&](T value, std::size_t i) { return same(value, want[i]); };
    return want.size() == got.size() && all_right(got, got.values, right) &&
           (got.again.empty() || all_right(got, got.again, right));
}

#define GRADING_INSTANTIATE(T)                                                                     \
    template void expect_equal(const output<T> &, const std::vector<T> &, const extents &,         \
                               const std::vector<misconception<T>> &);                             \
    template bool all_equal(const output<T> &, const std::vector<T> &);
GRADING_ELEMENT_TYPES(GRADING_INSTANTIATE)
#undef GRADING_INSTANTIATE

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

bool in_ranges(std::size_t n, const std::function<bool(std::size_t, std::size_t)> &right,
               std::size_t per_thread)
{
    std::size_t parts = std::clamp<std::size_t>(n / per_thread, 1, cores());
    std::vector<std::future<bool>> others;
    for (std::size_t k = 1; k < parts; ++k)
        others.push_back(std::async(std::launch::async, right, n * k / parts, n * (k + 1) / parts));
    bool all = right(0, n / parts);
    for (std::future<bool> &other : others) all &= other.get();
    return all;
}

void expect(bool right, verdict otherwise, const std::string &message, const std::string &hint)
{
    if (!right) end_case(otherwise, message, hint);
}

} // namespace grading
