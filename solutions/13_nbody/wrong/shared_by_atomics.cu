// Fails: accelerations: speed | TOO_SLOW | accesses per interaction
// On gpu: accelerations: speed | TOO_SLOW |
// A tile in shared memory, of which each thread reads every body by atomics that add nothing.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 128;

static __device__ float read(int &word) { return __int_as_float(atomicOr(&word, 0)); }

static __global__ void attract(const body *bodies, float4 *out, int n, float softening2)
{
    __shared__ int tile[4][block_size];
    int i = blockIdx.x * block_size + threadIdx.x, t = threadIdx.x;
    body own = bodies[i < n ? i : 0];
    float x = 0, y = 0, z = 0;
    for (int first = 0; first < n; first += block_size) {
        body next = bodies[first + t < n ? first + t : 0];
        tile[0][t] = __float_as_int(next.x);
        tile[1][t] = __float_as_int(next.y);
        tile[2][t] = __float_as_int(next.z);
        tile[3][t] = __float_as_int(first + t < n ? next.mass : 0);
        __syncthreads();
        for (int j = 0; j < block_size; ++j) {
            float dx = read(tile[0][j]) - own.x, dy = read(tile[1][j]) - own.y;
            float dz = read(tile[2][j]) - own.z;
            float root = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
            float pull = read(tile[3][j]) * root * root * root;
            x += pull * dx, y += pull * dy, z += pull * dz;
        }
        __syncthreads();
    }
    if (i < n) out[i] = {x, y, z, 0};
}

size_t accelerations_scratch(int) { return 0; }
void accelerations(const body *bodies, float4 *out, int n, float softening, void *)
{
    if (n == 0) return;
    attract<<<(n + block_size - 1) / block_size, block_size>>>(bodies, out, n,
                                                               softening * softening);
}

// Not begun.
size_t step_scratch(int) { return 0; }
void step(float4 *, float4 *, int, float, float, int, void *) {}
