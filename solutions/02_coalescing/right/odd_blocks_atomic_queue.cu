// Right: blocks of 160 threads fetch pieces from a queue, a cuda::atomic_ref on a static counter;
// macros that throw; early returns; a debugging printf.
#include "lab.hpp"

#include <cuda/atomic>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

#define TRY(call)                                                                                  \
    if (cudaError_t e = (call); e != cudaSuccess)                                                  \
    throw std::runtime_error(std::string(#call ": ") + cudaGetErrorName(e))

#define THREADS 160
#define PER_THREAD 16
#define PIECE (THREADS * PER_THREAD) // 2560: a multiple of 32, so pieces begin at sectors

static __device__ int queue; // the next piece that nobody has

// One thread asks, all get the answer.
static __device__ int next_piece()
{
    __shared__ int piece;
    __syncthreads(); // the piece before has been read by all
    if (threadIdx.x == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> next(queue);
        piece = next.fetch_add(1, cuda::memory_order_relaxed);
    }
    __syncthreads();
    return piece;
}

static void reset_queue()
{
    void *at = nullptr;
    TRY(cudaGetSymbolAddress(&at, queue));
    TRY(cudaMemsetAsync(at, 0, sizeof(int)));
}

static int blocks_for(int pieces)
{
    static int most = 0;
    if (most == 0) {
        int device;
        TRY(cudaGetDevice(&device));
        TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMultiProcessorCount, device));
        most *= 6; // 960 threads a multiprocessor
    }
    return std::min(most, pieces);
}

static __global__ void scale_kernel(const float *__restrict__ in, float *__restrict__ out, int n,
                                    int cols, const float *__restrict__ factor, int pieces)
{
    for (int p = next_piece(); p < pieces; p = next_piece()) {
#pragma unroll 8
        for (int u = 0; u < PER_THREAD; u++) {
            int i = p * PIECE + u * THREADS + threadIdx.x;
            if (i >= n) break;
            out[i] = in[i] * factor[i % cols];
        }
    }
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    if (rows == 0) return;
    if (cols == 0) return;
    int n = rows * cols, pieces = (n - 1) / PIECE + 1;
    reset_queue();
    scale_kernel<<<blocks_for(pieces), THREADS>>>(in, out, n, cols, factor, pieces);
    TRY(cudaPeekAtLastError());
}

#define BEYOND(p) ((int)((uintptr_t)(p) / 4 % 8)) // floats beyond a sector boundary

// Pieces begin at sectors of c; windows of a and b at sectors of theirs.
static __global__ void add_kernel(const float *__restrict__ a, const float *__restrict__ b,
                                  float *__restrict__ c, int n, int pieces)
{
    __shared__ float window[2][PIECE + 8];
    int skip_a = (BEYOND(a) - BEYOND(c)) & 7, skip_b = (BEYOND(b) - BEYOND(c)) & 7;
    if (n < 0 && blockIdx.x == 0 && threadIdx.x == 0) printf("add_kernel: n is %d?\n", n);

    for (int p = next_piece(); p < pieces; p = next_piece()) {
        int start = p * PIECE - BEYOND(c);
#pragma unroll
        for (int u = 0; u <= PER_THREAD; u++) {
            int e = u * THREADS + threadIdx.x, i = start - skip_a + e, k = start - skip_b + e;
            if (e < PIECE + skip_a && i >= 0 && i < n) window[0][e] = a[i];
            if (e < PIECE + skip_b && k >= 0 && k < n) window[1][e] = b[k];
        }
        __syncthreads();
#pragma unroll
        for (int u = 0; u < PER_THREAD; u++) {
            int e = u * THREADS + threadIdx.x, i = start + e;
            if (i < 0) continue;
            if (i >= n) break;
            c[i] = window[0][e + skip_a] + window[1][e + skip_b];
        }
        // next_piece() begins with a barrier: the windows stay till all have read.
    }
}

static void add(const float *a, const float *b, float *c, int n)
{
    int pieces = (n + 7 - 1) / PIECE + 1;
    reset_queue();
    add_kernel<<<blocks_for(pieces), THREADS>>>(a, b, c, n, pieces);
    TRY(cudaPeekAtLastError());
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    add(a + offset, b + offset, c, n - offset);
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    add(a, b, c + offset, n - offset);
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n == 0) return;
    add(a, b, c, n);
}

// Runs of bytes [first, last] are counted; half warps far apart are two runs.
static int run(int first, int last, int size) { return last / size - first / size + 1; }

static int count_pieces(pattern_kind kind, int p, int size)
{
    switch (kind) {
    case pattern_kind::contiguous:
    case pattern_kind::reversed:
    case pattern_kind::shuffled:
        return run(4 * p, 4 * p + 127, size);
    case pattern_kind::even_lanes:
        return run(4 * p, 4 * p + 123, size);
    case pattern_kind::one_address:
        return 1;
    case pattern_kind::first_lanes:
        return run(0, 4 * p - 1, size);
    case pattern_kind::bytes:
        return run(p, p + 31, size);
    case pattern_kind::float2_each:
        return run(8 * p, 8 * p + 255, size);
    case pattern_kind::float4_each:
        return run(16 * p, 16 * p + 511, size);
    case pattern_kind::scattered:
        return 32;
    case pattern_kind::strided:
        break;
    case pattern_kind::two_rows:
        // The second run may begin in the piece in which the first ends.
        return run(0, 63, size) + run(4 * p, 4 * p + 63, size) - (63 / size == 4 * p / size);
    }
    int pieces = 1; // steps of p: count each time that one leads to another piece
    for (int lane = 1; lane < 32; lane++)
        pieces += 4 * p * lane / size != 4 * p * (lane - 1) / size;
    return pieces;
}

void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    for (int i = 0; i < count; i++) {
        const access_pattern &x = patterns_host[i];
        out_host[i].sectors = count_pieces(x.kind, x.parameter, 32);
        out_host[i].lines = count_pieces(x.kind, x.parameter, 128);
    }
}
