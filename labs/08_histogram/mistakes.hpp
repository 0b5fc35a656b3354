// The wrong answers of lab 08 that the grader recognises, and its messages for them.
#pragma once

#include "grader/grading.hpp"

#include <cstddef>
#include <string>
#include <vector>

using bytes = std::vector<unsigned char>;
using floats = std::vector<float>;
using counts = std::vector<unsigned>;
using ints = std::vector<int>;

// The range: from `low` on, in bins of `width`, a power of two of which `low` is a multiple.
struct bin_range {
    float low, width;
    int bins;
    float high() const { return low + float(bins) * width; }
};

// Returns what a wrong sum of `in` may have come from, the surest first.
std::vector<grading::misconception<long long>> wrong_sums(const ints &in, long long got);

// The same for counts of bytes, whose array begins `at` bytes past a 256-byte boundary; and below
// for counts of pixels and of floats.
std::vector<grading::misconception<unsigned>> wrong_bytes(const bytes &in, int at,
                                                          const counts &got);

std::vector<grading::misconception<unsigned>> wrong_tiles(const bytes &image, int width, int height,
                                                          int tile);

std::vector<grading::misconception<unsigned>> wrong_ranges(const floats &in, const bin_range &r,
                                                           const counts &got);

// Returns the mistake of counters with fewer bits than a count needs, if the answer shows it.
std::vector<grading::misconception<unsigned>> short_counters(const counts &got, const counts &want);

// Says which numbers may be taken for ones of bin bin_count, which does not exist; empty: none.
std::string behind_the_last_bin(const floats &in, const bin_range &r);
