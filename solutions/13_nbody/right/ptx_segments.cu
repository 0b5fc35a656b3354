// Right: inline PTX for the reciprocal root, dynamic shared memory, and the sum cut into segments
// by a two-dimensional grid, which a second kernel adds up; libcu++ spans on the device.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/std/span>
#include <cuda_runtime.h>

#include <algorithm>
#include <concepts>

template <std::integral I> constexpr I ceil_div(I a, I b) { return a / b + (a % b != 0); }

constexpr int threads = 128, mine = 4, group = threads * mine;

struct vec3 {
    float x = 0, y = 0, z = 0;
};

// softening keeps the square far from denormals, so flushing them costs nothing.
static __device__ float inv_sqrt(float x)
{
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

static __device__ void interact(vec3 &acc, const vec3 &me, const float4 &o, float eps2)
{
    float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
    float r = inv_sqrt(fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, eps2))));
    float s = (o.w * r) * (r * r);
    acc.x = fmaf(s, dx, acc.x), acc.y = fmaf(s, dy, acc.y), acc.z = fmaf(s, dz, acc.z);
}

// Block (x, y): what segment y pulls at group x, to row y of `parts`.
static __global__ void __launch_bounds__(threads)
    attract(cuda::std::span<const float4> points, float4 *parts, float eps2, int segment)
{
    extern __shared__ float4 tile[];
    const int n = int(points.size()), i0 = int(blockIdx.x) * group + int(threadIdx.x);
    const int from = int(blockIdx.y) * segment, to = min(from + segment, n);
    vec3 me[mine], acc[mine];
#pragma unroll
    for (int k = 0; k < mine; ++k)
        if (int i = i0 + k * threads; i < n) me[k] = {points[i].x, points[i].y, points[i].z};

    for (int j = from; j < to; j += blockDim.x) {
        const int here = min(int(blockDim.x), to - j);
        if (int(threadIdx.x) < here) tile[threadIdx.x] = points[j + threadIdx.x];
        __syncthreads();
        for (int l = 0; l < here; ++l) {
            const float4 o = tile[l];
#pragma unroll
            for (int k = 0; k < mine; ++k) interact(acc[k], me[k], o, eps2);
        }
        __syncthreads();
    }
    float4 *row = parts + size_t(blockIdx.y) * n;
#pragma unroll
    for (int k = 0; k < mine; ++k)
        if (int i = i0 + k * threads; i < n) row[i] = {acc[k].x, acc[k].y, acc[k].z, 0};
}

static __global__ void add_parts(const float4 *parts, float4 *out, int n, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 sum = parts[i];
    for (int r = 1; r < rows; ++r) {
        float4 p = parts[size_t(r) * n + i];
        sum.x += p.x, sum.y += p.y, sum.z += p.z;
    }
    out[i] = sum;
}

static __global__ void pack(cuda::std::span<const body> bodies, float4 *points)
{
    if (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < bodies.size()) {
        auto [x, y, z, vx, vy, vz, mass] = bodies[i];
        points[i] = {x, y, z, mass};
    }
}

// How many bodies pull in one block: few where n is small, so that there are blocks for every SM;
// but there are never more than 64 rows of parts to keep and to add up.
static int segment_for(int n) { return std::max(15 * threads, ceil_div(n, 64)); }
static size_t parts_bytes(int n)
{
    return n == 0 ? 0 : sizeof(float4) * n * ceil_div(n, segment_for(n));
}

static void attract_all(const float4 *points, float4 *parts, float4 *out, int n, float softening)
{
    const int segment = segment_for(n), rows = ceil_div(n, segment);
    attract<<<dim3(ceil_div(n, group), rows), threads, threads * sizeof(float4)>>>(
        {points, size_t(n)}, parts, softening * softening, segment);
    check_launch("attract");
    add_parts<<<ceil_div(n, 256), 256>>>(parts, out, n, rows);
    check_launch("add_parts");
}

static __global__ void advance(float4 *pos, float4 *vel, const float4 *acc, int n, float kick,
                               float drift)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = vel[i], a = acc[i], p = pos[i];
    v.x += a.x * kick, v.y += a.y * kick, v.z += a.z * kick;
    p.x += v.x * drift, p.y += v.y * drift, p.z += v.z * drift;
    vel[i] = v, pos[i] = p;
}

size_t accelerations_scratch(int n) { return sizeof(float4) * n + parts_bytes(n); }
void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch)
{
    if (n == 0) return;
    auto *points = static_cast<float4 *>(scratch);
    pack<<<ceil_div(n, 256), 256>>>({bodies, size_t(n)}, points);
    check_launch("pack");
    attract_all(points, points + n, out, n, softening);
}

size_t step_scratch(int n) { return accelerations_scratch(n); }
void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch)
{
    if (n == 0) return;
    auto *acc = static_cast<float4 *>(scratch), *parts = acc + n;
    for (int s = 0; s < steps; ++s) {
        if (s == 0) attract_all(position_mass, parts, acc, n, softening);
        advance<<<ceil_div(n, 256), 256>>>(position_mass, velocity, acc, n, dt / 2, dt);
        attract_all(position_mass, parts, acc, n, softening);
        advance<<<ceil_div(n, 256), 256>>>(position_mass, velocity, acc, n, dt / 2, 0);
        check_launch("advance");
    }
}
