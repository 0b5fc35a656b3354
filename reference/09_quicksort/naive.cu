// Lab 09, the time to beat: quicksort as the textbook has it, with a kernel for each part. One
// thread splits its part in place, then launches two more. It asks after each launch whether that
// was taken, and sorts by itself what was not. quicksort_recursive is one block that compares all
// keys with all.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int small_part = 32; // keys that are not worth a launch
constexpr int deepest = 22;    // of launches; CUDA promises 24 levels

// Five elevenths, rounded down, where five times a gap need not be an int; but 1 after 2.
static __device__ int smaller_gap(int gap)
{
    return gap == 2 ? 1 : gap / 11 * 5 + gap % 11 * 5 / 11;
}

// Insertion sort for few keys. For many, over distances that shrink to 1 (Shell sort), so that
// even those that nobody else takes do not cost n^2.
static __device__ void sort_alone(unsigned *data, int n)
{
    for (int gap = n > small_part ? n / 2 : 1; gap > 0; gap = smaller_gap(gap))
        for (int i = gap; i < n; ++i) {
            unsigned key = data[i];
            int k = i;
            for (; k >= gap && data[k - gap] > key; k -= gap) data[k] = data[k - gap];
            data[k] = key;
        }
}

static __global__ void sort_part(unsigned *data, int n, int depth);

static __device__ void go_on_with(unsigned *data, int n, int depth)
{
    if (n > small_part && depth < deepest) {
        // A stream of its own for each part: neither waits for the other.
        sort_part<<<1, 1, 0, cudaStreamFireAndForget>>>(data, n, depth + 1);
        if (cudaGetLastError() == cudaSuccess) return;
    }
    sort_alone(data, n);
}

static __global__ void sort_part(unsigned *data, int n, int depth)
{
    // Anywhere: in the middle of keys that rise and fall again are the largest.
    unsigned pivot = data[__umulhi(n * 2654435761u, n)];
    int low = 0, high = n - 1;
    while (low <= high) {
        while (data[low] < pivot) ++low;
        while (data[high] > pivot) --high;
        if (low > high) break;
        unsigned key = data[low];
        data[low++] = data[high];
        data[high--] = key;
    }
    // All up to `high` are at most the pivot, all from `low` on at least.
    go_on_with(data, high + 1, depth);
    go_on_with(data + low, n - low, depth);
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *)
{
    if (n < 2) return;
    sort_part<<<1, 1>>>(data, n, 0);
    check_launch("sort_part");
}

static __global__ void sort_by_rank(unsigned *data, unsigned *sorted, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int rank = 0;
        for (int k = 0; k < n; ++k) rank += data[k] < data[i] || (data[k] == data[i] && k < i);
        sorted[rank] = data[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = sorted[i];
}

size_t quicksort_recursive_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort_recursive(unsigned *data, int n, void *scratch)
{
    sort_by_rank<<<1, 256>>>(data, static_cast<unsigned *>(scratch), n);
    check_launch("sort_by_rank");
}
