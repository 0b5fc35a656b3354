// Fails: all_reduce: any number of members | WRONG_ANSWER | added only one neighbour's numbers
#include "lab.hpp"

static int device_of(int member)
{
    int devices = 0;
    cudaGetDeviceCount(&devices);
    return member % devices;
}

static __global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

void all_reduce(float *const *buffers, int n, int devices)
{
    float *before[max_members];
    for (int k = 0; k < devices; ++k) {
        int neighbour = (k + devices - 1) % devices;
        cudaSetDevice(device_of(k));
        cudaMalloc(&before[k], sizeof(float) * n);
        cudaMemcpy(before[k], buffers[neighbour], sizeof(float) * n, cudaMemcpyDefault);
    }
    for (int k = 0; k < devices; ++k) {
        cudaSetDevice(device_of(k));
        if (devices > 1) add<<<(n + 255) / 256, 256>>>(buffers[k], before[k], n);
        cudaFree(before[k]);
    }
}

void peer_table(int *, int) {}
void broadcast(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
