// Fails: broadcast: what is sent | TOO_SLOW | without it, copies go through the host
#include "lab.hpp"

static int device_of(int member)
{
    int devices = 0;
    cudaGetDeviceCount(&devices);
    return member % devices;
}

static void send(float *const *buffers, int to, int from, int n)
{
    cudaMemcpyPeerAsync(buffers[to], device_of(to), buffers[from], device_of(from),
                        sizeof(float) * n);
}

void broadcast(float *const *buffers, int n, int devices)
{
    cudaSetDevice(device_of(0));
    for (int k = 0; k + 1 < devices; ++k) send(buffers, k + 1, k, n);
}

void peer_table(int *, int) {}
void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
