// Wrong answers of lab 10 that the grader recognises, and the hints for a sort in passes.
#pragma once

#include "grader/grading.hpp"
#include "oracle.hpp"

#include <string>
#include <vector>

using uints = std::vector<unsigned>;
using floats = std::vector<float>;

// Sets the hints for the case's next call of this function, and what the host may do in it.
void explain_sorting(const std::string &function);

// `got` is the wrong result, `before` the argument that was sorted: for sort_warps; for the keys of
// radix_sort and radix_sort_pairs; for radix_sort_floats; and for the values of radix_sort_pairs.
std::vector<grading::misconception<unsigned>> wrong_runs(const grading::output<unsigned> &got,
                                                         const uints &before);
std::vector<grading::misconception<unsigned>> wrong_orders(const grading::output<unsigned> &got,
                                                           const uints &before);
std::vector<grading::misconception<float>> wrong_floats(const grading::output<float> &got,
                                                        const floats &before);
std::vector<grading::misconception<unsigned>> wrong_values(const grading::output<unsigned> &got,
                                                           const oracle::pairs &before,
                                                           const oracle::pairs &want);
