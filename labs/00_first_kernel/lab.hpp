// Lab 00, first kernel: the functions to write. The lesson is
// handouts/00_first_kernel.md.
//
// Each function runs on the host, the CPU, and lets kernels do the work on the
// device, the GPU. Pointers whose names end in _host point to ordinary memory of
// the host. All other pointers point to device memory, which the grader has
// allocated and filled: only kernels may follow them. Arrays of one call do not
// overlap. Where a comment says "64 each", both arrays have 64 elements. No array
// has more than 2^30.
//
// A function may return before its kernel has run, because the grader waits for
// the device and asks the runtime for errors. A function may throw a
// std::exception to report an error, as check() of ../check.hpp does.
#pragma once

// Threads per block, where the comment of a function names no other number.
constexpr int block_size = 256;

// Lets each thread write its own number.
//   out: 64. out[t] = t.
// The lesson: one line of code, run by 64 threads.
void who_am_i(int *out);

// Adds 1 to each element.
//   x: n, 1 <= n <= 1024. x[i] becomes x[i] + 1.
// The lesson: a launch.
void add_one(float *x, int n);

// Multiplies one array by a number and adds another array.
//   x, y: blocks * block_size each, blocks >= 1. y[i] becomes a * x[i] + y[i].
// The lesson: the number of a thread among the threads of all blocks.
void saxpy_blocks(float a, const float *x, float *y, int blocks);

// Does the same for any number of elements.
//   x, y: n each, n >= 0. y[i] becomes a * x[i] + y[i].
// The lesson: whole blocks for a number of elements that is no multiple of 256,
// and nothing to do.
void saxpy(float a, const float *x, float *y, int n);

// Mirrors a picture: left becomes right.
//   in, out: width * height each, one byte per pixel; width and height are at
//   least 1 and at most 1000000. The pixel in column x and row y is element
//   y * width + x.
//   The pixel in column x of `in` moves to column width - 1 - x of `out`, in
//   the same row.
// The lesson: blocks and grids with two dimensions.
void mirror(const unsigned char *in, unsigned char *out, int width, int height);

// Does the same as saxpy, with arrays in the memory of the host.
//   x_host, y_host: n each, host memory, n >= 0. y_host[i] becomes
//   a * x_host[i] + y_host[i], computed on the device. When the function
//   returns, the result is there, and the device memory that it allocated is
//   free again.
// The lesson: allocate, copy, launch, copy back, free.
void saxpy_host(float a, const float *x_host, float *y_host, int n);

// Tries to launch a kernel that does nothing, as one block of `threads` threads.
//   Returns the error of the launch: 0 (cudaSuccess) if it worked, else the
//   number that the runtime gives. No error may be left in the runtime.
// The lesson: a launch returns nothing, so ask for its error.
int launch_error(int threads);

// Subtracts each element from the next one.
//   in: n; out: n - 1; n >= 1. out[i] = in[i + 1] - in[i].
// The lesson: a program that works may still be wrong.
void differences(const float *in, float *out, int n);

// Reverses 256 elements in place, with one block of 256 threads.
//   data: block_size. data[i] becomes what data[block_size - 1 - i] was.
// The lesson: threads of a block wait for each other.
void reverse_block(int *data);

// Adds up each run of 256 elements.
//   in: blocks * block_size; out: blocks; blocks >= 1. out[b] is the sum of
//   in[b * block_size] to in[b * block_size + block_size - 1]. No sum is too
//   large for an int.
// The lesson: a tree, in which 256 threads add up 256 elements in 8 steps.
void block_sums(const int *in, int *out, int blocks);
