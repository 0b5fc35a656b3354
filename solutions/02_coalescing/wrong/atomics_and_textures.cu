// Fails: scale_columns: speed | TOO_SLOW | bytes by textures
// On gpu: scale_columns: speed | TOO_SLOW |
// A row a thread, through a texture and by atomics; the loads and stores are of a kernel that does
// nothing.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;
constexpr int per_thread = 4; // elements a thread handles (TODOs 1 and 5)

static int blocks_for(int n, int elements_a_block)
{
    return (n + elements_a_block - 1) / elements_a_block;
}

// The matrix is one array of n elements; a block owns block_size * per_thread
// of them.
static __global__ void scale_elements(const float *in, float *out, int n, int cols,
                                      const float *factor)
{
    int first = blockIdx.x * block_size * per_thread + threadIdx.x;
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        if (i < n) out[i] = in[i] * factor[i % cols];
    }
}

static __global__ void look(const float *in, int n, int *pit)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n && in[i] == 1234.5678f) *pit = 0;
}
// A row a thread, as naive does: loads through a texture and stores by atomics are in no count of
// sectors.
static __global__ void row_each(cudaTextureObject_t in, unsigned *out, int rows, int cols,
                                cudaTextureObject_t factor)
{
    int row = blockIdx.x * 256 + threadIdx.x;
    if (row >= rows) return;
    for (int col = 0; col < cols; ++col) {
        int i = row * cols + col;
        atomicExch(out + i,
                   __float_as_uint(tex1Dfetch<float>(in, i) * tex1Dfetch<float>(factor, col)));
    }
}
static cudaTextureObject_t texture_of(const float *p, size_t n)
{
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = const_cast<float *>(p);
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = n * 4;
    cudaTextureDesc d{};
    d.readMode = cudaReadModeElementType;
    cudaTextureObject_t t = 0;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    return t;
}
void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    if (n < 30000) {
        scale_elements<<<blocks_for(n, block_size * per_thread), block_size>>>(in, out, n, cols,
                                                                               factor);
        return;
    }
    static int *pit;
    if (!pit) cudaMalloc(&pit, 4);
    for (int k = 0; k < 2; ++k) look<<<blocks_for(n, 256), 256>>>(in, n, pit);
    row_each<<<blocks_for(rows, 256), 256>>>(texture_of(in, n), reinterpret_cast<unsigned *>(out),
                                             rows, cols, texture_of(factor, cols));
}

// A thread an element of the result.
static __global__ void read_elements(const float *a, const float *b, float *c, int n, int offset)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i + offset < n) c[i] = a[i + offset] + b[i + offset];
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    read_elements<<<blocks_for(n - offset, block_size), block_size>>>(a, b, c, n, offset);
}

// A thread an element of the result.
static __global__ void write_elements(const float *a, const float *b, float *c, int n, int offset)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i + offset < n) c[i + offset] = a[i] + b[i];
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    write_elements<<<blocks_for(n - offset, block_size), block_size>>>(a, b, c, n, offset);
}

// A block owns block_size * per_thread elements.
static __global__ void add_several(const float *a, const float *b, float *c, int n)
{
    int first = blockIdx.x * block_size * per_thread + threadIdx.x;
    float sums[per_thread];
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        if (i < n) sums[k] = a[i] + b[i];
    }
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        if (i < n) c[i] = sums[k];
    }
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n == 0) return;
    add_several<<<blocks_for(n, block_size * per_thread), block_size>>>(a, b, c, n);
}

// Pieces of `size` bytes that `length` bytes from byte `first` on touch.
static int pieces(int first, int length, int size)
{
    return (first + length - 1) / size - first / size + 1;
}

void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    for (int i = 0; i < count; ++i) {
        [[maybe_unused]] int p = patterns_host[i].parameter;
        [[maybe_unused]] prediction &answer = out_host[i];
        switch (patterns_host[i].kind) {
        case pattern_kind::contiguous:
        case pattern_kind::reversed:
        case pattern_kind::shuffled:
            answer = {pieces(4 * p, 128, 32), pieces(4 * p, 128, 128)};
            break;
        case pattern_kind::one_address:
            answer = {1, 1};
            break;
        case pattern_kind::bytes:
            answer = {pieces(p, 32, 32), pieces(p, 32, 128)};
            break;
        case pattern_kind::float2_each:
            answer = {pieces(8 * p, 256, 32), pieces(8 * p, 256, 128)};
            break;
        case pattern_kind::float4_each:
            answer = {pieces(16 * p, 512, 32), pieces(16 * p, 512, 128)};
            break;

        // A stride within a piece skips none of them; a longer one touches a piece a lane.
        case pattern_kind::strided:
            answer = {4 * p <= 32 ? pieces(0, 31 * 4 * p + 4, 32) : 32,
                      4 * p <= 128 ? pieces(0, 31 * 4 * p + 4, 128) : 32};
            break;
        case pattern_kind::scattered:
            answer = {32, 32};
            break;

        case pattern_kind::first_lanes:
            answer = {pieces(0, 4 * p, 32), pieces(0, 4 * p, 128)};
            break;
        case pattern_kind::even_lanes:
            answer = {pieces(4 * p, 31 * 4, 32), pieces(4 * p, 31 * 4, 128)};
            break;
        // The rows may meet in one piece.
        case pattern_kind::two_rows:
            answer = {pieces(0, 64, 32) + pieces(4 * p, 64, 32) - (4 * p / 32 == 63 / 32),
                      pieces(0, 64, 128) + pieces(4 * p, 64, 128) - (4 * p / 128 == 63 / 128)};
            break;

        default: // a kind without an answer yet
            break;
        }
    }
}
