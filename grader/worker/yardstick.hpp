// The grader's own kernels, linked into every worker: the calibration kernels of a device's
// roofline, and kernels that flush the L2 and fill memory between runs.
//
// Except in yardstick_memory_type and yardstick_upload_ms, pointers are memory of the current
// device, and functions return after an asynchronous launch on the default stream and leave its
// error to cudaGetLastError. The
// device's copy bandwidth and multiply-add rate are measured with yardstick_copy and yardstick_fma
// in naive's worker, which holds no student code.
#pragma once

#include "yardstick_work.hpp"

#include <cstddef>
#include <vector_types.h>

// Launches one empty block.
void yardstick_null();

// Returns the cudaMemoryType of `at`: 0 for pageable host memory (cudaMemoryTypeUnregistered), -1
// on an error.
int yardstick_memory_type(const float *at);

// Copies n floats from pinned host memory to the device, once and then `repeats` times, and returns
// the mean time of the latter copies by events, in milliseconds; -1 on an error.
float yardstick_upload_ms(const float *from_host, float *to, size_t n, int repeats);

// Sets to[i] = pattern for i < words.
void yardstick_fill(unsigned *to, size_t words, unsigned pattern);

// Reads all of `buffer`, whose size is a multiple of 16 bytes. If it is at least twice as large as
// the L2, that evicts all else. Reads leave no dirty lines, whose write-back would slow the next
// kernel, which is timed.
void yardstick_flush(void *buffer, size_t bytes);

// Sets to[i] = from[i] for i < n, which reads and writes 16 n bytes each.
void yardstick_copy(const float4 *from, float4 *to, size_t n);

// Does yardstick::multiply_adds(blocks, iterations) in registers, then writes one float per thread:
// yardstick::fma_floats(blocks) of them. Eight blocks per multiprocessor, 2048 threads, fill any
// device.
void yardstick_fma(float *out, int blocks, int iterations);
