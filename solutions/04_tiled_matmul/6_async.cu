// Lab 04, rung 6: asynchronous copies from global to shared memory, three steps ahead, which fill
// with zeros by themselves, 16 bytes at a time where rows allow it. Since compute capability 8.0
// they use no registers; before that the call copies synchronously, through registers.
//
// New: __pipeline_memcpy_async in place of a load and a store, and with it rung 3's prefetching, in
// a ring of four buffers. A is not transposed any more, since a copy cannot do that, so `multiply`
// takes four terms of a row at a time. There is one version for copies of 16 bytes and one for 4.
// Unchanged: matmul_square, matmul.
// Same points: rung 5 has all of them; the latency that copies hide shows only in time.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <cstdint>

constexpr int tile = 128; // rows and columns of C that a block computes
constexpr int depth = 8;  // terms of every sum that one step loads
constexpr int own = 8;    // rows, and columns, of the elements that a thread computes
constexpr int block_size = tile * tile / (own * own);
constexpr int buffers = 4; // one is multiplied, three are in flight

// Both as they lie in memory: a copy cannot transpose A. Four floats of padding per row of A keep
// float4 aligned and put rows that a warp reads together into different banks.
struct slices {
    float a[tile][depth + 4], b[depth][tile];
};

static int blocks_for(int n) { return (n + tile - 1) / tile; }

// Copies a thread's share of each step: `pieces` times `width` neighbours of A, and of B.
template <int width> class copier {
public:
    __device__ copier(const float *A, const float *B, int j, int k, int l) : l_(l), remaining_(k)
    {
        int row = blockIdx.y * tile + a_row(), col = blockIdx.x * tile + b_col();
        // Beyond the edges of C the last row or column is repeated: none of those sums is stored.
        for (int n = 0; n < pieces; ++n) a_[n] = A + min(row + n * rows_on, j - 1) * k + a_term();
        b_ = B + b_term() * l + min(col, l - width);
    }

    // Starts to copy the next slices; zeros beyond the last term, where no byte is read.
    __device__ void start(slices &s)
    {
#pragma unroll
        for (int n = 0; n < pieces; ++n) {
            copy(&s.a[a_row() + n * rows_on][a_term()], a_[n], a_term());
            copy(&s.b[b_term() + n * terms_on][b_col()], b_ + n * terms_on * l_,
                 b_term() + n * terms_on);
            a_[n] += depth;
        }
        b_ += depth * l_;
        remaining_ -= depth;
    }

private:
    static constexpr int pieces = tile * depth / block_size / width;
    static constexpr int rows_on = tile / pieces, terms_on = depth / pieces; // from piece to piece

    static __device__ int a_row() { return threadIdx.x / (depth / width); }
    static __device__ int a_term() { return threadIdx.x % (depth / width) * width; }
    static __device__ int b_term() { return threadIdx.x / (tile / width); }
    static __device__ int b_col() { return threadIdx.x % (tile / width) * width; }

    __device__ void copy(float *to, const float *from, int term) const
    {
        constexpr int bytes = width * sizeof(float);
        __pipeline_memcpy_async(to, from, bytes, term < remaining_ ? 0 : bytes);
    }

    const float *a_[pieces], *b_;
    int l_, remaining_; // the length of a row of B, and terms not yet requested
};

// Four neighbours of a slice; `from` is a multiple of 4.
static __device__ void load4(float *to, const float *from)
{
    *reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(from);
}

// The position of a thread's n-th row or column: 4 together, the next 4 half a tile further on.
static __device__ int of_thread(int thread, int n)
{
    return thread * 4 + n % 4 + n / 4 * (tile / 2);
}

static __device__ void multiply(const slices &s, int y, int x, float (&sums)[own][own])
{
#pragma unroll
    for (int first = 0; first < depth; first += 4) {
        alignas(16) float a[own][4]; // four terms of each row
        for (int r = 0; r < own; ++r) load4(a[r], &s.a[of_thread(y, r)][first]);
        for (int i = 0; i < 4; ++i) {
            alignas(16) float b[own];
            for (int c = 0; c < own; c += 4) load4(&b[c], &s.b[first + i][of_thread(x, c)]);
            for (int r = 0; r < own; ++r)
                for (int c = 0; c < own; ++c) sums[r][c] += a[r][i] * b[c];
        }
    }
}

template <int width> static __global__ void __launch_bounds__(block_size, 2)
    multiply_tiles(float alpha, const float *A, const float *B, float beta, float *C, int j, int k,
                   int l)
{
    __shared__ __align__(16) slices ring[buffers];
    int y = threadIdx.x / (tile / own), x = threadIdx.x % (tile / own);
    float sums[own][own] = {};
    copier<width> next(A, B, j, k, l);
    // A commit closes a batch of copies, and waiting counts batches.
    for (int step = 0; step < buffers - 1; ++step) {
        next.start(ring[step]);
        __pipeline_commit();
    }
    for (int step = 0; step * depth < k; ++step) {
        __pipeline_wait_prior(buffers - 2); // this step's batch, and all before it: of this thread
        // Now all threads' copies have arrived, and no thread still reads the buffer that is filled
        // next.
        __syncthreads();
        next.start(ring[(step + buffers - 1) % buffers]);
        __pipeline_commit();
        multiply(ring[step % buffers], y, x, sums);
    }
    int top = blockIdx.y * tile, left = blockIdx.x * tile;
    for (int r = 0; r < own; ++r)
        for (int c = 0; c < own; ++c) {
            int row = top + of_thread(y, r), col = left + of_thread(x, c);
            if (row >= j || col >= l) continue;
            float *to = &C[row * l + col];
            *to = beta == 0 ? alpha * sums[r][c] : alpha * sums[r][c] + beta * *to;
        }
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    dim3 grid(blocks_for(l), blocks_for(j));
    // 16 bytes at a time where every row of A and of B begins at a multiple of 16.
    auto whole = [](const float *p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
    if (k % 4 == 0 && l % 4 == 0 && whole(A) && whole(B))
        multiply_tiles<4><<<grid, block_size>>>(alpha, A, B, beta, C, j, k, l);
    else
        multiply_tiles<1><<<grid, block_size>>>(alpha, A, B, beta, C, j, k, l);
    check_launch("multiply_tiles");
}
