// Mistakes that many kernels make, recognised by the wrong elements that they leave.
#pragma once

#include "api/compare.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// X(T) for each element type that expect_equal compares.
#define GRADING_ELEMENT_TYPES(X)                                                                   \
    X(float)                                                                                       \
    X(double)                                                                                      \
    X(std::int8_t)                                                                                 \
    X(std::uint8_t)                                                                                \
    X(std::int32_t)                                                                                \
    X(std::uint32_t)                                                                               \
    X(std::int64_t)                                                                                \
    X(std::uint64_t)                                                                               \
    X(long long) // std::int64_t is a long here

namespace grading {

template <class T> bool same(T x, T y) { return x == y; } // NaN equals nothing, -0 equals +0
template <class T> bool is_nan(T x) { return x != x; }

// A wrong answer, as the recognisers see it.
template <class T> struct mistake {
    const std::vector<T> &got, &want;
    std::size_t first, count;       // the elements asked for
    std::vector<std::size_t> wrong; // ascending
    const extents &shape;
};

struct recognised {
    std::string cause, next;
};

// Looks for a mistake that explains all wrong elements. T as for expect_equal.
template <class T> std::optional<recognised> recognise_general(const mistake<T> &m);
// The same for one of them: the wrong elements are a permutation of the right ones.
template <class T> std::optional<recognised> reordered(const mistake<T> &m);

} // namespace grading
