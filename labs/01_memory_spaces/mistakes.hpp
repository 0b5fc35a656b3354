// Wrong answers of lab 01 that the grader knows by sight.
#pragma once

#include "grader/grading.hpp"
#include "lab.hpp"

#include <vector>

using floats = std::vector<float>;
using bytes = std::vector<unsigned char>;

// `x` and the coefficients `c` that polynomial was given.
std::vector<grading::misconception<float>> wrong_polynomials(const floats &x, const floats &c);
std::vector<grading::misconception<unsigned char>> wrong_walks(const bytes &start,
                                                               const bytes &next, int steps);
std::vector<grading::misconception<float>> wrong_sorts(const floats &in);
// `data`: the array before its pieces of `block` elements were to be reversed.
std::vector<grading::misconception<float>> wrong_reversals(const floats &data, int block);
