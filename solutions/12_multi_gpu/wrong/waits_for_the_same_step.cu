// Fails: all_reduce: speed | TOO_SLOW | was recorded again since
// On gpu: may pass - the ring is slow then, and naive is slower
// A ring in which every member but the first waits for its neighbour's same step.
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

static __global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

void all_reduce(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    cudaStream_t streams[max_members];
    cudaEvent_t done[max_members];
    float *incoming[max_members];
    for (int k = 0; k < devices; ++k) {
        cudaSetDevice(device_of(k));
        cudaStreamCreate(&streams[k]);
        cudaEventCreate(&done[k]);
        cudaMalloc(&incoming[k], sizeof(float) * (n / devices + 1));
    }
    for (int step = 0; step < 2 * (devices - 1); ++step)
        for (int k = 0; k < devices; ++k) {
            int before = (k + devices - 1) % devices, part = (k + 2 * devices - 1 - step) % devices;
            int first = int((long long)n * part / devices);
            int count = int((long long)n * (part + 1) / devices) - first;
            bool adds = step < devices - 1;
            float *to = buffers[k] + first;
            cudaSetDevice(device_of(k));
            cudaStreamWaitEvent(streams[k], done[before]);
            cudaMemcpyPeerAsync(adds ? incoming[k] : to, device_of(k), buffers[before] + first,
                                device_of(before), sizeof(float) * count, streams[k]);
            if (adds && count > 0)
                add<<<(count + 255) / 256, 256, 0, streams[k]>>>(to, incoming[k], count);
            cudaEventRecord(done[k], streams[k]);
        }
    for (int k = 0; k < devices; ++k) {
        cudaStreamSynchronize(streams[k]);
        cudaFree(incoming[k]);
        cudaStreamDestroy(streams[k]);
        cudaEventDestroy(done[k]);
    }
}

void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
void broadcast(float *const *, int, int) {}
void peer_table(int *, int) {}
