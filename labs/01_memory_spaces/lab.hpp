// Lab 01, memory spaces: the functions to write. The lesson is
// handouts/01_memory_spaces.md.
//
// Pointers are device pointers unless their name ends in _host or the text says
// otherwise. They are aligned to their elements and no more, and arrays of one
// call do not overlap. Sizes are at least 0; n is at most 2^30, and so are
// products of sizes; size 0 is legal and does nothing. An element that no
// function was asked to write keeps its value.
//
// The functions return when their work has been launched, or, where they write
// host memory, when it is done; the grader waits for the rest, and asks the
// runtime for errors. A function may throw a std::exception to report an error
// of its own, as check() of ../check.hpp does.
#pragma once

#include <cstddef>

// Properties of the current device.
struct device_facts_t {
    int devices;               // that this process can use
    char name[256];            // as the runtime spells it, ended by a zero
    int multiprocessors;       // SMs
    int max_threads_per_block; // at most
    size_t shared_per_block;   // bytes of shared memory, at most, without opt-in
    size_t constant_memory;    // bytes
    size_t l2;                 // bytes of the cache that all SMs share
    int warp_size;             // threads
    int copy_engines;          // that move data while kernels run
};
void device_facts(device_facts_t *out_host);

// Adds 1 to a variable that lives in device memory.
//   out_host: one float, host memory. A `__device__` variable is set to
//   `start`, a kernel adds 1 to it, and it is read back: *out_host = start + 1.
void add_to_global(float start, float *out_host);

// Evaluates a polynomial for many x.
//   x, y: n each; coefficients_host: degree + 1, host memory;
//   0 <= degree <= 63.
//   y[i] = c[0] + c[1] * x[i] + ... + c[degree] * x[i]^degree.
// The lesson: constant memory, for values that all threads read at the same
// time, and registers, so that a value read once serves several elements.
constexpr int max_coefficients = 64;
void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree);

// Walks through a table, each element on a path of its own.
//   start, out: n each; next_host: 256, host memory; steps >= 0.
//   out[i] is start[i] after `steps` times s = next_host[s].
// The lesson: constant memory is the wrong place if lanes read different
// addresses.
void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps);

// Sorts runs of 16.
//   in, out: n each. in[0] to in[15], in[16] to in[31], ... are sorted each by
//   itself, smallest first; the last run may be shorter. No element is NaN.
// The lesson: what keeps an array in registers, and what sends it to local
// memory.
constexpr int run_length = 16;
void small_sort(const float *in, float *out, int n);

// Reverses each piece of an array in place.
//   data: n; 1 <= block <= 1024. data[0] to data[block - 1] are reversed, so
//   are the next `block` elements, and so on; the last piece may be shorter.
// The lesson: threads of a block exchange data through shared memory.
void reverse_blocks(float *data, int n, int block);
