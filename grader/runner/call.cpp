// One call of a contract function in the student's worker, and the checks of what comes back.
//
// Images with poison and guards go in; the bytes that come back are judged here.
#include "case_run.hpp"
#include "counted.hpp"
#include "host_work.hpp"
#include "replay.hpp"
#include "report.hpp"
#include "simulator/machine/finding.hpp"
#include "simulator/machine/harness.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace grading {

extern const entry contract[]; // names only, generated from lab.hpp
extern const int contract_size;

namespace {

constexpr std::uint64_t image_start = 1 << 20; // in the input memory; bytes below are unused
constexpr std::uint64_t second_call_below = 256 << 10; // bytes of arguments, guards included
constexpr std::uint64_t report_bytes = 8 << 20;

// xorshift64*, for guards and poison: fast, and only its seed has to be secret.
class xorshift {
public:
    xorshift() : state_(unforeseen() | 1) {}
    void fill(std::byte *to, std::size_t bytes)
    {
        for (std::size_t i = 0; i < bytes; i += 8) {
            std::uint64_t v = next();
            std::memcpy(to + i, &v, std::min<std::size_t>(8, bytes - i));
        }
    }
    std::uint64_t next()
    {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 2685821657736338717ull;
    }

private:
    std::uint64_t state_;
};

std::uint64_t align_up(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

unsigned parts_of(const argument_descriptor &s)
{
    return s.where == argument_memory::per_device ? s.parts : 1;
}

// Address of an argument's payload in the input memory, and in the output memory after the call.
const std::byte *given(const argument &a, unsigned part = 0)
{
    std::uint64_t each = a.wire.bytes / parts_of(a.wire);
    return inputs().data() + a.wire.input + part * (each + 2 * a.wire.guard) + a.wire.guard;
}
const std::byte *returned(const argument &a, unsigned part = 0)
{
    std::uint64_t each = a.wire.bytes / parts_of(a.wire);
    return submission_worker().output().data() + a.wire.output_at +
           part * (each + 2 * a.wire.guard) + a.wire.guard;
}

// Images of one call, side by side in the input and in the output memory.
class call_images {
public:
    call_images(std::vector<argument> &arguments) : arguments_(arguments)
    {
        std::uint64_t guard = options().simulated ? 4096 : 65536, in = image_start, out = 0;
        for (argument &a : arguments_) {
            argument_descriptor &s = a.wire;
            s.guard = s.where == argument_memory::value ? 0 : guard;
            if (s.output && parts_of(s) > 1)
                end_case(verdict::INFRA_ERROR,
                         fmt::format("`{}` is several buffers, which hold no poison.", s.name),
                         "In grade.cpp: pass changed_in_place values.");
            s.input = in;
            s.output_at = out;
            std::uint64_t image = align_up(s.bytes + 2 * s.guard * parts_of(s));
            in += image;
            out += image;
        }
        end_ = in;
        out_end_ = out;
        std::uint64_t reports =
            report_bytes * static_cast<unsigned>(std::max(1, current_case().ranks));
        if (in > inputs().size() || out + reports > submission_worker().output().size())
            end_case(
                verdict::INFRA_ERROR,
                fmt::format("The case's arguments take {} MiB and do not fit the shared memory.",
                            in >> 20));
    }

    std::uint64_t end() const { return end_; }
    std::uint64_t report_at() const { return align_up(out_end_); }

    // Writes guards, values, inputs, and fresh poison into the outputs. In the second of two equal
    // calls the poison differs from the bytes that the first returned, so an element that still
    // holds it was not written by chance. Inputs are still in place then and are not copied again:
    // the caller's own elements may already be results of the first call.
    void fill(bool second)
    {
        xorshift random;
        for (const argument &a : arguments_) {
            const argument_descriptor &s = a.wire;
            std::byte *at = inputs().data() + s.input;
            if (s.where == argument_memory::value) {
                std::memcpy(at, a.value, s.bytes);
                continue;
            }
            std::uint64_t each = s.bytes / parts_of(s);
            for (unsigned k = 0; k < parts_of(s); ++k, at += each + 2 * s.guard) {
                random.fill(at, s.guard);
                random.fill(at + s.guard + each, s.guard);
                if (s.output && second && s.element != 4)
                    differ(at + s.guard, returned(a, k), each, random);
                else if (s.output)
                    poison(at + s.guard, each, s.element, random);
                else if (each && !second)
                    std::memcpy(at + s.guard, static_cast<std::byte *>(a.data) + k * each, each);
            }
        }
    }

private:
    // Fills 4-byte elements with a NaN with a random payload, which no arithmetic yields, and all
    // others with random bytes.
    static void poison(std::byte *to, std::uint64_t bytes, std::uint32_t element, xorshift &random)
    {
        if (element != 4) return random.fill(to, bytes);
        std::uint32_t nan =
            0xffc00000u | (static_cast<std::uint32_t>(random.next()) & 0x3fffffu) | 1u;
        for (std::uint64_t i = 0; i + 4 <= bytes; i += 4) std::memcpy(to + i, &nan, 4);
    }

    static void differ(std::byte *to, const std::byte *from, std::uint64_t bytes, xorshift &random)
    {
        random.fill(to, bytes);
        for (std::uint64_t i = 0; i < bytes; ++i)
            to[i] = from[i] ^ (to[i] == std::byte{0} ? std::byte{0x5a} : to[i]);
    }

    std::vector<argument> &arguments_;
    std::uint64_t end_ = 0, out_end_ = 0;
};

// Results of the last call on ranks.
std::vector<counted> counts_of_ranks;
std::vector<std::uint64_t> results_of_ranks;
// Counters of the last single-process call; empty if they could not be parsed. Copied, because the
// worker's memory dies with it.
std::string last_counters;
// Counters of every call that the last CALL made: one, or two with equal arguments.
std::vector<std::string> counters_of_calls;

std::string counters_if_any(const std::byte *from)
{
    try {
        return report_counters({from, report_bytes});
    } catch (const std::exception &) {
        return {};
    }
}

// Counters of the last single-process call on the simulator; all zero if there are none.
counted counts_of_last_call()
{
    if (!options().simulated || last_counters.empty()) return {};
    try {
        return parse_counters(last_counters);
    } catch (const std::exception &) { // a submission has overwritten them
        return {};
    }
}

std::string argument_name(const argument &a, unsigned part)
{
    std::string n = a.wire.name[0] ? a.wire.name : "an argument";
    return parts_of(a.wire) > 1 ? fmt::format("`{}[{}]`", n, part) : fmt::format("`{}`", n);
}

std::string elements(std::uint64_t n) { return fmt::format("{} element{}", n, n == 1 ? "" : "s"); }

// `copied`: a copy by the host reached there, not a thread.
std::string negative_index_hint(bool just_before, bool copied)
{
    if (copied) return "Where does the copy begin: which element is the first of this piece?";
    return just_before
               ? "An index is -1 here: is everything one place too early, or does the "
                 "first thread, warp or neighbour begin before the array, with no test that says "
                 "so?"
               : "Look for an index that can be negative: a difference, a product that does "
                 "not fit an int, or a number kept in a type that is too small for it.";
}

// True if hint_past_the_end gave words for this location.
bool has_own_hint(std::string_view where)
{
    const auto &own = current_case().past_the_end;
    const bool shared = where.find("shared memory") != where.npos;
    if (own.hint.empty() || own.array.empty()) return !own.hint.empty() && !shared;
    return shared || where.find(fmt::format("`{}`", own.array)) != where.npos;
}

// Returns the call's int or size_t argument of this name.
std::uint64_t number_given(const std::vector<argument> &arguments, std::string_view name,
                           std::uint64_t otherwise)
{
    for (const argument &a : arguments) {
        if (a.wire.where != argument_memory::value || a.wire.name != name) continue;
        std::uint64_t value = 0;
        std::memcpy(&value, a.value, std::min<std::size_t>(a.wire.bytes, sizeof value));
        return value;
    }
    return otherwise;
}

// True if a thread that has an element of its own reaches past the end of an array: its index is
// then not simply its thread number.
bool index_is_computed(const simulator_finding &f, const std::vector<argument> &arguments)
{
    const std::string_view where = f.where;
    const std::size_t size = where.rfind("` (");
    if (f.bytes == 0 || size == where.npos || where.find("past the end") == where.npos)
        return false;
    const bool first_block = f.block[0] + f.block[1] + f.block[2] == 0;
    std::uint64_t own = std::strtoull(f.where + size + 3, nullptr, 10) / f.bytes;
    // An array can have more elements than there is work: columns, or all from an offset on.
    const std::uint64_t n = number_given(arguments, "n", own);
    own = std::min(own, n - std::min(n, number_given(arguments, "offset", 0)));
    return first_block && f.thread[1] + f.thread[2] == 0 && f.thread[0] < own;
}

std::string large_index_hint(bool one_element, bool write, std::string_view where, bool copied)
{
    if (has_own_hint(where)) return current_case().past_the_end.hint;
    if (copied)
        return "Does a copy count more bytes than are left, or begin at another element than is "
               "meant?";
    if (one_element)
        return "It is one element only: is everything one place too late, or does a test let one "
               "index too many through?";
    return write ? "Compare the index with the number of elements of this array before the write: "
                   "the last block usually has threads to spare, and another array's size or a "
                   "rounded one is too large."
                 : "Guard the read with the size, or peel the ends.";
}

// Ends the case if bytes around a buffer changed.
void check_guards(const std::vector<argument> &arguments)
{
    for (const argument &a : arguments) {
        const argument_descriptor &s = a.wire;
        if (s.where == argument_memory::value) continue;
        std::uint64_t each = s.bytes / parts_of(s);
        for (unsigned k = 0; k < parts_of(s); ++k) {
            const std::byte *before = given(a, k), *after = returned(a, k);
            auto changed = [&](std::int64_t i) { return before[i] != after[i]; };
            auto g = static_cast<std::int64_t>(s.guard), n = static_cast<std::int64_t>(each);
            std::int64_t past = 0, ahead = 0, first_past = -1, last_ahead = 0;
            if (std::memcmp(before + n, after + n, s.guard) != 0)
                for (std::int64_t i = n; i < n + g; ++i)
                    if (changed(i)) {
                        if (first_past < 0) first_past = i;
                        ++past;
                    }
            if (std::memcmp(before - g, after - g, s.guard) != 0)
                for (std::int64_t i = -g; i < 0; ++i)
                    if (changed(i)) {
                        last_ahead = i;
                        ++ahead;
                    }
            std::string name = argument_name(a, k);
            auto e = static_cast<std::int64_t>(s.element);
            if (past && s.scratch)
                end_case(verdict::OUT_OF_BOUNDS,
                         fmt::format("The call wrote past the end of {}, which has the {} bytes "
                                     "that {}_scratch asked for: the first write is at byte {}.",
                                     name, a.scratch_bytes, current_case().function,
                                     a.scratch_bytes + static_cast<std::uint64_t>(first_past)),
                         "Ask for more, or look for an index, or a copy's number of bytes, that "
                         "can be too large.");
            if (past)
                end_case(
                    verdict::OUT_OF_BOUNDS,
                    fmt::format(
                        "The call wrote past the end of {}, which has {}: the first write is at "
                        "index {}.",
                        name, elements(each / s.element), first_past / e),
                    large_index_hint(first_past < n + e && past <= e, true, name,
                                     current_case().copied));
            if (ahead)
                end_case(
                    verdict::OUT_OF_BOUNDS,
                    fmt::format("The call wrote before the start of {}: at index {}.", name,
                                -((-last_ahead + e - 1) / e)),
                    negative_index_hint(last_ahead + e >= 0 && ahead <= e, current_case().copied));
        }
    }
}

void check_inputs_unchanged(const std::vector<argument> &arguments)
{
    for (const argument &a : arguments) {
        const argument_descriptor &s = a.wire;
        if (s.where == argument_memory::value || !s.read_only) continue;
        std::uint64_t each = s.bytes / parts_of(s);
        for (unsigned k = 0; k < parts_of(s); ++k) {
            const std::byte *before = given(a, k), *after = returned(a, k);
            if (each == 0 || std::memcmp(before, after, each) == 0) continue;
            std::uint64_t i = 0;
            while (std::memcmp(before + i * s.element, after + i * s.element, s.element) == 0) ++i;
            end_case(
                verdict::INPUT_MODIFIED,
                fmt::format(
                    "{}[{}] was {} before the call and is {} after it; the contract says const.",
                    argument_name(a, k), i, a.show(before + i * s.element),
                    a.show(after + i * s.element)),
                "Write only to the outputs; keep intermediate values in registers or shared "
                "memory.");
        }
    }
}

// For each output, the requested elements that still hold their poison.
using unwritten_lists = std::vector<std::vector<std::uint64_t>>;
unwritten_lists still_poisoned(const std::vector<argument> &arguments)
{
    unwritten_lists lists(arguments.size());
    for (std::size_t j = 0; j < arguments.size(); ++j) {
        const argument &a = arguments[j];
        if (!a.wire.output) continue;
        const std::byte *before = given(a), *after = returned(a);
        for (std::uint64_t i = a.written_first; i < a.written_first + a.written_count; ++i)
            if (std::memcmp(before + i * a.wire.element, after + i * a.wire.element,
                            a.wire.element) == 0)
                lists[j].push_back(i);
    }
    return lists;
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
            if (i >= n || std::memcmp(given(a) + i * e, returned(a) + i * e, e) == 0) return false;
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
    return fmt::format("{} threads in {} block{} were launched. {}", c.threads, c.blocks,
                       c.blocks == 1 ? "" : "s", observe);
}

std::string why_unwritten(const argument &a, const std::vector<std::uint64_t> &missing,
                          const std::vector<argument> &arguments)
{
    if (a.wire.where == argument_memory::host)
        return fmt::format("Whose share is element {}? Print where each share begins and how long "
                           "it is, in elements, not in rows or images; and who takes what a "
                           "division leaves over?",
                           missing.front());
    const auto &left_out = current_case().left_out;
    if (std::find(left_out.lists.begin(), left_out.lists.end(), missing) != left_out.lists.end())
        return left_out.hint;
    if (const std::int64_t way = shift_of(a, missing)) {
        const std::uint64_t k = missing.size();
        return fmt::format("Beyond the other end {} {} written that nobody asked for: is "
                           "everything {} too {}?{}",
                           elements(k), k == 1 ? "was" : "were",
                           k == 1 ? "one place" : fmt::format("{} places", k),
                           way > 0 ? "late" : "early", argument_of_value(arguments, k));
    }
    std::uint64_t period = period_of(a, missing);
    bool to_the_end = missing.back() - missing.front() + 1 == missing.size() &&
                      missing.back() + 1 == a.written_first + a.written_count;
    if (current_case().copied) {
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
    const bool counted_here = options().simulated && !last_counters.empty();
    if (counted_here && missing.size() == a.written_count)
        return "Other outputs were written, and nothing of this one. Which kernel should write it: "
               "is it launched in this call, with enough blocks for these numbers, and what stops "
               "its threads?";
    if (to_the_end && counted_here && missing.front() > a.written_first)
        return why_end_missing(a, missing.front() - a.written_first, missing.front());
    // Rounding explains at most one block's worth, and at most half of the result.
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
    return "Which threads should write these elements, and what stops them?";
}

// True if whole rows (or columns) are missing at the end because the launch swapped the grid's two
// dimensions. Any block shape may explain it, if the number of blocks would have sufficed. The
// output has `lines` rows (or columns) of length `across`; the first `written` are not missing.
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
    const std::uint64_t rows = a.written_count / a.row, first = missing.front();
    const bool columns = missing.size() % a.row != 0 || first % a.row != 0;
    const bool turned = columns ? first < a.row && missing.back() % a.row + 1 == a.row &&
                                      grid_transposed(a.row, rows, first)
                                : missing.back() + 1 == a.written_count &&
                                      grid_transposed(rows, a.row, first / a.row);
    if (turned)
        return fmt::format("As many blocks ran as are needed, and there are none for these {}: "
                           "have x and y of the grid changed places? What the kernel takes from "
                           "blockIdx.x is counted by the grid's first number, what it takes from "
                           "blockIdx.y by the second.",
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

bool stored(const counted &c) { return c.store_requests + c.global_atomic_requests > 0; }

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
    return "The launch worked, so look into the kernel: is there a store, and which condition or "
           "early return stands before it? With these numbers no thread came to it: print the two "
           "sides of that condition in thread 0.";
}

// Hint for a call that wrote no output; adds what the simulator knows to `message`.
std::string why_nothing_written(const std::vector<argument> &arguments, std::string &message)
{
    if (current_case().copied && options().simulated && !last_counters.empty() &&
        counts_of_last_call().host_commands == 0) {
        message += " It launched no kernel, and copied nothing.";
        return "Does the loop over the pieces begin at all for so few elements? Follow its "
               "condition with these numbers: the last piece may be shorter than the others.";
    }
    if (current_case().copied)
        return "Is the result copied at all, and in this direction? Where it goes is what a copy "
               "is told first.";
    if (!on_device(arguments)) return "Does it store its results?";
    if (!options().simulated || last_counters.empty()) return does_a_kernel_write;
    const counted c = counts_of_last_call();
    if (c.launches > 0 && !stored(c)) return none_stored(c, message);
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

// Returns the case's misconception that yields exactly these surplus elements of an output.
std::optional<misconception<float>> known_too_many(const argument &a)
{
    if (a.wire.element != sizeof(float)) return {};
    const std::byte *before = given(a), *after = returned(a);
    for (const misconception<float> &k : current_case().too_many) {
        const std::vector<float> values = k.looks_like();
        const std::size_t bytes = values.size() * sizeof(float);
        if (values.size() > a.written_first + a.written_count && bytes <= a.wire.bytes &&
            std::memcmp(after, values.data(), bytes) == 0 &&
            std::memcmp(before + bytes, after + bytes, a.wire.bytes - bytes) == 0)
            return k;
    }
    return {};
}

// Elements outside the requested range must keep their old contents.
void check_untouched(const std::vector<argument> &arguments)
{
    for (const argument &a : arguments) {
        if (!a.wire.output) continue;
        const std::byte *before = given(a), *after = returned(a);
        std::uint64_t n = a.wire.bytes / a.wire.element;
        for (std::uint64_t i = 0; i < n; ++i) {
            if (i == a.written_first) i += a.written_count;
            if (i >= n) break;
            if (std::memcmp(before + i * a.wire.element, after + i * a.wire.element,
                            a.wire.element) == 0)
                continue;
            const std::string asked = a.written_count == 0
                                          ? "none of its elements"
                                          : fmt::format("elements {} to {}", a.written_first,
                                                        a.written_first + a.written_count - 1);
            const std::string message = fmt::format(
                "{}[{}] was overwritten with {}; the contract asks for {} and leaves the rest as "
                "it was.",
                argument_name(a, 0), i, a.show(after + i * a.wire.element), asked);
            if (const auto known = known_too_many(a))
                end_case(verdict::WRONG_ANSWER, message + " " + known->cause, known->next);
            end_case(verdict::WRONG_ANSWER, message,
                     "Is an element stored that should not be, or one at a place too far on? Or "
                     "does a guard let more through than the range that lab.hpp states?");
        }
    }
}

// True if blocks waited for others that could not begin before them.
bool holds_blocks_back(const simulator_finding &f)
{
    return std::strstr(f.detail, "may begin in any order");
}

// True for a kernel that ran into the limit; a kernel that waits for ever is found immediately.
bool takes_too_long(const simulator_finding &f) { return std::strstr(f.detail, "without ending"); }

const char *name_of(const simulator_finding &f)
{
    using enum simulator::finding_kind;
    switch (static_cast<simulator::finding_kind>(f.kind)) {
    case out_of_bounds:
        return "reached outside its memory";
    case use_after_free:
        return "used memory that was freed";
    case host_pointer:
        return "followed a pointer to host memory";
    case null_pointer:
        return "followed a null pointer";
    case misaligned:
        return "made a misaligned access";
    case uninitialised:
        return "read a value that was never written";
    case read_only:
        return "wrote constant memory";
    case race:
        return "has a race";
    case barrier:
        return "misused";
    case step_budget:
        return holds_blocks_back(f) ? "waits for ever" : "was still at work";
    case trap:
        return "stopped itself (trap or assert)";
    case unsupported:
        return "needs something the simulator does not offer";
    case refused_launch:
        return "was refused its launch";
    case lent_memory:
        return "gave a kernel that it launched a pointer to memory of its own";
    case unwatched:
        return "was not watched to its end";
    case failed_call:
        return "failed";
    case older_value:
        return "was late to see a store";
    }
    return "did something unknown";
}

bool in_closed_memory(const simulator_finding &f)
{
    return std::strstr(f.where, "which the kernel's device has no access to");
}

verdict verdict_of(const simulator_finding &f)
{
    using enum simulator::finding_kind;
    switch (static_cast<simulator::finding_kind>(f.kind)) {
    // Near a named buffer it is the student's index arithmetic. Far from any buffer, or in another
    // device's memory, a GPU reports error 700.
    case out_of_bounds:
        if (in_closed_memory(f)) return verdict::CUDA_ERROR;
        return std::strchr(f.where, '`') ? verdict::OUT_OF_BOUNDS : verdict::CUDA_ERROR;
    case use_after_free:
        return verdict::OUT_OF_BOUNDS;
    case uninitialised:
        return verdict::UNINITIALISED;
    case race:
        return verdict::RACE;
    case barrier:
        return verdict::BARRIER_MISUSE;
    case step_budget:
        return verdict::TIMEOUT;
    case unsupported:
        return verdict::SKIPPED;
    default:
        return verdict::CUDA_ERROR;
    }
}

// True if it lies just behind the used bytes of a shared array.
bool just_past_used_part(const simulator_finding &f)
{
    const std::size_t in_use = current_case().past_the_end.in_use;
    return in_use > 0 && has_own_hint(f.where) &&
           std::strstr(f.where, fmt::format("(byte {} of ", in_use).c_str());
}

// True if one of the two accesses of a race is a read.
bool one_reads(const simulator_finding &f) { return !f.write || !std::strstr(f.detail, " wrote "); }

// An access past the end of scratch may mean that the submission asked for too little.
std::string scratch_hint(const simulator_finding &f, const std::vector<argument> &arguments)
{
    if (verdict_of(f) != verdict::OUT_OF_BOUNDS || !std::strstr(f.where, "the end of")) return {};
    const std::string otherwise =
        has_own_hint(f.where) ? current_case().past_the_end.hint : "an index is too large here.";
    for (const argument &a : arguments)
        if (a.wire.scratch && std::strstr(f.where, argument_name(a, 0).c_str()))
            return fmt::format("{}_scratch asked for {} bytes in this call: are they enough for "
                               "all that is kept there, elements times sizeof of one, and is "
                               "a number of blocks rounded up? If they are: {}",
                               current_case().function, a.scratch_bytes, otherwise);
    return {};
}

// Hint for a finding that only the second of two equal calls shows: there, scratch and outputs
// hold other bytes.
std::string second_call_hint(const simulator_finding &f)
{
    const verdict v = verdict_of(f);
    if (!current_case().repeating ||
        (v != verdict::UNINITIALISED && v != verdict::OUT_OF_BOUNDS && v != verdict::CUDA_ERROR))
        return {};
    return "A first, equal call was right. In the second, scratch and outputs hold other bytes, "
           "and blocks run in another order: what is kept from call to call (static, __device__), "
           "or "
           "depends on that order?";
}

// True if two threads of a grid wrote the same location in device memory.
bool both_wrote(const simulator_finding &f)
{
    return f.write && !f.other_grid && std::strstr(f.detail, " wrote at") &&
           !std::string_view(f.where).starts_with("shared");
}

std::string race_hint(const simulator_finding &f)
{
    if (f.other_grid)
        return "Should both kernels reach this element? If not, one of them begins at a wrong "
               "place or goes on too far. If they should, something must order the two grids: one "
               "stream, an event that the later one waits for, or, in a kernel, "
               "cudaStreamTailLaunch. What a block did before one of its threads launched is "
               "ordered by a barrier before that launch.";
    if (both_wrote(f) && !current_case().one_place.empty()) return current_case().one_place;
    if (f.other_block && std::strstr(f.detail, "__threadfence()")) return out_of_order_hint;
    if (f.other_block && !f.write)
        return "Should this block use what the other one has stored? If not, an index is wrong: "
               "does a block begin where the one before it ends, at blockIdx times all that a "
               "block owns, and is a row as long as the whole array's? If it should: no barrier "
               "reaches across blocks, but a kernel of its own can do the second part. "
               "Where a flag tells that a value is there, __threadfence() must come between the "
               "value's store and the flag's, and between the flag's load and the value's.";
    if (f.other_block && one_reads(f))
        return "Is this element meant to be used by one block and changed by another? If not, an "
               "index is wrong: is blockIdx in it, and is a row as long as the whole array's? If "
               "it is: no barrier reaches across blocks, so read from one array and write to "
               "another, or let a kernel of its own do the second part.";
    if (f.other_block)
        return "Are both blocks meant to reach this element? If not, its index is wrong: does "
               "a block begin where the one before it ends, at blockIdx times all that a block "
               "owns, and is a row as long as the whole array's? If they are: no barrier "
               "reaches across blocks, but atomicAdd does it in one go, or another kernel.";
    if (one_reads(f) && !std::string_view(f.where).starts_with("shared memory"))
        return "Something must order the two accesses: which barrier stands between them? Where "
               "other blocks use or change these elements, too, none helps: read from one array "
               "and write to another, or let a kernel of its own do the second part.";
    // In CUDA's memory model, too, a vote or a shuffle does not order memory accesses.
    if (f.write && one_reads(f) && std::strstr(f.detail, "no __syncwarp()")) {
        const bool on_one_line = std::strstr(f.detail, fmt::format(":{} ", f.line).c_str());
        if (on_one_line)
            return "Does one thread store here what another loads, as in a scan? Load first, keep "
                   "the value, and store behind a barrier. Does each of them load, change and "
                   "store this same element, as ++ and += do? No barrier helps there, but "
                   "atomicAdd does it in one go. If the two should not meet in this element, print "
                   "both indices.";
        return "Which barrier stands between the read and the write? Where all warps of a block "
               "share these elements, as they do a tile, it is __syncthreads(), also before a "
               "loop's next turn writes them again; where each warp has its own, __syncwarp(), for "
               "all of its lanes. A shuffle or a vote does not do: they exchange registers, and "
               "order no memory. If the two should not meet in this element, print both indices.";
    }
    if (both_wrote(f))
        return fmt::format(
            "Does each of these two threads have an element of its own to store? "
            "Then one of their indices is wrong: print both.{} If they have one in "
            "common, let one thread store it; if both add to it, atomicAdd does it "
            "in one go.",
            f.thread[1] > 0 ? " Is a row's number multiplied by the number of columns?" : "");
    std::string hint = "Should one of these threads use what the other one has here? If not, an "
                       "index is wrong, or where a loop begins or ends. If it should, something "
                       "must order the two accesses: which barrier stands between them? If both "
                       "load, add and store, none helps, but atomicAdd does it in one go.";
    if (f.write && std::strstr(f.detail, " wrote at"))
        hint += " If both only write: which of the threads should, and do two elements get one "
                "place?";
    if (std::strstr(f.detail, "no __syncwarp()"))
        hint += " A vote or a shuffle is no barrier: it orders no memory, __syncwarp() does.";
    return hint;
}

// `order` is the result of lacks_order.
std::string hint_of(const simulator_finding &f, const std::vector<argument> &arguments, bool order)
{
    using enum simulator::finding_kind;
    if (static_cast<simulator::finding_kind>(f.kind) == unsupported)
        return options().counting
                   ? "Only the simulator can judge this case: do it in another way."
                   : "On a machine with a GPU, --backend gpu can judge this case. Else do it in "
                     "another way.";
    if (f.host_call && f.where[0])
        return "Does the pointer belong to the array that is meant, is it freed only once and "
               "after its last use, and does the size count bytes?";
    switch (static_cast<simulator::finding_kind>(f.kind)) {
    case out_of_bounds: {
        if (in_closed_memory(f))
            return "Is the device current that is meant? If so, give it access to the other's "
                   "memory first, where cudaDeviceCanAccessPeer says that it can have it: asked "
                   "for each pair that the kernel needs. Copies work without.";
        if (std::strstr(f.where, "2^32 elements"))
            return "A number below 0 was kept as unsigned, and came out 2^32 too large: which "
                   "difference can be negative? Keep it in an int, or compare before subtracting.";
        if (std::strstr(f.where, "before the start"))
            return negative_index_hint(std::string_view(f.where).starts_with(fmt::format(
                                           "{} byte{} before", f.bytes, f.bytes == 1 ? "" : "s")),
                                       false);
        if (std::strstr(f.where, "third parameter"))
            return "That parameter, between <<< and >>>, is the size of the dynamic shared memory, "
                   "in bytes: is it given, and is it the number of elements times sizeof?";
        if (std::strstr(f.where, "shared memory, byte -"))
            return "An index is below 0 here: does it come of a signed char, of an int shifted to "
                   "the right, or of a difference?";
        if (std::string_view(f.where).starts_with("shared memory") && !has_own_hint(f.where))
            return "How many elements has the array, and what is the largest index that a thread "
                   "computes for it, with halo, padding and the last turn of a loop?";
        if (std::strstr(f.where, "never allocated"))
            return "That is far from any array: print, on this line and for this thread, the index "
                   "or the offset and the numbers that it is made of. Which one is too large: a "
                   "count, a shift, a value that was never set?";
        const bool one_element =
            f.threads == 1 && std::string_view(f.where).starts_with("just past");
        const bool nothing_known = !one_element && !has_own_hint(f.where);
        if (nothing_known && index_is_computed(f, arguments))
            return fmt::format("Thread {} is none of those to spare at the end: how is the index "
                               "computed that it uses here, and is that index itself compared "
                               "with the number of elements of this array?",
                               f.thread[0]);
        if (nothing_known && f.write && number_given(arguments, "offset", 0) > 0)
            return "Guard the write: is it the index of the store itself, with the offset, that is "
                   "compared with the number of elements?";
        return large_index_hint(one_element, f.write, f.where, false);
    }
    case uninitialised:
        if (order && !current_case().unwritten.empty()) return current_case().unwritten;
        if (order)
            return "Which kernel or copy should have written it before? Is it missing, does it "
                   "write too little, or elsewhere, or does it come later?";
        if (just_past_used_part(f)) return current_case().past_the_end.hint;
        if (std::string_view(f.where).starts_with("shared memory"))
            return "Which thread should have written these bytes before? Either none does, so look "
                   "at how far the loop or the test lets it go; or nobody should read them, so "
                   "look at the index here.";
        return "Give it a value first, or do not read it: outputs start out with arbitrary "
               "contents, and so does shared memory.";
    case use_after_free:
        return "Is that address kept from an earlier call, in a static variable? Each call gets "
               "arrays of its own, scratch too. Or is memory freed before the last use has ended?";
    case misaligned:
        if (!current_case().misaligned.empty()) return current_case().misaligned;
        return f.bytes == 16 ? "A float4 access needs an address that is a multiple of 16: check "
                               "the pointer, or peel."
                             : fmt::format("An access of {0} bytes at once needs an address that "
                                           "is a multiple of {0}, and an array of smaller elements "
                                           "may begin anywhere: check the pointer, or peel.",
                                           f.bytes);
    case race:
        return race_hint(f);
    case barrier:
        return "Every thread that a barrier, vote or shuffle names must come to it: none may "
               "return, break or branch around it before.";
    case step_budget:
        return endless_hint(true);
    case host_pointer:
        return "Copy the data to the device, or pass it by value.";
    case null_pointer:
        return "Was the allocation or the address computed at all?";
    default:
        return {};
    }
}

std::string as_sentence(std::string text)
{
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text.back() == '.' || text.back() == '?' ? text : text + ".";
}

// Sentence about a runtime call by the host, which has no kernel, line or thread.
std::string sentence_of_call(const simulator_finding &f)
{
    if (!f.where[0]) return as_sentence(f.detail);
    return fmt::format("In a call by the host, {}: {}.", f.detail, f.where);
}

std::string sentence(const simulator_finding &f)
{
    using enum simulator::finding_kind;
    auto kind = static_cast<simulator::finding_kind>(f.kind);
    if (f.host_call && f.detail[0]) return sentence_of_call(f);
    std::string s = f.kernel[0] ? fmt::format("Kernel {}", f.kernel) : "The code";
    s += fmt::format(" {}", name_of(f));
    if (kind == barrier) s += fmt::format(" {}", f.where);
    if (f.line > 0)
        s += fmt::format(" at {}:{}", std::filesystem::path(f.file).filename().string(), f.line);
    bool access = f.bytes > 0 && kind != barrier;
    // An uninitialised "write" can only be an atomic's read-modify-write.
    const char *way = !f.write ? "a read" : kind == uninitialised ? "an atomic" : "a write";
    if (access) s += fmt::format(": {} of {} byte{}", way, f.bytes, f.bytes == 1 ? "" : "s");
    if (f.where[0] && kind != barrier) s += fmt::format("{} {}", access ? "," : ":", f.where);
    s += ".";
    // An access by one thread has been described completely.
    if (f.detail[0] && (!access || kind == race || kind == older_value))
        s += " " + as_sentence(f.detail);
    s += fmt::format(" Block ({}, {}, {}), thread ({}, {}, {})", f.block[0], f.block[1], f.block[2],
                     f.thread[0], f.thread[1], f.thread[2]);
    if (f.threads > 1) s += fmt::format(" and {} more", f.threads - 1);
    s += ".";
    if (verdict_of(f) == verdict::CUDA_ERROR &&
        (kind == out_of_bounds || kind == null_pointer || kind == host_pointer))
        s += " A GPU answers with cudaErrorIllegalAddress (700).";
    return s;
}

void terminate_strings(simulator_finding &f)
{
    f.kernel[sizeof f.kernel - 1] = f.file[sizeof f.file - 1] = 0;
    f.where[sizeof f.where - 1] = f.detail[sizeof f.detail - 1] = 0;
}

// Reads a report's counters, or ends the case.
struct counters_of_call {
    std::string text;
    counted counts;
};
counters_of_call read_counters(std::span<const std::byte> report)
{
    try {
        std::string text = report_counters(report);
        counted counts = parse_counters(text);
        return {std::move(text), std::move(counts)};
    } catch (const std::exception &e) {
        end_case(verdict::PROTOCOL_ERROR,
                 fmt::format("The simulator's counters cannot be read: {}.", printable(e.what())),
                 "A submission must leave the memory that it was not given alone.");
    }
}

// Keeps the counters of the case's call with the most requests, for ./workbook explain.
void keep_counts(std::span<const std::byte> report)
{
    static std::uint64_t max_requests = 0;
    case_record &r = current_case();
    counters_of_call c = read_counters(report);
    std::uint64_t requests = c.counts.load_requests + c.counts.store_requests;
    if (!r.counts.empty() && requests <= max_requests) return;
    max_requests = requests;
    r.counts = std::move(c.text);
}

bool reads_output(const simulator_finding &f, const std::vector<argument> &arguments)
{
    return verdict_of(f) == verdict::UNINITIALISED &&
           std::any_of(arguments.begin(), arguments.end(), [&](const argument &a) {
               return a.wire.output && !a.wire.scratch &&
                      std::strstr(f.where, argument_name(a, 0).c_str());
           });
}

// True if the finding is a read past the end of `array`. `array` is allocated last, so nothing
// else can lie behind it.
bool reads_past_end(const simulator_finding &f, const std::string &array)
{
    bool outside =
        static_cast<simulator::finding_kind>(f.kind) == simulator::finding_kind::out_of_bounds;
    std::string before = "before the start of `" + array + "`";
    return !array.empty() && outside && !f.write && !std::strstr(f.where, before.c_str());
}

// True if the fault is not in the reported line but in a missing earlier write or wait.
bool lacks_order(const simulator_finding &f, const std::vector<argument> &arguments)
{
    using enum simulator::finding_kind;
    const auto kind = static_cast<simulator::finding_kind>(f.kind);
    if (kind == race && f.other_grid) return true;
    if (streams_of_case() != stream_work::as_queued &&
        (kind == uninitialised || kind == use_after_free))
        return true;
    if (kind != uninitialised || !std::string_view(f.where).starts_with("byte ")) return false;
    return std::none_of(arguments.begin(), arguments.end(), [&](const argument &a) {
        return !a.wire.scratch && std::strstr(f.where, argument_name(a, 0).c_str());
    });
}

// Returns the cause of a bad address: an uninitialised read that the same kernel made earlier, if
// there is one. `found` is in the order in which the findings were made.
using finding_iterator = std::vector<simulator_finding>::iterator;
finding_iterator cause_of(finding_iterator last, std::vector<simulator_finding> &found)
{
    using enum simulator::finding_kind;
    const auto kind = static_cast<simulator::finding_kind>(last->kind);
    if (kind != out_of_bounds && kind != host_pointer && kind != null_pointer && kind != misaligned)
        return last;
    return std::find_if(found.begin(), last, [&](const simulator_finding &f) {
        return verdict_of(f) == verdict::UNINITIALISED &&
               std::string_view(f.kernel) == last->kernel;
    });
}

struct read_past_end {}; // thrown if reads_past_end() is true

// Returns the simulator's findings that are faults, in the order in which they were made. The
// others go into the case's record.
std::vector<simulator_finding> faults_in(const std::byte *from)
{
    std::uint64_t count = 0;
    std::memcpy(&count, from, 8);
    std::vector<simulator_finding> found(std::min<std::uint64_t>(count, 64));
    std::memcpy(found.data(), from + 8, found.size() * sizeof(simulator_finding));
    for (simulator_finding &f : found) terminate_strings(f);
    // The student's code may handle a refused launch or a failed call. It counts only if its error
    // is left unchecked.
    std::erase_if(found, [](const simulator_finding &f) {
        auto kind = static_cast<simulator::finding_kind>(f.kind);
        bool refused = kind == simulator::finding_kind::refused_launch;
        bool unwatched = kind == simulator::finding_kind::unwatched;
        bool failed = kind == simulator::finding_kind::failed_call;
        bool older = kind == simulator::finding_kind::older_value;
        if (refused) current_case().refused = printable(f.detail);
        if (older && current_case().older.empty()) current_case().older = printable(sentence(f));
        if (unwatched) current_case().unwatched = printable(f.kernel);
        if (failed && current_case().failed.name.empty())
            current_case().failed = {printable(f.kernel), printable(f.where), printable(f.detail)};
        return !is_fault(kind);
    });
    return found;
}

simulator_finding gravest(std::vector<simulator_finding> &found)
{
    auto gravity = [](const simulator_finding &f) {
        static const verdict order[] = {
            verdict::SKIPPED,    verdict::TIMEOUT, verdict::BARRIER_MISUSE, verdict::OUT_OF_BOUNDS,
            verdict::CUDA_ERROR, verdict::RACE,    verdict::UNINITIALISED};
        return std::find(std::begin(order), std::end(order), verdict_of(f)) - std::begin(order);
    };
    const auto worst =
        std::min_element(found.begin(), found.end(),
                         [&](const auto &x, const auto &y) { return gravity(x) < gravity(y); });
    return *cause_of(worst, found);
}

std::string hint_for(const simulator_finding &f, const std::vector<argument> &arguments)
{
    std::string hint = scratch_hint(f, arguments);
    if (hint.empty()) hint = second_call_hint(f);
    if (hint.empty()) hint = hint_of(f, arguments, lacks_order(f, arguments));
    return hint;
}

// Ends the case with the gravest finding, if there is one. `rank` made the report; -1: no ranks.
void check_report(const std::byte *from, const std::vector<argument> &arguments, int rank)
{
    if (options().keep_counts && rank <= 0) keep_counts({from, report_bytes});
    std::vector<simulator_finding> found = faults_in(from);
    if (found.empty()) return;
    const simulator_finding worst = gravest(found);
    case_record &r = current_case();
    if (reads_past_end(worst, r.may_read_on)) throw read_past_end{};
    r.unsupported = verdict_of(worst) == verdict::SKIPPED;
    if (takes_too_long(worst)) r.endless = r.function;
    if (!r.output_read.cause.empty() && reads_output(worst, arguments)) {
        r.about = r.output_read.function;
        end_case(verdict_of(worst), printable(sentence(worst)) + " " + r.output_read.cause,
                 r.output_read.next);
    }
    using path = std::filesystem::path;
    std::string on_rank = rank < 0 ? std::string() : fmt::format("Rank {}: ", rank);
    const bool of_submission = path(worst.file).filename() == path(options().source).filename();
    if (of_submission && !lacks_order(worst, arguments)) r.line = worst.line;
    end_case(verdict_of(worst), on_rank + printable(sentence(worst)), hint_for(worst, arguments));
}

// Keeps the devices' findings if the host code crashed, because they may be the reason: after a
// kernel's fault calls fail, and their results are never set.
void keep_before_crash(const answer &ran, const std::vector<argument> &arguments)
{
    current_case().before_crash = {};
    if (ran.report.size() < report_bytes) return;
    std::vector<simulator_finding> found = faults_in(ran.report.data());
    if (found.empty()) return;
    const simulator_finding worst = gravest(found);
    const bool goes_on =
        verdict_of(worst) == verdict::RACE || verdict_of(worst) == verdict::UNINITIALISED;
    current_case().before_crash = {
        " Before that: " + printable(sentence(worst)),
        (goes_on ? "" : "Begin with the kernel: after its fault every call fails. ") +
            hint_for(worst, arguments)};
}

constexpr double max_waited_ms = 300e3; // for the submission, in all correctness cases together
double waited_ms = 0;

answer ask_submission(const request &r, std::chrono::seconds limit, const std::string &function)
{
    answer a = submission_worker().ask(r, limit);
    waited_ms += a.waited_ms;
    if (a.how == worker_exit::timed_out) current_case().endless = function;
    if (waited_ms > max_waited_ms * options().patience) current_case().endless = "";
    return a;
}

// Fetches the simulator's findings and counters, from every rank.
void check_findings(std::uint64_t report_at, const std::vector<argument> &arguments)
{
    request ask;
    ask.what = command::report;
    ask.offset = report_at;
    ask.bytes = report_bytes;
    answer a = ask_submission(ask, std::chrono::seconds(10), "");
    require_answer(a, "reading the simulator's report");
    const std::byte *from = submission_worker().output().data() + report_at;
    int ranks = current_case().ranks;
    if (ranks == 0) {
        last_counters = counters_if_any(from);
        counters_of_calls.push_back(last_counters);
        return check_report(from, arguments, -1);
    }
    counts_of_ranks.clear();
    for (int k = 0; k < ranks; ++k, from += report_bytes) {
        check_report(from, arguments, k);
        counts_of_ranks.push_back(read_counters({from, report_bytes}).counts);
    }
}

// Checks by the counters of the last call that the host did not do the kernels' work. A speed case
// checks this itself, after looking for more telling faults.
void check_done_by_kernels(const char *function, const std::vector<argument> &arguments)
{
    if (!options().simulated || current_case().ranks || last_counters.empty()) return;
    if (current_case().what == kind::speed) return;
    check_host_stayed_out(function, places_of(arguments), counts_of_last_call());
}

request load_request(const std::vector<argument> &arguments, const char *function)
{
    request r;
    r.what = command::load;
    std::strncpy(r.function, function, sizeof r.function - 1);
    r.argument_count = static_cast<std::uint32_t>(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) r.arguments[i] = arguments[i].wire;
    return r;
}

request run_request(const char *function)
{
    request r;
    r.what = command::run;
    r.flags = begin_counting;
    r.calls = 1;
    std::strncpy(r.function, function, sizeof r.function - 1);
    return r;
}

// Describes the worker's answer to a load request, for messages.
std::string loading(const std::vector<argument> &arguments, const char *function)
{
    bool sized = std::any_of(arguments.begin(), arguments.end(),
                             [](const argument &a) { return a.wire.scratch; });
    return sized ? fmt::format("calling {}_scratch", function) : "handing over the arguments";
}

// Ends the case if this function, or the whole submission, already timed out.
void check_worth_trying(const std::string &function)
{
    const case_result *earlier = endless_before(current_case(), function);
    if (!earlier) return;
    current_case().tried = false;
    end_case(verdict::TIMEOUT, not_tried(function, *earlier));
}

[[noreturn]] void end_for_late_write(const argument &a)
{
    end_case(verdict::LATE_WRITE,
             fmt::format("{} still changed after the call had returned and the device was idle.",
                         argument_name(a, 0)),
             "Finish the work before returning: no thread of yours may go on.");
}

// Ends the case if simulated devices refused work after the call.
void check_refused_late(const answer &stored, const std::string &function)
{
    if (!stored.value.refused[0]) return;
    end_case(verdict::LATE_WRITE,
             fmt::format("{} was called after {} had returned: one of its threads goes on.",
                         printable(stored.value.refused), function),
             "Finish the work before returning: no thread of yours may go on.");
}

// Ends the case if simulated devices refused work before the call.
void check_refused_early(const answer &ran, const std::string &function)
{
    if (!ran.value.refused[0]) return;
    end_case(verdict::IMPLAUSIBLE,
             fmt::format("{} was called before {}: by a constructor, by a function that says how "
                         "much memory is needed, or by a thread of an earlier call. Devices refuse "
                         "work that nobody counts.",
                         printable(ran.value.refused), function),
             "All work belongs in the function that the case calls.");
}

// Makes one call with fresh poison: load, run, report, store. Returns true if the call left
// threads behind.
bool call_once(std::vector<argument> &arguments, call_images &images, const char *function,
               void *result, std::size_t result_bytes)
{
    // A submission may remember which peer access it enabled, or the number of multiprocessors.
    // When these change, it gets a fresh process.
    static std::pair<std::uint64_t, int> previous;
    const std::pair wanted(current_case().closed_peers, current_case().multiprocessors);
    if (std::exchange(previous, wanted) != wanted) restart_workers();
    last_counters.clear();
    images.fill(current_case().repeating);
    request load = load_request(arguments, function), run = run_request(function);
    // Another order exposes results that depend on the order of blocks and warps.
    if (current_case().repeating || options().random_schedule) run.flags |= another_order;
    if (options().simulated) {
        run.closed_peers = current_case().closed_peers;
        run.multiprocessors = current_case().multiprocessors;
    }
    if (streams_of_case() == stream_work::late) run.flags |= late_streams;
    if (streams_of_case() == stream_work::shuffled) run.flags |= shuffled_streams;
    if (options().simulated && current_case().any_blocks_first)
        run.flags |= another_order | any_blocks_first;
    run.launch_places = static_cast<std::uint32_t>(current_case().launch_places);
    if ((run.flags & another_order) != 0 && current_case().others_launch)
        run.flags |= others_launch;
    if (run.flags & (another_order | shuffled_streams))
        run.pattern = static_cast<std::uint32_t>(case_seed()) | 1;
    if (current_case().ranks)
        forget_call(); // a replay runs in one process
    else
        remember_call(load, run, image_start, images.end());
    answer loaded = ask_submission(load, std::chrono::seconds(30), "");
    if (lacks_device_memory(loaded)) {
        submission_worker() = worker();
        loaded = ask_submission(load, std::chrono::seconds(30), "");
        if (!lacks_device_memory(loaded)) end_for_leak(function);
        require_memory_in_naive({load});
    }
    require_answer(loaded, loading(arguments, function));
    for (argument &a : arguments) a.scratch_bytes = loaded.value.bytes;
    if (options().simulated) { // devices report there if the host code crashes
        run.offset = images.report_at();
        run.bytes = report_bytes;
    }
    answer ran = ask_submission(run, std::chrono::seconds(10) * options().patience, function);
    if (ran.how == worker_exit::answered) check_refused_early(ran, function);
    if (options().simulated && ran.how == worker_exit::answered)
        check_findings(images.report_at(), arguments);
    keep_before_crash(ran, arguments);
    require_answer(ran, fmt::format("calling {}", function));
    for (int k = 0; k < current_case().ranks; ++k) {
        auto at = static_cast<std::size_t>(k);
        results_of_ranks.push_back(ran.value.of_rank[at].result);
        if (at < counts_of_ranks.size())
            counts_of_ranks[at].message_bytes = ran.value.of_rank[at].sent_bytes;
    }
    if (std::uint32_t late = ran.value.changed_late; late && late <= arguments.size())
        end_case(
            verdict::LATE_WRITE,
            fmt::format("{} returned before {} was complete: work that it had put into streams "
                        "came later.",
                        function, argument_name(arguments[late - 1], 0)),
            "Wait for every stream that has a part in the result: cudaStreamSynchronize, "
            "cudaEventSynchronize or cudaDeviceSynchronize.");
    if (result && ran.value.returned_bytes != result_bytes) // benchmarks ignore the result
        end_case(verdict::PROTOCOL_ERROR, "The worker returned a result of another type.");
    if (result_bytes) std::memcpy(result, ran.value.result, result_bytes);
    request store;
    store.what = command::store;
    answer stored = ask_submission(store, std::chrono::seconds(30), function);
    require_answer(stored, "reading the results");
    check_refused_late(stored, function);
    if (std::uint32_t late = stored.value.changed_late; late && late <= arguments.size())
        end_for_late_write(arguments[late - 1]);
    return ran.value.threads_left > 0;
}

// Outputs must not change any more. If the call left threads behind, they get half a second to
// show.
void check_late_writes(const std::vector<argument> &arguments, bool threads_left,
                       const std::string &function)
{
    std::vector<std::vector<std::byte>> first;
    for (const argument &a : arguments) first.emplace_back(returned(a), returned(a) + a.wire.bytes);
    auto until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(threads_left ? 500 : 0);
    do {
        request store;
        store.what = command::store;
        const answer stored = ask_submission(store, std::chrono::seconds(30), function);
        require_answer(stored, "reading the results again");
        check_refused_late(stored, function);
        for (std::size_t j = 0; j < arguments.size(); ++j) {
            const argument &a = arguments[j];
            if (a.wire.where == argument_memory::value || parts_of(a.wire) > 1) continue;
            if (!std::equal(first[j].begin(), first[j].end(), returned(a))) end_for_late_write(a);
        }
    } while (std::chrono::steady_clock::now() < until);
}

void copy_back(std::vector<argument> &arguments)
{
    for (argument &a : arguments) {
        const argument_descriptor &s = a.wire;
        if (s.where == argument_memory::value || s.read_only) continue;
        std::uint64_t each = s.bytes / parts_of(s);
        for (unsigned k = 0; k < parts_of(s) && each; ++k)
            std::memcpy(static_cast<std::byte *>(a.data) + k * each, returned(a, k), each);
        current_case().outputs.push_back({a.data, s.name, parts_of(s) > 1 ? each / s.element : 0});
    }
}

// Keeps outputs of the second call that differ from the first's, so that comparisons judge both.
void keep_differing(std::vector<argument> &arguments)
{
    for (argument &a : arguments) {
        if (!a.keep_second) continue;
        const std::uint64_t each = a.wire.bytes / parts_of(a.wire);
        std::vector<std::byte> all; // the parts, without the guards between them
        for (unsigned k = 0; k < parts_of(a.wire); ++k)
            all.insert(all.end(), returned(a, k), returned(a, k) + each);
        const std::uint64_t first = a.written_first * a.wire.element;
        if (std::memcmp(static_cast<const std::byte *>(a.data) + first, all.data() + first,
                        a.written_count * a.wire.element) != 0)
            a.keep_second(a.second, all.data(), a.wire.bytes / a.wire.element);
    }
}

unwritten_lists both(const unwritten_lists &x, const unwritten_lists &y)
{
    unwritten_lists result(x.size());
    for (std::size_t j = 0; j < x.size(); ++j)
        std::set_intersection(x[j].begin(), x[j].end(), y[j].begin(), y[j].end(),
                              std::back_inserter(result[j]));
    return result;
}

} // namespace

stream_work streams_of_case()
{
    if (!options().simulated) return stream_work::as_queued;
    const case_record &r = current_case();
    const bool again = r.repeating && r.late_again && r.streams == stream_work::as_queued;
    return options().late_streams || again ? stream_work::late : r.streams;
}

std::span<const std::string> counters_of_each_call() { return counters_of_calls; }

void expect_work_of_kernels(double bytes, double multiplications)
{
    if (!options().simulated) return;
    counted all;
    if (current_case().ranks)
        for (const counted &of_rank : counts_of_ranks) {
            all.compulsory_bytes += of_rank.compulsory_bytes;
            all.multiplications += of_rank.multiplications;
        }
    else if (last_counters.empty())
        return;
    else
        all = counts_of_last_call();
    check_kernels_worked(current_case().function, bytes, multiplications, all);
}

std::string default_stream_hint()
{
    if (!counts_of_last_call().default_stream_alone) return {};
    return "A kernel went to the default stream, which your non-blocking streams do not wait for, "
           "nor it for them: is the stream named in every launch, fourth between <<< and >>>?";
}

bool kernels_stored() { return stored(counts_of_last_call()); }

void expect_changed_in_place(bool changed, std::string message, const std::string &otherwise)
{
    if (changed) return;
    const bool known = options().simulated && !last_counters.empty();
    const counted c = known ? counts_of_last_call() : counted();
    const std::string next = c.launches > 0 && !stored(c) ? none_stored(c, message) : otherwise;
    end_case(verdict::NOT_WRITTEN, message, next);
}

bool may_count_by_atomics()
{
    return last_counters.empty() || counts_of_last_call().atomic_requests > 0;
}

std::string idle_wait_hint()
{
    if (counts_of_last_call().idle_waits == 0) return {};
    return "A stream was told to wait for an event in which this call had recorded nothing yet: "
           "such a wait is over at once. Does cudaEventRecord come before cudaStreamWaitEvent?";
}

void name_arguments(const std::string &function, std::vector<argument> &arguments)
{
    if (function.starts_with("yardstick_")) return; // the grader's own kernels
    for (int i = 0; i < contract_size; ++i) {
        if (function != contract[i].name) continue;
        std::string names = contract[i].parameters;
        for (std::size_t j = 0, at = 0; j < arguments.size(); ++j) {
            std::size_t comma = std::min(names.find(',', at), names.size());
            names.copy(arguments[j].wire.name,
                       std::min(comma - at, sizeof(argument_descriptor::name) - 1), at);
            at = std::min(comma + 1, names.size());
        }
        return;
    }
    end_case(verdict::INFRA_ERROR, fmt::format("lab.hpp declares no {}.", function));
}

namespace {

// Switches to the simulator as long as `scope` lives. Ends the case if there is no simulator.
void use_simulator(std::optional<on_simulator> &scope)
{
    if (!simulated() && !can_count())
        end_case(verdict::SKIPPED, "This asks for the simulator, and there is none.");
    if (!simulated()) scope.emplace();
}

} // namespace

bool reads_on(const std::string &array, const std::function<void()> &call)
{
    std::optional<on_simulator> scope;
    use_simulator(scope);
    bool in_every_order = true, usual = options().random_schedule;
    current_case().may_read_on = array;
    for (bool random : {false, true}) {
        options().random_schedule = random;
        bool went = false;
        try {
            call();
        } catch (const read_past_end &) {
            went = true;
            restart_workers(); // this worker's device has failed
        } catch (...) {
            options().random_schedule = usual;
            throw;
        }
        in_every_order = in_every_order && went;
    }
    options().random_schedule = usual;
    current_case().may_read_on.clear();
    return in_every_order;
}

void expect_launches(const std::string &array, const std::function<void()> &call)
{
    current_case().only_launches = true;
    try {
        reads_on(array, call);
    } catch (const accepted_end &) {
        current_case().may_read_on.clear();
        restart_workers();
    }
    current_case().only_launches = false;
}

bool leaks(const std::function<void()> &call)
{
    std::optional<on_simulator> scope;
    use_simulator(scope);
    call(); // call twice: memory cached by the first call is not a leak
    return counts_of_last_call().kept_bytes > 0;
}

std::uint64_t leaked_handles(const std::function<void()> &call)
{
    std::optional<on_simulator> scope;
    use_simulator(scope);
    call();
    return counts_of_last_call().kept_handles;
}

namespace {

std::string numbers_of(const std::vector<argument> &arguments)
{
    std::vector<std::string> all;
    for (const argument &a : arguments)
        if (a.wire.where == argument_memory::value && a.show && a.wire.name[0])
            all.push_back(fmt::format("{} = {}", a.wire.name, a.show(a.value)));
    return fmt::format("{}", fmt::join(all, ", "));
}

// Returns the scratch bytes that the function asks for. The function itself is not called.
std::uint64_t ask_for_scratch(const char *function, std::vector<argument> arguments)
{
    check_worth_trying(function);
    current_case().function = function;
    name_arguments(function, arguments);
    current_case().numbers = numbers_of(arguments);
    call_images images(arguments);
    images.fill(false);
    request ask = load_request(arguments, function);
    ask.what = command::scratch;
    ask.flags = of_any_size;
    const answer asked = ask_submission(ask, std::chrono::seconds(30), "");
    require_answer(asked, fmt::format("calling {}_scratch", function));
    return asked.value.bytes;
}

} // namespace

void expect_scratch_for_many(const char *function,
                             const std::function<std::vector<argument>(int n)> &arguments)
{
    constexpr std::uint64_t any_device = std::uint64_t{1} << 42;
    std::uint64_t before = 0;
    int fewer = 0;
    for (int n : {1 << 28, 1 << 29, 1 << 30}) {
        const std::uint64_t bytes = ask_for_scratch(function, arguments(n));
        const std::string hint =
            "A product of ints holds no more than 2147483647, and comes out negative or small "
            "beyond: begin it with sizeof, or make one of its factors a size_t.";
        expect(bytes < any_device, verdict::WRONG_ANSWER,
               fmt::format("{}_scratch asks for {} bytes for {} elements, which no device has.",
                           function, bytes, n),
               hint);
        expect(bytes >= before, verdict::WRONG_ANSWER,
               fmt::format("{}_scratch asks for {} bytes for {} elements, and for only {} for {}.",
                           function, before, fewer, bytes, n),
               hint);
        before = bytes;
        fewer = n;
    }
}

void run_on_ranks(int ranks)
{
    current_case().lacking = options().mpirun.empty();
    if (current_case().lacking)
        end_case(verdict::SKIPPED,
                 "This needs several processes of Open MPI, which is not installed here (Debian, "
                 "Ubuntu: apt-get install libopenmpi-dev openmpi-bin, then ./workbook again).");
    // Open MPI starts processes and opens sockets, so only namespaces can confine it.
    if (options().require_sandbox && available_confinement(true) != confinement::namespaces) {
        current_case().lacking = true;
        end_case(verdict::SKIPPED,
                 "This needs several processes, which are shut off from the machine by namespaces "
                 "alone; they cannot be had here.");
    }
    current_case().ranks = ranks;
}

std::vector<counted> count_ranks(const std::function<void()> &call)
{
    std::optional<on_simulator> scope;
    use_simulator(scope);
    call();
    return counts_of_ranks;
}

std::span<const std::uint64_t> returned_by_ranks() { return results_of_ranks; }

void make_call(const char *function, std::vector<argument> arguments, void *result,
               std::size_t result_bytes)
{
    check_worth_trying(function);
    current_case().function = function;
    current_case().repeating = current_case().late_again = current_case().was_late = false;
    current_case().refused.clear();
    current_case().failed = {};
    current_case().older.clear();
    current_case().outputs.clear();
    results_of_ranks.clear();
    counters_of_calls.clear();
    name_arguments(function, arguments);
    current_case().numbers = numbers_of(arguments);
    for (argument &a : arguments) a.wire.last = current_case().may_read_on == a.wire.name;
    call_images images(arguments);

    bool threads_left = call_once(arguments, images, function, result, result_bytes);
    check_guards(arguments);
    unwritten_lists unwritten = still_poisoned(arguments);
    bool any =
        std::any_of(unwritten.begin(), unwritten.end(), [](const auto &l) { return !l.empty(); });
    if (!any) {
        check_inputs_unchanged(arguments);
        check_untouched(arguments);
    }
    check_late_writes(arguments, threads_left, function);
    check_done_by_kernels(function, arguments);
    copy_back(arguments);
    // Call twice to catch nondeterminism. On the simulator, skip the second call for large
    // arguments, unless some output still equals its poison.
    if (!any && options().simulated && images.end() - image_start > second_call_below) return;
    take_submission_text(current_case());
    current_case().repeating = true;
    current_case().late_again = current_case().was_late = counts_of_last_call().own_streams;
    call_once(arguments, images, function, result, result_bytes);
    check_guards(arguments);
    check_written(arguments, both(unwritten, still_poisoned(arguments)), function);
    check_inputs_unchanged(arguments);
    check_untouched(arguments);
    check_done_by_kernels(function, arguments);
    keep_differing(arguments);
    current_case().late_again = false;
}

} // namespace grading
