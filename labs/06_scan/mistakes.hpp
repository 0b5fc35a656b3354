// Wrong sums of lab 06 that the grader knows by what was added before each part of the array.
#pragma once

#include "grader/grading.hpp"

#include <cstdint>
#include <type_traits>
#include <vector>

// Overflows as a GPU does.
template <class T> T added(T a, T b)
{
    if constexpr (std::is_same_v<T, float>)
        return a + b;
    else
        return static_cast<T>(std::uint64_t(a) + std::uint64_t(b));
}

// Of an answer that goes on rightly within every warp, block or other part, and wrongly from one to
// the next. For integers: float sums are rounded on the way.
template <class T> std::vector<grading::misconception<T>>
wrong_before_parts(const std::vector<T> &in, bool exclusive, const std::vector<T> &got);

// Of an answer whose sums have only the last few elements in them.
template <class T>
std::vector<grading::misconception<T>> windows(const std::vector<T> &in, bool exclusive);
