// Wrong answers of lab 05 that the grader knows by sight, and the shapes that both speak of.
#pragma once

#include "grader/grading.hpp"
#include "lab.hpp"
#include "oracle.hpp"

#include <cstddef>
#include <vector>

using floats = std::vector<float>;
using bytes = std::vector<unsigned char>;
using points = std::vector<float2>;
using oracle::border;

struct shape {
    int rows, cols;
    std::size_t pixels() const { return std::size_t(rows) * cols; }
    grading::extents as_extents() const { return {std::size_t(rows), std::size_t(cols)}; }
};
inline std::size_t length(int radius) { return 2 * std::size_t(radius) + 1; }

using misconceptions = std::vector<grading::misconception<float>>;

misconceptions wrong_filterings(const floats &image, const shape &s, const floats &filter,
                                int radius, border beyond);

// Returns the filter that two others make, which is d x d.
floats product_of(const floats &row_filter, const floats &column_filter);
// `product` is product_of the two filters.
misconceptions wrong_products(const floats &image, const shape &s, const floats &row_filter,
                              const floats &column_filter, const floats &product, int radius);

// Sums of whole numbers that are none, whatever they are of. To be added last.
void add_of_fractions(misconceptions &known, const floats &out);

// What is wrong when a call uses the filter of the one before, which had as many elements.
void add_of_filter_before(misconceptions &known, const floats &image, const shape &s,
                          const floats &filter, int radius, border beyond);

// Ends the case unless `got` are the samples of the image at these points, with the error that
// lab.hpp allows.
void expect_samples(const grading::output<float> &got, const bytes &image, int width, int height,
                    const points &at);
