// The wrong answers of lab 14 that the grader recognises.
#pragma once

#include "grader/grading.hpp"

#include <string>
#include <vector>

using floats = std::vector<float>;

// Ends the case unless these are the sums of sum_mapped, as precise as double.
void expect_sums(const grading::output<double> &got, const floats &mapped);

// Ends the case unless scale_managed made these of the array `before`.
void expect_scaled(const grading::output<float> &got, const floats &before, float factor,
                   int rounds);

// Says why time_copy_ms returned `got` milliseconds instead of `right`; empty if the cause is not
// known.
std::string why_mistimed(double got, double right, int repeats);
