// Lab 12, multi GPU: the functions to write. The lesson is
// handouts/12_multi_gpu.md.
//
// `devices` is the number of members: any number from 1 to max_members. Member
// k works on the CUDA device k % N, where N is the number that
// cudaGetDeviceCount returns: if there are fewer GPUs than members, some
// members share one. buffers[k] is memory of member k's device, at a multiple
// of 256 bytes; the array `buffers` itself, and all arrays whose names end in
// _host, are ordinary memory of the host. Arrays do not overlap. Sizes are at
// least 0.
//
// Some devices may have no access to each other's memory: their kernels cannot
// follow each other's pointers, and the runtime routes copies between them
// through the host. Every function must be right there, too.
//
// Any device may be current before a call and after it. Functions that
// write host memory return when that is done, the others when all work has been
// launched: the grader waits for every device, and asks the runtime for errors.
// Memory that a function allocates it frees. A function may throw a
// std::exception to report an error of its own, as check() of ../check.hpp
// does.
#pragma once

constexpr int max_members = 16;

// Finds out which members can follow which members' pointers.
//   can_access_host: devices x devices. can_access_host[i * devices + j] = 1 if
//   kernels of member i can be given access to memory of member j's device,
//   else 0. A device has access to its own memory.
// The lesson: a device's memory is not always accessible to the others.
void peer_table(int *can_access_host, int devices);

// Makes all buffers equal to the first.
//   buffers: n floats each, at most 2^28. buffers[k][i] = buffers[0][i], for
//   all k. A multiple of n may be too large for an int.
// The lesson: every member that has received a piece can send it on.
void broadcast(float *const *buffers, int n, int devices);

// Adds up all buffers, in every buffer.
//   buffers: n floats each, at most 2^28. Each buffers[k][i] becomes the sum of
//   the old buffers[0][i], buffers[1][i], ..., added in any order; but the
//   results in all buffers are equal bit by bit.
// The lesson: each member adds up one part, and sends each part once.
void all_reduce(float *const *buffers, int n, int devices);

// Merges two batches of images.
//   first_host, second_host, out_host: count x height x width bytes, image
//   after image, at most 2^30, which may be as many images.
//   out = (3 * first + second + 2) / 4 for each pixel, rounded down. Each member
//   merges about as many images as any other.
// The lesson: one host thread per device, each with a current device of its
// own.
void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int devices);
