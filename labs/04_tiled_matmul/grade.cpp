// Grades lab 04, tiled matrix multiplication.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace grading;
// Whole numbers make every sum exact, in whatever order: a wrong one can be told from its cause.
static floats whole_numbers(std::size_t n)
{
    std::vector<int> drawn = random_ints(n, -9, 9);
    return floats(drawn.begin(), drawn.end());
}

// One call each.

struct places { // in floats past a 256-byte boundary
    int first = 0, second = 0, result = 0;
};
// Places of which no two matrices agree within a float4, and some where they do.
static const places odd_places[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 2, 3},
                                    {3, 1, 2}, {2, 2, 2}, {4, 8, 12}};

static floats inputs_for(std::size_t n, bool whole)
{
    return whole ? whole_numbers(n) : random_floats(n);
}

static void judge_product(const output<float> &P, const floats &M, const floats &N, const shape &s)
{
    oracle::product right = oracle::matmul(M, N, s.j, s.k, s.l);
    expect_close(P, right.values, s.k, right.magnitudes, {std::size_t(s.j), std::size_t(s.l)},
                 wrong_products(M, N, s));
}

static void try_square(int width, bool whole = true, const places &at = {})
{
    shape s{width, width, width};
    floats M = inputs_for(area(width, width), whole), N = inputs_for(area(width, width), whole);
    output<float> P(area(width, width));
    P.row = std::size_t(width);
    hint_past_the_end("P has `width` rows and `width` columns: are both the row and the column of "
                      "each element that a thread stores compared with width? Beyond the last "
                      "column, row * width + column lies in the next row.",
                      "P");
    CALL(matmul_square, misaligned(M, at.first), misaligned(N, at.second), misaligned(P, at.result),
         width);
    judge_product(P, M, N, s);
}

static void say_what_reading_C_means()
{
    reading_an_output_means("C was read although beta is 0: it may hold anything, NaN included.",
                            "Where beta is 0, C is only written: 0 times NaN is NaN, and so is 0 "
                            "times infinity.",
                            "sgemm");
}

// The mistake may be in the call by matmul or in sgemm; this message must serve both.
static void say_what_reading_P_means()
{
    reading_an_output_means(
        "matmul must not use the old contents of P: they may be anything, NaN included.",
        "If matmul is sgemm with other factors: is beta 0 in that call, and "
        "is C left unread where beta is 0? 0 times NaN is NaN, and so is 0 "
        "times infinity.",
        "sgemm");
}

static void try_matmul(const shape &s, bool whole = true, const places &at = {})
{
    floats M = inputs_for(area(s.j, s.k), whole), N = inputs_for(area(s.k, s.l), whole);
    output<float> P(area(s.j, s.l));
    P.row = std::size_t(s.l);
    say_what_reading_P_means();
    hint_past_the_end("Each matrix has its own row length, and each index its own bound: M is "
                      "j x k, N is k x l, P is j x l.");
    CALL(matmul, misaligned(M, at.first), misaligned(N, at.second), misaligned(P, at.result), s.j,
         s.k, s.l);
    judge_product(P, M, N, s);
}

static const char *const unchanged =
    "sgemm returned, and every element of C is what it was before.";

static bool same_bytes(const floats &x, const floats &y)
{
    return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

struct factors {
    float alpha, beta;
};

static void try_sgemm(const factors &f, const shape &s, const floats &before, bool whole = true,
                      const places &at = {})
{
    floats A = inputs_for(area(s.j, s.k), whole), B = inputs_for(area(s.k, s.l), whole);
    output<float> C = changed_in_place(before);
    C.row = std::size_t(s.l);
    reading_an_output_means({}, {}, {}); // C may be read
    if (f.beta == 0) say_what_reading_C_means();
    hint_past_the_end("Each matrix has its own row length, and each index its own bound: A is "
                      "j x k, B is k x l, C is j x l.");
    CALL(sgemm, f.alpha, misaligned(A, at.first), misaligned(B, at.second), f.beta,
         misaligned(C, at.result), s.j, s.k, s.l);
    oracle::product right = oracle::sgemm(f.alpha, A, B, f.beta, before, s.j, s.k, s.l);
    bool must_change = !same_bytes(before, floats(right.values.begin(), right.values.end()));
    expect_changed_in_place(!must_change || !same_bytes(C.values, before), unchanged);
    misconceptions known = wrong_scalings(f.alpha, A, B, f.beta, before, s);
    expect_close(C, right.values, s.k + 1, right.magnitudes, {std::size_t(s.j), std::size_t(s.l)},
                 known);
}

static void try_sgemm(const factors &f, const shape &s, bool whole = true, const places &at = {})
{
    floats before = inputs_for(area(s.j, s.l), whole);
    try_sgemm(f, s, before, whole, at);
}

// Sizes where tiles of 16, 32, 64 or 128 begin, end, or hang over the edge in one direction only.
static const shape around_tiles[] = {{1, 1, 1},    {15, 16, 17},  {16, 17, 15},   {17, 15, 16},
                                     {31, 32, 33}, {33, 31, 32},  {32, 33, 31},   {32, 32, 48},
                                     {64, 7, 65},  {63, 40, 64},  {127, 20, 129}, {129, 9, 127},
                                     {16, 16, 16}, {128, 17, 16}, {20, 36, 28}};
static const shape wide_and_tall[] = {{1, 300, 1}, {2, 3, 301}, {301, 3, 2},
                                      {1, 1, 257}, {257, 1, 1}, {5, 259, 7}};
// More rows than a grid has blocks in y, and more columns than a fixed grid may have threads.
static const shape longest[] = {{70000, 1, 2}, {2, 1, 70000}};
static const shape with_nothing[] = {{0, 3, 4}, {3, 4, 0}, {0, 0, 0}};

// The speed cases. On a GPU two or three workers hold five sets of arguments each.

// New values for a stretch of `values` somewhere.
static std::span<std::byte> renew(floats &values, std::mt19937_64 &random)
{
    std::size_t count = std::min<std::size_t>(values.size(), 4096);
    std::size_t first = random() % (values.size() - count + 1);
    std::span<float> stretch = std::span(values).subspan(first, count);
    fill_random(stretch, random);
    return std::as_writable_bytes(stretch);
}

// Flips the signs of random rows of `values`, which changes the whole product, so that results kept
// from an earlier call are of little use.
static std::span<std::byte> turn_rows(floats &values, int rows, int cols, std::mt19937_64 &random)
{
    std::vector<bool> turned(static_cast<std::size_t>(rows));
    for (std::size_t row = 0; row < turned.size(); ++row) turned[row] = random() % 2 != 0;
    for_all(turned.size(), [&](std::size_t row) {
        const auto first = values.begin() + std::ptrdiff_t(area(int(row), cols));
        if (turned[row]) std::transform(first, first + cols, first, std::negate<>());
        return true;
    });
    return std::as_writable_bytes(std::span(values));
}

// The sum of `rows` rows of `cols` elements, each row with its own factor.
template <class Factor> static std::vector<double>
fold(const floats &matrix, const std::vector<Factor> &factor, int rows, int cols)
{
    std::vector<double> sum(cols);
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            sum[col] += double(factor[row]) * matrix[area(row, cols) + col];
    return sum;
}

namespace {

enum class function { square, general, scaled };

class multiplying : public workload {
public:
    multiplying(std::mt19937_64 &random, enum function what, const shape &s)
        : what_(what), s_(s), A_(area(s.j, s.k)), B_(area(s.k, s.l)), result_(area(s.j, s.l))
    {
        fill_random(A_, random);
        fill_random(B_, random);
        if (what == function::scaled) {
            before_.resize(area(s.j, s.l));
            fill_random(before_, random);
            result_ = changed_in_place(before_);
        }
        draw_signs();
    }
    const char *function() const override
    {
        return what_ == function::square    ? "matmul_square"
               : what_ == function::general ? "matmul"
                                            : "sgemm";
    }
    std::vector<argument> arguments() override
    {
        if (what_ == function::square)
            return remote<decltype(matmul_square)>::arguments(A_, B_, result_, s_.j);
        if (what_ == function::general)
            return remote<decltype(matmul)>::arguments(A_, B_, result_, s_.j, s_.k, s_.l);
        return remote<decltype(sgemm)>::arguments(alpha, A_, B_, beta, result_, s_.j, s_.k, s_.l);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        if (scaled()) std::copy(before_.begin(), before_.end(), result_.values.begin());
        draw_signs();
        return {renew(A_, random), turn_rows(B_, s_.k, s_.l, random)};
    }
    // Freivalds: with rows added up by random signs u, uP must be (uA)B; that takes time in the
    // size of the matrices. Rounding in float has no preferred direction, so the bound grows with
    // the root of the rows: it lets pass 12 times what one long chain of multiply-adds is expected
    // to leave, and of what TF32 or half leave, a thirteenth at 4096 terms and less at fewer.
    void check() override
    {
        expect(!scaled() || !same_bytes(result(), before_), verdict::NOT_WRITTEN, unchanged,
               does_a_kernel_write);
        std::vector<double> got = fold(result(), signs_, s_.j, s_.l);
        std::vector<double> want = fold(B_, fold(A_, signs_, s_.j, s_.k), s_.k, s_.l);
        if (scaled()) {
            std::vector<double> old = fold(before_, signs_, s_.j, s_.l);
            for (int c = 0; c < s_.l; ++c) want[c] = alpha * want[c] + beta * old[c];
        }
        double bound = 12 * usual_error() * std::sqrt(s_.j);
        for (int c = 0; c < s_.l; ++c)
            if (!(std::abs(got[c] - want[c]) <= bound)) end_at_column(c); // NaN is never right
    }
    double bytes() const override
    {
        return 4.0 * double(A_.size() + B_.size() + (scaled() ? 2 : 1) * result().size());
    }
    double multiply_adds() const override { return 1.0 * s_.j * s_.k * s_.l; }

private:
    static constexpr float alpha = 0.75f, beta = -0.5f;
    bool scaled() const { return what_ == function::scaled; }
    const floats &result() const { return result_.values; }
    // Not from the inputs' generator, whose output a submission sees.
    void draw_signs()
    {
        std::mt19937_64 random(unforeseen());
        signs_.resize(s_.j);
        for (float &sign : signs_) sign = random() % 2 ? 1.0f : -1.0f;
    }
    // The error of an element when k terms in [-1, 1) are added one after the other: u * k /
    // sqrt(54).
    double usual_error() const { return std::ldexp(s_.k, -24) / std::sqrt(54.0); }

    [[noreturn]] void end_at_column(int col)
    {
        std::vector<double> right =
            oracle::column(scaled() ? alpha : 1, A_, B_, s_.j, s_.k, s_.l, col);
        int worst = 0;
        double largest = -1;
        for (int row = 0; row < s_.j; ++row) {
            std::size_t i = area(row, s_.l) + col;
            if (scaled()) right[row] += double(beta) * before_[i];
            double error = std::abs(result()[i] - right[row]);
            if (error <= largest) continue;
            largest = error;
            worst = row;
            if (!std::isfinite(error)) break;
        }
        float got = result()[area(worst, s_.l) + col];
        bool close = largest < 2e-3 * std::sqrt(double(s_.k));
        expect(false, verdict::WRONG_ANSWER,
               "Column " + std::to_string(col) +
                   " of the product is wrong; its worst element, row " + std::to_string(worst) +
                   ", should be " + show_element(float(right[worst])) + " and is " +
                   show_element(got) + "." +
                   (close ? " That is close, but not as precise as float arithmetic." : ""),
               close ? "Compute in float throughout: no half precision, no TF32."
                     : "The smaller cases are right, so look for what only large matrices have: "
                       "many blocks, many tiles, an edge within a tile.");
        std::abort(); // expect has ended the case
    }

    enum function what_;
    shape s_;
    floats A_, B_, before_, signs_;
    output<float> result_;
};

} // namespace

// Large enough to keep every multiprocessor of a large GPU busy for some time, and for a small one
// to be through with naive in a tenth of a second. No whole number of tiles, but for the squares.
static shape raced(enum function what)
{
    if (simulated()) {
        if (what == function::square) return {192, 192, 192};
        return what == function::general ? shape{253, 95, 255} : shape{255, 95, 251};
    }
    bool large = device().multiprocessors >= 80;
    if (what == function::square) return large ? shape{4096, 4096, 4096} : shape{2048, 2048, 2048};
    if (what == function::general) return large ? shape{4001, 3001, 2999} : shape{2001, 1501, 1499};
    return large ? shape{2999, 2001, 4001} : shape{1499, 1001, 2001};
}

static make_workload product_of(enum function what)
{
    return [=](std::mt19937_64 &random) {
        return std::make_unique<multiplying>(random, what, raced(what));
    };
}

static double multiply_adds(enum function what)
{
    shape s = raced(what);
    return 1.0 * s.j * s.k * s.l;
}

static counted_gate sectors_a_multiply_add(enum function what)
{
    counted_gate gate =
        at_most("sectors per multiply-add", {0.02}, "",
                "Every element is loaded from global memory for each sum that it is part of. Let "
                "the threads of a block load a tile into shared memory together, and take their "
                "terms from there.",
                [=](const counted &c) { return moved_sectors(c) / multiply_adds(what); });
    // Loads that would do if lanes had neighbours.
    gate.cause = [=](const counted &c) -> std::string {
        const double needed = double(c.load_ideal_sectors + c.store_sectors);
        const bool tiled = needed / multiply_adds(what) <= 0.03 && c.shared_wavefronts > 0;
        if (!tiled || c.load_sectors < 2 * c.load_ideal_sectors) return {};
        return "The loads request few floats, but each lane's float lies in a sector of its own: "
               "do "
               "neighbouring lanes, whose threadIdx.x differs by one, load from neighbouring "
               "columns of one row?";
    };
    return gate;
}

static counted_gate wavefronts_a_multiply_add(enum function what)
{
    return at_most(
        "shared wavefronts per multiply-add", {0.08}, "", // a padded tile of 16 has 0.0703
        "Lanes of a warp ask one bank of shared memory for different words, and are "
        "served one after the other. Let neighbouring lanes take neighbouring columns, "
        "or the same word.",
        [=](const counted &c) { return double(c.shared_wavefronts) / multiply_adds(what); });
}

static counted_gate accesses_a_multiply_add(enum function what)
{
    return at_most("accesses per multiply-add", {0.045, 0.025, 0.015}, "",
                   "Each multiply-add takes two floats from memory, shared or global, and the "
                   "units that load them are busier than those that multiply.",
                   [=](const counted &c) { return accesses(c) / multiply_adds(what); });
}

// Tiles of 256 x 128, of which two cover these products, and one of those may be half empty.
constexpr double least_share = 1.4;

static speed_gates gates_of(enum function what)
{
    speed_gates gates;
    gates.speedup = 2.5;
    gates.fma = {0, 0.45, 0.65};
    if (what != function::square) gates.fma = {0, 0.35, 0.50};
    gates.counted = {sectors_a_multiply_add(what), accesses_a_multiply_add(what), lanes_at_work(),
                     blocks_share(least_share)};
    gates.too_slow = "A tile in shared memory is right, but not yet fast. Let each thread compute "
                     "several elements, first 8 of one column, then 8 x 8, so that a float, once "
                     "in a register, serves several sums.";
    return gates;
}

CORRECTNESS_CASE("matmul_square: one tile", 0.5) { try_square(32); }

CORRECTNESS_CASE("matmul_square: several tiles", 1.5)
{
    try_square(64);
    try_square(96, false);
    try_square(160);
    // For blocks that take tile after tile: more tiles than blocks that run at once, on the
    // simulator tiles of 128 rows and columns, on a GPU of 32 (an H200 runs 264 blocks of 1024
    // threads).
    try_square(simulated() ? 288 : 576);
    try_square(0);
}

CORRECTNESS_CASE("matmul_square: matrices that begin anywhere", 0.5)
{
    for (const places &at : odd_places) try_square(32, true, at);
}

// Counted only: a plain tile passes.
SPEED_CASE("matmul_square: loads from global memory", 5, 0)
{
    speed_gates gates;
    gates.counted = {sectors_a_multiply_add(function::square),
                     wavefronts_a_multiply_add(function::square), lanes_at_work(),
                     blocks_share(least_share)};
    race(product_of(function::square), gates);
}

SPEED_CASE("matmul_square: speed", 6, 3)
{
    race(product_of(function::square), gates_of(function::square));
}

CORRECTNESS_CASE("matmul: a small product", 1.5)
{
    try_matmul({3, 5, 4});
    try_matmul({4, 40, 6});
}

CORRECTNESS_CASE("matmul: sizes around a tile", 2.5)
{
    for (const shape &s : around_tiles) try_matmul(s);
}

CORRECTNESS_CASE("matmul: wide, tall and flat", 1.5)
{
    for (const shape &s : wide_and_tall) try_matmul(s);
    for (const shape &s : longest) try_matmul(s);
}

CORRECTNESS_CASE("matmul: no rows, no columns, no terms", 0.5)
{
    try_matmul({7, 0, 9});
    for (const shape &s : with_nothing) try_matmul(s);
}

CORRECTNESS_CASE("matmul: matrices that begin anywhere", 1.5)
{
    for (const places &at : odd_places) try_matmul({20, 36, 28}, true, at);
}

CORRECTNESS_CASE("matmul: the precision of float", 1.5)
{
    try_matmul({33, 50, 65}, false);
    try_matmul({40, 200, 36}, false);
}

SPEED_CASE("matmul: speed", 5.5, 4)
{
    race(product_of(function::general), gates_of(function::general));
}

CORRECTNESS_CASE("sgemm: a small product", 0.5) { try_sgemm({1, 0}, {3, 5, 4}); }

CORRECTNESS_CASE("sgemm: alpha and beta", 2)
{
    for (factors f : {factors{2, 3}, {-3, 0.5f}, {1, 1}, {0, 2}, {2, -1}})
        try_sgemm(f, {33, 20, 18});
    try_sgemm({0.3f, -1.7f}, {40, 37, 29}, false);
}

CORRECTNESS_CASE("sgemm: C holds anything when beta is 0", 1.5)
{
    shape s{35, 19, 36};
    try_sgemm({2, 0}, s, floats(area(s.j, s.l), std::nanf("")));
    try_sgemm({-1, 0}, s, floats(area(s.j, s.l), HUGE_VALF));
}

CORRECTNESS_CASE("sgemm: any size and any beginning", 2)
{
    for (const shape &s : around_tiles) try_sgemm({2, -1}, s);
    for (const shape &s : wide_and_tall) try_sgemm({-1, 3}, s);
    for (const shape &s : longest) try_sgemm({2, 1}, s);
    for (const places &at : odd_places) try_sgemm({1, 2}, {20, 36, 28}, true, at);
}

CORRECTNESS_CASE("sgemm: no rows, no columns, no terms", 0.5)
{
    try_sgemm({5, 3}, {7, 0, 9});
    try_sgemm({5, 0}, {7, 0, 9}, floats(63, std::nanf("")));
    for (const shape &s : with_nothing) try_sgemm({2, 3}, s);
}

SPEED_CASE("sgemm: speed", 5.5, 3)
{
    race(product_of(function::scaled), gates_of(function::scaled));
}
