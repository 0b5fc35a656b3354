// Lab 10, radix sort: the functions to write. The lesson is
// handouts/10_radix_sort.md.
//
// Pointers are device pointers, aligned to their elements and no more: each
// array may start at its own place within a sector (32 bytes) or a line (128
// bytes). Arrays of one call do not overlap. n is at least 0 and at most 2^30.
// All arrays are sorted in place.
//
// A function with `scratch` has memory of its own: NAME_scratch(n), on the
// host, returns how many bytes NAME needs for n elements (0 is fine), and
// `scratch` then points to that many bytes of device memory at a multiple of
// 256. Their contents are undefined, and may be those of an earlier call; they
// are yours until the call's work is done. No function needs to allocate memory.
//
// The functions return when their work has been launched; the grader waits for
// it, and asks the runtime for launch errors. A function may throw a
// std::exception to report an error of its own, as check() of ../check.hpp
// does.
#pragma once

#include <cstddef>

// Sorts runs of 32 keys, each by itself: keys[0] to keys[31], keys[32] to
// keys[63], and so on; the last run may be shorter. The smallest key of a run
// comes first.
//   keys: n. Any of the 2^32 values, equal ones too.
// The lesson: ranking within a warp by votes.
void sort_warps(unsigned *keys, int n);

// Sorts n keys, the smallest first.
//   keys: n. Any of the 2^32 values, equal ones too.
// The lesson: digits, and a place for every key.
size_t radix_sort_scratch(int n);
void radix_sort(unsigned *keys, int n, void *scratch);

// Sorts keys, and moves a value with each. Stable: values of equal keys
// keep the order they had.
//   keys, values: n each.
size_t radix_sort_pairs_scratch(int n);
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch);

// Sorts numbers, the smallest first: -infinity before all others, infinity
// behind them, and -0 before 0. Each keeps its bits.
//   keys: n. No NaN is among them.
size_t radix_sort_floats_scratch(int n);
void radix_sort_floats(float *keys, int n, void *scratch);
