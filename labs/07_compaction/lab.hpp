// Lab 07, compaction: the functions to write. The lesson is
// handouts/07_compaction.md.
//
// Pointers are device pointers, aligned to their elements and no more: each
// array may start at its own place within a sector (32 bytes) or a line (128
// bytes). Arrays of one call do not overlap. n is at least 0 and at most 2^30.
// An element that no function was asked to write keeps its value.
//
// Each function has scratch memory of its own: NAME_scratch(n), on the host,
// returns how many bytes NAME needs for n elements (0 is fine), and `scratch`
// then points to that many bytes of device memory at a multiple of 256. Their
// contents are undefined, and may be those of an earlier call; they are yours
// until the call's work is done. No function needs to allocate memory.
//
// Blocks may begin in any order, and unless the launch is cooperative only some
// of them run at once: a block must not wait for one that may not have begun.
//
// The functions return when their work has been launched; the grader waits for
// it, and asks the runtime for launch errors. A function may throw a
// std::exception to report an error of its own, as check() of ../check.hpp
// does.
#pragma once

#include <cstddef>

// Packs the positive elements.
//   in, out: n each; count: one. The k elements of `in` that are greater than 0
//   go to out[0] to out[k - 1], in the order they had; the rest of out stays as
//   it is. *count = k, for n = 0 as well. Infinity is positive; 0, -0 and NaN
//   are not.
// The lesson: an element's place depends on all elements before it.
size_t compact_scratch(int n);
void compact(const float *in, float *out, int *count, int n, void *scratch);

// Puts packed elements back in their places.
//   keep, out: n each; packed: as many elements as keep has bytes that are not
//   0 (whatever else they are), and not one more. out[i] is the next element of
//   `packed` where keep[i] is not 0, and 0 elsewhere.
size_t unpack_scratch(int n);
void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch);

// Puts the positive elements first.
//   in, out: n each; kept_count: one. First the elements greater than 0, then
//   all others, each in the order they had. *kept_count = how many are greater
//   than 0, for n = 0 as well. All others are copied bit by bit, -0 and NaN
//   too.
size_t partition_scratch(int n);
void partition(const float *in, float *out, int *kept_count, int n, void *scratch);
