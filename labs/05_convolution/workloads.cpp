// Makes the pictures and the inputs of lab 05's speed cases, checks their results, and states the
// gates.
#include "workloads.hpp"

#include "grader/grading.hpp"
#include "lab.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace grading;

floats inputs_for(std::size_t n, bool whole)
{
    return whole ? whole_numbers(n, 9) : random_floats(n);
}

points random_points(std::size_t n, float width, float height)
{
    floats x = random_floats(n, -3, width + 2), y = random_floats(n, -3, height + 2);
    points at;
    for (std::size_t i = 0; i < n; ++i) at.push_back({x[i], y[i]});
    return at;
}

// The picture, dark to bright from 0 to 1.
static floats harbour(shape &s)
{
    picture p = read_picture("harbour.pgm");
    s = {p.height, p.width};
    floats image;
    for (unsigned char v : p.pixels) image.push_back(float(v) / 255);
    return image;
}

floats disc(int radius)
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

floats relief()
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

void filter_the_harbour(border beyond, const floats &filter, int radius)
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

void separate_the_harbour(int radius)
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

namespace {

// Values that are computed side by side, by a type that GCC and Clang know.
using four [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;

// to[i] += the sum of factors[k] * from[i + k], for each i < n.
void add_filtered(float *to, const float *from, std::span<const float> factors, std::size_t n)
{
    constexpr std::size_t fours = 4, together = 4 * fours;
    std::size_t i = 0;
    for (; i + together <= n; i += together) {
        four sum[fours] = {};
        for (std::size_t k = 0; k < factors.size(); ++k)
            for (std::size_t j = 0; j < fours; ++j)
                sum[j] += factors[k] * reinterpret_cast<const four *>(from + i + k)[j];
        for (std::size_t j = 0; j < fours; ++j) reinterpret_cast<four *>(to + i)[j] += sum[j];
    }
    for (; i < n; ++i) to[i] += std::inner_product(factors.begin(), factors.end(), from + i, 0.0f);
}

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
        salt_ = unforeseen(); // the inputs say much of `random`
        std::vector<std::span<std::byte>> changed = {renew(image_, random), renew(filter_, random)};
        if (!column_.empty()) changed.push_back(renew(column_, random));
        return changed;
    }
    // One of each four rows, in each round another one: on a CPU all of them take long.
    void check() override
    {
        auto magnitude = [](const floats &filter) {
            double sum = 0;
            for (float f : filter) sum += std::abs(f);
            return sum;
        };
        double terms = std::pow(double(length(radius())), 2);
        double most = magnitude(filter_) * (column_.empty() ? 1 : magnitude(column_));
        auto row_is_right = [&](std::size_t k) {
            const int row = looked_at(k);
            return row_is_near(row, most) || column_of_error(row, terms, most) == s_.cols;
        };
        const std::size_t groups = std::size_t(s_.rows + group - 1) / group;
        if (for_all(groups, row_is_right, rows_per_thread)) return;
        std::size_t k = 0;
        while (row_is_right(k)) ++k;
        end_at(looked_at(k), terms, most);
    }
    double bytes() const override { return 8.0 * double(s_.pixels()); }
    double multiply_adds() const override
    {
        return double(s_.pixels() * (filter_.size() + column_.size()));
    }

private:
    static constexpr int group = 4, rows_per_thread = 100;
    // Chosen in each group by itself, so that nobody gains by leaving out every fourth row.
    int looked_at(std::size_t k) const
    {
        return std::min(group * int(k) + int(salted_hash(salt_, k) % group), s_.rows - 1);
    }
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
    // A row in float. A product passes through at most 2 d roundings, so a sum is off by no more
    // than 2 d u times its terms' magnitude.
    floats rounded(int row) const
    {
        const std::size_t cols = std::size_t(s_.cols), margin = std::size_t(radius());
        floats sums(cols), wide(cols + 2 * margin);
        for (std::size_t y = 0, d = length(radius()); y < d; ++y) {
            const int from = row + int(y) - radius();
            if (what_ != function::clamped && (from < 0 || from >= s_.rows)) continue;
            const auto pixels = image_.begin() + first(std::clamp(from, 0, s_.rows - 1));
            if (what_ == function::separable) {
                add_filtered(&wide[margin], &*pixels, std::span(&column_[y], 1), cols);
                continue;
            }
            std::copy_n(pixels, cols, wide.begin() + margin);
            if (what_ == function::clamped) {
                std::fill_n(wide.begin(), margin, pixels[0]);
                std::fill_n(wide.end() - margin, margin, pixels[cols - 1]);
            }
            add_filtered(sums.data(), wide.data(), std::span(filter_).subspan(y * d, d), cols);
        }
        if (what_ == function::separable) add_filtered(sums.data(), wide.data(), filter_, cols);
        return sums;
    }
    // True only if the row is right: within() allows 4 d u times the magnitude, and of that
    // rounded() takes a half and comparing in float a little.
    bool row_is_near(int row, double most) const
    {
        const float bound = static_cast<float>(std::ldexp(1.9 * length(radius()) * most, -24));
        const floats near = rounded(row);
        const float *got = &out_.values[first(row)];
        bool all = true;
        for (std::size_t c = 0; c < near.size(); ++c) all &= std::abs(got[c] - near[c]) <= bound;
        return all;
    }
    int column_of_error(int row, double terms, double most) const
    {
        const std::vector<double> want = right(row);
        int col = 0;
        while (col < s_.cols && within(out_.values[first(row) + col], want[col], terms, most))
            ++col;
        return col;
    }
    void end_at(int row, double terms, double most) const
    {
        const std::vector<double> want = right(row);
        const int col = column_of_error(row, terms, most);
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
    std::uint64_t salt_ = 0;
};

} // namespace

make_workload large_image(enum function what) { return workload_of<filtering>(what); }

static std::size_t raced_samples() { return simulated() ? 4001 : 10000019; }

namespace {

class sampling : public workload {
public:
    explicit sampling(std::mt19937_64 &random)
        : width_(simulated() ? 61 : 2003),
          height_(simulated() ? 47 : 1501),
          image_(std::size_t(width_) * height_),
          out_(raced_samples())
    {
        fill_random(image_, random);
        std::uniform_real_distribution<float> x(-3, float(width_) + 2), y(-3, float(height_) + 2);
        for (std::size_t i = 0; i < raced_samples(); ++i) at_.push_back({x(random), y(random)});
    }
    const char *function() const override { return "sample_bilinear"; }
    std::vector<argument> arguments() override
    {
        return remote<decltype(sample_bilinear)>::arguments(image_, width_, height_, at_, out_,
                                                            int(at_.size()));
    }
    std::vector<std::span<std::byte>> change(std::mt19937_64 &random) override
    {
        return {renew(image_, random)};
    }
    void check() override { expect_samples(out_, image_, width_, height_, at_); }
    double bytes() const override { return 12.0 * double(at_.size()); }

private:
    int width_, height_;
    ::bytes image_;
    points at_;
    output<float> out_;
};

} // namespace

make_workload many_samples() { return workload_of<sampling>(); }

static auto pixels_of(enum function what)
{
    return [what] { return raced(what).pixels(); };
}

static counted_gate sectors_per_pixel(enum function what, const steps &most)
{
    return at_most(
        "sectors moved per pixel", most, "",
        "Each pixel is loaded from global memory for every sum that it is part of. Let the threads "
        "of a block together load their pixels and a halo around them into shared memory, and read "
        "them from there.",
        per(pixels_of(what), moved_sectors));
}

// Naive takes 162: each multiply-add loads its pixel and its element of the filter.
speed_gates filter_gates()
{
    speed_gates gates;
    gates.counted = {
        at_most("loads from device memory per pixel", {100}, "",
                "Each multiply-add loads its element of the filter from device memory, "
                "though it is the same for all pixels. Keep the filter where a warp gets one "
                "element for all lanes without such a load: __constant__.",
                per(pixels_of(function::direct),
                    [](const counted &c) {
                        return 32 * (c.load_requests + c.texture_requests +
                                     c.global_atomic_requests + c.local_requests);
                    })),
        lanes_at_work()};
    return gates;
}

// One pixel per thread takes 174, of which 81 are elements of the filter; four below each other 52.
static counted_gate accesses_per_pixel(enum function what, double good)
{
    return at_most("accesses per pixel", {0, good}, "",
                   "Each value that a thread loads, a pixel of the tile or an element of the "
                   "filter, serves one sum only. Let a thread compute several pixels: then a "
                   "loaded value serves several sums.",
                   per(pixels_of(what), [](const counted &c) { return 32 * accesses(c); }));
}

// 17 for each of the two filters, and what is done twice where blocks meet: 102 in one pass over
// tiles of 32 x 4. All 17 x 17 are 289.
static counted_gate multiplications_per_pixel(enum function what, double most)
{
    return at_most(
        "multiplications per pixel", {most}, "",
        "A separable filter need not be multiplied out: filter along the rows, and then "
        "filter the result down the columns. If you do that already: is each row's sum "
        "computed once and kept, or anew for every element of the column filter?",
        // to divide by a reciprocal is to multiply
        per(pixels_of(what), [](const counted &c) { return c.multiplications + c.divisions; }));
}

// Bytes that each launch must move if it moves every sector once, over all launches.
static counted_gate compulsory_bytes(enum function what, double good)
{
    return at_most("compulsory bytes per pixel", {0, good}, "bytes",
                   "The second pass reads again what the first one has written. A block that keeps "
                   "it in shared memory or in registers needs no second pass.",
                   per(pixels_of(what), &counted::compulsory_bytes));
}

// On an H200 the unrolled loops alone reach 1.7 times naive's speed, and 2.4 where naive clamps for
// every pixel; a tile 2.5 and 3.5.
speed_gates direct_gates(enum function what)
{
    speed_gates gates;
    gates.speedup = what == function::clamped ? 3 : 2.1;
    gates.fma = {0, 0.30, 0.50};
    gates.counted = {sectors_per_pixel(what, {3.6, 0.7, 0}), accesses_per_pixel(what, 60),
                     lanes_at_work()};
    gates.too_slow = "Is the radius known at compile time, so that the loops are unrolled and the "
                     "filter's elements are operands? Then let a thread compute several pixels, so "
                     "that each loaded pixel serves several sums.";
    return gates;
}

speed_gates separable_gates()
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

speed_gates sampling_gates()
{
    speed_gates gates;
    gates.counted = {
        at_most("texture fetches per sample", {1.05}, "",
                "One filtered fetch reads the four texels and interpolates: let one tex2D per "
                "sample do it.",
                per(raced_samples, [](const counted &c) { return 32 * c.texture_requests; })),
        at_least("bytes per sample read through a texture", {3.9}, "",
                 "Let the texture unit do the interpolation: cudaFilterModeLinear, "
                 "and tex2D in the kernel.",
                 per(raced_samples, &counted::texture_bytes)),
        // its place and the fetch; and what brings the image into an array
        at_most("load requests per sample", {3.2}, "",
                "Load only the place of the sample, and let one filtered fetch do the rest.",
                per(raced_samples, [](const counted &c) { return 32 * memory_requests(c); })),
        lanes_at_work()};
    return gates;
}
