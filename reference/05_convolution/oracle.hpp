// What is right in lab 05: plain C++ on the host, with the meaning of every argument as in lab.hpp.
#pragma once

#include "lab.hpp"

#include <vector>

namespace oracle {

// What lies beyond the image: 0, or its nearest pixel.
enum class border { zero, clamped };

// An image in double, and for each pixel the sum of its terms' absolute values: what the error of
// any honest summation in float is measured by. rows x cols.
struct filtered {
    std::vector<double> values, magnitudes;
};

filtered convolve(const std::vector<float> &image, int rows, int cols,
                  const std::vector<float> &filter, int radius, border beyond);

filtered convolve_separable(const std::vector<float> &image, int rows, int cols,
                            const std::vector<float> &row_filter,
                            const std::vector<float> &column_filter, int radius);

// One row of the values alone, cols of them: for images of which a whole one would take too long.
std::vector<double> row_of_convolve(const std::vector<float> &image, int rows, int cols,
                                    const std::vector<float> &filter, int radius, border beyond,
                                    int row);
std::vector<double> row_of_convolve_separable(const std::vector<float> &image, int rows, int cols,
                                              const std::vector<float> &row_filter,
                                              const std::vector<float> &column_filter, int radius,
                                              int row);

double sample(const std::vector<unsigned char> &image, int width, int height, float2 at);
std::vector<double> sample_bilinear(const std::vector<unsigned char> &image, int width, int height,
                                    const std::vector<float2> &at);

} // namespace oracle
