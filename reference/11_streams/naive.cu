// Lab 11, the time to beat: what a careful beginner writes first. One stream, in which every copy
// and kernel waits for the one before.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

static __global__ void add_and_work(const float *a, const float *b, float *c, int n, int rounds)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) c[i] = work(a[i] + b[i], rounds);
}

size_t add_pipelined_scratch(int n) { return 3 * sizeof(float) * n; }

void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch)
{
    if (n == 0) return;
    float *a = static_cast<float *>(scratch), *b = a + n, *c = b + n;
    size_t bytes = sizeof(float) * n;
    check(cudaMemcpyAsync(a, a_host, bytes, cudaMemcpyHostToDevice), "copying a");
    check(cudaMemcpyAsync(b, b_host, bytes, cudaMemcpyHostToDevice), "copying b");
    add_and_work<<<blocks_for(n), block_size>>>(a, b, c, n, rounds);
    check_launch("add_and_work");
    check(cudaMemcpyAsync(c_host, c, bytes, cudaMemcpyDeviceToHost), "copying c");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int pixels)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < pixels) out[i] = static_cast<unsigned char>((3 * first[i] + second[i] + 2) / 4);
}

// One image of each kind.
size_t merge_images_scratch(int width, int height, int) { return 3 * size_t(width) * height; }

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch)
{
    int pixels = width * height;
    if (pixels == 0) return;
    unsigned char *first = static_cast<unsigned char *>(scratch), *second = first + pixels,
                  *out = second + pixels;
    for (int k = 0; k < count; ++k) {
        size_t at = size_t(k) * pixels;
        check(cudaMemcpyAsync(first, first_host + at, pixels, cudaMemcpyHostToDevice),
              "copying an image");
        check(cudaMemcpyAsync(second, second_host + at, pixels, cudaMemcpyHostToDevice),
              "copying an image");
        merge<<<blocks_for(pixels), block_size>>>(first, second, out, pixels);
        check_launch("merge");
        check(cudaMemcpyAsync(out_host + at, out, pixels, cudaMemcpyDeviceToHost),
              "copying an image back");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

static __global__ void compute_top(const float *in, float *top, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) top[i] = work(in[i], 1);
}

static __global__ void compute_left(const float *top, float *left, int n, int rounds)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) left[i] = work(top[i], rounds);
}

static __global__ void compute_right(const float *top, float *right, int n, int rounds)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) right[i] = work(top[n - 1 - i] / 2, rounds);
}

static __global__ void join(const float *left, const float *right, float *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = left[i] - right[i];
}

size_t diamond_scratch(int n) { return sizeof(float) * n; }

void diamond(const float *in, float *left, float *right, float *out, int n, int rounds,
             void *scratch)
{
    if (n == 0) return;
    float *top = static_cast<float *>(scratch);
    compute_top<<<blocks_for(n), block_size>>>(in, top, n);
    compute_left<<<blocks_for(n), block_size>>>(top, left, n, rounds);
    compute_right<<<blocks_for(n), block_size>>>(top, right, n, rounds);
    join<<<blocks_for(n), block_size>>>(left, right, out, n);
    check_launch("a step of the diamond");
}
