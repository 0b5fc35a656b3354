// What is right in lab 01: plain C++ on the host, with the meaning of every argument as in lab.hpp.
#pragma once

#include "lab.hpp"

#include <vector>

namespace oracle {

using bytes = std::vector<unsigned char>;

struct polynomial_result {
    std::vector<double> values, magnitudes; // the sums, and those of the terms' absolute values
};
polynomial_result polynomial(const std::vector<float> &x, const std::vector<float> &coefficients);

bytes follow(const bytes &start, const bytes &next, int steps);

std::vector<float> small_sort(const std::vector<float> &in);

std::vector<float> reverse_blocks(const std::vector<float> &data, int block);

std::vector<float> transpose(const std::vector<float> &in, int rows, int cols);

std::vector<double> sample_bilinear(const bytes &image, int width, int height,
                                    const std::vector<float2> &at);

// `passes` sums.
std::vector<double> sum_mapped(const std::vector<float> &mapped, int passes);

std::vector<float> scale_managed(const std::vector<float> &managed, float factor, int rounds);

} // namespace oracle
