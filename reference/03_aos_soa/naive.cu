// Lab 03, the time to beat: what a careful beginner writes first. Particles are structs wherever
// they are, and a thread has one.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

layout drift_layout() { return layout::aos; }
layout distance_all_layout() { return layout::aos; }
layout distance_some_layout() { return layout::aos; }

static __global__ void move_particles(particle *particles, int n, float dt)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) particles[i].x += particles[i].vx * dt;
}

void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    move_particles<<<blocks_for(n), block_size>>>(reinterpret_cast<particle *>(particles), n, dt);
    check_launch("move_particles");
}

static __device__ float distance(const particle &p, float3 centre)
{
    float dx = p.x - centre.x, dy = p.y - centre.y, dz = p.z - centre.z;
    return sqrtf(dx * dx + dy * dy + dz * dz);
}

static __global__ void measure_all(const particle *particles, int n, float3 centre, float *out)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = distance(particles[i], centre);
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure_all<<<blocks_for(n), block_size>>>(reinterpret_cast<const particle *>(particles), n,
                                               centre, out);
    check_launch("measure_all");
}

static __global__ void measure_some(const particle *particles, float3 centre, const int *which,
                                    int k, float *out)
{
    int j = blockIdx.x * block_size + threadIdx.x;
    if (j < k) out[j] = distance(particles[which[j]], centre);
}

void distance_some(const float *particles, int, float3 centre, const int *which, int k, float *out)
{
    if (k == 0) return;
    measure_some<<<blocks_for(k), block_size>>>(reinterpret_cast<const particle *>(particles),
                                                centre, which, k, out);
    check_launch("measure_some");
}

static __global__ void split_particles(const float *aos, float *soa, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    for (int f = 0; f < fields; ++f) soa[n * f + i] = aos[fields * i + f];
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    split_particles<<<blocks_for(n), block_size>>>(aos, soa, n);
    check_launch("split_particles");
}

static __global__ void join_particles(const float *soa, float *aos, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    for (int f = 0; f < fields; ++f) aos[fields * i + f] = soa[n * f + i];
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    join_particles<<<blocks_for(n), block_size>>>(soa, aos, n);
    check_launch("join_particles");
}

static __global__ void transpose_elements(const float *in, float *out, int rows, int cols)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= rows * cols) return;
    int row = i / cols, col = i % cols;
    out[col * rows + row] = in[i];
}

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    transpose_elements<<<blocks_for(rows * cols), block_size>>>(in, out, rows, cols);
    check_launch("transpose_elements");
}
