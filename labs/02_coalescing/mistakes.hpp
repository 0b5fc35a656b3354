// Wrong answers of lab 02's kernels that the grader knows, and what to say of them.
#pragma once

#include "grader/grading.hpp"

#include <vector>

using floats = std::vector<float>;

// For scale_columns with these arguments; `got` is the wrong result.
std::vector<grading::misconception<float>> wrong_scales(const floats &in, int rows, int cols,
                                                        const floats &factor,
                                                        const grading::output<float> &got);

// For read_offset, write_offset and add_unrolled of a and b.
std::vector<grading::misconception<float>> wrong_reads(const floats &a, const floats &b,
                                                       int offset);
std::vector<grading::misconception<float>> wrong_writes(const floats &a, const floats &b);
std::vector<grading::misconception<float>> wrong_sums(const floats &a, const floats &b);
