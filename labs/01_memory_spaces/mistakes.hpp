// Wrong answers of lab 01 that the grader knows by sight.
#pragma once

#include "grader/grading.hpp"
#include "lab.hpp"

#include <vector>

using floats = std::vector<float>;
using bytes = std::vector<unsigned char>;
using points = std::vector<float2>;

// `x` and the coefficients `c` that polynomial was given.
std::vector<grading::misconception<float>> wrong_polynomials(const floats &x, const floats &c);
std::vector<grading::misconception<unsigned char>> wrong_walks(const bytes &start,
                                                               const bytes &next, int steps);
std::vector<grading::misconception<float>> wrong_sorts(const floats &in);
// `data`: the array before its pieces of `block` elements were to be reversed.
std::vector<grading::misconception<float>> wrong_reversals(const floats &data, int block);

// Allows the error that lab.hpp allows of a sample.
bool near_sample(float got, double want);
// Says why samples are wrong: they are those of other points, or lie beyond one kind of edge;
// empty: the cause is not known.
const char *why_wrong(const grading::output<float> &got, const std::vector<double> &want,
                      const bytes &image, int width, int height, const points &at);
