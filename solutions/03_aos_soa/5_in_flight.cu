// Lab 03, rung 5: more bytes in flight.
//
// New: each thread of drift and of the distances has four elements, block_size apart, and loads all
// it needs before it stores the first.
// Same points: the same bytes move, and the latency that this hides shows only in time.
// Unchanged: transpose, to_soa, to_aos.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, per_thread = 4, a_block = block_size * per_thread;

static int blocks_for(int n) { return (n + a_block - 1) / a_block; }

// All particles, and few fields: nothing else should move. Some particles, and three fields of
// each: in a struct they share a sector.
layout drift_layout() { return layout::soa; }
layout distance_all_layout() { return layout::soa; }
layout distance_some_layout() { return layout::aos; }

// This thread's first element; the others are block_size, 2 * block_size, ... further on.
static __device__ int first_element() { return blockIdx.x * a_block + threadIdx.x; }

static __global__ void __launch_bounds__(block_size)
    move_particles(float *x, const float *vx, int n, float dt)
{
    float here[per_thread], v[per_thread];
    int first = first_element();
    // All loads before the first store: the compiler cannot know that a store does not change what
    // the next load reads.
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        here[k] = i < n ? x[i] : 0;
        v[k] = i < n ? vx[i] : 0;
    }
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        if (i < n) x[i] = here[k] + v[k] * dt;
    }
}

void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    move_particles<<<blocks_for(n), block_size>>>(particles + n * field_x, particles + n * field_vx,
                                                  n, dt);
    check_launch("move_particles");
}

static __device__ float distance(float x, float y, float z, float3 centre)
{
    float dx = x - centre.x, dy = y - centre.y, dz = z - centre.z;
    return sqrtf(dx * dx + dy * dy + dz * dz);
}

static __global__ void __launch_bounds__(block_size)
    measure_all(const float *particles, int n, float3 centre, float *out)
{
    float x[per_thread], y[per_thread], z[per_thread];
    int first = first_element();
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        x[k] = i < n ? particles[n * field_x + i] : 0;
        y[k] = i < n ? particles[n * field_y + i] : 0;
        z[k] = i < n ? particles[n * field_z + i] : 0;
    }
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        if (i < n) out[i] = distance(x[k], y[k], z[k], centre);
    }
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure_all<<<blocks_for(n), block_size>>>(particles, n, centre, out);
    check_launch("measure_all");
}

// A particle is four float4; x, y and z are in its first.
constexpr int quads = fields / 4;

static __global__ void __launch_bounds__(block_size)
    measure_some(const float4 *particles, float3 centre, const int *which, int k, float *out)
{
    int first = first_element(), i[per_thread];
    float4 at[per_thread];
    for (int m = 0; m < per_thread; ++m) {
        int j = first + m * block_size;
        i[m] = j < k ? which[j] : -1;
    }
    // Each thread has several loads in flight.
    for (int m = 0; m < per_thread; ++m) at[m] = i[m] >= 0 ? particles[quads * i[m]] : float4{};
    for (int m = 0; m < per_thread; ++m)
        if (i[m] >= 0) out[first + m * block_size] = distance(at[m].x, at[m].y, at[m].z, centre);
}

void distance_some(const float *particles, int, float3 centre, const int *which, int k, float *out)
{
    if (k == 0) return;
    measure_some<<<blocks_for(k), block_size>>>(reinterpret_cast<const float4 *>(particles), centre,
                                                which, k, out);
    check_launch("measure_some");
}
