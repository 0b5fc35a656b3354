// Lab 13, bodies that attract each other: the functions to write. The lesson is
// handouts/13_nbody.md.
//
// Pointers are device pointers, aligned to their elements and no more: `bodies`
// to 4 bytes, float4 to 16. Arrays of one call do not overlap. n is at least 0
// and at most 2^24. Coordinates and velocities are at most 1e6 in magnitude,
// masses at least 0 and at most 1e6, and `softening` lies between 1e-4 and 1e6.
// Two bodies may be at the same place.
//
// Sums are taken in float, in any order: no half, no TF32. A reciprocal square
// root may be off by two in its last place, as rsqrtf is.
//
// Each function has scratch memory of its own: NAME_scratch(n), on the host,
// returns how many bytes NAME needs for n bodies (0 is fine), and `scratch`
// then points to that many bytes of device memory at a multiple of 256. Their
// contents are undefined; they are yours until the call's work is done. No
// function needs to allocate memory.
//
// The functions return when their work has been launched; the grader waits for
// it, and asks the runtime for launch errors. A function may throw a
// std::exception to report an error of its own, as check() of ../check.hpp
// does.
#pragma once

#include <cstddef>
#include <vector_types.h> // float4

// One body: seven floats, 28 bytes.
struct body {
    float x, y, z;    // position
    float vx, vy, vz; // velocity
    float mass;
};

// Computes the acceleration of each body. All bodies attract each other, and
// the constant of gravity is 1.
//   out: n. out[i].x is the sum over all j, i included, of
//       mass_j * (x_j - x_i) / (d * d + softening * softening)^(3/2),
//   where d is the distance between i and j; y and z likewise; w becomes 0.
//   Softening limits the pull of very near bodies, and makes a body's pull on
//   itself a plain 0.
// The lesson: n * n interactions, each of which must take few instructions.
size_t accelerations_scratch(int n);
void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch);

// Moves all bodies, in place, by `steps` steps of time `dt`, at least 0 of them.
//   position_mass, velocity: n each. x, y, z of either change; the mass in
//   position_mass[i].w, and the contents of velocity[i].w, do not.
// A step is a leapfrog's: a kick, a drift and a kick. With `a` the acceleration
// at the current positions of all bodies:
//   v += a * dt / 2;   x += v * dt;   v += a * dt / 2.
// The lesson: no body may move while others still read its position.
size_t step_scratch(int n);
void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch);
