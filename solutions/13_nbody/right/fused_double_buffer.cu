// Right: the pull, the kick and the drift are one kernel that writes the new places to a second
// array; the closing half kick of a step and the opening one of the next are one whole kick.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <utility>

namespace {

constexpr unsigned block = 128, each = 4, tile = 2 * block;

// Waits until the block's tile has come, and asks for the next one meanwhile: two buffers, filled
// past the registers by cp.async.
struct tile_reader {
    const float4 *points;
    unsigned n;
    float4 (*buffers)[tile];

    __device__ void request(unsigned first, unsigned which) const
    {
        for (unsigned t = threadIdx.x; t < tile; t += block)
            if (first + t < n)
                __pipeline_memcpy_async(&buffers[which][t], &points[first + t], sizeof(float4));
            else
                buffers[which][t] = float4{0, 0, 0, 0};
        __pipeline_commit();
    }
    template <class F> __device__ void for_each(F f) const
    {
        request(0, 0);
        for (unsigned first = 0, now = 0; first < n; first += tile, now ^= 1) {
            request(first + tile, now ^ 1);
            __pipeline_wait_prior(1);
            __syncthreads();
            for (unsigned j = 0; j < tile; ++j) f(buffers[now][j]);
            __syncthreads();
        }
        __pipeline_wait_prior(0);
    }
};

// Calls done(i, point, pull) for each body of this thread.
template <class Done> __device__ void pull(const float4 *points, unsigned n, float eps2, Done done)
{
    __shared__ float4 buffers[2][tile];
    const unsigned first = blockIdx.x * block * each + threadIdx.x;
    float4 at[each], a[each];
#pragma unroll
    for (unsigned k = 0; k < each; ++k) {
        at[k] = first + k * block < n ? points[first + k * block] : float4{0, 0, 0, 0};
        a[k] = {0, 0, 0, 0};
    }
    tile_reader{points, n, buffers}.for_each([&](float4 o) {
#pragma unroll
        for (unsigned k = 0; k < each; ++k) {
            float dx = o.x - at[k].x, dy = o.y - at[k].y, dz = o.z - at[k].z;
            float r = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, eps2))));
            float f = o.w * (r * r * r);
            a[k].x += dx * f, a[k].y += dy * f, a[k].z += dz * f;
        }
    });
#pragma unroll
    for (unsigned k = 0; k < each; ++k)
        if (unsigned i = first + k * block; i < n) done(i, at[k], a[k]);
}

__global__ void accelerate(const float4 *points, float4 *out, int n, float eps2)
{
    pull(points, n, eps2, [=](int i, float4, float4 a) { out[i] = a; });
}

// From `now` to `next`, which no other block reads: nobody can be early.
__global__ void move(const float4 *now, float4 *next, float4 *velocity, int n, float eps2,
                     float kick, float drift)
{
    pull(now, n, eps2, [=](int i, float4 p, float4 a) {
        float4 v = velocity[i];
        v.x += kick * a.x, v.y += kick * a.y, v.z += kick * a.z;
        velocity[i] = v;
        if (next) next[i] = {p.x + drift * v.x, p.y + drift * v.y, p.z + drift * v.z, p.w};
    });
}

__global__ void pack(const body *bodies, float4 *points, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) points[i] = {bodies[i].x, bodies[i].y, bodies[i].z, bodies[i].mass};
}

unsigned blocks(int n) { return (n + block * each - 1) / (block * each); }

} // namespace

size_t accelerations_scratch(int n) { return sizeof(float4) * n; }
void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch)
{
    if (!n) return;
    float4 *points = static_cast<float4 *>(scratch);
    pack<<<(n + 255) / 256, 256>>>(bodies, points, n);
    accelerate<<<blocks(n), block>>>(points, out, n, softening * softening);
    check_launch("accelerate");
}

size_t step_scratch(int n) { return sizeof(float4) * n; }
void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch)
{
    if (!n || !steps) return;
    const float eps2 = softening * softening;
    float4 *now = position_mass, *next = static_cast<float4 *>(scratch);
    for (int s = 0; s < steps; ++s) {
        move<<<blocks(n), block>>>(now, next, velocity, n, eps2, s == 0 ? dt / 2 : dt, dt);
        check_launch("move");
        std::swap(now, next);
    }
    move<<<blocks(n), block>>>(now, nullptr, velocity, n, eps2, dt / 2, 0);
    check_launch("the last half kick");
    if (now != position_mass)
        check(cudaMemcpyAsync(position_mass, now, sizeof(float4) * n, cudaMemcpyDeviceToDevice),
              "bringing the places back");
}
