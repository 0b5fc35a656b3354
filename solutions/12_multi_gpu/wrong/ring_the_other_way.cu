// Fails: all_reduce: any number of members | WRONG_ANSWER | parts are numbered for the other
// Members take from the one behind them, in the order of parts of the one before.
#include "lab.hpp"

static int device_of(int member)
{
    int devices = 0;
    cudaGetDeviceCount(&devices);
    return member % devices;
}

static __global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

void all_reduce(float *const *buffers, int n, int devices)
{
    float *incoming[max_members];
    for (int k = 0; k < devices; ++k) {
        cudaSetDevice(device_of(k));
        cudaMalloc(&incoming[k], sizeof(float) * (n / devices + 1));
    }
    for (int step = 0; step < 2 * (devices - 1); ++step) {
        for (int k = 0; k < devices; ++k) {
            int part = (k + 2 * devices - 1 - step) % devices;
            int first = int((long long)n * part / devices);
            int count = int((long long)n * (part + 1) / devices) - first;
            if (count == 0) continue;
            cudaSetDevice(device_of(k));
            cudaMemcpy(incoming[k], buffers[(k + 1) % devices] + first, sizeof(float) * count,
                       cudaMemcpyDefault);
            if (step < devices - 1)
                add<<<(count + 255) / 256, 256>>>(buffers[k] + first, incoming[k], count);
            else
                cudaMemcpy(buffers[k] + first, incoming[k], sizeof(float) * count,
                           cudaMemcpyDefault);
        }
        for (int k = 0; k < devices; ++k) {
            cudaSetDevice(device_of(k));
            cudaDeviceSynchronize();
        }
    }
    for (int k = 0; k < devices; ++k) cudaFree(incoming[k]);
}

void peer_table(int *, int) {}
void broadcast(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
