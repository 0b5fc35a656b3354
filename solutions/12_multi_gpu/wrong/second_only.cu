// Fails: broadcast: any number of members | WRONG_ANSWER | Only the second buffer
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
    if (devices > 1) send(buffers, 1, 0, n);
}

void peer_table(int *, int) {}
void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
