// The wrong products of lab 04 that the grader recognises, and the shapes of the matrices.
#pragma once

#include "grader/grading.hpp"

#include <cstddef>
#include <vector>

using floats = std::vector<float>;

struct shape {
    int j, k, l;
};
inline std::size_t area(int rows, int cols) { return std::size_t(rows) * cols; }

using misconceptions = std::vector<grading::misconception<float>>;

misconceptions wrong_products(const floats &M, const floats &N, const shape &s);
misconceptions wrong_scalings(float alpha, const floats &A, const floats &B, float beta,
                              const floats &C, const shape &s);
