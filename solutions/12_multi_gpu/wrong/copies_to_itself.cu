// Fails: broadcast: two members | NOT_WRITTEN | no buffer has changed
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
    for (int k = 0; k < devices; ++k) send(buffers, k, k, n);
}

void peer_table(int *, int) {}
void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
