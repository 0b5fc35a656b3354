// Lab 13, bodies that attract each other: the file to edit. What each function
// must do: lab.hpp. The lesson: handouts/13_nbody.md. Stuck at a TODO:
// ./workbook hint 13.
//
// You write the launches, too, each followed by check_launch("NAME"): first
// with one thread per body, and the grid rounded up.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int n) { return (n + block_size - 1) / block_size; }

// A point is the part of a body that acts on others: its position in x, y, z,
// its mass in w.
static __global__ void pack(const body *bodies, float4 *points, int n)
{
    // TODO 1 (accelerations): points[i] must have the position and the mass of
    // body i, for this thread's i.
}

// Adds the pull of `other` on a body at `at` to `sum`; softening2 is the square
// of the softening.
static __device__ void add_pull(float3 &sum, float4 at, float4 other, float softening2)
{
    // TODO 2 (accelerations): `sum` must have grown by the other's term in the
    // formula of lab.hpp.
    //
    // TODO 5 (accelerations: speed): When everything else passes, no exact root
    // and no division may be left.
    // TODO 5 (step: speed): It is the same function.
}

// out[i] becomes the acceleration of point i; w becomes 0.
static __global__ void attract(const float4 *points, float4 *out, int n, float softening2)
{
    // TODO 2 (accelerations): out[i] must be the sum of all points' pulls on
    // point i, for this thread's i.
    //
    // TODO 3 (accelerations: loads from global memory): A block must load each
    // point once, one tile of block_size points at a time, into shared memory.
    //
    // TODO 6 (accelerations: speed): When everything else passes, each thread
    // must have four bodies, and each point that it reads must serve all four.
    // The hints say what that means for the number of blocks.
    // TODO 6 (step: speed): It is the same kernel.
}

static void attract_all(const float4 *points, float4 *out, int n, float softening)
{
    // TODO 2 (accelerations): `attract` must run, with one thread per point.
}

// The packed bodies.
size_t accelerations_scratch(int n) { return sizeof(float4) * n; }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch)
{
    float4 *points = static_cast<float4 *>(scratch);
    // TODO 1 (accelerations): `points` must be packed, and attract_all be
    // called. Without bodies there is no launch.
}

// The accelerations.
size_t step_scratch(int n) { return sizeof(float4) * n; }

void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch)
{
    // TODO 4 (step): Your own design: kernels, launches, and how much scratch.
    // attract_all serves here as well.
}
