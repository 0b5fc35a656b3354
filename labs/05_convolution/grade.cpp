// Grades lab 05, convolution.
#include "grader/grading.hpp"
#include "lab.hpp"
#include "mistakes.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace grading;
// Whole numbers make every sum exact, in whatever order: a wrong one can be told from its cause.
static floats whole_numbers(std::size_t n)
{
    std::vector<int> drawn = random_ints(n, -9, 9);
    return floats(drawn.begin(), drawn.end());
}

static floats inputs_for(std::size_t n, bool whole)
{
    return whole ? whole_numbers(n) : random_floats(n);
}

static floats product_of(const floats &row_filter, const floats &column_filter)
{
    floats product;
    for (float y : column_filter)
        for (float x : row_filter) product.push_back(x * y);
    return product;
}

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

static void expect_nothing_kept(const char *function, const std::function<void()> &call)
{
    expect(!leaks(call), verdict::RESOURCE_LIMIT,
           std::string("Device memory that ") + function +
               " allocated is still in use when it has returned, and the next call takes more.",
           "Free what a call allocates, or keep it for the next call.");
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

// The picture, dark to bright from 0 to 1.
static floats harbour(shape &s)
{
    picture p = read_picture("harbour.pgm");
    s = {p.height, p.width};
    floats image;
    for (unsigned char v : p.pixels) image.push_back(float(v) / 255);
    return image;
}

// What a lens out of focus does: a disc, a little more of it to one side.
static floats disc(int radius)
{
    floats filter;
    double sum = 0;
    for (int y = -radius; y <= radius; ++y)
        for (int x = -radius; x <= radius; ++x) {
            filter.push_back(y * y + x * x <= radius * radius ? 4.0f + float(x + y) / radius : 0);
            sum += filter.back();
        }
    for (float &f : filter) f /= float(sum);
    return filter;
}

// Light from the lower right: what rises in that direction becomes bright.
static floats relief()
{
    return {-0.50f, -0.25f, -0.25f, -0.25f, 0,     -0.25f, -0.50f, -0.50f, 0,
            0.25f,  -0.25f, -0.50f, 1.00f,  0.50f, 0.25f,  -0.25f, 0,      0.50f,
            0.50f,  0.25f,  0,      0.25f,  0.25f, 0.25f,  0.50f};
}

// A blur that smears further to one side.
static floats smear(int radius, float to_one_side)
{
    floats filter;
    double sum = 0;
    for (int k = -radius; k <= radius; ++k) {
        double x = double(k) / radius;
        filter.push_back(static_cast<float>(std::exp(-2 * x * x) * (1 + to_one_side * x)));
        sum += filter.back();
    }
    for (float &f : filter) f /= float(sum);
    return filter;
}

// What --pictures writes: what went in, what came out, and where that is not what it should be.
static void keep_pictures(const std::string &function, const shape &s, const floats &image,
                          const output<float> &out, const std::vector<double> &right)
{
    keep_picture(function + "_before", s.cols, s.rows, image);
    keep_picture(function + "_after", s.cols, s.rows, out.values);
    floats difference;
    for (std::size_t i = 0; i < right.size(); ++i)
        difference.push_back(std::abs(out.values[i] - float(right[i])));
    keep_picture(function + "_difference", s.cols, s.rows, difference);
}

static void filter_the_harbour(border beyond, const floats &filter, int radius)
{
    shape s;
    floats image = harbour(s);
    output<float> out(s.pixels());
    out.row = std::size_t(s.cols);
    if (beyond == border::zero)
        CALL(convolve, image, out, s.rows, s.cols, host(filter), radius);
    else
        CALL(convolve_clamped, image, out, s.rows, s.cols, host(filter), radius);
    oracle::filtered right = oracle::convolve(image, s.rows, s.cols, filter, radius, beyond);
    keep_pictures(beyond == border::zero ? "convolve" : "convolve_clamped", s, image, out,
                  right.values);
    expect_close(out, right.values, double(filter.size()), right.magnitudes, s.as_extents(),
                 wrong_filterings(image, s, filter, radius, beyond));
}

static void separate_the_harbour(int radius)
{
    shape s;
    floats image = harbour(s), row = smear(radius, 0.75f), column = smear(radius, -0.5f);
    floats product = product_of(row, column);
    output<float> out(s.pixels());
    out.row = std::size_t(s.cols);
    CALL(convolve_separable, image, out, s.rows, s.cols, host(row), host(column), radius, scratch);
    oracle::filtered right = oracle::convolve_separable(image, s.rows, s.cols, row, column, radius);
    keep_pictures("convolve_separable", s, image, out, right.values);
    expect_close(out, right.values, double(product.size()), right.magnitudes, s.as_extents(),
                 wrong_products(image, s, row, column, product, radius));
}

// What is raced.

enum class function { direct, clamped, separable };

// On a GPU 8192 x 8192 pixels, less a few by which neither rows nor columns are whole tiles, and as
// many rows as let seven images and their results in each of two workers fit the device. Rows begin
// at sectors.
static shape raced(enum function what)
{
    if (simulated()) return what == function::separable ? shape{125, 508} : shape{189, 508};
    double most = double(device().memory_bytes) / 16 / (8 * 8184.0);
    return {static_cast<int>(std::min(8189.0, most)), 8184};
}
static int raced_radius(enum function what) { return what == function::separable ? 8 : 4; }

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

class filtering : public workload {
public:
    filtering(std::mt19937_64 &random, enum function what)
        : what_(what), s_(raced(what)), image_(s_.pixels()), out_(s_.pixels())
    {
        bool two = what == function::separable;
        std::size_t d = length(radius());
        filter_.resize(two ? d : d * d);
        column_.resize(two ? d : 0);
        for (floats *values : {&image_, &filter_, &column_}) fill_random(*values, random);
    }
    const char *function() const override
    {
        return what_ == function::direct    ? "convolve"
               : what_ == function::clamped ? "convolve_clamped"
                                            : "convolve_separable";
    }
    std::vector<argument> arguments() override
    {
        auto filter = host(filter_), column = host(column_);
        if (what_ == function::direct)
            return remote<decltype(convolve)>::arguments(image_, out_, s_.rows, s_.cols, filter,
                                                         radius());
        if (what_ == function::clamped)
            return remote<decltype(convolve_clamped)>::arguments(image_, out_, s_.rows, s_.cols,
                                                                 filter, radius());
        return remote<decltype(convolve_separable)>::arguments(image_, out_, s_.rows, s_.cols,
                                                               filter, column, radius(), scratch);
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        looked_at_ = int(unforeseen() % looks); // the inputs say much of `random`
        std::vector<std::span<std::byte>> changed = {renew(image_, random), renew(filter_, random)};
        if (!column_.empty()) changed.push_back(renew(column_, random));
        return changed;
    }
    // Every fourth row, in each round another fourth: on a CPU all of them take a second.
    void check() override
    {
        auto magnitude = [](const floats &filter) {
            double sum = 0;
            for (float f : filter) sum += std::abs(f);
            return sum;
        };
        double terms = std::pow(double(length(radius())), 2);
        double most = magnitude(filter_) * (column_.empty() ? 1 : magnitude(column_));
        auto row_is_right = [&](int row) {
            std::vector<double> want = right(row);
            for (int c = 0; c < s_.cols; ++c)
                if (!within(out_.values[first(row) + c], want[c], terms, most)) return false;
            return true;
        };
        bool all = in_ranges(s_.pixels(), [&](std::size_t from, std::size_t to) {
            for (int row = looked_at_; row < s_.rows; row += looks)
                if (first(row) >= from && first(row) < to && !row_is_right(row)) return false;
            return true;
        });
        for (int row = looked_at_; !all && row < s_.rows; row += looks)
            if (!row_is_right(row)) end_at(row, terms, most);
    }
    double bytes() const override { return 8.0 * double(s_.pixels()); }
    double multiply_adds() const override
    {
        return double(s_.pixels() * (filter_.size() + column_.size()));
    }

private:
    static constexpr int looks = 4;
    int radius() const { return raced_radius(what_); }
    std::size_t first(int row) const { return std::size_t(row) * s_.cols; }
    std::vector<double> right(int row) const
    {
        if (what_ == function::separable)
            return oracle::row_of_convolve_separable(image_, s_.rows, s_.cols, filter_, column_,
                                                     radius(), row);
        return oracle::row_of_convolve(image_, s_.rows, s_.cols, filter_, radius(),
                                       what_ == function::clamped ? border::clamped : border::zero,
                                       row);
    }
    void end_at(int row, double terms, double most) const
    {
        std::vector<double> want = right(row);
        int col = 0;
        while (within(out_.values[first(row) + col], want[col], terms, most)) ++col;
        float got = out_.values[first(row) + col];
        bool close = std::abs(got - want[col]) < 1e-3 * most;
        expect(false, verdict::WRONG_ANSWER,
               "Row " + std::to_string(row) + ", column " + std::to_string(col) + " of " +
                   std::to_string(s_.rows) + " x " + std::to_string(s_.cols) + " is " +
                   show_element(got) + ", and should be " + show_element(float(want[col])) + "." +
                   (close ? " That is close, but not as precise as float arithmetic." : ""),
               close ? "Compute in float throughout: no half precision, no TF32."
                     : "The smaller cases are right, so look for things that only large images "
                       "have: many blocks, many tiles, an edge within a tile.");
    }

    enum function what_;
    shape s_;
    floats image_, filter_, column_;
    output<float> out_;
    int looked_at_ = 0;
};

} // namespace

static void race_filter(enum function what, const speed_gates &gates)
{
    race([=](std::mt19937_64 &random) { return std::make_unique<filtering>(random, what); }, gates);
}

static counted_gate sectors_per_pixel(enum function what, const steps &most)
{
    return at_most(
        "sectors moved per pixel", most, "",
        "Each pixel is loaded from global memory for every sum that it is part of. Let the threads "
        "of a block together load their pixels and a halo around them into shared memory, and read "
        "them from there.",
        [=](const counted &c) { return moved_sectors(c) / double(raced(what).pixels()); });
}

// 17 for each of the two filters, and what is done twice where blocks meet: 102 in one pass over
// tiles of 32 x 4. All 17 x 17 are 289.
static counted_gate multiplications_per_pixel(enum function what, double most)
{
    return at_most("multiplications per pixel", {most}, "",
                   "A separable filter need not be multiplied out: filter along the rows, and then "
                   "filter the result down the columns. If you do that already: is each row's sum "
                   "computed once and kept, or anew for every element of the column filter?",
                   // to divide by a reciprocal is to multiply
                   [=](const counted &c) {
                       return double(c.multiplications + c.divisions) /
                              double(raced(what).pixels());
                   });
}

// Bytes that each launch must move if it moves every sector once, over all launches.
static counted_gate compulsory_bytes(enum function what, double good)
{
    return at_most("compulsory bytes per pixel", {0, good}, "bytes",
                   "The second pass reads again what the first one has written. A block that keeps "
                   "it in shared memory or in registers needs no second pass.",
                   [=](const counted &c) {
                       return double(c.compulsory_bytes) / double(raced(what).pixels());
                   });
}

// On an H200 the unrolled loops alone reach 1.7 times naive's speed, and 2.4 where naive clamps for
// every pixel; a tile 2.5 and 3.5.
static speed_gates direct_gates(enum function what)
{
    speed_gates gates;
    gates.speedup = what == function::clamped ? 3 : 2.1;
    gates.fma = {0, 0.30, 0.50};
    gates.counted = {sectors_per_pixel(what, {3.6, 0.7, 0}), lanes_at_work()};
    gates.too_slow = "Is the radius known at compile time, so that the loops are unrolled and the "
                     "filter's elements are operands? Then let a thread compute several pixels, so "
                     "that each loaded pixel serves several sums.";
    return gates;
}

static speed_gates separable_gates()
{
    speed_gates gates;
    gates.speedup = 9.5; // on an H200 all 17 x 17 products well done reach 7.4, two passes 17
    gates.copy = {0.22, 0.55, 0}; // two passes, or one with a row of pixels a thread, 0.29
    gates.counted = {multiplications_per_pixel(function::separable, 110),
                     sectors_per_pixel(function::separable, {6.2, 1, 0}),
                     // Two passes have 16; one by bands of rows has 8, and of each band the
                     // halo again: with seven bands 11.1.
                     compulsory_bytes(function::separable, 11.5), lanes_at_work()};
    gates.too_slow = "Two passes, first along the rows and then down the columns, need 2 d "
                     "multiply-adds per pixel instead of d * d. When that is done, memory is the "
                     "limit: use shared tiles in both passes, then a single pass.";
    return gates;
}

CORRECTNESS_CASE("convolve: a small image", 0.5)
{
    for (int filter = 0; filter < 2; ++filter) try_filter(border::zero, {5, 7}, 1);
}

CORRECTNESS_CASE("convolve: every radius", 2)
{
    for (int radius = 0; radius <= 16; ++radius) try_filter(border::zero, {23, 37}, radius);
}

CORRECTNESS_CASE("convolve: images around blocks and tiles", 2)
{
    for (const shape &s : around_tiles) try_filter(border::zero, s, 2);
    for (const shape &s : thin) try_filter(border::zero, s, 3);
    try_filter(border::zero, one_beyond.s, one_beyond.radius);
    try_filter(border::zero, simulated() ? shape{70, 90} : shape{1201, 1499}, 8);
    if (!simulated()) try_filter(border::zero, {499999, 1}, 3); // too long for the simulator
}

CORRECTNESS_CASE("convolve: images smaller than the filter", 1.5)
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
    race_filter(function::direct, direct_gates(function::direct));
}

CORRECTNESS_CASE("convolve_clamped: a small image", 0.5)
{
    for (int filter = 0; filter < 2; ++filter) try_filter(border::clamped, {5, 7}, 1);
}

CORRECTNESS_CASE("convolve_clamped: every radius", 1.5)
{
    for (int radius = 0; radius <= 16; ++radius) try_filter(border::clamped, {21, 39}, radius);
}

CORRECTNESS_CASE("convolve_clamped: images smaller than the filter", 1.5)
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
    race_filter(function::clamped, direct_gates(function::clamped));
}

CORRECTNESS_CASE("convolve_separable: a small image", 0.5) { try_separable({5, 7}, 1); }

CORRECTNESS_CASE("convolve_separable: every radius", 1.5)
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
    race_filter(function::separable, separable_gates());
}
