// Lab 08, histogram: the functions to write. The lesson is
// handouts/08_histogram.md.
//
// Pointers are device pointers, aligned to their elements and no more: each
// array may start at its own place within a sector (32 bytes) or a line (128
// bytes). Arrays of one call do not overlap.
//
// The contents of `out` and `bins` are undefined before the call, and may be
// those of an earlier call. They are overwritten: if there are no elements,
// with 0.
//
// The functions return when their work has been launched; the grader waits for
// it, and asks the runtime for launch errors. A function may throw a
// std::exception to report an error of its own, as check() of ../check.hpp
// does.
#pragma once

#include <cstddef>

// Adds up all elements.
//   in: n, 0 <= n <= 2^30, of any sign and size; out: 1.
//   *out = in[0] + ... + in[n - 1], exactly. It fits a long long, which has 64
//   bits; a sum of only two elements may not fit an int.
// The lesson: a reduction with few atomics, few barriers, and much work for
// each thread.
void sum(const int *in, long long *out, int n);

// Counts how often each byte occurs.
//   in: n, any number, even beyond 2^32; bins: 256.
//   bins[v] = how many elements of `in` are v, modulo 2^32 as an unsigned is.
// The lesson: what happens when thousands of threads add to one address, and
// how to avoid it.
void histogram(const unsigned char *in, size_t n, unsigned *bins);

// Does the same for each tile of an image.
//   image: height x width, row-major, at most 2^30 pixels; tile: at least 1.
//   The image is cut into squares of tile x tile pixels from its first pixel
//   on; those at the right and the bottom edge may be smaller.
//   There are across = width / tile and down = height / tile of them, each
//   rounded up, and across * down is at most 2^22.
//   bins: down x across x 256. bins[(r * across + c) * 256 + v] = how many
//   pixels of the tile in row r and column c of tiles are v.
void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins);

// Counts how many numbers lie in each part of a range.
//   in: n, 0 <= n <= 2^30; bins: bin_count, which is 1 to 2048.
//   The range [low, high) is divided into bin_count parts, each (high - low) /
//   bin_count wide. That width is a power of two and low a multiple of it, so
//   that every bound is a float: low + b * width is exact.
//   bins[b] = how many x of `in` have low + b * width <= x < low + (b + 1) *
//   width. Numbers outside the range are not counted, nor is NaN.
void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins);
