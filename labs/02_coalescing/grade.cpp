// Grades lab 02, coalescing.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace grading;
using floats = std::vector<float>;

// What wrong answers look like.

// The same value with the 11 significant bits that a half has.
static float as_half(float x)
{
    int exponent = 0;
    std::frexp(x, &exponent);
    float unit = std::ldexp(1.0f, std::max(exponent, -13) - 11);
    return std::nearbyint(x / unit) * unit;
}

static std::vector<misconception<float>> wrong_scales(const floats &in, int rows, int cols,
                                                      const floats &factor)
{
    auto scaled = [&in, &factor, rows, cols](auto source, auto which) {
        return [=, &in, &factor] {
            floats out;
            for (int row = 0; row < rows; ++row)
                for (int col = 0; col < cols; ++col) {
                    std::size_t column = which(row, col);
                    float f = column < factor.size() ? factor[column] : 0;
                    out.push_back(in[source(row, col)] * f);
                }
            return out;
        };
    };
    auto here = [cols](int row, int col) { return std::size_t(row) * cols + col; };
    auto mirrored = [rows](int row, int col) { return std::size_t(col) * rows + row; };
    auto its_column = [](int, int col) { return col; };
    return {
        {"Each row was scaled by a factor of its own.", "Index `factor` by the column.",
         scaled(here, [](int row, int) { return row; })},
        {"The elements were taken as if each column stood in one piece (column-major).",
         "lab.hpp says row-major: element i of the array is in row i / cols, column i % cols.",
         scaled(here, [=](int row, int col) { return here(row, col) / rows; })},
        {"The matrix was read transposed.",
         "The neighbour of in[i] in the same row is in[i + 1]; both arrays have the same shape.",
         scaled(mirrored, its_column)},
        {"Every element was scaled by factor[0].", "Which column is element i in? i % cols.",
         scaled(here, [](int, int) { return 0; })},
    };
}

// What each element that is wrong is, where that is its own times another column's factor.
static std::vector<misconception<float>> wrong_factors(const floats &in, const floats &factor,
                                                       const output<float> &got)
{
    constexpr std::size_t held_by_float = 1 << 24; // beyond, an index in floats is to blame
    const std::size_t cols = factor.size();
    auto column_taken = [&in, &factor, &got](std::size_t i) {
        auto fits = [&](float f) { return got[i] == in[i] * f; };
        return std::size_t(std::find_if(factor.begin(), factor.end(), fits) - factor.begin());
    };
    std::size_t first = 0;
    while (first < in.size() && got[first] == in[first] * factor[first % cols]) ++first;
    if (first == in.size() || in.size() > held_by_float) return {};
    const std::string i = std::to_string(first);
    return {{"Each of them was scaled by the factor of another column: out[" + i + "], in column " +
                 std::to_string(first % cols) + ", by factor[" +
                 std::to_string(column_taken(first)) + "].",
             "Which column does its thread compute for element " + i +
                 "? Where a thread has several elements, each has a column of its own, worked out "
                 "anew: of neighbours, too, since a row may end between two of them.",
             [&in, &factor, &got, cols, column_taken] {
                 floats out = got.values;
                 for (std::size_t k = 0; k < out.size(); ++k)
                     if (column_taken(k) == cols) out[k] = in[k] * factor[k % cols];
                 return out;
             }}};
}

static std::vector<misconception<float>> wrong_reads(const floats &a, const floats &b, int offset)
{
    auto sums = [&a, &b, offset](int from_a, int from_b) {
        return [&a, &b, offset, from_a, from_b] {
            floats c(a.size());
            for (std::size_t i = 0; i + offset < a.size(); ++i)
                c[i] = a[i + from_a] + b[i + from_b];
            return c;
        };
    };
    return {
        {"The offset was left out.", "Read a and b at i + offset.", sums(0, 0)},
        {"Only a was read from the offset on.", "Read b at i + offset too.", sums(offset, 0)},
        {"The offset was rounded down to a multiple of 4.",
         "A float4 begins at every fourth float: an offset between needs realigning, or loads of "
         "one float.",
         sums(offset / 4 * 4, offset / 4 * 4)},
    };
}

static std::vector<misconception<float>> wrong_writes(const floats &a, const floats &b)
{
    return {{"a and b were read from the offset on as well.",
             "Only c begins at the offset: c[i + offset] = a[i] + b[i].",
             [&a, &b] { return oracle::add(a, b); }}};
}

static std::vector<misconception<float>> wrong_sums(const floats &a, const floats &b)
{
    auto in_half = [&a, &b] {
        floats c(a.size());
        for (std::size_t i = 0; i < c.size(); ++i) c[i] = as_half(as_half(a[i]) + as_half(b[i]));
        return c;
    };
    return {
        {"The sums have the precision of half.", "Add as float; lab.hpp has no half.", in_half}};
}

// `sums` put at `first` into an array of n elements, as the contract puts them.
static floats put_at(std::size_t first, const floats &sums, std::size_t n)
{
    floats all(n);
    std::copy(sums.begin(), sums.end(), all.begin() + std::min(first, n));
    return all;
}

// One call each. The places say how many floats past a 256-byte boundary an array begins.

static void try_scale(int rows, int cols, int in_at = 0, int out_at = 0, int factor_at = 0)
{
    floats in = random_floats(std::size_t(rows) * cols), factor = random_floats(cols);
    output<float> out(in.size());
    CALL(scale_columns, misaligned(in, in_at), misaligned(out, out_at), rows, cols,
         misaligned(factor, factor_at));
    auto known = wrong_scales(in, rows, cols, factor);
    for (auto &other : wrong_factors(in, factor, out)) known.push_back(std::move(other));
    expect_equal(out, oracle::scale_columns(in, rows, cols, factor),
                 {std::size_t(rows), std::size_t(cols)}, known);
}

struct places {
    int a = 0, b = 0, c = 0;
};

static void try_read(int n, int offset, const places &at = {})
{
    floats a = random_floats(n), b = random_floats(n), sums = oracle::read_offset(a, b, offset);
    output<float> c(n, 0, sums.size());
    CALL(read_offset, misaligned(a, at.a), misaligned(b, at.b), misaligned(c, at.c), n, offset);
    expect_equal(c, put_at(0, sums, n), {}, [&] { return wrong_reads(a, b, offset); });
}

static void try_write(int n, int offset, const places &at = {})
{
    floats a = random_floats(n), b = random_floats(n), sums = oracle::write_offset(a, b, offset);
    output<float> c(n, std::min(offset, n), sums.size());
    CALL(write_offset, misaligned(a, at.a), misaligned(b, at.b), misaligned(c, at.c), n, offset);
    expect_equal(c, put_at(offset, sums, n), {}, [&] { return wrong_writes(a, b); });
}

static void try_add(int n, const places &at = {})
{
    floats a = random_floats(n), b = random_floats(n);
    output<float> c(n);
    CALL(add_unrolled, misaligned(a, at.a), misaligned(b, at.b), misaligned(c, at.c), n);
    expect_equal(c, oracle::add(a, b), {}, [&] { return wrong_sums(a, b); });
}

// Places of which no two arrays agree, and some where they do.
static const places odd_places[] = {{1, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},  {1, 2, 3},
                                    {3, 1, 0}, {2, 2, 1}, {4, 0, 8}, {5, 30, 7}, {31, 9, 33}};

// What is raced. On a GPU a call moves enough bytes to leave the L2 behind and, in naive, to occupy
// every multiprocessor with rows; and little enough that seven sets of arguments for each of two
// workers fit the device. Many calls make one timed run.
static double bytes_of_a_call()
{
    double bytes = std::max(2.0 * (1 << 20) * device().multiprocessors, 4.0 * device().l2_bytes);
    return std::min(bytes, device().memory_bytes / 14.0);
}

// New values for a stretch of `values` somewhere.
static std::span<std::byte> renew(floats &values, std::mt19937_64 &random)
{
    std::size_t count = std::min<std::size_t>(values.size(), 4096);
    std::size_t first = random() % (values.size() - count + 1);
    std::span<float> stretch = std::span(values).subspan(first, count);
    fill_random(stretch, random);
    return std::as_writable_bytes(stretch);
}

namespace {

constexpr int raced_cols = 64;

// Many more rows than a device runs threads, so that naive does not lack parallelism; and no whole
// number of blocks, so that who drops the tail is not timed.
int raced_rows()
{
    return simulated() ? 509 : static_cast<int>(bytes_of_a_call() / 8 / raced_cols) / 32 * 32 - 3;
}

class scaling : public workload {
public:
    explicit scaling(std::mt19937_64 &random)
        : rows_(raced_rows()),
          in_(std::size_t(rows_) * raced_cols),
          factor_(raced_cols),
          out_(in_.size())
    {
        fill_random(in_, random);
        fill_random(factor_, random);
    }
    const char *function() const override { return "scale_columns"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(scale_columns)>::arguments(in_, out_, rows_, int(raced_cols),
                                                          factor_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(in_, random), renew(factor_, random)};
    }
    void check() override
    {
        if (for_all(in_.size(), [this](std::size_t i) {
                return out_.values[i] == in_[i] * factor_[i % raced_cols];
            }))
            return;
        expect_equal(out_, oracle::scale_columns(in_, rows_, raced_cols, factor_),
                     {std::size_t(rows_), std::size_t(raced_cols)});
    }
    double bytes() const override { return 8.0 * double(in_.size()); }

private:
    int rows_;
    floats in_, factor_;
    output<float> out_;
};

enum class sum_of { reading, writing, adding };

class summing : public workload {
public:
    summing(std::mt19937_64 &random, sum_of what, int offset)
        : what_(what),
          offset_(offset),
          n_(size()),
          a_(n_),
          b_(n_),
          c_(n_, what == sum_of::writing ? offset : 0, n_ - offset)
    {
        fill_random(a_, random);
        fill_random(b_, random);
    }
    static int size() // no whole number of blocks, as in scaling
    {
        return (simulated() ? 1 << 16 : static_cast<int>(bytes_of_a_call() / 12) / 1024 * 1024) -
               35;
    }
    const char *function() const override
    {
        return what_ == sum_of::reading   ? "read_offset"
               : what_ == sum_of::writing ? "write_offset"
                                          : "add_unrolled";
    }
    std::vector<argument> arguments() override
    {
        if (what_ == sum_of::reading)
            return remote<decltype(read_offset)>::arguments(a_, b_, c_, n_, offset_);
        if (what_ == sum_of::writing)
            return remote<decltype(write_offset)>::arguments(a_, b_, c_, n_, offset_);
        return remote<decltype(add_unrolled)>::arguments(a_, b_, c_, n_);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(a_, random), renew(b_, random)};
    }
    void check() override
    {
        std::size_t from = what_ == sum_of::reading ? offset_ : 0;
        if (for_all(c_.count, [this, from](std::size_t i) {
                return c_.values[c_.first + i] == a_[i + from] + b_[i + from];
            }))
            return;
        floats sums = what_ == sum_of::reading   ? oracle::read_offset(a_, b_, offset_)
                      : what_ == sum_of::writing ? oracle::write_offset(a_, b_, offset_)
                                                 : oracle::add(a_, b_);
        expect_equal(c_, put_at(c_.first, sums, n_));
    }
    double bytes() const override { return 12.0 * (n_ - offset_); }

private:
    sum_of what_;
    int offset_, n_;
    floats a_, b_;
    output<float> c_;
};

} // namespace

static make_workload sums_at(sum_of what, int offset)
{
    return [=](std::mt19937_64 &random) { return std::make_unique<summing>(random, what, offset); };
}

// Sectors moved for an element of the result; bytes used of a sector alone would not see that
// everything is read twice.
static counted_gate sectors_an_element(bool stores, int offset, double most)
{
    return at_most(
        stores ? "sectors stored an element" : "sectors loaded an element", {most}, "",
        stores ? "Is each element stored once? Then a store of a warp that begins within a sector "
                 "touches five for four: let every warp begin its stores at a sector boundary, and "
                 "handle both ends one by one."
               : "Is each element loaded once? Twice, by two warps, is twice as much. A load of a "
                 "warp that begins within a sector touches five for four: load from the boundary "
                 "before, pass the floats on between lanes, and handle both ends one by one.",
        [=](const counted &c) {
            return double(stores ? c.store_sectors : c.load_sectors) / (summing::size() - offset);
        });
}

// What goes another way is in no count of loads and stores: textures and atomics, local memory,
// constants, copies.
static counted_gate by_loads_and_stores()
{
    return at_most("bytes by textures and atomics", {0.01}, "%",
                   "They move the same sectors. Load and store here, so that it is seen which.",
                   [](const counted &c) {
                       double all = moved_sectors(c);
                       return all > 0 ? 1 - double(c.load_sectors + c.store_sectors) / all : 0;
                   });
}

// 1024 threads with 32 floats each, which is more than helps, have two blocks here.
constexpr double least_share = 1.5;

// Not timed: a misaligned offset costs a few per cent where caches are large.
static speed_gates offset_gates(int offset)
{
    speed_gates gates;
    gates.counted = {by_loads_and_stores(),
                     sectors_an_element(false, offset, 0.27),
                     sectors_an_element(true, offset, 0.13),
                     used_by_loads(0.97),
                     used_by_stores(0.97),
                     lanes_at_work(),
                     blocks_share(least_share)};
    return gates;
}

static counted_gate bytes_loaded_a_thread(double least)
{
    return at_least(
        "bytes loaded a thread", {least}, "",
        "A thread that has only two floats on their way waits for them most of the time.",
        [](const counted &c) { return c.threads ? double(c.load_bytes) / double(c.threads) : 0; });
}

// The quiz.

static const char *name_of(pattern_kind kind)
{
    static const char *const names[] = {"contiguous", "reversed",  "shuffled",    "one_address",
                                        "strided",    "scattered", "two_rows",    "first_lanes",
                                        "even_lanes", "bytes",     "float2_each", "float4_each"};
    return names[static_cast<int>(kind)];
}

static const char *hint_for(pattern_kind kind)
{
    switch (kind) {
    case pattern_kind::reversed:
    case pattern_kind::shuffled:
        return "Does it matter which lane reads which address?";
    case pattern_kind::one_address:
        return "How many different addresses are there?";
    case pattern_kind::strided:
        return "Up to a stride of one piece no piece in between is skipped; beyond, how many lanes "
               "share one?";
    case pattern_kind::first_lanes:
    case pattern_kind::even_lanes:
        return "Only lanes that read count; but a piece counts whole.";
    case pattern_kind::two_rows:
        return "Two runs of 64 bytes. Can they share a piece?";
    default:
        return "Where do the first and the last byte lie? Divide both by the size of the piece.";
    }
}

// Neighbours that read so many bytes together, from byte `first` on.
static prediction of_neighbours(int first, int bytes)
{
    auto pieces = [=](int size) { return (first + bytes - 1) / size - first / size + 1; };
    return {pieces(32), pieces(128)};
}

// Whether every answer for a kind of neighbours is right for a p of another unit; and which unit.
static std::string unit_taken(pattern_kind kind, const std::vector<access_pattern> &patterns,
                              const output<prediction> &answers)
{
    struct {
        const char *name;
        int bytes;
    } constexpr units[] = {{"bytes", 1}, {"floats", 4}, {"float2", 8}, {"float4", 16}};
    int size = kind == pattern_kind::bytes         ? 1
               : kind == pattern_kind::contiguous  ? 4
               : kind == pattern_kind::float2_each ? 8
               : kind == pattern_kind::float4_each ? 16
                                                   : 0;
    std::string only;
    for (const auto &unit : units) {
        if (size == 0 || unit.bytes == size) continue;
        bool all = true;
        for (std::size_t i = 0; i < patterns.size(); ++i) {
            if (patterns[i].kind != kind) continue;
            prediction like = of_neighbours(unit.bytes * patterns[i].parameter, 32 * size);
            all &= answers[i].sectors == like.sectors && answers[i].lines == like.lines;
        }
        if (!all) continue;
        if (!only.empty()) return {};
        only = unit.name;
    }
    return only;
}

// Whether a kind has one answer for every p above 0, where more than one would be right.
static bool one_for_all(pattern_kind kind, const std::vector<access_pattern> &patterns,
                        const output<prediction> &answers)
{
    std::set<std::pair<int, int>> given, right;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (patterns[i].kind != kind || patterns[i].parameter == 0) continue;
        prediction of_p = oracle::predict(patterns[i]);
        given.insert({answers[i].sectors, answers[i].lines});
        right.insert({of_p.sectors, of_p.lines});
    }
    return given.size() == 1 && right.size() > 1;
}

static void quiz(const std::vector<access_pattern> &patterns)
{
    output<prediction> answers(patterns.size());
    CALL(predict, host(patterns), host(answers), static_cast<int>(patterns.size()));
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        const access_pattern &pattern = patterns[i];
        prediction got = answers[i], right = oracle::predict(pattern);
        if (got.sectors == right.sectors && got.lines == right.lines) continue;
        std::string unit = unit_taken(pattern.kind, patterns, answers);
        const bool same = one_for_all(pattern.kind, patterns, answers);
        expect(false, verdict::WRONG_ANSWER,
               std::string("predict says that ") + name_of(pattern.kind) + " with p = " +
                   std::to_string(pattern.parameter) + " touches " + std::to_string(got.sectors) +
                   " sectors and " + std::to_string(got.lines) + " lines; it touches " +
                   std::to_string(right.sectors) + " and " + std::to_string(right.lines) + "." +
                   (unit.empty() ? "" : " It would, if p counted " + unit + ".") +
                   (same ? " It says the same for every p above 0." : ""),
               unit.empty()
                   ? (same ? "Does your rule use p itself, or only whether it is 0? " : "") +
                         std::string(hint_for(pattern.kind))
                   : "lab.hpp says beside each kind in which unit its p counts.");
    }
}

// Parameters that everybody should know, and some that nobody can.
static void ask(std::vector<access_pattern> &patterns, pattern_kind kind, std::vector<int> known,
                int low, int high)
{
    for (int k = 0; k < 4; ++k) known.push_back(random_between(low, high));
    for (int p : known) patterns.push_back({kind, p});
}

CORRECTNESS_CASE("scale_columns: a small matrix", 0.5) { try_scale(3, 5); }

CORRECTNESS_CASE("scale_columns: sizes around a warp and a block", 0.5)
{
    for (int rows : {1, 31, 32, 33}) try_scale(rows, 33);
    for (int cols : {1, 31, 32, 255, 256, 257}) try_scale(7, cols);
}

CORRECTNESS_CASE("scale_columns: more columns than rows", 0.5)
{
    try_scale(2, 1031);
    try_scale(1, 1);
    try_scale(13, 509);
}

CORRECTNESS_CASE("scale_columns: more rows than columns", 0.5)
{
    try_scale(1021, 3);
    try_scale(311, 37);
    // More rows than a grid has blocks in its second dimension, 32 rows to each; and so many
    // elements that a float does not hold their numbers.
    try_scale(2100001, 8);
}

CORRECTNESS_CASE("scale_columns: no rows or no columns", 0.5)
{
    try_scale(2, 2); // nothing at all is no answer
    try_scale(0, 7);
    try_scale(7, 0);
    try_scale(0, 0);
}

CORRECTNESS_CASE("scale_columns: arrays that begin anywhere", 0.5)
{
    for (int in_at = 0; in_at < 4; ++in_at)
        for (int out_at = 0; out_at < 4; ++out_at) try_scale(23, 36, in_at, out_at, in_at ^ out_at);
    for (const places &at : odd_places) try_scale(19, 41, at.a, at.b, at.c);
}

SPEED_CASE("scale_columns: speed", 5.5, 10)
{
    speed_gates gates;
    gates.speedup = 3;
    gates.copy = {0.45, 0.65, 0.90}; // one float a thread, coalesced: 58 % on an H200
    gates.counted = {
        by_loads_and_stores(), used_by_loads(0.95), used_by_stores(0.95),
        // 12 with a factor for each element; a sector for each loads and stores 64.
        moved_bytes(
            "an element", [] { return double(raced_rows()) * raced_cols; }, {24},
            "Lanes that ask for one element have a sector to themselves. Let each lane of a warp "
            "handle another element of a row."),
        lanes_at_work(), blocks_share(least_share)};
    gates.too_slow = "Do the lanes of a warp handle neighbours in a row? Where they do, more bytes "
                     "on their way help: several elements a thread, or float4.";
    race([](std::mt19937_64 &random) { return std::make_unique<scaling>(random); }, gates);
}

// The cases of read_offset and write_offset, which differ in the side that is offset.
using try_offset = void (*)(int n, int offset, const places &at);

static void every_offset(try_offset one)
{
    // Downwards: at 33 more mistakes can be told apart than at 1.
    for (int offset = 33; offset >= 0; --offset) one(1000, offset, {});
}

static void sizes_around_a_warp_and_a_block(try_offset one)
{
    for (int n : {1, 31, 32, 33, 255, 256, 257, 1023, 1025, 4099}) {
        one(n, 0, {});
        one(n, 1, {});
        one(n + 5, 5, {});
    }
}

static void offsets_at_the_end(try_offset one)
{
    for (int offset : {99, 100, 101, 1000}) one(100, offset, {});
    one(0, 0, {});
    one(0, 3, {});
}

static void arrays_anywhere(try_offset one)
{
    for (const places &at : odd_places)
        for (int offset : {0, 6, 11}) one(1237, offset, at);
    // Whole blocks, of whatever size, less up to a sector: who begins at the boundary before the
    // first element needs a warp more than who does not.
    for (int less = 0; less < 8; ++less) one(4096 + 11 - less, 11, odd_places[less]);
}

CORRECTNESS_CASE("read_offset: a small array", 0.5) { try_read(10, 3); }

CORRECTNESS_CASE("read_offset: every offset within a line", 0.5) { every_offset(try_read); }

CORRECTNESS_CASE("read_offset: sizes around a warp and a block", 0.5)
{
    sizes_around_a_warp_and_a_block(try_read);
}

CORRECTNESS_CASE("read_offset: an offset at the end or beyond it", 0.5)
{
    offsets_at_the_end(try_read);
}

CORRECTNESS_CASE("read_offset: arrays that begin anywhere", 1) { arrays_anywhere(try_read); }

SPEED_CASE("read_offset: sectors at offset 11", 5.5, 0)
{
    race(sums_at(sum_of::reading, 11), offset_gates(11));
}

CORRECTNESS_CASE("write_offset: a small array", 0.5) { try_write(10, 3); }

CORRECTNESS_CASE("write_offset: every offset within a line", 0.5) { every_offset(try_write); }

CORRECTNESS_CASE("write_offset: sizes around a warp and a block", 0.5)
{
    sizes_around_a_warp_and_a_block(try_write);
}

CORRECTNESS_CASE("write_offset: an offset at the end or beyond it", 0.5)
{
    offsets_at_the_end(try_write);
}

CORRECTNESS_CASE("write_offset: arrays that begin anywhere", 1) { arrays_anywhere(try_write); }

SPEED_CASE("write_offset: sectors at offset 11", 5.5, 0)
{
    race(sums_at(sum_of::writing, 11), offset_gates(11));
}

CORRECTNESS_CASE("add_unrolled: a small array", 0.5) { try_add(10); }

CORRECTNESS_CASE("add_unrolled: every length of a tail", 1)
{
    for (int n = 0; n <= 40; ++n) try_add(n);
    for (int n = 1020; n <= 1028; ++n) try_add(n);
}

CORRECTNESS_CASE("add_unrolled: sizes around a block", 0.5)
{
    for (int n : {255, 256, 257, 511, 513, 2047, 2049, 8209}) try_add(n);
    try_add(simulated() ? 20011 : 5000011);
}

CORRECTNESS_CASE("add_unrolled: arrays that begin anywhere", 1)
{
    for (const places &at : odd_places) {
        try_add(1237, at);
        try_add(2, at);
        // The first of these places are the same for all three arrays.
        hint_misaligned(
            "Where all three arrays begin equally far behind a multiple of 16 bytes it was right: "
            "is the head peeled for one of them, or only one's address tested? The others may "
            "begin elsewhere: ask each, and load floats where float4 is not allowed.");
    }
}

SPEED_CASE("add_unrolled: speed", 5.5, 0)
{
    speed_gates gates;
    // Not timed: naive reaches 81 % of the copy bandwidth of an H200.
    // 32 bytes a thread, but for the threads behind the last element.
    gates.counted = {by_loads_and_stores(),
                     used_by_loads(0.95),
                     used_by_stores(0.95),
                     bytes_loaded_a_thread(31),
                     sectors_an_element(false, 0, 0.27),
                     lanes_at_work(),
                     blocks_share(least_share)};
    gates.too_slow = "Too few bytes are on their way at a time. Let each thread load several "
                     "elements, or float4, before it uses the first.";
    race(sums_at(sum_of::adding, 0), gates);
}

CORRECTNESS_CASE("predict: neighbours", 2.5)
{
    std::vector<access_pattern> patterns;
    ask(patterns, pattern_kind::contiguous, {0, 1, 8, 11, 32}, 2, 4096);
    ask(patterns, pattern_kind::reversed, {0, 3}, 1, 4096);
    ask(patterns, pattern_kind::shuffled, {0, 5}, 1, 4096);
    ask(patterns, pattern_kind::one_address, {0}, 1, 4096);
    ask(patterns, pattern_kind::bytes, {0, 1, 100}, 2, 4096);
    ask(patterns, pattern_kind::float2_each, {0, 1, 4, 8}, 2, 4096);
    ask(patterns, pattern_kind::float4_each, {0, 1, 2, 4, 8}, 2, 4096);
    quiz(patterns);
}

CORRECTNESS_CASE("predict: far apart", 2)
{
    std::vector<access_pattern> patterns;
    ask(patterns, pattern_kind::strided, {1, 2, 8, 32}, 3, 100);
    ask(patterns, pattern_kind::strided, {}, 3, 31);
    ask(patterns, pattern_kind::scattered, {0}, 1, 1023);
    quiz(patterns);
}

CORRECTNESS_CASE("predict: part of a warp, and two rows", 1.5)
{
    std::vector<access_pattern> patterns;
    ask(patterns, pattern_kind::first_lanes, {1, 16, 32}, 2, 31);
    ask(patterns, pattern_kind::even_lanes, {0, 1}, 2, 4096);
    ask(patterns, pattern_kind::two_rows, {16, 32, 33}, 17, 31);
    ask(patterns, pattern_kind::two_rows, {}, 34, 4096);
    quiz(patterns);
}
