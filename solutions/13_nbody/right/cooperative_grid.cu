// Right: all steps are one cooperative kernel, whose blocks meet at grid.sync() between drift and
// pull, with a small grid that strides over the bodies.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>

namespace cg = cooperative_groups;

constexpr int T = 96; // threads per block: three warps
constexpr int B = 4;  // bodies per thread
constexpr int bodies_per_block = T * B;

// The pull at bodies group * bodies_per_block + ... ; all threads of the block come here.
__device__ static void pull_group(const float4 *points, float4 *acc, int n, float eps2, int group)
{
    __shared__ float4 tile[T];
    const int tid = threadIdx.x;
    const int base = group * bodies_per_block + tid;
    float x[B], y[B], z[B], ax[B] = {}, ay[B] = {}, az[B] = {};
#pragma unroll
    for (int b = 0; b < B; b++) {
        const float4 p = base + b * T < n ? points[base + b * T] : make_float4(0, 0, 0, 0);
        x[b] = p.x, y[b] = p.y, z[b] = p.z;
    }
    for (int start = 0; start < n; start += T) {
        __syncthreads();
        tile[tid] = start + tid < n ? points[start + tid] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < T; j++) {
            const float4 q = tile[j];
#pragma unroll
            for (int b = 0; b < B; b++) {
                const float dx = q.x - x[b], dy = q.y - y[b], dz = q.z - z[b];
                const float inv = rsqrtf(dx * dx + dy * dy + dz * dz + eps2);
                const float w = q.w * inv * inv * inv;
                ax[b] += dx * w, ay[b] += dy * w, az[b] += dz * w;
            }
        }
    }
#pragma unroll
    for (int b = 0; b < B; b++)
        if (base + b * T < n) acc[base + b * T] = make_float4(ax[b], ay[b], az[b], 0);
}

__device__ static void pull_all(const float4 *points, float4 *acc, int n, float eps2)
{
    const int groups = (n + bodies_per_block - 1) / bodies_per_block;
    for (int g = blockIdx.x; g < groups; g += gridDim.x) pull_group(points, acc, n, eps2, g);
}

__global__ static void accelerate(const body *bodies, float4 *points, float4 *out, int n,
                                  float eps2)
{
    cg::grid_group grid = cg::this_grid();
    for (auto i = grid.thread_rank(); i < n; i += grid.size()) {
        const body &b = bodies[i];
        points[i] = make_float4(b.x, b.y, b.z, b.mass);
    }
    grid.sync();
    pull_all(points, out, n, eps2);
}

__global__ static void simulate(float4 *pos, float4 *vel, float4 *acc, int n, float eps2, float dt,
                                int steps)
{
    cg::grid_group grid = cg::this_grid();
    auto kick = [=](float4 &v, const float4 &a) {
        v.x += a.x * (dt / 2), v.y += a.y * (dt / 2), v.z += a.z * (dt / 2);
    };
    pull_all(pos, acc, n, eps2);
    for (int s = 0; s < steps; s++) {
        grid.sync(); // everyone has read all places
        for (auto i = grid.thread_rank(); i < n; i += grid.size()) {
            float4 v = vel[i], p = pos[i];
            kick(v, acc[i]);
            p.x += v.x * dt, p.y += v.y * dt, p.z += v.z * dt;
            vel[i] = v, pos[i] = p;
        }
        grid.sync(); // everyone has moved
        pull_all(pos, acc, n, eps2);
        grid.sync();
        for (auto i = grid.thread_rank(); i < n; i += grid.size()) kick(vel[i], acc[i]);
    }
}

// As many blocks as fit on the device at once, or as there is work for.
template <class K> static void launch_together(K kernel, int n, void **args)
{
    int device = 0, sms = 0, per_sm = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "SM count");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, T, 0), "occupancy");
    int grid = std::min(sms * per_sm, (n + bodies_per_block - 1) / bodies_per_block);
    check(cudaLaunchCooperativeKernel(kernel, dim3(grid), dim3(T), args), "cooperative launch");
}

size_t accelerations_scratch(int n) { return sizeof(float4) * n; }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch)
{
    if (n == 0) return;
    float eps2 = softening * softening;
    void *args[] = {&bodies, &scratch, &out, &n, &eps2};
    launch_together(accelerate, n, args);
}

size_t step_scratch(int n) { return sizeof(float4) * n; }

void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch)
{
    if (n == 0 || steps == 0) return;
    float eps2 = softening * softening;
    void *args[] = {&position_mass, &velocity, &scratch, &n, &eps2, &dt, &steps};
    launch_together(simulate, n, args);
}
