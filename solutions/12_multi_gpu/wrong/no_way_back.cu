// Fails: all_reduce: two members | WRONG_ANSWER | Only member 0 has the sums
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

// Adds what `last` members from the second on have to what member 0 has.
static void gather(float *const *buffers, int n, int last)
{
    float *other = nullptr;
    cudaSetDevice(device_of(0));
    cudaMalloc(&other, sizeof(float) * n);
    for (int k = 1; k < last; ++k) {
        cudaMemcpyPeerAsync(other, device_of(0), buffers[k], device_of(k), sizeof(float) * n);
        add<<<(n + 255) / 256, 256>>>(buffers[0], other, n);
    }
    cudaDeviceSynchronize();
    cudaFree(other);
}

void all_reduce(float *const *buffers, int n, int devices) { gather(buffers, n, devices); }
void peer_table(int *, int) {}
void broadcast(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
