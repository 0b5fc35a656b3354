// Lab 09, quicksort: the functions to write. The lesson is
// handouts/09_quicksort.md.
//
// The host launches one kernel and waits for nothing: the number and the sizes
// of the parts become known on the device, in kernels that launch kernels.
//
// A launch by a kernel is refused when too many others wait to begin; then it
// does not happen, and only cudaGetLastError() in the kernel reports it. The
// grader makes this happen: the work must then be done in another way.
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
// _scratch(n), on the host, asks for (0 is fine). Its contents are undefined,
// and may be those of an earlier call; it is yours until the call's work is
// done: no allocation is needed.
#pragma once

#include <cstddef>

// Sorts as the textbook does: a kernel splits its keys in two, then launches
// itself for both sides.
//   data: n, 0 <= n <= 2^20.
// The lesson: a launch by a kernel, which writes its child sees, and what ends
// the recursion.
size_t quicksort_recursive_scratch(int n);
void quicksort_recursive(unsigned *data, int n, void *scratch);

// Sorts a large array, all parts of a level at a time.
//   data: n, 0 <= n <= 2^30.
// The lesson: work that becomes known only while it is being done.
size_t quicksort_scratch(int n);
void quicksort(unsigned *data, int n, void *scratch);
