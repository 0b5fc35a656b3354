// Lab 09, the vendor's version: CUB's DeviceMergeSort behind the contract.
#include "../check.hpp"
#include "lab.hpp"

#include <cub/device/device_merge_sort.cuh>

#include <cuda_runtime.h>

constexpr const char *sorting = "DeviceMergeSort::SortKeys";

struct smaller {
    __device__ bool operator()(unsigned a, unsigned b) const { return a < b; }
};

size_t quicksort_scratch(int n)
{
    size_t bytes = 0;
    check(cub::DeviceMergeSort::SortKeys(nullptr, bytes, static_cast<unsigned *>(nullptr), n,
                                         smaller{}),
          sorting);
    return bytes;
}

void quicksort(unsigned *data, int n, void *scratch)
{
    size_t bytes = quicksort_scratch(n);
    check(cub::DeviceMergeSort::SortKeys(scratch, bytes, data, n, smaller{}), sorting);
}

size_t quicksort_recursive_scratch(int n) { return quicksort_scratch(n); }
void quicksort_recursive(unsigned *data, int n, void *scratch) { quicksort(data, n, scratch); }
