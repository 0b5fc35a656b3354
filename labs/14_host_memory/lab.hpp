// Lab 14, memory on the host: the functions to write. The lesson is
// handouts/14_host_memory.md.
//
// Pointers are device pointers unless their name ends in _host or the text says
// otherwise. They are aligned to their elements and no more, and arrays of one
// call do not overlap. Sizes are at least 0; n is at most 2^30; size 0 is legal
// and does nothing unless the text says otherwise. An element that no function
// was asked to write keeps its value.
//
// The functions return when their work has been launched, or, where they return
// a number, when it is done; the grader waits for the rest, and asks the runtime
// for errors. A function may throw a std::exception to report an error of its
// own, as check() of ../check.hpp does.
#pragma once

#include <cstddef>

// Host memory from which copies to the device are fast.
//   acquire: returns n floats of host memory, n >= 1, which the caller fills.
//   upload: copies n floats from src_host, which lies in memory from acquire,
//   to dst.
//   release: frees the memory that acquire returned; called once for each.
// The lesson: who pins the memory, and when?
float *acquire(size_t n);
void upload(const float *src_host, float *dst, size_t n);
void release(float *memory);

// Adds up powers of numbers in host memory.
//   mapped: n, pinned host memory, which the device can read at the same
//   address; out: `passes` doubles, device memory; 1 <= passes <= 16.
//   out[p] is the sum of all mapped[i]^(p + 1), computed as double; 0 if n is
//   0.
//   scratch: device memory at a multiple of 256, of the size in bytes that
//   sum_mapped_scratch(n), on the host, returns (0 is fine). Its contents are
//   undefined.
// The lesson: how often do the elements cross the link to the host?
size_t sum_mapped_scratch(int n);
void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch);

// Scales an array in managed memory.
//   managed: n, managed memory, whose pages are on the host before the call;
//   rounds >= 0. Each element is multiplied by `factor` `rounds` times, rounded
//   to float each time.
// The lesson: a page that is not on the device makes a kernel wait.
void scale_managed(float *managed, int n, float factor, int rounds);

// Measures how long one copy to the device takes, in milliseconds.
//   src_host: n, pinned host memory, owned by the caller; dst: n, device
//   memory; n >= 1; 1 <= repeats <= 100. Copies src_host to dst once to warm
//   up, and then `repeats` times, each copy behind the one before. Returns the
//   time from an event in front of these `repeats` copies to an event behind
//   them, divided by `repeats`. All copies have ended when it returns, and
//   events and streams that it created are destroyed.
// The lesson: measure the device's work, not the time it takes to queue it.
float time_copy_ms(const float *src_host, float *dst, size_t n, int repeats);
