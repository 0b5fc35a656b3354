// The wrong answers of lab 14 that the grader recognises.
#pragma once

#include "grader/grading.hpp"

#include <string>
#include <vector>

using floats = std::vector<float>;

// `before`: the array before the call of scale_managed.
std::vector<grading::misconception<float>> wrong_scalings(const floats &before, float factor,
                                                          int rounds);

// Says why time_copy_ms returned `got` milliseconds instead of `right`; empty if the cause is not
// known.
std::string why_mistimed(double got, double right, int repeats);
