// The timed workloads of lab 05 find one wrong pixel.
#include "one_wrong_element.hpp"

#include "lab.hpp"
#include "oracle.hpp"
#include "workloads.hpp"

#include <cmath>

using namespace grading;

namespace {

void filter(const arguments &all, border beyond)
{
    fill(elements<float>(all[1]),
         oracle::convolve(copied<float>(all[0]), value_in<int>(all[2]), value_in<int>(all[3]),
                          copied<float>(all[4]), value_in<int>(all[5]), beyond)
             .values);
}

void filter_twice(const arguments &all)
{
    fill(elements<float>(all[1]),
         oracle::convolve_separable(copied<float>(all[0]), value_in<int>(all[2]),
                                    value_in<int>(all[3]), copied<float>(all[4]),
                                    copied<float>(all[5]), value_in<int>(all[6]))
             .values);
}

double magnitude(const argument &filter)
{
    double sum = 0;
    for (float f : elements<float>(filter)) sum += std::abs(f);
    return sum;
}

// A round looks at one of each four rows, so the pixel is wrong in four rows of this column. It is
// off by a little more than expect_close() allows.
std::function<void(const argument &, std::size_t)> by(const double &error)
{
    return [&error](const argument &out, std::size_t i) {
        constexpr std::size_t cols = 508;
        const std::span<float> pixels = elements<float>(out);
        const std::size_t rows = pixels.size() / cols, row = std::min(i / cols / 4 * 4, rows - 4);
        for (std::size_t k = row; k < row + 4; ++k) {
            float &pixel = pixels[k * cols + i % cols];
            pixel += static_cast<float>(i % 2 ? error : -error);
        }
    };
}

void try_filter(function what, border beyond)
{
    double error = 0;
    find_one_wrong_element(
        large_image(what), 1,
        [&](const arguments &all) {
            filter(all, beyond);
            error = std::ldexp(37 * magnitude(all[4]), -24); // allowed: 36, and for rounding 1
            error += std::ldexp(10, -24);
        },
        by(error));
}

} // namespace

TEST_CASE("convolve: one wrong pixel") { try_filter(function::direct, border::zero); }
TEST_CASE("convolve_clamped: one wrong pixel") { try_filter(function::clamped, border::clamped); }
TEST_CASE("convolve_separable: one wrong pixel")
{
    double error = 0;
    find_one_wrong_element(
        large_image(function::separable), 1,
        [&](const arguments &all) {
            filter_twice(all);
            error = std::ldexp(69 * magnitude(all[4]) * magnitude(all[5]) + 10, -24);
        },
        by(error));
}

TEST_CASE("sample_bilinear: one wrong sample")
{
    find_one_wrong_element(
        many_samples(), 4,
        [](const arguments &all) {
            fill(elements<float>(all[4]),
                 oracle::sample_bilinear(copied<unsigned char>(all[0]), value_in<int>(all[1]),
                                         value_in<int>(all[2]), copied<float2>(all[3])));
        },
        [](const argument &out, std::size_t i) { // allowed: 1/128
            elements<float>(out)[i] += i % 2 ? 0x1.01p-7f : -0x1.01p-7f;
        });
}
