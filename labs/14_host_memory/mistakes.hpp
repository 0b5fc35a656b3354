// Wrong answers of lab 14 that the grader knows by sight.
#pragma once

#include "grader/grading.hpp"

#include <string>
#include <vector>

using floats = std::vector<float>;

// `before`: the array that scale_managed was given.
std::vector<grading::misconception<float>> wrong_scalings(const floats &before, float factor,
                                                          int rounds);

// Says why time_copy_ms returned `got` milliseconds where `right` were to be measured; empty: the
// cause is not known.
std::string why_mistimed(double got, double right, int repeats);
