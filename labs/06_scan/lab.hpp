// Lab 06, scan: the functions to write. The lesson is handouts/06_scan.md.
//
// A scan, or prefix sum, gives every element the sum of those before it:
//   inclusive  out[i] = in[0] + ... + in[i], with the element itself;
//   exclusive  out[i] = in[0] + ... + in[i - 1], without it; out[0] = 0.
//
// Pointers are device pointers, aligned to their elements and no more: each
// array may start at its own place within a sector (32 bytes) or a line (128
// bytes). Arrays of one call do not overlap; in and out hold n elements each.
// n is at least 0 and at most 2^30; for n = 0 there is nothing to do. Every sum
// of neighbours fits its type.
//
// The scans of any length have scratch memory of their own: NAME_scratch(n), on
// the host, returns how many bytes NAME needs for n elements (0 is fine), and
// `scratch` then points to that many bytes of device memory at a multiple of
// 256. Their contents are undefined, and may be those of an earlier call; they
// are yours until the call's work is done. No function needs to allocate
// memory.
//
// Blocks may begin in any order, and except in a cooperative launch only some
// of them run at once: a block must not wait for one that may not have begun.
//
// The functions return when their work has been launched; the grader waits for
// it, and asks the runtime for launch errors. A function may throw a
// std::exception to report an error of its own, as check() of ../check.hpp
// does.
#pragma once

#include <cstddef>
#include <cstdint>

// An inclusive and an exclusive scan that one block can do: n is at most 2048.
// The lesson: threads that add up together, first by doubling distances, then
// in a tree that needs fewer additions; and the banks of shared memory.
void scan_block_inclusive(const int *in, int *out, int n);
void scan_block_exclusive(const int *in, int *out, int n);

// Scans of any length.
// The lesson: blocks that need results of other blocks.
size_t scan_inclusive_scratch(int n);
void scan_inclusive(const int *in, int *out, int n, void *scratch);
size_t scan_exclusive_scratch(int n);
void scan_exclusive(const int *in, int *out, int n, void *scratch);

// The same for other types. Neighbouring floats may be added in any order: a
// sum is right if it is as close to the exact one as rounding in any order
// allows.
size_t scan_inclusive_int64_scratch(int n);
void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *scratch);
size_t scan_inclusive_float_scratch(int n);
void scan_inclusive_float(const float *in, float *out, int n, void *scratch);
