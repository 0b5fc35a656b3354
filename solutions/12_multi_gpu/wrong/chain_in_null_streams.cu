// Fails: broadcast: what is sent | TOO_SLOW | Copies in NULL streams are serialised
// A chain in pieces, whose copies no device's own stream holds.
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
    constexpr int pieces = 16;
    for (int p = 0; p < pieces; ++p)
        for (int k = 0; k + 1 < devices; ++k) {
            size_t first = size_t(n) * p / pieces, last = size_t(n) * (p + 1) / pieces;
            cudaSetDevice(device_of(k));
            cudaMemcpyPeerAsync(buffers[k + 1] + first, device_of(k + 1), buffers[k] + first,
                                device_of(k), sizeof(float) * (last - first));
        }
}

void peer_table(int *, int) {}
void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
