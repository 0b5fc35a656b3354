// Lab 03, rung 5: more bytes in flight.
//
// New: each thread of drift and distance_all has four elements, block_size apart, and loads all it
// needs before it stores the first.
// Same points: the same bytes move, and the latency that this hides shows only in time.
// Unchanged: distance_some, transpose, to_soa, to_aos.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, per_thread = 4, elements_per_block = block_size * per_thread;

static int blocks_for(int n) { return (n + elements_per_block - 1) / elements_per_block; }

// All particles, and few fields: nothing else should move.
layout drift_layout() { return layout::soa; }
layout distance_all_layout() { return layout::soa; }

// This thread's first element; the others are block_size, 2 * block_size, ... further on.
static __device__ int first_element() { return blockIdx.x * elements_per_block + threadIdx.x; }

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
