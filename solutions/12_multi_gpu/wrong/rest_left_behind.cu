// Fails: broadcast: any number of elements | WRONG_ANSWER | no multiple of the number of pieces
// Seven pieces of n / 7 elements.
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

void broadcast(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    const int pieces = 7, count = n / pieces < 4 ? n : n / pieces;
    for (int first = 0; count > 0 && first + count <= n; first += count)
        for (int k = 1; k < devices; ++k)
            cudaMemcpyPeer(buffers[k] + first, device_of(k), buffers[k - 1] + first,
                           device_of(k - 1), sizeof(float) * count);
}

void peer_table(int *, int) {}
void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
