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

} // namespace oracle
