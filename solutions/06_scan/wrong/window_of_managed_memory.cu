// Fails: scan_inclusive: speed | IMPLAUSIBLE |
// On gpu: may pass - nothing tells there what the host does beside
// A kernel passes all elements to a thread of the host and back, by turns in a small window.
#include "../check.hpp"
#include "lab.hpp"
#include <cuda_runtime.h>
#include <thread>
constexpr int chunk = 2048, threads = 256;
struct window {
    volatile int flag;
    int pad[15];
    volatile long long buf[chunk];
};
static __device__ unsigned ticks;
static __global__ void naive(const void *in, void *out, int n, bool inclusive, int kind)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        if (kind == 0) {
            int s = 0;
            for (int i = 0; i < n; ++i) {
                int v = ((const int *)in)[i];
                if (!inclusive) ((int *)out)[i] = s;
                s += v;
                if (inclusive) ((int *)out)[i] = s;
            }
        }
        if (kind == 1) {
            long long s = 0;
            for (int i = 0; i < n; ++i) ((long long *)out)[i] = s += ((const long long *)in)[i];
        }
        if (kind == 2) {
            double s = 0;
            for (int i = 0; i < n; ++i) ((float *)out)[i] = s += ((const float *)in)[i];
        }
    }
}
static __device__ void wait_for(window *w, int value)
{
    if (threadIdx.x == 0)
        while (w->flag != value) {
            atomicAdd(&ticks, 1u);
            __nanosleep(1000);
        }
    __syncthreads();
}
template <class T> static __global__ void through(const T *in, T *out, int n, window *w)
{
    __shared__ int ticket;
    if (threadIdx.x == 0) ticket = atomicAdd((int *)&w->pad[0], 1);
    __syncthreads();
    int b = ticket;
    wait_for(w, 2 * b);
    volatile T *buf = (volatile T *)w->buf;
    for (int i = threadIdx.x; i < chunk && b * chunk + i < n; i += threads)
        buf[i] = in[b * chunk + i];
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) w->flag = 2 * b + 1;
    wait_for(w, 2 * b + 2 + 0x40000000);
    for (int i = threadIdx.x; i < chunk && b * chunk + i < n; i += threads)
        out[b * chunk + i] = buf[i];
    __syncthreads();
    if (threadIdx.x == 0) w->flag = 2 * b + 2;
}
template <class T> static void go(const T *in, T *out, int n, bool inclusive, int kind)
{
    if (n <= 0) return;
    if (n < 50000) {
        naive<<<1, 32>>>(in, out, n, inclusive, kind);
        check_launch("naive");
        return;
    }
    window *w = nullptr;
    check(cudaMallocManaged((void **)&w, sizeof *w), "managed");
    w->flag = 0;
    w->pad[0] = 0;
    int blocks = (n + chunk - 1) / chunk;
    std::thread host([=] {
        T sum = 0;
        volatile T *buf = (volatile T *)w->buf;
        for (int b = 0; b < blocks; ++b) {
            while (w->flag != 2 * b + 1) std::this_thread::yield();
            __sync_synchronize();
            for (int i = 0; i < chunk && b * chunk + i < n; ++i) {
                T v = buf[i];
                if (!inclusive) buf[i] = sum;
                sum += v;
                if (inclusive) buf[i] = sum;
            }
            __sync_synchronize();
            w->flag = 2 * b + 2 + 0x40000000;
        }
    });
    through<<<blocks, threads>>>(in, out, n, w);
    host.join();
    (void)cudaDeviceSynchronize();
    cudaFree(w);
}
void scan_block_inclusive(const int *in, int *out, int n) { go(in, out, n, true, 0); }
void scan_block_exclusive(const int *in, int *out, int n) { go(in, out, n, false, 0); }
size_t scan_inclusive_scratch(int) { return 0; }
void scan_inclusive(const int *in, int *out, int n, void *) { go(in, out, n, true, 0); }
size_t scan_exclusive_scratch(int) { return 0; }
void scan_exclusive(const int *in, int *out, int n, void *) { go(in, out, n, false, 0); }
size_t scan_inclusive_int64_scratch(int) { return 0; }
void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *)
{
    go((const long long *)in, (long long *)out, n, true, 1);
}
size_t scan_inclusive_float_scratch(int) { return 0; }
void scan_inclusive_float(const float *in, float *out, int n, void *) { go(in, out, n, true, 2); }
