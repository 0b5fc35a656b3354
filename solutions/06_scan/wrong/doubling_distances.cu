// Fails: scan_inclusive: speed | TOO_SLOW | compulsory bytes per element
// On gpu: scan_inclusive: speed | TOO_SLOW | some twenty times
// As naive: right, and each distance goes over the whole array.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void add_from(const int *from, int *to, int n, int distance)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) to[i] = i < distance ? from[i] : from[i - distance] + from[i];
}

size_t scan_inclusive_scratch(int n) { return sizeof(int) * n; }

void scan_inclusive(const int *in, int *out, int n, void *scratch)
{
    const int *from = in;
    int *to = out, *other = static_cast<int *>(scratch);
    for (long long distance = 1; distance < n; distance *= 2) {
        add_from<<<(n + 255) / 256, 256>>>(from, to, n, int(distance));
        from = to;
        to = to == out ? other : out;
    }
    if (from != out && n > 0) cudaMemcpyAsync(out, from, sizeof(int) * n, cudaMemcpyDeviceToDevice);
}

// Not begun.
void scan_block_inclusive(const int *, int *, int) {}
void scan_block_exclusive(const int *, int *, int) {}
size_t scan_exclusive_scratch(int) { return 0; }
void scan_exclusive(const int *, int *, int, void *) {}
size_t scan_inclusive_int64_scratch(int) { return 0; }
void scan_inclusive_int64(const std::int64_t *, std::int64_t *, int, void *) {}
size_t scan_inclusive_float_scratch(int) { return 0; }
void scan_inclusive_float(const float *, float *, int, void *) {}
