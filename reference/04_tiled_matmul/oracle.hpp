// The right results of lab 04: plain C++ on the host, with the meaning of every argument as in
// lab.hpp.
#pragma once

#include "lab.hpp"

#include <vector>

namespace oracle {

// A product in double, and for each element the sum of its terms' absolute values: what the error
// of any honest summation in float is measured by. j x l, row-major.
struct product {
    std::vector<double> values, magnitudes;
};

// M: j x k, N: k x l.
product matmul(const std::vector<float> &M, const std::vector<float> &N, int j, int k, int l);

// C, j x l, as it was before the call; not read when beta is 0.
product sgemm(float alpha, const std::vector<float> &A, const std::vector<float> &B, float beta,
              const std::vector<float> &C, int j, int k, int l);

// One column of alpha * A * B, j values, for where a whole product would take too long.
std::vector<double> column(float alpha, const std::vector<float> &A, const std::vector<float> &B,
                           int j, int k, int l, int col);

} // namespace oracle
