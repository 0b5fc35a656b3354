// Lab 15, linear solver: the functions to write. The lesson is
// handouts/15_linear_solver.md.
//
// Each function solves a system of n linear equations. All arrays are ordinary
// memory of the host, owned by the caller, and do not overlap.
//   augmented_host: n rows of n + 1 numbers, row-major. Row i is the equation
//   a[i][0] * x[0] + ... + a[i][n - 1] * x[n - 1] = a[i][n].
//   n: from 0 to 2^14.
//   x_host: n numbers, the solution.
//   Returns 0, or another number if the system is singular: if elimination
//   finds a column that has only zeros left to choose a pivot from. The
//   contents of x_host are then ignored.
// Elimination is with partial pivoting: in each column the largest number, by
// magnitude, in the rows that had no pivot yet becomes the pivot. The grader
// checks that the equations hold up to rounding.
//
// Any device may be current before a call and after it. Functions return when
// x_host is written. Memory that a function allocates it frees. A function may
// throw a std::exception to report an error of its own, as check() of
// ../check.hpp does.
#pragma once

constexpr int max_members = 16;

// Solves a system on one device, member 0's.
// The lesson: the host need not look at a pivot, and a number that is loaded
// once can be used for several columns.
int eliminate_one(const double *augmented_host, int n, double *x_host);

// Solves a system on several devices.
//   devices: the number of members, from 1 to max_members. Member k works on
//   the CUDA device k % N, where N is the number that cudaGetDeviceCount
//   returns: if there are fewer GPUs than members, some members share one.
// Some devices may have no access to each other's memory; the runtime then
// routes copies between them through the host. The result must be right there,
// too.
// The lesson: columns on all devices, and only multipliers are sent.
int eliminate(const double *augmented_host, int n, double *x_host, int devices);

// Solves a system by several processes, the ranks of an MPI job, each of which
// calls this. Rank 0 has augmented_host and x_host; elsewhere both are null. n
// is the same on every rank; either all ranks must return 0, or none. MPI is
// already initialised, and is finalised later: MPI_COMM_WORLD holds all ranks.
// The current device is the rank's own.
// The lesson: all ranks make the same calls, in the same order.
int eliminate_ranks(const double *augmented_host, int n, double *x_host);

// Returns whether MPI accepts pointers to memory of this rank's device. If it
// does not, as on the simulator, messages go through host memory.
extern bool device_buffers_work();
