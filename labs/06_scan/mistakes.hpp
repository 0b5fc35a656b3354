// Wrong sums of lab 06 that the grader knows, and what to say of them.
#pragma once

#include "grader/grading.hpp"

#include <cstdint>
#include <vector>

using ints = std::vector<int>;
using longs = std::vector<std::int64_t>;
using floats = std::vector<float>;

// Returns the right sums; those of float are exact but for one rounding each.
template <class T> std::vector<T> right_sums(const std::vector<T> &in, bool exclusive);

// Returns what the wrong sums `got` may have come from, the surest first, where an inclusive or an
// exclusive scan was asked for. The vectors outlive what is returned.
template <class T> std::vector<grading::misconception<T>>
wrong_sums(const std::vector<T> &in, bool exclusive, const std::vector<T> &got);

// The same for the tree of scan_block_exclusive, for sums of 64 bits, and for an array with an
// element that is so large that sums hold nothing else.
std::vector<grading::misconception<int>> wrong_tree(const ints &in, const ints &got);
std::vector<grading::misconception<std::int64_t>> wrong_longs(const longs &in, const longs &got);
std::vector<grading::misconception<float>> wrong_with_a_large_one(const floats &in,
                                                                  const floats &got);
