// Fails: all_reduce: two members | CUDA_ERROR | no access to: cudaDeviceEnablePeerAccess
// On gpu: may pass - with one GPU all buffers are its own
#include "lab.hpp"

static int device_of(int member)
{
    int devices = 0;
    cudaGetDeviceCount(&devices);
    return member % devices;
}

static __global__ void add(float *first, float *second, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) first[i] = second[i] = first[i] + second[i];
}

void all_reduce(float *const *buffers, int n, int)
{
    cudaSetDevice(device_of(0));
    add<<<(n + 255) / 256, 256>>>(buffers[0], buffers[1], n);
}

void peer_table(int *, int) {}
void broadcast(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
