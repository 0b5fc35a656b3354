// Right: a host function at the end of each stream counts a std::latch down, which the caller waits
// for after it has pushed the streams by an ordinary wait; pieces go breadth-first in rounds of
// four streams.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <latch>

constexpr int streams = 4, block = 256;

static cudaStream_t stream(int k)
{
    static cudaStream_t made[streams] = {};
    if (!made[k]) check(cudaStreamCreateWithFlags(&made[k], cudaStreamNonBlocking), "a stream");
    return made[k];
}

static int blocks_for(int n) { return n / block + (n % block != 0); }

// Returns when all streams have come to where they are now.
static void wait_for_all()
{
    std::latch left(streams);
    for (int k = 0; k < streams; ++k)
        if (cudaError_t e = cudaLaunchHostFunc(
                stream(k), [](void *l) { static_cast<std::latch *>(l)->count_down(); }, &left)) {
            cudaDeviceSynchronize(); // nobody may count down a latch that is gone
            check(e, "cudaLaunchHostFunc");
        }
    for (int k = 0; k < streams; ++k) check(cudaStreamSynchronize(stream(k)), "waiting");
    left.wait();
}

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

// Of every four pieces, first all ways in, then all kernels, then all ways out.
template <class T, class Launch> static void in_rounds(const T *a_host, const T *b_host, T *c_host,
                                                       int n, int piece, T *scratch, Launch launch)
{
    if (n == 0) return;
    struct part {
        T *a, *b, *c;
        int first, count;
    };
    auto in = [](T *to, const T *from, int count, int k) {
        check(cudaMemcpyAsync(to, from, sizeof(T) * count, cudaMemcpyHostToDevice, stream(k)),
              "copying in");
    };
    for (int round = 0; round < n; round += streams * piece) {
        part parts[streams];
        int used = 0;
        for (int first = round; first < n && used < streams; first += piece, ++used) {
            T *a = scratch + size_t(3) * piece * used;
            parts[used] = {a, a + piece, a + 2 * piece, first, std::min(piece, n - first)};
        }
        for (int k = 0; k < used; ++k) {
            in(parts[k].a, a_host + parts[k].first, parts[k].count, k);
            in(parts[k].b, b_host + parts[k].first, parts[k].count, k);
        }
        for (int k = 0; k < used; ++k) {
            launch(parts[k].a, parts[k].b, parts[k].c, parts[k].count, stream(k));
            check_launch("a kernel");
        }
        for (int k = 0; k < used; ++k)
            check(cudaMemcpyAsync(c_host + parts[k].first, parts[k].c, sizeof(T) * parts[k].count,
                                  cudaMemcpyDeviceToHost, stream(k)),
                  "copying out");
    }
    wait_for_all();
}

// 32 pieces at most: streams * piece stays within int.
static int piece_of(int n) { return n / 32 + 1; }

size_t add_pipelined_scratch(int n) { return sizeof(float) * 3 * streams * piece_of(n); }
void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch)
{
    in_rounds(a_host, b_host, c_host, n, piece_of(n), static_cast<float *>(scratch),
              [=](float *a, float *b, float *c, int count, cudaStream_t s) {
                  add_and_work<<<blocks_for(count), block, 0, s>>>(a, b, c, count, rounds);
              });
}

size_t merge_images_scratch(int width, int height, int count)
{
    return size_t(3) * streams * piece_of(width * height * count);
}
void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch)
{
    int n = width * height * count;
    using pixel = unsigned char;
    in_rounds(first_host, second_host, out_host, n, piece_of(n), static_cast<pixel *>(scratch),
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
