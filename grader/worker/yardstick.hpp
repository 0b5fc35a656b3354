// The grader's own kernels, linked into every worker: they calibrate the roofline of a device, and
// flush and fill memory between runs.
//
// All pointers are memory of the current device. All functions return after launching on the
// default stream and leave a failed launch to cudaGetLastError. The device's copy bandwidth and
// multiply-add rate are those of yardstick_copy and yardstick_fma in naive's worker, which holds no
// student code.
#pragma once

#include "yardstick_work.hpp"

#include <cstddef>
#include <vector_types.h>

// Launches one empty block.
void yardstick_null();

// Returns the runtime's cudaMemoryType of `at`: 0 for ordinary host memory, -1 on an error.
int yardstick_memory_type(const float *at);

// Sets to[i] = pattern for i < words.
void yardstick_fill(unsigned *to, size_t words, unsigned pattern);

// Reads all of `buffer`, whose size is a multiple of 16. At least twice the L2's size evicts all
// else. Reads leave no dirty lines, whose write-back would be charged to a timed kernel.
void yardstick_flush(void *buffer, size_t bytes);

// Sets to[i] = from[i] for i < n, which moves 32 n bytes.
void yardstick_copy(const float4 *from, float4 *to, size_t n);

// Does yardstick::multiply_adds(blocks, iterations) in registers, then writes one float per thread:
// yardstick::fma_floats(blocks) of them. Eight blocks per multiprocessor fill any device.
void yardstick_fma(float *out, int blocks, int iterations);
