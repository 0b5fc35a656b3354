// Right: loads, asynchronous copies, shared accesses and multiply-adds are inline PTX; tiles of 64
// x 128, 4 x 8 sums per thread.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int rows = 64, cols = 128, depth = 8, threads = 256;
constexpr int a_pitch = rows + 4;                    // floats
constexpr int buffer = depth * (a_pitch + cols) * 4; // bytes: A's tile, then B's
using shared_address = unsigned;                     // what ld.shared and cp.async take

// Four bytes to shared memory; zero, and no read, where `inside` is false.
__device__ static void copy_async(shared_address to, const float *from, bool inside)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from),
                 "r"(inside ? 4 : 0)
                 : "memory");
}

__device__ static float4 load_shared(shared_address from)
{
    float4 v;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "r"(from)
                 : "memory");
    return v;
}

__device__ static void multiply_add(float &sum, float a, float b)
{
    asm("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(a), "f"(b));
}

__device__ static void fetch(shared_address at, const float *A, const float *B, int row0, int col0,
                             int k0, int j, int k, int l)
{
    for (int e = threadIdx.x; e < rows * depth; e += threads) {
        int r = e / depth, i = e % depth;
        bool inside = row0 + r < j && k0 + i < k;
        copy_async(at + 4 * (i * a_pitch + r), inside ? A + (row0 + r) * k + k0 + i : A, inside);
    }
    at += 4 * depth * a_pitch;
    for (int e = threadIdx.x; e < depth * cols; e += threads) {
        int i = e / cols, c = e % cols;
        bool inside = k0 + i < k && col0 + c < l;
        copy_async(at + 4 * e, inside ? B + (k0 + i) * l + col0 + c : B, inside);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__global__ static void __launch_bounds__(threads, 2)
    multiply(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    extern __shared__ float4 memory[];
    const shared_address base = static_cast<unsigned>(__cvta_generic_to_shared(memory));
    const int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
    const int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
    float sum[4][8] = {};

    if (k > 0) fetch(base, A, B, row0, col0, 0, j, k, l);
    for (int k0 = 0, odd = 0; k0 < k; k0 += depth, odd ^= 1) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        asm volatile("bar.sync 0;" ::: "memory");
        if (k0 + depth < k) fetch(base + (odd ^ 1) * buffer, A, B, row0, col0, k0 + depth, j, k, l);
        shared_address a_at = base + odd * buffer + 16 * ty;
        shared_address b_at = base + odd * buffer + 4 * depth * a_pitch + 16 * tx;
#pragma unroll
        for (int i = 0; i < depth; ++i, a_at += 4 * a_pitch, b_at += 4 * cols) {
            // Columns 4 tx and 64 + 4 tx: side by side a warp's loads meet no
            // bank twice.
            float4 a4 = load_shared(a_at), b0 = load_shared(b_at), b1 = load_shared(b_at + 256);
            float a[4] = {a4.x, a4.y, a4.z, a4.w};
            float b[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
            for (int e = 0; e < 32; ++e) multiply_add(sum[e / 8][e % 8], a[e / 8], b[e % 8]);
        }
    }
#pragma unroll
    for (int e = 0; e < 32; ++e) {
        int row = row0 + 4 * ty + e / 8, col = col0 + e % 8 / 4 * 64 + 4 * tx + e % 4;
        if (row >= j || col >= l) continue;
        float *at = C + row * l + col, result = alpha * sum[e / 8][e % 8];
        if (beta != 0) {
            float old;
            asm volatile("ld.global.f32 %0, [%1];" : "=f"(old) : "l"(at) : "memory");
            multiply_add(result, beta, old);
        }
        asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(at), "f"(result) : "memory");
    }
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    dim3 grid((l + cols - 1) / cols, (j + rows - 1) / rows);
    void *arguments[] = {&alpha, &A, &B, &beta, &C, &j, &k, &l};
    check(cudaLaunchKernel(reinterpret_cast<const void *>(multiply), grid, dim3(threads), arguments,
                           2 * buffer, nullptr),
          "cudaLaunchKernel");
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    sgemm(1, M, N, 0, P, width, width, width);
}
