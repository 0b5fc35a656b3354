// Lab 13, bodies that attract each other: the file to edit. What each function
// must do: lab.hpp. The lesson: handouts/13_nbody.md. Stuck at a TODO:
// ./workbook hint 13.
//
// The launches below are in place, with one thread per body, and round their
// grids up. Change kernels, launches and scratch where your idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int n) { return (n + block_size - 1) / block_size; }

// A point is the part of a body that acts on others: its position in x, y, z,
// its mass in w.
static __global__ void pack(const body *bodies, float4 *points, int n)
{
    // TODO 1 (accelerations): Compute this thread's i, and store the position
    // and the mass of body i as one float4.
}

// Adds the pull of `other` on a body at `at` to `sum`; softening2 is the square
// of the softening.
static __device__ void add_pull(float3 &sum, float4 at, float4 other, float softening2)
{
    // TODO 2 (accelerations): Compute the vector from `at` to `other`, and its
    // length with the softening in it; divide the other's mass by the cube of
    // that; and add the vector times the quotient to the sum, in x, y and z.
    //
    // TODO 6 (accelerations: speed): When everything else passes: no sqrtf and
    // no division. rsqrtf computes one over the root directly.
    // TODO 6 (step: speed): It is the same function.
}

// out[i] becomes the acceleration of each point; w becomes 0.
static __global__ void attract(const float4 *points, float4 *out, int n, float softening2)
{
    // TODO 3 (accelerations): Declare a tile of block_size points in shared
    // memory. Go through all points, one tile at a time: load one per thread,
    // or a point without mass beyond the end; wait for all; add the pull of
    // each point of the tile to a sum in registers; wait for all again. At the
    // end store the sum, if the thread has a body.
    //
    // TODO 7 (accelerations: speed): When everything else passes: let each
    // thread have four bodies, block_size apart, and use each point it reads
    // for all of them. Are there still enough blocks?
    // TODO 7 (step: speed): It is the same kernel.
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
    float4 *points = static_cast<float4 *>(scratch);
    pack<<<blocks_for(n), block_size>>>(bodies, points, n);
    check_launch("pack");
    attract_all(points, out, n, softening);
}

// For each body: first v += a * kick, then x += v * drift.
static __global__ void advance(float4 *position_mass, float4 *velocity, const float4 *acceleration,
                               int n, float kick, float drift)
{
    // TODO 4 (step): Compute this thread's i and do that, in x, y and z. Leave
    // both w unchanged.
}

// The accelerations.
size_t step_scratch(int n) { return sizeof(float4) * n; }

void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch)
{
    if (n == 0) return;
    float4 *acceleration = static_cast<float4 *>(scratch);
    attract_all(position_mass, acceleration, n, softening);
    for (int s = 0; s < steps; ++s) {
        // TODO 5 (step): Launch `advance` for half a kick and the drift;
        // compute the accelerations anew; launch it for the other half kick,
        // without a drift.
    }
}
