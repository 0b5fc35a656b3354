// Fails: transpose: long and narrow | LAUNCH_FAILED | at most 65535 blocks in y
// On gpu: transpose: long and narrow | CRASH | invalid argument
// Rows of tiles are counted in y, where a grid has 65535 blocks at most.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

namespace {

constexpr int T = 128;
int grid(int n) { return (n - 1) / T + 1; }

__global__ void drift_soa(float *p, int n, float dt)
{
    int i = blockIdx.x * T + threadIdx.x;
    if (i >= n) return;
    p[field_x * n + i] += p[field_vx * n + i] * dt;
}

__device__ float length(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }

__global__ void distances(const float *p, int n, float3 c, float *out)
{
    int i = blockIdx.x * T + threadIdx.x;
    if (i >= n) return;
    out[i] = length(p[i] - c.x, p[n + i] - c.y, p[2 * n + i] - c.z);
}

__global__ void distances_of(const float *p, float3 c, const int *which, int k, float *out)
{
    int j = blockIdx.x * T + threadIdx.x;
    if (j >= k) return;
    float4 q = *reinterpret_cast<const float4 *>(p + fields * which[j]);
    out[j] = length(q.x - c.x, q.y - c.y, q.z - c.z);
}

__global__ void transpose32(const float *in, float *out, int rows, int cols, int across)
{
    __shared__ float tile[32][33];
    int r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = y; k < 32; k += 8)
        if (r0 + k < rows && c0 + x < cols) tile[k][x] = in[size_t(r0 + k) * cols + c0 + x];
    __syncthreads();
    for (int k = y; k < 32; k += 8)
        if (c0 + k < cols && r0 + x < rows) out[size_t(c0 + k) * rows + r0 + x] = tile[x][k];
}

__global__ void split(const float *aos, float *soa, int n)
{
    __shared__ float tile[T][fields + 1];
    int first = blockIdx.x * T, count = min(T, n - first), t = threadIdx.x;
    for (int e = t; e < count * fields; e += T)
        tile[e / fields][e % fields] = aos[first * fields + e];
    __syncthreads();
    if (t >= count) return;
    for (int f = 0; f < fields; ++f) soa[f * n + first + t] = tile[t][f];
}

__global__ void join(const float *soa, float *aos, int n)
{
    __shared__ float tile[T][fields + 1];
    int first = blockIdx.x * T, count = min(T, n - first), t = threadIdx.x;
    if (t < count)
        for (int f = 0; f < fields; ++f) tile[t][f] = soa[f * n + first + t];
    __syncthreads();
    for (int e = t; e < count * fields; e += T)
        aos[first * fields + e] = tile[e / fields][e % fields];
}

} // namespace

layout drift_layout() { return layout::soa; }
void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    drift_soa<<<grid(n), T>>>(particles, n, dt);
    check_launch("drift_soa");
}

layout distance_all_layout() { return layout::soa; }
void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    distances<<<grid(n), T>>>(particles, n, centre, out);
    check_launch("distances");
}

layout distance_some_layout() { return layout::aos; }
void distance_some(const float *particles, int n, float3 centre, const int *which, int k,
                   float *out)
{
    if (k == 0) return;
    distances_of<<<grid(k), T>>>(particles, centre, which, k, out);
    check_launch("distances_of");
}

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int across = (cols - 1) / 32 + 1, down = (rows - 1) / 32 + 1;
    transpose32<<<dim3(across, down), dim3(32, 8)>>>(in, out, rows, cols, across);
    check_launch("transpose32");
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    split<<<grid(n), T>>>(aos, soa, n);
    check_launch("split");
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    join<<<grid(n), T>>>(soa, aos, n);
    check_launch("join");
}
