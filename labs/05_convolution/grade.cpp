// Grades lab 05, convolution.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <cstddef>
#include <string>
#include <vector>

using namespace grading;

// One call each.

struct places { // in floats past a 256-byte boundary
    int image = 0, out = 0;
};
// Places that differ, or agree, within a float4 and within a sector.
static const places odd_places[] = {{1, 0}, {0, 1}, {3, 2}, {2, 2}, {4, 8}, {31, 33}};

static void say_what_bounds_are(border beyond)
{
    hint_past_the_end(
        beyond == border::zero
            ? "Row and column have a bound each, 0 <= r < rows and 0 <= c < cols: is each compared "
              "with its own, for every element that a thread handles?"
            : "The row is clamped to 0 ... rows - 1, the column to 0 ... cols - 1: is each clamped "
              "to its own bounds, and is each element that a thread stores compared with both?");
}

static void try_one(enum function what, const shape &s, int radius, bool whole = true,
                    const places &at = {})
{
    const border beyond = what == function::clamped ? border::clamped : border::zero;
    const bool two = what == function::separable;
    const std::size_t d = length(radius);
    floats image = inputs_for(s.pixels(), whole);
    floats filter = inputs_for(two ? d : d * d, whole), column = inputs_for(two ? d : 0, whole);
    output<float> out(s.pixels());
    out.row = std::size_t(s.cols);
    say_what_bounds_are(beyond);
    auto in = misaligned(image, at.image);
    auto to = misaligned(out, at.out);
    if (what == function::direct) CALL(convolve, in, to, s.rows, s.cols, host(filter), radius);
    if (what == function::clamped)
        CALL(convolve_clamped, in, to, s.rows, s.cols, host(filter), radius);
    if (two)
        CALL(convolve_separable, in, to, s.rows, s.cols, host(filter), host(column), radius,
             scratch);
    const oracle::filtered right =
        two ? oracle::convolve_separable(image, s.rows, s.cols, filter, column, radius)
            : oracle::convolve(image, s.rows, s.cols, filter, radius, beyond);
    const floats product = product_of(filter, column);
    misconceptions known = two ? wrong_products(image, s, filter, column, product, radius)
                               : wrong_filterings(image, s, filter, radius, beyond);
    if (!two) add_of_filter_before(known, image, s, filter, radius, beyond);
    if (whole) add_of_fractions(known, out.values); // by rounded sums nothing is recognised
    expect_close(out, right.values, double(d * d), right.magnitudes, s.as_extents(), known);
}

// As many pixels as an int can count, and twice as many, whose bytes it cannot.
static void expect_bytes_of_large_images()
{
    constexpr int radius = 8, side = 32768;
    std::size_t before = 0;
    for (int cols : {side / 2, side}) {
        std::size_t bytes = CALL(convolve_separable_scratch, side, cols, radius);
        expect(bytes >= before && double(bytes) <= 0x1p40, verdict::WRONG_ANSWER,
               "convolve_separable_scratch asks for " + std::to_string(bytes) +
                   " bytes for an image of 32768 x " + std::to_string(cols) + " pixels, and for " +
                   std::to_string(before) + " where it has half as many or none.",
               "How large is rows * cols * sizeof(float) there, and can an int hold it? The first "
               "factor itself must be a size_t.");
        before = bytes;
    }
}

// Images around blocks and tiles, of more rows than columns and of more columns than rows.
static const shape around_tiles[] = {{1, 1},   {15, 17}, {16, 16}, {17, 33},  {31, 8},
                                     {32, 64}, {33, 65}, {9, 130}, {131, 31}, {64, 127}};
static const shape thin[] = {{1, 300}, {300, 1}, {2, 515}, {515, 3}};
struct small_image {
    shape s;
    int radius;
};
// The last pixel that a block of 8, 16, 32 or 64 rows or columns, or 128 columns, needs is the
// first beyond the edge, for one block within.
static const small_image one_beyond = {{131, 259}, 4};
static const small_image smaller_than_the_filter[] = {{{1, 1}, 1},   {{1, 1}, 16}, {{3, 2}, 4},
                                                      {{5, 20}, 8},  {{20, 5}, 8}, {{9, 16}, 16},
                                                      {{16, 40}, 16}};

static void try_radii(enum function what, const shape &s)
{
    for (int radius = 0; radius <= 16; ++radius) try_one(what, s, radius);
}

static void try_small_images(enum function what)
{
    for (const small_image &i : smaller_than_the_filter) try_one(what, i.s, i.radius);
}

static void try_around_tiles(enum function what)
{
    for (const shape &s : around_tiles) try_one(what, s, 2);
    for (const shape &s : thin) try_one(what, s, 3);
    try_one(what, one_beyond.s, one_beyond.radius);
}

static void try_places(enum function what)
{
    for (const places &at : odd_places) try_one(what, {19, 52}, 3, true, at);
}

static void try_no_pixels(enum function what)
{
    for (const shape &s : {shape{0, 7}, {7, 0}, {0, 0}}) try_one(what, s, 2);
}

static void try_samples(int width, int height, const points &at, int image_at = 0)
{
    bytes image = random_bytes(std::size_t(width) * height);
    output<float> out(at.size());
    CALL(sample_bilinear, misaligned(image, image_at), width, height, misaligned(at, image_at % 2),
         misaligned(out, image_at), int(at.size()));
    expect_samples(out, image, width, height, at);
}

static void race_direct(enum function what) { race(large_image(what), direct_gates(what)); }

CORRECTNESS_CASE("convolve: a small image", 0.5)
{
    for (int filter = 0; filter < 2; ++filter) try_one(function::direct, {5, 7}, 1);
}

CORRECTNESS_CASE("convolve: every radius", 1.5) { try_radii(function::direct, {23, 37}); }

CORRECTNESS_CASE("convolve: images around blocks and tiles", 1.5)
{
    try_around_tiles(function::direct);
    try_one(function::direct, simulated() ? shape{70, 90} : shape{1201, 1499}, 8);
    if (!simulated()) try_one(function::direct, {499999, 1}, 3); // too long for the simulator
}

CORRECTNESS_CASE("convolve: images smaller than the filter", 1)
{
    try_small_images(function::direct);
}

CORRECTNESS_CASE("convolve: images that begin anywhere", 0.5)
{
    try_places(function::direct);
    expect_nothing_kept("convolve", [] { try_one(function::direct, {19, 52}, 3); });
}

CORRECTNESS_CASE("convolve: the precision of float", 0.5)
{
    try_one(function::direct, {41, 67}, 4, false);
    try_one(function::direct, {20, 33}, 16, false);
}

CORRECTNESS_CASE("convolve: no rows or no columns", 0.5)
{
    try_one(function::direct, {2, 2}, 1); // nothing at all is no answer
    try_no_pixels(function::direct);
}

CORRECTNESS_CASE("convolve: a picture", 0.5) { filter_the_harbour(border::zero, disc(3), 3); }

SPEED_CASE("convolve: loads of the filter", 1.5, 0)
{
    race(large_image(function::direct), filter_gates());
}

SPEED_CASE("convolve: speed, 9 x 9", 6, 4) { race_direct(function::direct); }

CORRECTNESS_CASE("convolve_clamped: a small image", 0.5)
{
    for (int filter = 0; filter < 2; ++filter) try_one(function::clamped, {5, 7}, 1);
}

CORRECTNESS_CASE("convolve_clamped: every radius", 1) { try_radii(function::clamped, {21, 39}); }

CORRECTNESS_CASE("convolve_clamped: images smaller than the filter", 1)
{
    try_small_images(function::clamped);
}

CORRECTNESS_CASE("convolve_clamped: any size and any beginning", 0.5)
{
    try_around_tiles(function::clamped);
    try_places(function::clamped);
    try_no_pixels(function::clamped);
}

CORRECTNESS_CASE("convolve_clamped: a picture", 0.5)
{
    filter_the_harbour(border::clamped, relief(), 2);
}

SPEED_CASE("convolve_clamped: speed, 9 x 9", 3.5, 2) { race_direct(function::clamped); }

CORRECTNESS_CASE("convolve_separable: a small image", 0.5)
{
    try_one(function::separable, {5, 7}, 1);
}

CORRECTNESS_CASE("convolve_separable: every radius", 1)
{
    try_radii(function::separable, {23, 37});
}

CORRECTNESS_CASE("convolve_separable: images around blocks and tiles", 1)
{
    try_around_tiles(function::separable);
    try_one(function::separable, simulated() ? shape{70, 90} : shape{1201, 1499}, 8);
    // More rows than a grid has blocks in y. On the simulator only here: a filter that is no
    // product takes too long.
    try_one(function::separable, {simulated() ? 65600 : 499999, 1}, 1);
    expect_bytes_of_large_images();
    run_streams(stream_work::late);
    try_one(function::separable, {33, 65}, 2);
}

CORRECTNESS_CASE("convolve_separable: images smaller than the filter", 0.5)
{
    try_small_images(function::separable);
}

CORRECTNESS_CASE("convolve_separable: images that begin anywhere", 0.5)
{
    try_places(function::separable);
    expect_nothing_kept("convolve_separable", [] { try_one(function::separable, {19, 52}, 3); });
}

CORRECTNESS_CASE("convolve_separable: the precision of float", 0.5)
{
    try_one(function::separable, {41, 67}, 8, false);
    try_one(function::separable, {20, 33}, 16, false);
}

CORRECTNESS_CASE("convolve_separable: no rows or no columns", 0.5)
{
    try_one(function::separable, {2, 2}, 1);
    try_no_pixels(function::separable);
}

CORRECTNESS_CASE("convolve_separable: a picture", 0.5) { separate_the_harbour(3); }

SPEED_CASE("convolve_separable: speed, 17 taps", 11, 4)
{
    race(large_image(function::separable), separable_gates());
}

CORRECTNESS_CASE("sample_bilinear: on the pixels", 0.5)
{
    points at;
    for (int row = 0; row < 3; ++row)
        for (int col = 0; col < 5; ++col) at.push_back({float(col), float(row)});
    try_samples(5, 3, at);
}

CORRECTNESS_CASE("sample_bilinear: between and outside", 0.5)
{
    try_samples(40, 30, random_points(700, 40, 30));
    try_samples(2, 2, {{0.5f, 0.5f}, {0.25f, 0}, {-100, 0.5f}, {1.5f, 1.5f}, {0, 1e6f}});
}

CORRECTNESS_CASE("sample_bilinear: images of any size", 0.5)
{
    for (int width : {1, 3, 32, 33, 200})
        for (int height : {1, 2, 17})
            try_samples(width, height, random_points(40, float(width), float(height)), width % 5);
    try_samples(9, 9, {});
}

CORRECTNESS_CASE("sample_bilinear: call after call", 0.5)
{
    auto call = [] { try_samples(30, 20, random_points(50, 30, 20)); };
    run_streams(stream_work::late);
    call();
    expect_nothing_kept("sample_bilinear", call);
    expect(!simulated() || leaked_handles(call) == 0, verdict::RESOURCE_LIMIT,
           "Each call of sample_bilinear leaves a texture object behind.",
           "cudaDestroyTextureObject destroys it, after the kernel has ended.");
}

SPEED_CASE("sample_bilinear: one fetch a sample", 1, 0) { race(many_samples(), sampling_gates()); }
