// Right: the bodies that pull lie in constant memory, 2048 at a time, which a copy on the device
// fills before each launch; no shared memory, no shuffles.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int threads = 64, per_thread = 4, bodies_per_block = threads * per_thread;
constexpr int tile = 2048; // 32 KiB, half of what constant memory there is

__constant__ float4 pulling[tile];

static int blocks(int n, int each) { return n / each + (n % each ? 1 : 0); }

static __global__ void pack(const body *from, float4 *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    body b = from[i];
    to[i] = {b.x, b.y, b.z, b.mass};
}

// Adds to acc what the `count` bodies in constant memory pull. All lanes read the same address,
// which is what the constant cache is made for.
static __global__ __launch_bounds__(threads) void pull_of_tile(const float4 *points, float4 *acc,
                                                               int n, int count, float eps2,
                                                               bool first_tile)
{
    const int i0 = blockIdx.x * bodies_per_block + threadIdx.x;
    float4 me[per_thread], a[per_thread];
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        int i = i0 + k * threads;
        me[k] = i < n ? points[i] : float4{};
        a[k] = first_tile || i >= n ? float4{} : acc[i];
    }
    for (int j = 0; j < count; ++j) {
        const float4 other = pulling[j];
#pragma unroll
        for (int k = 0; k < per_thread; ++k) {
            float dx = other.x - me[k].x, dy = other.y - me[k].y, dz = other.z - me[k].z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + eps2);
            float f = other.w * inv * (inv * inv);
            a[k].x += f * dx, a[k].y += f * dy, a[k].z += f * dz;
        }
    }
#pragma unroll
    for (int k = 0; k < per_thread; ++k)
        if (int i = i0 + k * threads; i < n) acc[i] = a[k];
}

static void pull_all(const float4 *points, float4 *acc, int n, float softening)
{
    for (int first = 0; first < n; first += tile) {
        int count = std::min(tile, n - first);
        // Same stream as the kernels, so it neither overtakes them nor is overtaken.
        check(cudaMemcpyToSymbolAsync(pulling, points + first, count * sizeof(float4), 0,
                                      cudaMemcpyDeviceToDevice),
              "filling constant memory");
        pull_of_tile<<<blocks(n, bodies_per_block), threads>>>(points, acc, n, count,
                                                               softening * softening, first == 0);
        check_launch("pull_of_tile");
    }
}

template <bool drift>
static __global__ void advance(float4 *pos, float4 *vel, const float4 *acc, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = vel[i], a = acc[i];
    v.x += .5f * dt * a.x, v.y += .5f * dt * a.y, v.z += .5f * dt * a.z;
    vel[i] = v;
    if constexpr (drift) {
        float4 p = pos[i];
        pos[i] = {p.x + dt * v.x, p.y + dt * v.y, p.z + dt * v.z, p.w};
    }
}

size_t accelerations_scratch(int n) { return n * sizeof(float4); }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch)
{
    if (n <= 0) return;
    float4 *points = (float4 *)scratch;
    pack<<<blocks(n, 256), 256>>>(bodies, points, n);
    check_launch("pack");
    pull_all(points, out, n, softening);
}

size_t step_scratch(int n) { return n * sizeof(float4); }

void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch)
{
    if (n <= 0 || steps <= 0) return;
    float4 *acc = (float4 *)scratch;
    pull_all(position_mass, acc, n, softening);
    for (int s = 0; s < steps; ++s) {
        advance<true><<<blocks(n, 256), 256>>>(position_mass, velocity, acc, n, dt);
        check_launch("advance");
        pull_all(position_mass, acc, n, softening);
        advance<false><<<blocks(n, 256), 256>>>(position_mass, velocity, acc, n, dt);
        check_launch("advance");
    }
}
