// Lab 11, rung 3: many pieces, which use the slots in turn.
//
// New: more pieces than streams. Each stream has one slot of the scratch, for one piece at a time:
// the stream's order makes the next piece wait until the last one has been copied out.
// Unchanged: diamond.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int block_size = 256, stream_count = 4, pieces = 32;
constexpr size_t least = 1 << 11, most = 1 << 22; // elements of a piece

static unsigned blocks_for(size_t threads)
{
    return static_cast<unsigned>((threads + block_size - 1) / block_size);
}

// Created in the first call, and kept. The default stream and blocking streams wait for each other,
// but not for these.
static cudaStream_t stream(int k)
{
    static cudaStream_t streams[stream_count] = {};
    if (!streams[k])
        check(cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking), "creating a stream");
    return streams[k];
}

// Elements of a piece: enough pieces to hide all but the first copy in and the last copy out, and
// none so small that queueing it takes longer than copying it.
static size_t piece_of(size_t n) { return std::clamp((n / pieces + 255) / 256 * 256, least, most); }

template <class T> static size_t ring_bytes(size_t n)
{
    return 3 * stream_count * piece_of(n) * sizeof(T);
}

// Two arrays in, a kernel, one array out.
template <class T, class F>
static void pipeline(const T *x_host, const T *y_host, T *z_host, size_t n, void *scratch, F launch)
{
    size_t piece = piece_of(n), k = 0;
    for (size_t first = 0; first < n; first += piece, ++k) {
        int slot = k % stream_count;
        cudaStream_t s = stream(slot);
        T *x = static_cast<T *>(scratch) + 3 * slot * piece, *y = x + piece, *z = y + piece;
        size_t count = std::min(piece, n - first), bytes = sizeof(T) * count;
        check(cudaMemcpyAsync(x, x_host + first, bytes, cudaMemcpyHostToDevice, s), "copying in");
        check(cudaMemcpyAsync(y, y_host + first, bytes, cudaMemcpyHostToDevice, s), "copying in");
        launch(x, y, z, static_cast<int>(count), s);
        check_launch("launching");
        check(cudaMemcpyAsync(z_host + first, z, bytes, cudaMemcpyDeviceToHost, s), "copying out");
    }
    for (int slot = 0; slot < stream_count; ++slot)
        check(cudaStreamSynchronize(stream(slot)), "waiting for a stream");
}

static __global__ void add_and_work(const float *a, const float *b, float *c, int n, int rounds)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) c[i] = work(a[i] + b[i], rounds);
}

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int pixels)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < pixels) out[i] = static_cast<unsigned char>((3 * first[i] + second[i] + 2) / 4);
}

size_t add_pipelined_scratch(int n) { return ring_bytes<float>(n); }

void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch)
{
    pipeline(a_host, b_host, c_host, n, scratch,
             [=](float *a, float *b, float *c, int count, cudaStream_t s) {
                 add_and_work<<<blocks_for(count), block_size, 0, s>>>(a, b, c, count, rounds);
             });
}

size_t merge_images_scratch(int width, int height, int count)
{
    return ring_bytes<unsigned char>(size_t(width) * height * count);
}

// Pixel by pixel, so where one image ends and the next begins does not matter.
void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch)
{
    using byte = unsigned char;
    pipeline(first_host, second_host, out_host, size_t(width) * height * count, scratch,
             [](byte *first, byte *second, byte *out, int pixels, cudaStream_t s) {
                 merge<<<blocks_for(pixels), block_size, 0, s>>>(first, second, out, pixels);
             });
}
