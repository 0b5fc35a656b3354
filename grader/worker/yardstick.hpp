// The grader's own kernels, linked into every worker: what a device can do, and what keeps runs
// apart.
//
// All pointers are device memory of the current device; all return once launched on the default
// stream, and leave a failed launch to cudaGetLastError. The device's copy bandwidth and
// multiply-add rate are those of yardstick_copy and yardstick_fma in naive's worker, which holds no
// student code.
#pragma once

#include "yardstick_work.hpp"

#include <cstddef>
#include <vector_types.h>

// One block that does nothing.
void yardstick_null();

// What the runtime takes `at` for: a cudaMemoryType, 0 for ordinary host memory;
// -1: it refused to say.
int yardstick_memory_type(const float *at);

// to[i] = pattern for i < words.
void yardstick_fill(unsigned *to, size_t words, unsigned pattern);

// Reads all of `buffer`, whose size is a multiple of 16: with at least twice the L2, nothing else
// stays in it. Reading leaves no modified lines, whose writing back a timed kernel would pay for.
void yardstick_flush(void *buffer, size_t bytes);

// to[i] = from[i] for i < n: 32 n bytes moved.
void yardstick_copy(const float4 *from, float4 *to, size_t n);

// Does yardstick::multiply_adds(blocks, iterations) in registers, then writes one float a thread:
// yardstick::fma_floats(blocks) of them. Eight blocks a multiprocessor fill any device.
void yardstick_fma(float *out, int blocks, int iterations);
