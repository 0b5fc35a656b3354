// Fails: broadcast: two members | CUDA_ERROR | cudaErrorPeerAccessAlreadyEnabled
// On gpu: may pass - with one GPU there is nothing to enable
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
}

static void send(float *const *buffers, int to, int from, int n)
{
    cudaMemcpyPeerAsync(buffers[to], device_of(to), buffers[from], device_of(from),
                        sizeof(float) * n);
}

void broadcast(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    cudaSetDevice(device_of(0));
    for (int k = 0; k + 1 < devices; ++k) send(buffers, k + 1, k, n);
}

void peer_table(int *, int) {}
void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
