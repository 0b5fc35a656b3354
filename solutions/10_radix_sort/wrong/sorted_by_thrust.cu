// Fails: build | FORBIDDEN_API | includes headers of thrust
// thrust::sort would do all of it; the smallest of its headers is enough to be refused.
#include "lab.hpp"

#define CCCL_IGNORE_DEPRECATED_CPP_DIALECT // the tests compile as C++14
#include <thrust/version.h>

void sort_warps(unsigned *, int) {}

size_t radix_sort_scratch(int) { return 0; }
void radix_sort(unsigned *, int, void *) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
