// Wrong answers of lab 00 that the grader knows by sight.
#pragma once

#include "grader/grading.hpp"

#include <cstddef>
#include <vector>

using bytes = std::vector<unsigned char>;
using floats = std::vector<float>;
using ints = std::vector<int>;

std::vector<grading::misconception<int>> wrong_numbers();
// Of saxpy, whose inputs were a, x and y, and whose result is `got`.
std::vector<grading::misconception<float>> wrong_saxpy(float a, const floats &x, const floats &y,
                                                       const floats &got);
std::vector<grading::misconception<unsigned char>> wrong_mirrors(const bytes &in, int width,
                                                                 int height);
// The elements that get no pixel where x counts rows, in ascending order.
std::vector<std::size_t> beyond_the_height(int width, int height);
std::vector<grading::misconception<float>> wrong_differences(const floats &in);
std::vector<grading::misconception<int>> wrong_reversals(const ints &data);
std::vector<grading::misconception<int>> wrong_sums(const ints &in);
