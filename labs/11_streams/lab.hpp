// Lab 11, streams: the functions to write. The lesson is
// handouts/11_streams.md.
//
// Pointers whose names end in _host point to pinned host memory, all others to
// device memory. They are aligned to their elements and no more, and arrays of
// one call do not overlap. Sizes are at least 0; n is at most 2^30, and so is
// width * height * count; size 0 is legal and does nothing.
//
// Each function has scratch memory of its own: NAME_scratch(...), on the host,
// returns how many bytes NAME needs for the same sizes (0 is fine), and
// `scratch` then points to that many bytes of device memory at a multiple of
// 256. Their contents are undefined, and may be those of an earlier call; they
// are yours until the call's work is done. No function needs to allocate memory.
//
// Streams and events may be created in the first call and kept for all later
// ones; calls come one after another, from one thread. A function that writes
// host memory returns when all of it is written; one that writes device memory
// returns when its work has been launched: the grader waits for all streams,
// and asks the runtime for errors. A function may throw a std::exception to
// report an error of its own, as check() of ../check.hpp does.
#pragma once

#include <cstddef>

#ifdef __CUDACC__
// The function that kernels have to compute, for any x in [-1, 1]: use it as it
// is. The result is in [-1, 1] too. It depends on every bit of x and on every
// round, and no shortcut is known.
inline __device__ float work(float x, int rounds)
{
    for (int k = 0; k < rounds; ++k) x = fmaf(-1.9f * x, x, 1.0f);
    return x;
}
#endif

// Copies two arrays to the device, adds and works on them, and copies the
// result back.
//   a_host, b_host, c_host: n each; rounds >= 0; all |a + b| <= 1.
//   c_host[i] = work(a_host[i] + b_host[i], rounds).
//   The data are copied to the device and back; kernels work on copies.
// The lesson: with the arrays cut into pieces, one piece can be copied in while
// the device computes another and a third is copied out.
size_t add_pipelined_scratch(int n);
void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch);

// Merges two batches of images.
//   first_host, second_host, out_host: count x height x width bytes, image
//   after image.
//   out = (3 * first + second + 2) / 4 for each pixel, rounded down.
//   The images are copied to the device and back.
// The lesson: if the copies take all the time, the only gain is from copying
// both ways at once.
size_t merge_images_scratch(int width, int height, int count);
void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch);

// Computes in four steps, two of which need not wait for each other.
//   in, left, right, out: n each; rounds >= 0; all |in| <= 1. top is an array
//   in scratch.
//
//                    top[i] = work(in[i], 1)
//                   /                       \.
//   left[i] = work(top[i], rounds)   right[i] = work(top[n-1-i] / 2, rounds)
//                   \                       /
//                    out[i] = left[i] - right[i]
//
// The lesson: streams are independent, and events order them.
size_t diamond_scratch(int n);
void diamond(const float *in, float *left, float *right, float *out, int n, int rounds,
             void *scratch);
