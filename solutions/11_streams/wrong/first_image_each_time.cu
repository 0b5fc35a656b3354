// Fails: merge_images: a small batch | WRONG_ANSWER | the first of the batch
// The images of a batch are all read from where the first one begins.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int pixels)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < pixels) out[i] = (3 * first[i] + second[i] + 2) / 4;
}

size_t merge_images_scratch(int width, int height, int) { return 3 * size_t(width) * height; }

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch)
{
    int pixels = width * height;
    if (pixels == 0) return;
    unsigned char *first = static_cast<unsigned char *>(scratch), *second = first + pixels,
                  *out = second + pixels;
    for (int k = 0; k < count; ++k) {
        size_t at = 0;
        cudaMemcpyAsync(first, first_host + at, pixels, cudaMemcpyHostToDevice);
        cudaMemcpyAsync(second, second_host + at, pixels, cudaMemcpyHostToDevice);
        merge<<<(pixels + 255) / 256, 256>>>(first, second, out, pixels);
        cudaMemcpyAsync(out_host + size_t(k) * pixels, out, pixels, cudaMemcpyDeviceToHost);
    }
    cudaDeviceSynchronize();
}

size_t add_pipelined_scratch(int) { return 0; }
void add_pipelined(const float *, const float *, float *, int, int, void *) {}
size_t diamond_scratch(int) { return 0; }
void diamond(const float *, float *, float *, float *, int, int, void *) {}
