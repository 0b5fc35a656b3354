// Lab 13, rung 2: a block loads a tile of bodies into shared memory, and all its threads use it.
//
// New: the tile, two barriers, and bodies without mass where it hangs over the end. Loads from
// global memory shrink to a small fraction; the time falls by a quarter only, since all lanes of a
// warp read the same body, which was in the caches.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int n) { return (n + block_size - 1) / block_size; }

// Positions and masses, 16 bytes per body. All seven floats are read once, not n times.
static __global__ void pack(const body *bodies, float4 *points, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) points[i] = {bodies[i].x, bodies[i].y, bodies[i].z, bodies[i].mass};
}

struct pulled { // a body: its position and its acceleration
    float x, y, z, ax = 0, ay = 0, az = 0;
    __device__ void add(float4 p, float softening2)
    {
        float dx = p.x - x, dy = p.y - y, dz = p.z - z;
        float distance = sqrtf(dx * dx + (dy * dy + (dz * dz + softening2)));
        float pull = p.w / (distance * distance * distance);
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
};

static __global__ void attract(const float4 *points, float4 *out, int n, float softening2)
{
    __shared__ float4 tile[block_size];
    int i = blockIdx.x * block_size + threadIdx.x;
    float4 p = points[min(i, n - 1)]; // threads without a body help to load
    pulled mine{p.x, p.y, p.z};
    for (int from = 0; from < n; from += block_size) {
        int j = from + threadIdx.x;
        tile[threadIdx.x] = j < n ? points[j] : float4{}; // no mass, no pull
        __syncthreads();                                  // the tile is complete
#pragma unroll 8
        for (int k = 0; k < block_size; ++k) mine.add(tile[k], softening2);
        __syncthreads(); // no thread needs it any more
    }
    if (i < n) out[i] = {mine.ax, mine.ay, mine.az, 0};
}

static void attract_all(const float4 *points, float4 *out, int n, float softening)
{
    attract<<<blocks_for(n), block_size>>>(points, out, n, softening * softening);
    check_launch("attract");
}

// The packed bodies.
size_t accelerations_scratch(int n) { return sizeof(float4) * n; }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch)
{
    if (n == 0) return;
    auto *points = static_cast<float4 *>(scratch);
    pack<<<blocks_for(n), block_size>>>(bodies, points, n);
    check_launch("pack");
    attract_all(points, out, n, softening);
}

// A kick, followed by a drift unless that is 0.
static __global__ void advance(float4 *position_mass, float4 *velocity, const float4 *acceleration,
                               int n, float kick, float drift)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float4 a = acceleration[i], v = velocity[i], p = position_mass[i];
    v.x += a.x * kick, v.y += a.y * kick, v.z += a.z * kick;
    p.x += v.x * drift, p.y += v.y * drift, p.z += v.z * drift;
    velocity[i] = v;
    position_mass[i] = p;
}

// The accelerations.
size_t step_scratch(int n) { return sizeof(float4) * n; }

// The second kick of a step and the first of the next use the same pull: one whole kick.
void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch)
{
    if (n == 0 || steps == 0) return;
    auto *acceleration = static_cast<float4 *>(scratch);
    for (int s = 0; s <= steps; ++s) {
        bool ends = s == 0 || s == steps;
        attract_all(position_mass, acceleration, n, softening);
        advance<<<blocks_for(n), block_size>>>(position_mass, velocity, acceleration, n,
                                               ends ? dt / 2 : dt, s == steps ? 0 : dt);
        check_launch("advance");
    }
}
