// Fails: write_offset: arrays that begin anywhere | PARTIALLY_WRITTEN | never written
// Every warp begins at a sector, the first one before its element; the grid does not know.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdint>

constexpr int block_size = 256, per_thread = 8;

static __global__ void write_elements(const float *a, const float *b, float *c, int n, int offset,
                                      int early)
{
    for (int k = 0; k < per_thread; ++k) {
        int i = int((blockIdx.x * per_thread + k) * block_size + threadIdx.x) - early;
        if (i >= 0 && i + offset < n) c[i + offset] = a[i] + b[i];
    }
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    int early = reinterpret_cast<std::uintptr_t>(c + offset) / sizeof(float) % 8;
    int share = block_size * per_thread, blocks = (n - offset + share - 1) / share;
    write_elements<<<blocks, block_size>>>(a, b, c, n, offset, early);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
