// Lab 03, arrays of structs and structs of arrays: the functions to write. The
// lesson is handouts/03_aos_soa.md.
//
// Pointers are device pointers. Arrays of one call do not overlap. `particles`
// and `aos` begin at a multiple of 256 bytes, as cudaMalloc gives it; every
// other array is aligned to its elements and no more. Sizes are at least 0; n
// is at most 2^26, so that 16 * n fits an int; size 0 is legal and does
// nothing. An element that no function was asked to write keeps its value.
//
// The functions return when their work has been launched; the grader waits for
// it, and asks the runtime for launch errors. A function may throw a
// std::exception to report an error of its own, as check() of ../check.hpp
// does.
#pragma once

#include <vector_types.h> // float3

// One particle: 16 floats, its fields 0 to 15, in two sectors of 32 bytes.
struct particle {
    float x, y, z, radius, red, green, blue, opacity;
    float vx, vy, vz, mass, charge, temperature, drag, age;
};
constexpr int fields = sizeof(particle) / sizeof(float);
enum field : int { field_x = 0, field_y = 1, field_z = 2, field_vx = 8 };

// How n particles lie in memory; either way they are 16 * n floats.
enum class layout : int {
    aos, // array of structs, a matrix of n rows and 16 columns: field f of
         // particle i is float fields * i + f
    soa, // struct of arrays, of 16 rows and n columns: field f of particle i is
         // float n * f + i
};

// Moves each particle along x: x += vx * dt. No other field changes.
//   particles: n particles in the layout that drift_layout, on the host,
//   returns, the same one each time. The grader arranges them so before the
//   call, outside the measured time. The same holds for the next two functions.
layout drift_layout();
void drift(float *particles, int n, float dt);

// Computes the distance of each particle from one point.
//   out: n. out[i] is the distance of particle i from `centre`.
layout distance_all_layout();
void distance_all(const float *particles, int n, float3 centre, float *out);

// Computes the distances of some of the particles.
//   which, out: k each. out[j] is the distance of particle which[j] from
//   `centre`. The numbers in `which` are at least 0 and less than n, in no
//   order; some may occur more than once. k does not depend on n; it is at most
//   2^30.
layout distance_some_layout();
void distance_some(const float *particles, int n, float3 centre, const int *which, int k,
                   float *out);

// Transposes a row-major matrix.
//   in: rows x cols; out: cols x rows; rows * cols is at most 2^30.
//   out[c * rows + r] = in[r * cols + c].
void transpose(const float *in, float *out, int rows, int cols);

// Converts n particles from one layout into the other, bit by bit.
//   aos, soa: 16 * n floats each.
void to_soa(const float *aos, float *soa, int n);
void to_aos(const float *soa, float *aos, int n);
