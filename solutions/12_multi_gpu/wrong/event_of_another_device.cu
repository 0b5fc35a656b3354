// Fails: broadcast: any number of members | CUDA_ERROR | cudaErrorInvalidResourceHandle
// On gpu: may pass - with one GPU all events are its own
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

void broadcast(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    cudaEvent_t arrived;
    cudaSetDevice(device_of(0));
    cudaEventCreate(&arrived);
    for (int k = 0; k + 1 < devices; ++k) {
        cudaSetDevice(device_of(k));
        if (k > 0) cudaStreamWaitEvent(nullptr, arrived);
        send(buffers, k + 1, k, n);
        cudaEventRecord(arrived);
    }
    cudaEventDestroy(arrived);
}

void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
void peer_table(int *, int) {}
