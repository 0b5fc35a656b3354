// Fails: all_reduce: work that comes late | OUT_OF_BOUNDS | freed
// On gpu: may pass - few numbers are copied and added before the memory is gone
// What is queued behind a copy from another device still uses what is freed.
#include "lab.hpp"

static int device_of(int member)
{
    int devices = 0;
    cudaGetDeviceCount(&devices);
    return member % devices;
}

static void enable_peers(int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            cudaSetDevice(device_of(i));
            if (device_of(i) != device_of(j)) cudaDeviceEnablePeerAccess(device_of(j), 0);
        }
    cudaGetLastError();
}

static void send(float *const *buffers, int to, int from, int n)
{
    cudaMemcpyPeerAsync(buffers[to], device_of(to), buffers[from], device_of(from),
                        sizeof(float) * n);
}

static __global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

void all_reduce(float *const *buffers, int n, int devices)
{
    if (n == 0) return;
    enable_peers(devices);
    float *other = nullptr;
    cudaSetDevice(device_of(0));
    cudaMalloc(&other, sizeof(float) * n);
    for (int k = 1; k < devices; ++k) {
        cudaMemcpyPeerAsync(other, device_of(0), buffers[k], device_of(k), sizeof(float) * n);
        add<<<(n + 255) / 256, 256>>>(buffers[0], other, n);
    }
    cudaFree(other);
    for (int k = 1; k < devices; ++k) send(buffers, k, 0, n);
}

void peer_table(int *, int) {}
void broadcast(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
