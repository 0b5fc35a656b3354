// Right: no piece is smaller than 256 KiB, as the handout advises; waits for the whole device at
// the end; streams of two priorities.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int streams = 4, block = 256;

static cudaStream_t stream(int k)
{
    static cudaStream_t made[streams] = {};
    if (made[k]) return made[k];
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "the range of priorities");
    check(cudaStreamCreateWithPriority(&made[k], cudaStreamNonBlocking, k % 2 ? least : greatest),
          "a stream");
    return made[k];
}

static int blocks_for(int n) { return n / block + (n % block != 0); }

__global__ static void add_and_work(const float *a, const float *b, float *c, int n, int rounds)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n) c[i] = work(a[i] + b[i], rounds);
}

__global__ static void merge(const unsigned char *a, const unsigned char *b, unsigned char *c,
                             int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n) c[i] = (3 * a[i] + b[i] + 2) / 4;
}

// Depth-first: a piece after the other, in the streams by turns.
template <class T, class Launch> static void in_turns(const T *a_host, const T *b_host, T *c_host,
                                                      int n, int piece, T *scratch, Launch launch)
{
    if (n == 0) return;
    for (int first = 0, k = 0; first < n; first += piece, k = (k + 1) % streams) {
        int count = std::min(piece, n - first);
        size_t bytes = sizeof(T) * count;
        T *a = scratch + size_t(3) * piece * k, *b = a + piece, *c = b + piece;
        cudaStream_t s = stream(k);
        check(cudaMemcpyAsync(a, a_host + first, bytes, cudaMemcpyHostToDevice, s), "copying a");
        check(cudaMemcpyAsync(b, b_host + first, bytes, cudaMemcpyHostToDevice, s), "copying b");
        launch(a, b, c, count, s);
        check_launch("a kernel");
        check(cudaMemcpyAsync(c_host + first, c, bytes, cudaMemcpyDeviceToHost, s), "copying c");
    }
    check(cudaDeviceSynchronize(), "waiting");
}

// 32 pieces, but none below 256 KiB: queueing it would take longer than copying it.
template <class T> static int piece_of(int n)
{
    return std::max(n / 32 + 1, int((256 << 10) / sizeof(T)));
}

size_t add_pipelined_scratch(int n) { return sizeof(float) * 3 * streams * piece_of<float>(n); }
void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch)
{
    in_turns(a_host, b_host, c_host, n, piece_of<float>(n), static_cast<float *>(scratch),
             [=](float *a, float *b, float *c, int count, cudaStream_t s) {
                 add_and_work<<<blocks_for(count), block, 0, s>>>(a, b, c, count, rounds);
             });
}

size_t merge_images_scratch(int width, int height, int count)
{
    return size_t(3) * streams * piece_of<unsigned char>(width * height * count);
}
void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch)
{
    int n = width * height * count;
    using pixel = unsigned char;
    in_turns(first_host, second_host, out_host, n, piece_of<pixel>(n),
             static_cast<pixel *>(scratch),
             [](pixel *a, pixel *b, pixel *c, int pixels, cudaStream_t s) {
                 merge<<<blocks_for(pixels), block, 0, s>>>(a, b, c, pixels);
             });
}

__global__ static void top_kernel(const float *in, float *top, int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n) top[i] = work(in[i], 1);
}
__global__ static void left_kernel(const float *top, float *left, int n, int rounds)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n) left[i] = work(top[i], rounds);
}
__global__ static void right_kernel(const float *top, float *right, int n, int rounds)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n) right[i] = work(top[n - 1 - i] / 2, rounds);
}
__global__ static void join_kernel(const float *left, const float *right, float *out, int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    if (i < n) out[i] = left[i] - right[i];
}

size_t diamond_scratch(int n) { return sizeof(float) * n; }
void diamond(const float *in, float *left, float *right, float *out, int n, int rounds,
             void *scratch)
{
    if (n == 0) return;
    float *top = static_cast<float *>(scratch);
    int grid = blocks_for(n);
    cudaEvent_t up, down;
    check(cudaEventCreateWithFlags(&up, cudaEventDisableTiming), "an event");
    check(cudaEventCreateWithFlags(&down, cudaEventDisableTiming), "an event");
    top_kernel<<<grid, block, 0, stream(0)>>>(in, top, n);
    check(cudaEventRecord(up, stream(0)), "cudaEventRecord");
    check(cudaStreamWaitEvent(stream(1), up), "cudaStreamWaitEvent");
    right_kernel<<<grid, block, 0, stream(1)>>>(top, right, n, rounds);
    left_kernel<<<grid, block, 0, stream(0)>>>(top, left, n, rounds);
    check(cudaEventRecord(down, stream(1)), "cudaEventRecord");
    check(cudaStreamWaitEvent(stream(0), down), "cudaStreamWaitEvent");
    join_kernel<<<grid, block, 0, stream(0)>>>(left, right, out, n);
    check_launch("join_kernel");
    // Destroyed at once; the runtime lets go of them when they have happened.
    check(cudaEventDestroy(up), "cudaEventDestroy");
    check(cudaEventDestroy(down), "cudaEventDestroy");
}
