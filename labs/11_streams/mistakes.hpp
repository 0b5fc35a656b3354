// Wrong answers of lab 11 that the grader knows, and what to say of them.
#pragma once

#include "grader/grading.hpp"
#include "oracle.hpp"

#include <vector>

using floats = std::vector<float>;
using pixels = std::vector<unsigned char>;

// Each returns what a wrong array may have come from, the surest first. The arguments outlive what
// is returned.

// For the sums of add_pipelined, of which the call wrote `c`.
std::vector<grading::misconception<float>> wrong_sums(const floats &a, const floats &b, int rounds,
                                                      const grading::output<float> &c);

// `per_image`: pixels of each image of the batch, at least 1.
std::vector<grading::misconception<unsigned char>>
wrong_merges(const pixels &first, const pixels &second, int per_image);

// For `right` and `out` of diamond.
std::vector<grading::misconception<float>> wrong_rights(const oracle::diamond_result &want,
                                                        int rounds);
std::vector<grading::misconception<float>> wrong_outs(const oracle::diamond_result &want);
