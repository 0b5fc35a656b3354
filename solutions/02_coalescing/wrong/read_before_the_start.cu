// Fails: read_offset: arrays that begin anywhere | OUT_OF_BOUNDS | before the start of
// On gpu: read_offset: sectors at offset 11 | TOO_SLOW | sectors loaded per element
// The boundary before the first element asked for may lie before the array.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

constexpr int block_size = 256;
constexpr int per_thread = 4; // elements

static int blocks_for(int n, int elements_per_block)
{
    return (n + elements_per_block - 1) / elements_per_block;
}

static void check_launch(const char *kernel)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(kernel) + ": " + cudaGetErrorString(error));
}

// Elements of one thread, block_size apart, so that at each step the lanes still handle neighbours.
// All of them are loaded before the first is used: a thread waits once, not per_thread times.
static __global__ void scale_several(const float *in, float *out, int n, int cols,
                                     const float *factor)
{
    int first = blockIdx.x * block_size * per_thread + threadIdx.x;
    float x[per_thread];
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        x[k] = i < n ? in[i] : 0;
    }
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        if (i < n) out[i] = x[k] * factor[i % cols];
    }
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    int blocks = blocks_for(n, block_size * per_thread);
    scale_several<<<blocks, block_size>>>(in, out, n, cols, factor);
    check_launch("scale_several");
}

static __global__ void add_several(const float *a, const float *b, float *c, int n)
{
    int first = blockIdx.x * block_size * per_thread + threadIdx.x;
    float x[per_thread], y[per_thread];
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        x[k] = i < n ? a[i] : 0;
        y[k] = i < n ? b[i] : 0;
    }
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        if (i < n) c[i] = x[k] + y[k];
    }
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n == 0) return;
    add_several<<<blocks_for(n, block_size * per_thread), block_size>>>(a, b, c, n);
    check_launch("add_several");
}

static __device__ int phase(const float *p)
{
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) / sizeof(float) % 8);
}

static __device__ float realigned(const float *a, int first, int shift, int n)
{
    int lane = threadIdx.x % 32, here = first - shift + lane, next = here + 32;
    float low = here < n ? a[here] : 0, high = lane < 8 && next < n ? a[next] : 0;
    return __shfl_sync(0xffffffffu, lane < shift ? high : low, (lane + shift) % 32);
}

static __global__ void read_rows(const float *a, const float *b, float *c, int n, int offset)
{
    int i = blockIdx.x * block_size + threadIdx.x, first = i / 32 * 32 + offset;
    float x = realigned(a, first, phase(a + first), n);
    float y = realigned(b, first, phase(b + first), n);
    if (i + offset < n) c[i] = x + y;
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    read_rows<<<blocks_for(n - offset, block_size), block_size>>>(a, b, c, n, offset);
    check_launch("read_rows");
}

// c[i + to] = a[i + from] + b[i + from] for 0 <= i < count
static __global__ void add_one_each(const float *a, const float *b, float *c, int count, int from,
                                    int to)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < count) c[i + to] = a[i + from] + b[i + from];
}

static void add(const float *a, const float *b, float *c, int count, int from, int to)
{
    if (count <= 0) return;
    add_one_each<<<blocks_for(count, block_size), block_size>>>(a, b, c, count, from, to);
    check_launch("add_one_each");
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    add(a, b, c, n - offset, 0, offset);
}

// Pieces of `size` bytes that `length` bytes from byte `first` on touch.
static int pieces(int first, int length, int size)
{
    return (first + length - 1) / size - first / size + 1;
}

static int pieces_touched(const access_pattern &pattern, int size)
{
    int p = pattern.parameter;
    switch (pattern.kind) {
    case pattern_kind::contiguous:
    case pattern_kind::reversed: // only the set of addresses counts, not who reads which
    case pattern_kind::shuffled:
        return pieces(4 * p, 128, size);
    case pattern_kind::one_address:
        return 1;
    case pattern_kind::strided: // a stride within a piece skips none; a longer one: a piece each
        return 4 * p <= size ? pieces(0, 31 * 4 * p + 4, size) : 32;
    case pattern_kind::scattered:
        return 32;
    case pattern_kind::two_rows: // the rows may meet in one piece
        return pieces(0, 64, size) + pieces(4 * p, 64, size) - (4 * p / size == 63 / size);
    case pattern_kind::first_lanes:
        return pieces(0, 4 * p, size);
    case pattern_kind::even_lanes:
        return pieces(4 * p, 31 * 4, size);
    case pattern_kind::bytes:
        return pieces(p, 32, size);
    case pattern_kind::float2_each:
        return pieces(8 * p, 256, size);
    case pattern_kind::float4_each:
        return pieces(16 * p, 512, size);
    }
    throw std::invalid_argument("predict: no such pattern_kind; see lab.hpp");
}

void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    for (int i = 0; i < count; ++i)
        out_host[i] = {pieces_touched(patterns_host[i], 32), pieces_touched(patterns_host[i], 128)};
}
