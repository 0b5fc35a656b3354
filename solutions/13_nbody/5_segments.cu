// Lab 13, rung 5: the sum is cut into segments, so that there are enough blocks.
//
// New: a block has 1024 bodies and a segment of those that pull at them. A second kernel adds up
// the parts of a sum, always in the same order, so that the same call gives the same bits.
// Same points: rung 4 has all of them; too few blocks for a large GPU show only in time.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int block_size = 256, per_thread = 4, per_block = block_size * per_thread; // bodies
// Some thirty blocks per multiprocessor of a large GPU, so that one more or less hardly matters. A
// segment is long enough for its sum to be worth a trip through memory.
constexpr int wanted_blocks = 4096, min_segment = 512;

static int blocks_for(int n, int each) { return (n + each - 1) / each; }

static int segments_for(int n)
{
    int rows = std::max(1, blocks_for(n, per_block));
    return std::max(1, std::min(wanted_blocks / rows, n / min_segment));
}

// Positions and masses, 16 bytes per body. All seven floats are read once, not n times.
static __global__ void pack(const body *bodies, float4 *points, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) points[i] = {bodies[i].x, bodies[i].y, bodies[i].z, bodies[i].mass};
}

struct pulled { // a body: its position and its acceleration
    float x, y, z, ax = 0, ay = 0, az = 0;
    // Three subtractions, three multiply-adds, the root, three multiplications, three
    // multiply-adds.
    __device__ void add(float4 p, float softening2)
    {
        float dx = p.x - x, dy = p.y - y, dz = p.z - z;
        float root = rsqrtf(dx * dx + (dy * dy + (dz * dz + softening2)));
        float pull = root * root * (p.w * root);
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
};

// `length` is that of a segment, a multiple of block_size. parts: n for each segment.
static __global__ void __launch_bounds__(block_size, 4)
    attract(const float4 *points, float4 *parts, int n, int length, float softening2)
{
    __shared__ float4 tile[block_size];
    int first = blockIdx.x * per_block + threadIdx.x, begin = blockIdx.y * length;
    pulled mine[per_thread];
    for (int b = 0; b < per_thread; ++b) {
        float4 p = points[min(first + block_size * b, n - 1)];
        mine[b] = {p.x, p.y, p.z};
    }
    for (int from = begin; from < min(begin + length, n); from += block_size) {
        int j = from + threadIdx.x;
        tile[threadIdx.x] = j < n ? points[j] : float4{}; // no mass, no pull
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < block_size; ++k)
            for (pulled &m : mine) m.add(tile[k], softening2);
        __syncthreads();
    }
    for (int b = 0; b < per_thread; ++b) {
        int i = first + block_size * b;
        if (i < n) parts[size_t(n) * blockIdx.y + i] = {mine[b].ax, mine[b].ay, mine[b].az, 0};
    }
}

static void attract_all(const float4 *points, float4 *parts, int n, float softening)
{
    int segments = segments_for(n);
    int length = blocks_for(blocks_for(n, segments), block_size) * block_size;
    dim3 grid(blocks_for(n, per_block), segments);
    attract<<<grid, block_size>>>(points, parts, n, length, softening * softening);
    check_launch("attract");
}

static __device__ float4 sum_of_parts(const float4 *parts, int i, int n, int segments)
{
    float4 sum = {};
    for (int s = 0; s < segments; ++s) {
        float4 part = parts[size_t(n) * s + i];
        sum.x += part.x, sum.y += part.y, sum.z += part.z;
    }
    return sum;
}

static __global__ void join(const float4 *parts, float4 *out, int n, int segments)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = sum_of_parts(parts, i, n, segments);
}

// The packed bodies, and behind them the parts.
size_t accelerations_scratch(int n) { return sizeof(float4) * n * (segments_for(n) + 1); }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch)
{
    if (n == 0) return;
    int blocks = blocks_for(n, block_size), segments = segments_for(n);
    auto *points = static_cast<float4 *>(scratch), *parts = points + n;
    pack<<<blocks, block_size>>>(bodies, points, n);
    check_launch("pack");
    attract_all(points, parts, n, softening);
    join<<<blocks, block_size>>>(parts, out, n, segments);
    check_launch("join");
}

// A kick, followed by a drift unless that is 0.
static __global__ void advance(float4 *position_mass, float4 *velocity, const float4 *parts, int n,
                               int segments, float kick, float drift)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float4 a = sum_of_parts(parts, i, n, segments), v = velocity[i], p = position_mass[i];
    v.x += a.x * kick, v.y += a.y * kick, v.z += a.z * kick;
    p.x += v.x * drift, p.y += v.y * drift, p.z += v.z * drift;
    velocity[i] = v;
    position_mass[i] = p;
}

size_t step_scratch(int n) { return sizeof(float4) * n * segments_for(n); }

// The second kick of a step and the first of the next use the same pull: one whole kick.
void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch)
{
    if (n == 0 || steps == 0) return;
    auto *parts = static_cast<float4 *>(scratch);
    for (int s = 0; s <= steps; ++s) {
        bool ends = s == 0 || s == steps;
        attract_all(position_mass, parts, n, softening);
        advance<<<blocks_for(n, block_size), block_size>>>(position_mass, velocity, parts, n,
                                                           segments_for(n), ends ? dt / 2 : dt,
                                                           s == steps ? 0 : dt);
        check_launch("advance");
    }
}
