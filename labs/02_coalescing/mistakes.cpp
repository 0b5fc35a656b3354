// Tells wrong answers of lab 02's kernels from their causes: each mistake as a function of its own.
#include "mistakes.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using namespace grading;

// The same value with the 11 significant bits that a half has.
static float as_half(float x)
{
    int exponent = 0;
    std::frexp(x, &exponent);
    float unit = std::ldexp(1.0f, std::max(exponent, -13) - 11);
    return std::nearbyint(x / unit) * unit;
}

static std::vector<misconception<float>> wrong_indices(const floats &in, int rows, int cols,
                                                       const floats &factor)
{
    auto scaled = [&in, &factor, rows, cols](auto source, auto which) {
        return [=, &in, &factor] {
            floats out;
            for (int row = 0; row < rows; ++row)
                for (int col = 0; col < cols; ++col) {
                    std::size_t column = which(row, col);
                    float f = column < factor.size() ? factor[column] : 0;
                    out.push_back(in[source(row, col)] * f);
                }
            return out;
        };
    };
    auto here = [cols](int row, int col) { return std::size_t(row) * cols + col; };
    auto mirrored = [rows](int row, int col) { return std::size_t(col) * rows + row; };
    auto its_column = [](int, int col) { return col; };
    return {
        {"Each row was scaled by a factor of its own.", "Index `factor` by the column.",
         scaled(here, [](int row, int) { return row; })},
        {"The elements were read as if each column were contiguous (column-major).",
         "lab.hpp says row-major: element i of the array is in row i / cols, column i % cols.",
         scaled(here, [=](int row, int col) { return here(row, col) / rows; })},
        {"The matrix was read transposed.",
         "The neighbour of in[i] in the same row is in[i + 1]; both arrays have the same shape.",
         scaled(mirrored, its_column)},
        {"Every element was scaled by factor[0].", "Which column is element i in? i % cols.",
         scaled(here, [](int, int) { return 0; })},
    };
}

// Names the element and the column where wrong elements are their own times another column's
// factor.
static std::vector<misconception<float>> wrong_factors(const floats &in, const floats &factor,
                                                       const output<float> &got)
{
    constexpr std::size_t held_by_float = 1 << 24; // beyond, an index in floats is to blame
    const std::size_t cols = factor.size();
    auto column_taken = [&in, &factor, &got](std::size_t i) {
        auto fits = [&](float f) { return got[i] == in[i] * f; };
        return std::size_t(std::find_if(factor.begin(), factor.end(), fits) - factor.begin());
    };
    std::size_t first = 0;
    while (first < in.size() && got[first] == in[first] * factor[first % cols]) ++first;
    if (first == in.size() || in.size() > held_by_float) return {};
    const std::string i = std::to_string(first);
    return {{"Each of them was scaled by the factor of another column: out[" + i + "], in column " +
                 std::to_string(first % cols) + ", by factor[" +
                 std::to_string(column_taken(first)) + "].",
             "Which column does its thread compute for element " + i +
                 "? If a thread has several elements, compute the column of each: neighbours, too, "
                 "may lie in different rows.",
             [&in, &factor, &got, cols, column_taken] {
                 floats out = got.values;
                 for (std::size_t k = 0; k < out.size(); ++k)
                     if (column_taken(k) == cols) out[k] = in[k] * factor[k % cols];
                 return out;
             }}};
}

std::vector<misconception<float>> wrong_scales(const floats &in, int rows, int cols,
                                               const floats &factor, const output<float> &got)
{
    std::vector<misconception<float>> known = wrong_indices(in, rows, cols, factor);
    for (auto &other : wrong_factors(in, factor, got)) known.push_back(std::move(other));
    return known;
}

std::vector<misconception<float>> wrong_reads(const floats &a, const floats &b, int offset)
{
    auto sums = [&a, &b, offset](int from_a, int from_b) {
        return [&a, &b, offset, from_a, from_b] {
            floats c(a.size());
            for (std::size_t i = 0; i + offset < a.size(); ++i)
                c[i] = a[i + from_a] + b[i + from_b];
            return c;
        };
    };
    return {
        {offset < 4
             ? "The offset was left out, or rounded down to a multiple of 4, which is 0 here."
             : "The offset was left out.",
         "Read a and b at i + offset. A float4 begins at every fourth float: any other offset "
         "needs "
         "realigning, or loads of one float.",
         sums(0, 0)},
        {"Only a was read from the offset on.", "Read b at i + offset too.", sums(offset, 0)},
        {"The offset was rounded down to a multiple of 4.",
         "A float4 begins at every fourth float: any other offset needs realigning, or loads of "
         "one float.",
         sums(offset / 4 * 4, offset / 4 * 4)},
    };
}

std::vector<misconception<float>> wrong_writes(const floats &a, const floats &b)
{
    return {{"a and b were read from the offset on as well.",
             "Only c begins at the offset: c[i + offset] = a[i] + b[i].",
             [&a, &b] { return oracle::add(a, b); }}};
}

std::vector<misconception<float>> wrong_sums(const floats &a, const floats &b)
{
    auto in_half = [&a, &b] {
        floats c(a.size());
        for (std::size_t i = 0; i < c.size(); ++i) c[i] = as_half(as_half(a[i]) + as_half(b[i]));
        return c;
    };
    return {
        {"The sums have the precision of half.", "Add as float; lab.hpp has no half.", in_half}};
}
