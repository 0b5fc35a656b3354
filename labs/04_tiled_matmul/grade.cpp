// Grades lab 04, tiled matrix multiplication.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <cmath>
#include <cstddef>
#include <string>

using namespace grading;

// One call each.

struct places { // in floats past a 256-byte boundary
    int first = 0, second = 0, result = 0;
};
// Places of which no two matrices agree within a float4, and some where they do.
static const places odd_places[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 2, 3},
                                    {3, 1, 2}, {2, 2, 2}, {4, 8, 12}};

static void say_what_tiles_need()
{
    hint_unwritten_shared("Does every thread store to its element of the tile in each step? Where "
                          "the element lies outside the matrix, it stores 0: an `if` around the "
                          "store leaves the tile as it was.");
    hint_one_place("How many rows and columns of the result does a block have? In the kernel its "
                   "first row is blockIdx.y times that number of rows, its first column blockIdx.x "
                   "times the number of columns, and the launch's grid counts by the same two "
                   "numbers. If a thread has several rows, as in TODO 5, they are blockDim.y "
                   "apart: does the launch have as many threads in y as the kernel assumes? If it "
                   "has one: is its row multiplied by the number of columns?");
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

static void try_product(task what, const shape &s, bool whole = true, const places &at = {})
{
    floats M = inputs_for(area(s.j, s.k), whole), N = inputs_for(area(s.k, s.l), whole);
    output<float> P(area(s.j, s.l));
    P.row = std::size_t(s.l);
    const bool square = what == task::square;
    if (!square) say_what_reading_P_means();
    say_what_tiles_need();
    hint_past_the_end(
        square ? "With one thread per element, tile x tile threads in a block, this takes "
                 "width / tile blocks in x and as many in y: does the launch have a dim3 for "
                 "both, of these numbers? A single number leaves threadIdx.y, or blockIdx.y, "
                 "at 0. If blocks hang over an edge: are both the row and the column of each "
                 "element compared with width?"
               : "Each matrix has its own row length, and each index its own bound: M is "
                 "j x k, N is k x l, P is j x l.");
    auto first = misaligned(M, at.first), second = misaligned(N, at.second);
    auto result = misaligned(P, at.result);
    if (square)
        CALL(matmul_square, first, second, result, s.j);
    else
        CALL(matmul, first, second, result, s.j, s.k, s.l);
    oracle::product right = oracle::matmul(M, N, s.j, s.k, s.l);
    expect_close(P, right.values, s.k, right.magnitudes, {std::size_t(s.j), std::size_t(s.l)},
                 wrong_products(M, N, s));
}

static void try_square(int width, bool whole = true, const places &at = {})
{
    try_product(task::square, {width, width, width}, whole, at);
}

static void try_matmul(const shape &s, bool whole = true, const places &at = {})
{
    try_product(task::general, s, whole, at);
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
    say_what_tiles_need();
    hint_past_the_end("Each matrix has its own row length, and each index its own bound: A is "
                      "j x k, B is k x l, C is j x l.");
    CALL(sgemm, f.alpha, misaligned(A, at.first), misaligned(B, at.second), f.beta,
         misaligned(C, at.result), s.j, s.k, s.l);
    oracle::product right = oracle::sgemm(f.alpha, A, B, f.beta, before, s.j, s.k, s.l);
    bool must_change = !same_bytes(before, floats(right.values.begin(), right.values.end()));
    expect_changed_in_place(!must_change || !same_bytes(C.values, before), unchanged,
                            s.k == 0 ? "With k = 0 the product is all zeros, and C becomes beta "
                                       "times C: this, too, takes a launch, in which no thread "
                                       "has a term to add."
                                     : does_a_kernel_write);
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

static counted_gate sectors_per_multiply_add(task what, double limit = 0.02)
{
    counted_gate gate =
        at_most("sectors per multiply-add", {limit}, "",
                "Every element is loaded from global memory for each sum that it is part of. Let "
                "the threads of a block load a tile into shared memory together, and take their "
                "terms from there.",
                per([what] { return multiply_adds(what); }, moved_sectors));
    // Loads that would do if lanes had neighbours.
    gate.cause = [=](const counted &c) -> std::string {
        const double needed = double(c.load_ideal_sectors + c.store_sectors);
        const bool tiled = needed / multiply_adds(what) <= 0.03 && c.shared_wavefronts > 0;
        if (!tiled || c.load_sectors < 2 * c.load_ideal_sectors) return {};
        return "The loads request few floats, but each lane's float lies in a sector of its own: "
               "do neighbouring lanes, whose threadIdx.x differs by one, load from neighbouring "
               "columns of one row?";
    };
    return gate;
}

static counted_gate wavefronts_per_multiply_add(task what)
{
    return at_most("shared wavefronts per multiply-add", {0.08},
                   "", // a padded tile of 16 has 0.0703
                   "Lanes of a warp ask one bank of shared memory for different words, and are "
                   "served one after the other. Let neighbouring lanes take neighbouring columns, "
                   "or the same word.",
                   per([what] { return multiply_adds(what); }, &counted::shared_wavefronts));
}

static counted_gate accesses_per_multiply_add(task what)
{
    std::string hint = "Each multiply-add takes two floats from memory, shared or global, and the "
                       "units that load them are busier than those that multiply.";
    if (what == task::square)
        hint += " Let each thread of multiply_tiles have several elements, and let matmul_square "
                "call matmul, instead of launching a kernel of its own.";
    return at_most("accesses per multiply-add", {0.045, 0.025, 0.015}, "", hint,
                   per([what] { return multiply_adds(what); }, accesses));
}

// Tiles of 256 x 128, of which two cover these products, and one of those may be half empty.
constexpr double min_share = 1.4;

// Counted only: a plain tile passes.
static void count_loads(task what, double limit)
{
    speed_gates gates;
    gates.counted = {sectors_per_multiply_add(what, limit), wavefronts_per_multiply_add(what),
                     lanes_at_work(), blocks_share(min_share)};
    race(product_of(what), gates);
}

static void race_product(task what)
{
    speed_gates gates;
    gates.speedup = 2.5;
    gates.fma = {0, 0.45, 0.65};
    if (what != task::square) gates.fma = {0, 0.35, 0.50};
    gates.counted = {accesses_per_multiply_add(what), sectors_per_multiply_add(what),
                     lanes_at_work(), blocks_share(min_share)};
    gates.too_slow = "A tile in shared memory is right, but not yet fast. Let each thread compute "
                     "several elements, first 8 of one column, then 8 x 8, so that a float, once "
                     "in a register, serves several sums.";
    race(product_of(what), gates);
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

SPEED_CASE("matmul_square: loads from global memory", 5, 0) { count_loads(task::square, 0.02); }

SPEED_CASE("matmul_square: speed", 6, 3) { race_product(task::square); }

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

// Rows that begin anywhere cross more edges of sectors: a tile of 16 has 0.0246, one of 32 0.0112.
SPEED_CASE("matmul: loads from global memory", 3, 0) { count_loads(task::general, 0.03); }

SPEED_CASE("matmul: speed", 4, 4) { race_product(task::general); }

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

SPEED_CASE("sgemm: speed", 4, 3) { race_product(task::scaled); }
