// Lab 09, quicksort: the functions to write. The lesson is
// handouts/09_quicksort.md.
//
// The host launches one kernel and waits for nothing: how many parts there are,
// and how large each is, is decided on the device, by kernels that launch
// kernels.
//
// A launch by a kernel can be refused, when too many others wait to begin; then
// it has not happened, and only cudaGetLastError() in the kernel tells. The
// grader makes it happen: what was refused must be done all the same.
//
// The functions return when their kernel has been launched; the grader waits
// for it, and asks the runtime for launch errors. A function may throw a
// std::exception to report an error of its own, as check() of ../check.hpp
// does.
//
// data: n keys, a device pointer, aligned to its elements and no more: it may
// start anywhere within a sector (32 bytes). Afterwards the same keys are there,
// the smallest first, whatever they were: sorted already, in reverse, all equal.
// scratch: device memory at a multiple of 256, as many bytes as the function's
// _scratch(n), on the host, asks for (0 is fine). They hold anything, also what
// the call before left there; and they are yours until the call's work is done:
// no allocation is needed.
#pragma once

#include <cstddef>

// Sorts as the textbook does: a kernel splits its keys in two, then launches
// itself for both sides.
//   data: n, 0 <= n <= 2^20.
// The lesson: a launch by a kernel, what it sees, and what ends the recursion.
size_t quicksort_recursive_scratch(int n);
void quicksort_recursive(unsigned *data, int n, void *scratch);

// Sorts a large array, all parts of a level at a time.
//   data: n, 0 <= n <= 2^30.
// The lesson: work that only turns up while the work is being done.
size_t quicksort_scratch(int n);
void quicksort(unsigned *data, int n, void *scratch);
