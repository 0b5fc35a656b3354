// Right: where C has few tiles, blocks share out k; a grid barrier, then all add up partial
// products from scratch that only grows.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>

namespace cg = cooperative_groups;

constexpr int side = 64, depth = 16;

struct problem {
    float alpha, beta;
    const float *A, *B;
    float *C, *partial; // partial: splits x j x l
    int j, k, l, splits;
};

__device__ static void store(const problem &p, int at, float sum)
{
    p.C[at] = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * p.C[at];
}

__global__ static void __launch_bounds__(256, 2) multiply(problem p)
{
    __shared__ float4 a_tile[depth][side / 4 + 1], b_tile[depth][side / 4];
    auto a_at = [&](int i, int r) -> float & { return reinterpret_cast<float *>(a_tile[i])[r]; };
    auto b_at = [&](int i, int c) -> float & { return reinterpret_cast<float *>(b_tile[i])[c]; };
    auto block = cg::this_thread_block();
    int across = (p.l + side - 1) / side, tiles = across * ((p.j + side - 1) / side);
    int share = (p.k + p.splits - 1) / p.splits;
    int tx = threadIdx.x, ty = threadIdx.y, rank = block.thread_rank();

    for (int work = blockIdx.x; work < tiles * p.splits; work += gridDim.x) {
        int tile = work % tiles, split = work / tiles;
        int row0 = tile / across * side, col0 = tile % across * side;
        int k_end = min(p.k, (split + 1) * share);
        float sum[4][4] = {};
        for (int k0 = split * share; k0 < k_end; k0 += depth) {
            for (int e = rank; e < side * depth; e += 256) {
                int r = e / depth, i = e % depth;
                bool in = row0 + r < p.j && k0 + i < k_end;
                a_at(i, r) = in ? p.A[(row0 + r) * p.k + k0 + i] : 0;
            }
            for (int e = rank; e < side * depth; e += 256) {
                int i = e / side, c = e % side;
                bool in = k0 + i < k_end && col0 + c < p.l;
                b_at(i, c) = in ? p.B[(k0 + i) * p.l + col0 + c] : 0;
            }
            block.sync();
            for (int i = 0; i < depth; ++i) {
                float4 a = a_tile[i][ty], b = b_tile[i][tx];
                float down[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
                for (int r = 0; r < 4; ++r) {
                    sum[r][0] += down[r] * b.x;
                    sum[r][1] += down[r] * b.y;
                    sum[r][2] += down[r] * b.z;
                    sum[r][3] += down[r] * b.w;
                }
            }
            block.sync();
        }
        for (int e = 0; e < 16; ++e) {
            int row = row0 + 4 * ty + e / 4, col = col0 + 4 * tx + e % 4;
            if (row >= p.j || col >= p.l) continue;
            int at = row * p.l + col;
            if (p.splits == 1)
                store(p, at, sum[e / 4][e % 4]);
            else
                p.partial[size_t(split) * p.j * p.l + at] = sum[e / 4][e % 4];
        }
    }
    if (p.splits == 1) return; // the same for the whole grid

    cg::grid_group grid = cg::this_grid();
    grid.sync();
    for (int at = grid.thread_rank(); at < p.j * p.l; at += grid.num_threads()) {
        float sum = 0;
        for (int s = 0; s < p.splits; ++s) sum += p.partial[size_t(s) * p.j * p.l + at];
        store(p, at, sum);
    }
}

// Device memory that grows and is kept; launches of one stream use it in turn.
static float *scratch(size_t floats)
{
    static float *memory = nullptr;
    static size_t have = 0;
    if (floats > have) {
        check(cudaFree(memory), "cudaFree"); // waits for who still uses it
        memory = nullptr, have = 0;
        check(cudaMalloc(&memory, floats * sizeof(float)), "cudaMalloc");
        have = floats;
    }
    return memory;
}

static int resident_blocks()
{
    int device, sms, each;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "attribute");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, multiply, 256, 0), "occupancy");
    return sms * each;
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    static const int most = resident_blocks();
    int tiles = ((j + side - 1) / side) * ((l + side - 1) / side);
    // No split is worth it below 256 steps of k.
    int splits = std::clamp(most / tiles, 1, std::max(1, k / 256));
    problem p{alpha, beta, A, B, C, nullptr, j, k, l, splits};
    if (splits > 1) p.partial = scratch(size_t(splits) * j * l);
    void *arguments[] = {&p};
    check(cudaLaunchCooperativeKernel(multiply, dim3(std::min(most, tiles * splits)), dim3(16, 16),
                                      arguments),
          "cudaLaunchCooperativeKernel");
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    sgemm(1, M, N, 0, P, width, width, width);
}
