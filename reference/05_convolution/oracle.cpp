// What is right in lab 05: every tap of the filter, added to a whole row of the image at a time.
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <future>

namespace oracle {

namespace {

// Row `row` of the image with `radius` pixels more at both ends; any row, also beyond the image.
std::vector<double> with_border(const std::vector<float> &image, int rows, int cols, int row,
                                int radius, border beyond)
{
    std::vector<double> wide(static_cast<std::size_t>(cols) + 2 * radius);
    bool clamped = beyond == border::clamped;
    if (!clamped && (row < 0 || row >= rows)) return wide;
    auto first = image.begin() + std::ptrdiff_t(std::clamp(row, 0, rows - 1)) * cols;
    auto end = std::copy(first, first + cols, wide.begin() + radius);
    if (clamped) {
        std::fill(wide.begin(), wide.begin() + radius, first[0]);
        std::fill(end, wide.end(), first[cols - 1]);
    }
    return wide;
}

// to[i] += factor * from[i] for every i < n.
void add_scaled(double *to, const double *from, double factor, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

// The rows of an image, put together; those of a large one are made by several threads.
template <class Row> filtered all_rows(int rows, int cols, Row row_of)
{
    const std::size_t width = static_cast<std::size_t>(cols);
    filtered f;
    f.values.resize(static_cast<std::size_t>(rows) * width);
    f.magnitudes.resize(f.values.size());
    auto make = [&](int first, int last) {
        for (int row = first; row < last && cols > 0; ++row)
            for (bool absolute : {false, true}) {
                const std::vector<double> of_row = row_of(row, absolute);
                std::vector<double> &to = absolute ? f.magnitudes : f.values;
                std::ranges::copy(of_row, to.begin() + std::ptrdiff_t(row) * cols);
            }
    };
    const int parts = f.values.size() < (1 << 18) ? 1 : 4;
    std::vector<std::future<void>> others;
    for (int k = 1; k < parts; ++k)
        others.push_back(std::async(std::launch::async, make, int(std::int64_t{rows} * k / parts),
                                    int(std::int64_t{rows} * (k + 1) / parts)));
    make(0, rows / parts);
    for (std::future<void> &other : others) other.get();
    return f;
}

std::vector<float> without_signs(std::vector<float> values)
{
    for (float &v : values) v = std::abs(v);
    return values;
}

} // namespace

std::vector<double> row_of_convolve(const std::vector<float> &image, int rows, int cols,
                                    const std::vector<float> &filter, int radius, border beyond,
                                    int row)
{
    std::vector<double> sums(static_cast<std::size_t>(cols));
    int d = 2 * radius + 1;
    for (int y = 0; y < d; ++y) {
        std::vector<double> wide = with_border(image, rows, cols, row + y - radius, radius, beyond);
        for (int x = 0; x < d; ++x)
            add_scaled(sums.data(), wide.data() + x, filter[static_cast<std::size_t>(y * d + x)],
                       sums.size());
    }
    return sums;
}

std::vector<double> row_of_convolve_separable(const std::vector<float> &image, int rows, int cols,
                                              const std::vector<float> &row_filter,
                                              const std::vector<float> &column_filter, int radius,
                                              int row)
{
    std::vector<double> sums(static_cast<std::size_t>(cols)), wide(sums.size() + 2 * radius);
    for (int y = 0; y <= 2 * radius; ++y)
        add_scaled(wide.data(),
                   with_border(image, rows, cols, row + y - radius, radius, border::zero).data(),
                   column_filter[static_cast<std::size_t>(y)], wide.size());
    for (int x = 0; x <= 2 * radius; ++x)
        add_scaled(sums.data(), wide.data() + x, row_filter[static_cast<std::size_t>(x)],
                   sums.size());
    return sums;
}

filtered convolve(const std::vector<float> &image, int rows, int cols,
                  const std::vector<float> &filter, int radius, border beyond)
{
    std::vector<float> sizes = without_signs(image), factors = without_signs(filter);
    return all_rows(rows, cols, [&](int row, bool absolute) {
        return row_of_convolve(absolute ? sizes : image, rows, cols, absolute ? factors : filter,
                               radius, beyond, row);
    });
}

filtered convolve_separable(const std::vector<float> &image, int rows, int cols,
                            const std::vector<float> &row_filter,
                            const std::vector<float> &column_filter, int radius)
{
    std::vector<float> sizes = without_signs(image), of_row = without_signs(row_filter),
                       of_column = without_signs(column_filter);
    return all_rows(rows, cols, [&](int row, bool absolute) {
        return absolute
                   ? row_of_convolve_separable(sizes, rows, cols, of_row, of_column, radius, row)
                   : row_of_convolve_separable(image, rows, cols, row_filter, column_filter, radius,
                                               row);
    });
}

double sample(const std::vector<unsigned char> &image, int width, int height, float2 at)
{
    auto pixel = [&](double x, double y) {
        auto col = static_cast<std::size_t>(std::clamp(x, 0.0, width - 1.0));
        auto row = static_cast<std::size_t>(std::clamp(y, 0.0, height - 1.0));
        return image[row * static_cast<std::size_t>(width) + col] / 255.0;
    };
    const double x = std::floor(at.x), y = std::floor(at.y), right = at.x - x, below = at.y - y;
    return (1 - below) * ((1 - right) * pixel(x, y) + right * pixel(x + 1, y)) +
           below * ((1 - right) * pixel(x, y + 1) + right * pixel(x + 1, y + 1));
}

std::vector<double> sample_bilinear(const std::vector<unsigned char> &image, int width, int height,
                                    const std::vector<float2> &at)
{
    std::vector<double> out;
    for (float2 p : at) out.push_back(sample(image, width, height, p));
    return out;
}

} // namespace oracle
