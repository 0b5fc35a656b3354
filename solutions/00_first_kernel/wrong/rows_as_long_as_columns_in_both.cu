// Fails: mirror: a wide picture | RACE | Row y begins at element y * width
// On gpu: mirror: a wide picture | PARTIALLY_WRITTEN |
// Row y is taken to begin at y * height in both arrays.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void mirror_pixels(const unsigned char *in, unsigned char *out, int width,
                                     int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * height + width - 1 - x] = in[y * height + x];
}

void mirror(const unsigned char *in, unsigned char *out, int width, int height)
{
    dim3 block(16, 16);
    dim3 grid((width + 15) / 16, (height + 15) / 16);
    mirror_pixels<<<grid, block>>>(in, out, width, height);
}

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void saxpy_host(float, const float *, float *, int) {}
int launch_error(int) { return -1; }
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
void block_sums(const int *, int *, int) {}
