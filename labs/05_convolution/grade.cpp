// Grades lab 05, convolution.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <cstddef>
#include <functional>
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

// By rounded sums nothing is recognised.
static misconceptions known_where_whole(bool whole, misconceptions known, const floats &out)
{
    if (whole) add_of_fractions(known, out);
    return known;
}

static void try_filter(border beyond, const shape &s, int radius, bool whole = true,
                       const places &at = {})
{
    floats image = inputs_for(s.pixels(), whole);
    floats filter = inputs_for(length(radius) * length(radius), whole);
    output<float> out(s.pixels());
    out.row = std::size_t(s.cols);
    say_what_bounds_are(beyond);
    if (beyond == border::zero)
        CALL(convolve, misaligned(image, at.image), misaligned(out, at.out), s.rows, s.cols,
             host(filter), radius);
    else
        CALL(convolve_clamped, misaligned(image, at.image), misaligned(out, at.out), s.rows, s.cols,
             host(filter), radius);
    oracle::filtered right = oracle::convolve(image, s.rows, s.cols, filter, radius, beyond);
    misconceptions known = wrong_filterings(image, s, filter, radius, beyond);
    add_of_filter_before(known, image, s, filter, radius, beyond);
    expect_close(out, right.values, double(filter.size()), right.magnitudes, s.as_extents(),
                 known_where_whole(whole, known, out.values));
}

static void try_separable(const shape &s, int radius, bool whole = true, const places &at = {})
{
    floats image = inputs_for(s.pixels(), whole);
    floats row = inputs_for(length(radius), whole), column = inputs_for(length(radius), whole);
    floats product = product_of(row, column);
    output<float> out(s.pixels());
    out.row = std::size_t(s.cols);
    say_what_bounds_are(border::zero);
    CALL(convolve_separable, misaligned(image, at.image), misaligned(out, at.out), s.rows, s.cols,
         host(row), host(column), radius, scratch);
    oracle::filtered right = oracle::convolve_separable(image, s.rows, s.cols, row, column, radius);
    expect_close(out, right.values, double(product.size()), right.magnitudes, s.as_extents(),
                 known_where_whole(whole, wrong_products(image, s, row, column, product, radius),
                                   out.values));
}

// As many pixels as an int can count, and twice as many, whose bytes it cannot.
static void expect_bytes_of_large_images()
{
    constexpr int radius = 8, side = 32768;
    constexpr double most = 0x1p40;
    const char *next = "How large is rows * cols * sizeof(float) there, and can an int hold it? "
                       "The first factor itself must be a size_t.";
    std::size_t before = 0;
    for (int cols : {side / 2, side}) {
        std::size_t bytes = CALL(convolve_separable_scratch, side, cols, radius);
        std::string asked = "convolve_separable_scratch asks for " + std::to_string(bytes) +
                            " bytes for an image of " + std::to_string(side) + " x " +
                            std::to_string(cols) + " pixels.";
        expect(double(bytes) <= most, verdict::WRONG_ANSWER, asked, next);
        expect(bytes >= before, verdict::WRONG_ANSWER,
               asked + " Where it has half as many, it asks for " + std::to_string(before) + ".",
               next);
        before = bytes;
    }
}

static void
expect_nothing_kept(const char *function, const std::function<void()> &call,
                    const char *next = "Free what a call allocates, or keep it for the next call.")
{
    expect(!leaks(call), verdict::RESOURCE_LIMIT,
           std::string("Device memory that ") + function +
               " allocated is still in use when it has returned, and the next call takes more.",
           next);
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

static void try_samples(int width, int height, const points &at, int image_at = 0)
{
    bytes image = random_bytes(std::size_t(width) * height);
    output<float> out(at.size());
    CALL(sample_bilinear, misaligned(image, image_at), width, height, misaligned(at, image_at % 2),
         misaligned(out, image_at), int(at.size()));
    expect_samples(out, image, width, height, at);
}

CORRECTNESS_CASE("convolve: a small image", 0.5)
{
    for (int filter = 0; filter < 2; ++filter) try_filter(border::zero, {5, 7}, 1);
}

CORRECTNESS_CASE("convolve: every radius", 1.5)
{
    for (int radius = 0; radius <= 16; ++radius) try_filter(border::zero, {23, 37}, radius);
}

CORRECTNESS_CASE("convolve: images around blocks and tiles", 1.5)
{
    for (const shape &s : around_tiles) try_filter(border::zero, s, 2);
    for (const shape &s : thin) try_filter(border::zero, s, 3);
    try_filter(border::zero, one_beyond.s, one_beyond.radius);
    try_filter(border::zero, simulated() ? shape{70, 90} : shape{1201, 1499}, 8);
    if (!simulated()) try_filter(border::zero, {499999, 1}, 3); // too long for the simulator
}

CORRECTNESS_CASE("convolve: images smaller than the filter", 1)
{
    for (const small_image &i : smaller_than_the_filter) try_filter(border::zero, i.s, i.radius);
}

CORRECTNESS_CASE("convolve: images that begin anywhere", 0.5)
{
    for (const places &at : odd_places) try_filter(border::zero, {19, 52}, 3, true, at);
    expect_nothing_kept("convolve", [] { try_filter(border::zero, {19, 52}, 3); });
}

CORRECTNESS_CASE("convolve: the precision of float", 0.5)
{
    try_filter(border::zero, {41, 67}, 4, false);
    try_filter(border::zero, {20, 33}, 16, false);
}

CORRECTNESS_CASE("convolve: no rows or no columns", 0.5)
{
    try_filter(border::zero, {2, 2}, 1); // nothing at all is no answer
    for (const shape &s : {shape{0, 7}, {7, 0}, {0, 0}}) try_filter(border::zero, s, 2);
}

CORRECTNESS_CASE("convolve: a picture", 0.5) { filter_the_harbour(border::zero, disc(3), 3); }

SPEED_CASE("convolve: speed, 9 x 9", 7.5, 4)
{
    race(large_image(function::direct), direct_gates(function::direct));
}

CORRECTNESS_CASE("convolve_clamped: a small image", 0.5)
{
    for (int filter = 0; filter < 2; ++filter) try_filter(border::clamped, {5, 7}, 1);
}

CORRECTNESS_CASE("convolve_clamped: every radius", 1)
{
    for (int radius = 0; radius <= 16; ++radius) try_filter(border::clamped, {21, 39}, radius);
}

CORRECTNESS_CASE("convolve_clamped: images smaller than the filter", 1)
{
    for (const small_image &i : smaller_than_the_filter) try_filter(border::clamped, i.s, i.radius);
}

CORRECTNESS_CASE("convolve_clamped: any size and any beginning", 0.5)
{
    for (const shape &s : around_tiles) try_filter(border::clamped, s, 2);
    for (const shape &s : thin) try_filter(border::clamped, s, 3);
    try_filter(border::clamped, one_beyond.s, one_beyond.radius);
    for (const places &at : odd_places) try_filter(border::clamped, {19, 52}, 3, true, at);
    for (const shape &s : {shape{0, 7}, {7, 0}, {0, 0}}) try_filter(border::clamped, s, 2);
}

CORRECTNESS_CASE("convolve_clamped: a picture", 0.5)
{
    filter_the_harbour(border::clamped, relief(), 2);
}

SPEED_CASE("convolve_clamped: speed, 9 x 9", 3.5, 2)
{
    race(large_image(function::clamped), direct_gates(function::clamped));
}

CORRECTNESS_CASE("convolve_separable: a small image", 0.5) { try_separable({5, 7}, 1); }

CORRECTNESS_CASE("convolve_separable: every radius", 1)
{
    for (int radius = 0; radius <= 16; ++radius) try_separable({23, 37}, radius);
}

CORRECTNESS_CASE("convolve_separable: images around blocks and tiles", 1)
{
    for (const shape &s : around_tiles) try_separable(s, 2);
    for (const shape &s : thin) try_separable(s, 3);
    try_separable(one_beyond.s, one_beyond.radius);
    try_separable(simulated() ? shape{70, 90} : shape{1201, 1499}, 8);
    // More rows than a grid has blocks in y. On the simulator only here: a filter that is no
    // product takes too long.
    try_separable({simulated() ? 65600 : 499999, 1}, 1);
    expect_bytes_of_large_images();
    run_streams(stream_work::late);
    try_separable({33, 65}, 2);
}

CORRECTNESS_CASE("convolve_separable: images smaller than the filter", 0.5)
{
    for (const small_image &i : smaller_than_the_filter) try_separable(i.s, i.radius);
}

CORRECTNESS_CASE("convolve_separable: images that begin anywhere", 0.5)
{
    for (const places &at : odd_places) try_separable({19, 52}, 3, true, at);
    expect_nothing_kept("convolve_separable", [] { try_separable({19, 52}, 3); });
}

CORRECTNESS_CASE("convolve_separable: the precision of float", 0.5)
{
    try_separable({41, 67}, 8, false);
    try_separable({20, 33}, 16, false);
}

CORRECTNESS_CASE("convolve_separable: no rows or no columns", 0.5)
{
    try_separable({2, 2}, 1);
    for (const shape &s : {shape{0, 7}, {7, 0}, {0, 0}}) try_separable(s, 2);
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
    expect_nothing_kept(
        "sample_bilinear", [] { try_samples(30, 20, random_points(50, 30, 20)); },
        "Free the array after the kernel has ended and the texture is destroyed.");
}

SPEED_CASE("sample_bilinear: one fetch a sample", 1, 0) { race(many_samples(), sampling_gates()); }
