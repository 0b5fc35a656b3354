// Finds the reason why elements of an output were not written.
#include "unwritten_outputs.hpp"

#include "api/compare.hpp"
#include "argument_images.hpp"
#include "call_counters.hpp"
#include "case_record.hpp"
#include "case_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

namespace grading {

namespace {

std::string ran_words(const counted &c)
{
    return fmt::format("{} threads in {} block{} ran", c.threads, c.blocks,
                       c.blocks == 1 ? "" : "s");
}

bool on_device(const std::vector<argument> &arguments)
{
    return std::any_of(arguments.begin(), arguments.end(), [](const argument &a) {
        return a.wire.output && a.wire.where != argument_memory::host;
    });
}

// Returns the period if the first few elements of each period were written and the rest are
// missing, else 0.
std::uint64_t period_of(const argument &a, const std::vector<std::uint64_t> &missing)
{
    std::uint64_t written = missing.front() - a.written_first, run = 1;
    while (run < missing.size() && missing[run] == missing[0] + run) ++run;
    std::uint64_t period = written + run, k = 0;
    if (written == 0 || period >= a.written_count) return 0;
    for (std::uint64_t i = 0; i < a.written_count; ++i)
        if (i % period >= written && (k == missing.size() || missing[k++] != a.written_first + i))
            return 0;
    return k == missing.size() ? period : 0;
}

// Returns by how many elements a result was shifted: one end is missing, and as much is written
// beyond the other. 0: it was not shifted.
std::int64_t shift_of(const argument &a, const std::vector<std::uint64_t> &missing)
{
    std::uint64_t e = a.wire.element, n = a.wire.bytes / e, k = missing.size();
    std::uint64_t first = a.written_first, end = first + a.written_count;
    auto all_written = [&](std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t i = from; i < to; ++i)
            if (i >= n || std::memcmp(payload_before(a) + i * e, payload_after(a) + i * e, e) == 0)
                return false;
        return true;
    };
    if (missing.back() - missing.front() + 1 != k) return 0;
    if (missing.front() == first && all_written(end, end + k)) return static_cast<std::int64_t>(k);
    if (missing.back() + 1 == end && first >= k && all_written(first - k, first))
        return -static_cast<std::int64_t>(k);
    return 0;
}

// Names the only argument with that value: " That is `offset`." Empty if there is not exactly one.
std::string argument_of_value(const std::vector<argument> &arguments, std::uint64_t number)
{
    std::string name;
    for (const argument &a : arguments) {
        if (a.wire.where != argument_memory::value || !a.show ||
            a.show(a.value) != std::to_string(number))
            continue;
        if (!name.empty()) return {};
        name = a.wire.name;
    }
    return name.empty() ? name : fmt::format(" That is `{}`.", name);
}

// Hint for a result that is missing at the end, from the launches that the simulator saw.
std::string why_end_missing(const argument &a, std::uint64_t written, std::uint64_t first_missing)
{
    const counted c = counts_of_last_call();
    const bool last_alone = written + 1 == a.written_count;
    const std::string observe =
        fmt::format("Which thread should write element {}? If it is not there, the grid is too "
                    "small; if it is: {}, and what stops it{}?",
                    first_missing,
                    c.blocks > 1 ? "does its block begin where the one before it ends, at "
                                   "blockIdx times all that a block owns"
                                 : "where does its block begin",
                    last_alone ? ", or does it write one place too early" : "");
    if (c.launches == 0) return observe;
    if (c.launches == 1 && written == c.threads)
        return fmt::format("There were {} threads, and each wrote one element: is the grid's size "
                           "computed from the {} elements of the result, and rounded up, or "
                           "should a thread have several elements?",
                           c.threads, a.written_count);
    // Less than one block's share is missing behind whole blocks: the grid size was rounded down.
    const std::uint64_t missing = a.written_count - written;
    if (c.launches == 1 && c.threads < a.written_count && written % c.threads == 0 &&
        missing < written / c.blocks)
        return "The end is missing, so the last block is probably cut off: is the grid size "
               "rounded up?";
    return ran_words(c) + ". " + observe;
}

// The lab's hint for exactly these missing elements; empty if it has none.
std::string known_left_out(const std::vector<std::uint64_t> &missing)
{
    for (const elements_left_out &known : current_case().left_out)
        if (std::equal(missing.begin(), missing.end(), known.elements.begin(),
                       known.elements.end()))
            return known.hint;
    return {};
}

std::string why_unwritten(const argument &a, const std::vector<std::uint64_t> &missing,
                          const std::vector<argument> &arguments)
{
    if (a.wire.where == argument_memory::host) {
        if (counters_known() && counts_of_last_call().host_commands == 0) // the host did the work
            return fmt::format("Which line should store element {}, and which case, branch or "
                               "bound of a loop leaves it out?",
                               missing.front());
        return fmt::format("Whose share is element {}? Print where each share begins and how long "
                           "it is, in elements, not in rows or images; and who takes what a "
                           "division leaves over?",
                           missing.front());
    }
    if (std::string hint = known_left_out(missing); !hint.empty()) return hint;
    if (const std::int64_t shift = shift_of(a, missing)) {
        const std::uint64_t k = missing.size();
        return fmt::format("Beyond the other end {} {} written that nobody asked for: is "
                           "everything {} too {}?{}",
                           elements(k), k == 1 ? "was" : "were",
                           k == 1 ? "one place" : fmt::format("{} places", k),
                           shift > 0 ? "late" : "early", argument_of_value(arguments, k));
    }
    std::uint64_t period = period_of(a, missing);
    bool to_the_end = missing.back() - missing.front() + 1 == missing.size() &&
                      missing.back() + 1 == a.written_first + a.written_count;
    if (current_case().results_are_copied) {
        std::uint64_t e = a.wire.element, written = missing.front() - a.written_first;
        std::uint64_t piece = period > 0 ? period : to_the_end ? a.written_count : 0;
        if (const std::uint64_t came = counts_of_last_call().copied_out_bytes;
            missing.size() < a.written_count && came >= e * a.written_count)
            return fmt::format(
                "Copies brought {} bytes to the host, enough for all of it: did some "
                "come over others? To which address does each piece's copy go?",
                came);
        return e > 1 && written == (piece + e - 1) / e
                   ? "Only as many bytes came as there are elements: copies count bytes."
                   : "Which copy should bring these elements, to which address, and how many bytes "
                     "does it count?";
    }
    const bool simulator_counted = counters_known();
    if (simulator_counted && missing.size() == a.written_count)
        return "Other outputs were written, and nothing of this one. Which kernel should write it: "
               "is it launched in this call, with enough blocks for these numbers, and what stops "
               "its threads?";
    if (to_the_end && simulator_counted && missing.front() > a.written_first)
        return why_end_missing(a, missing.front() - a.written_first, missing.front());
    // A grid size that was rounded down leaves out at most one block's elements, and at most half
    // of the result.
    if (to_the_end && missing.size() <= 1024 && 2 * missing.size() <= a.written_count)
        return "The end is missing, so the last block is probably cut off: is the grid size "
               "rounded up? If it is: does each block begin where the one before it ends?";
    if (to_the_end && missing.front() > a.written_first)
        return fmt::format("Only the first {} were written: are there threads for the rest, or "
                           "should each go on to its next element?",
                           missing.front() - a.written_first);
    if (a.row > 0 && period == a.row)
        return fmt::format("Every row ends after its first {} columns: are there blocks for the "
                           "rest? Print gridDim in the kernel: which of x and y counts columns in "
                           "the launch, which in the kernel, and is it rounded up?",
                           missing.front() - a.written_first);
    if (period > 0)
        return fmt::format("Of every {} elements only the first {} were written: does each thread "
                           "go on to its next element?",
                           period, missing.front() - a.written_first);
    const counted c = counts_of_last_call();
    if (!simulator_counted || c.launches != 1)
        return "Which threads should write these elements, and what stops them?";
    return c.threads + missing.size() == a.written_count
               ? fmt::format("{}, and as many elements were written; the result has {}. Are there "
                             "enough blocks in the grid{}?",
                             ran_words(c), a.written_count, a.row > 0 ? ", in x and in y" : "")
               : ran_words(c) + ". Which of them should write these elements, and what stops them?";
}

// True if whole rows (or columns) are missing at the end because the launch swapped the grid's two
// dimensions. Every block shape with a power of two along the missing lines is tried; the number of
// blocks must be the one that the unswapped grid has. The output has `lines` rows (or columns) of
// length `across`; the first `written` are not missing.
bool grid_transposed(std::uint64_t lines, std::uint64_t across, std::uint64_t written)
{
    const counted c = counts_of_last_call();
    if (c.launches != 1 || c.blocks == 0) return false;
    auto blocks_for = [](std::uint64_t n, std::uint64_t each) { return (n + each - 1) / each; };
    const std::uint64_t threads = c.threads / c.blocks;
    for (std::uint64_t b = 1; b <= threads; b *= 2)
        if (threads % b == 0 && written == b * blocks_for(across, threads / b) &&
            c.blocks == blocks_for(lines, b) * blocks_for(across, threads / b))
            return true;
    return false;
}

// Hint for missing whole rows or columns.
std::string why_lines_missing(const argument &a, const std::vector<std::uint64_t> &missing)
{
    if (std::string hint = known_left_out(missing); !hint.empty()) return hint;
    const std::uint64_t rows = a.written_count / a.row, first = missing.front();
    const bool columns = missing.size() % a.row != 0 || first % a.row != 0;
    const bool transposed = columns ? first < a.row && missing.back() % a.row + 1 == a.row &&
                                          grid_transposed(a.row, rows, first)
                                    : missing.back() + 1 == a.written_count &&
                                          grid_transposed(rows, a.row, first / a.row);
    if (transposed)
        return fmt::format("As many blocks ran as are needed, and there are none for these {}: "
                           "have x and y of the grid changed places? What the kernel takes from "
                           "blockIdx.x is counted by the grid's first number, what it takes from "
                           "blockIdx.y by the second. Or does an index leave out its block, "
                           "blockIdx times blockDim?",
                           columns ? "columns" : "rows");
    return fmt::format("Which index of the store runs over the {}: where does it begin, by what is "
                       "it bounded, and which blocks are there for these?",
                       columns ? "columns" : "rows");
}

// "row 3", "rows 3 to 5"
std::string span_of(const char *what, std::uint64_t first, std::uint64_t last)
{
    return first == last ? fmt::format("{} {}", what, first)
                         : fmt::format("{}s {} to {}", what, first, last);
}

// Returns " That is all of row 15 of 16." if exactly whole rows, or whole columns, of a matrix are
// missing.
std::string missing_lines(const argument &a, const std::vector<std::uint64_t> &missing)
{
    if (a.row < 2 || a.written_count % a.row != 0) return {};
    const std::uint64_t rows = a.written_count / a.row, k = missing.size();
    const std::uint64_t row = missing.front() / a.row, last_row = missing.back() / a.row;
    const std::uint64_t column = missing.front() % a.row, last_column = missing.back() % a.row;
    if (k == (last_row - row + 1) * a.row)
        return fmt::format(" That is all of {} of {}.", span_of("row", row, last_row), rows);
    if (column > last_column || k != rows * (last_column - column + 1)) return {};
    for (std::uint64_t i : missing)
        if (i % a.row < column || i % a.row > last_column) return {};
    return fmt::format(" That is all of {} of {}.", span_of("column", column, last_column), a.row);
}

// Hint for kernels that ran and stored nothing; adds that fact to `message`.
std::string none_stored(const counted &c, std::string &message)
{
    const std::string ran = c.launches == 1 ? "A kernel" : fmt::format("{} kernels", c.launches);
    message +=
        c.threads == 1
            ? " A kernel of 1 thread ran, and stored nothing in device memory."
            : fmt::format(" {} of {} threads{} ran, and none of them stored anything in device "
                          "memory.",
                          ran, c.threads, c.launches == 1 ? "" : " in all");
    return "The launch worked, so look into the kernel: is there a store, with the array's element "
           "left of the =? If so, a condition or an early return stands before it, and with these "
           "numbers no thread came to it: print the two sides of that condition in thread 0.";
}

// Hint for a call that wrote no output; adds what the simulator knows to `message`.
std::string why_nothing_written(const std::vector<argument> &arguments, std::string &message)
{
    if (current_case().results_are_copied && counters_known() &&
        counts_of_last_call().host_commands == 0) {
        message += " It launched no kernel, and copied nothing.";
        return "Does the loop over the pieces begin at all for so few elements? Follow its "
               "condition with these numbers: the last piece may be shorter than the others.";
    }
    if (current_case().results_are_copied)
        return "Is the result copied at all, and in this direction? Where it goes is what a copy "
               "is told first.";
    if (!on_device(arguments)) return "Does it store its results?";
    if (!counters_known()) return does_a_kernel_write;
    const counted c = counts_of_last_call();
    if (c.launches > 0 && !kernels_stored(c)) return none_stored(c, message);
    if (c.host_commands == 0) {
        message += " It launched no kernel, and filled or copied nothing.";
        return "Which line should launch the kernel, or fill the output, and does the function "
               "return before it? Ask what the result is for these very numbers.";
    }
    if (c.launches == 0) {
        message += " It launched no kernel.";
        return "Which line should launch the kernel, and does the function return before it?";
    }
    message += fmt::format(" A kernel of {} thread{} ran.", c.threads, c.threads == 1 ? "" : "s");
    return "Which of the threads should write the first element: what stops it, or to which "
           "address does it write instead?";
}

} // namespace

unwritten_lists still_poisoned(const std::vector<argument> &arguments)
{
    unwritten_lists lists(arguments.size());
    for (std::size_t j = 0; j < arguments.size(); ++j) {
        const argument &a = arguments[j];
        if (!a.wire.output) continue;
        const std::byte *before = payload_before(a), *after = payload_after(a);
        const auto unwritten = [&](std::uint64_t i) {
            return std::memcmp(before + i * a.wire.element, after + i * a.wire.element,
                               a.wire.element) == 0;
        };
        if (for_all(a.written_count,
                    [&](std::size_t i) { return !unwritten(a.written_first + i); }))
            continue;
        for (std::uint64_t i = a.written_first; i < a.written_first + a.written_count; ++i)
            if (unwritten(i)) lists[j].push_back(i);
    }
    return lists;
}

void check_written(const std::vector<argument> &arguments, const unwritten_lists &lists,
                   const char *function)
{
    std::uint64_t asked = 0, missing = 0;
    for (std::size_t j = 0; j < lists.size(); ++j)
        if (arguments[j].wire.output) {
            asked += arguments[j].written_count;
            missing += lists[j].size();
        }
    if (missing == 0) return;
    if (missing == asked) {
        std::string message =
            fmt::format("{} returned, and no element of its output was written.", function);
        const std::string hint = why_nothing_written(arguments, message);
        end_case(verdict::NOT_WRITTEN, message, hint);
    }
    for (std::size_t j = 0; j < lists.size(); ++j) {
        if (lists[j].empty()) continue;
        const argument &a = arguments[j];
        const std::string lines = missing_lines(a, lists[j]);
        end_case(verdict::PARTIALLY_WRITTEN,
                 fmt::format("{} of {} of {} {} never written, the first at index {}.{}",
                             lists[j].size(), elements(a.written_count), argument_name(a, 0),
                             lists[j].size() == 1 ? "was" : "were", lists[j].front(), lines),
                 lines.empty() ? why_unwritten(a, lists[j], arguments)
                               : why_lines_missing(a, lists[j]));
    }
}

unwritten_lists unwritten_in_both(const unwritten_lists &x, const unwritten_lists &y)
{
    unwritten_lists result(x.size());
    for (std::size_t j = 0; j < x.size(); ++j)
        std::set_intersection(x[j].begin(), x[j].end(), y[j].begin(), y[j].end(),
                              std::back_inserter(result[j]));
    return result;
}

void expect_changed_in_place(bool changed, std::string message, const std::string &otherwise)
{
    if (changed) return;
    const counted c = counts_of_last_call();
    const std::string next =
        c.launches > 0 && !kernels_stored(c) ? none_stored(c, message) : otherwise;
    end_case(verdict::NOT_WRITTEN, message, next);
}

void expect_changed_in_place(bool changed, const std::string &message,
                             const std::string &stored_again, const std::string &otherwise)
{
    if (!changed && kernels_stored())
        end_case(verdict::WRONG_ANSWER, message + ", though a kernel stored elements.",
                 stored_again);
    expect_changed_in_place(changed, message + ".", otherwise);
}

} // namespace grading
