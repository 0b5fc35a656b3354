// Fails: broadcast: work that comes late | WRONG_ANSWER | is an event missing
// On gpu: may pass - whoever sends first may still be first
// Only the host waits, for one member after the other, when all has long begun.
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
    cudaStream_t streams[max_members];
    for (int k = 0; k < devices; ++k) {
        cudaSetDevice(device_of(k));
        cudaStreamCreate(&streams[k]);
    }
    for (int k = 0; k + 1 < devices; ++k)
        cudaMemcpyPeerAsync(buffers[k + 1], device_of(k + 1), buffers[k], device_of(k),
                            sizeof(float) * n, streams[k]);
    for (int k = 0; k < devices; ++k) {
        cudaStreamSynchronize(streams[k]);
        cudaStreamDestroy(streams[k]);
    }
}

void peer_table(int *, int) {}
void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
