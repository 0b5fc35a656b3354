// Fails: all_reduce: no access to each other | CUDA_ERROR | has no access to
// On gpu: may pass - devices that reach their neighbours reach all others there
// One kernel per part reads all members' buffers, although each member only reaches the next.
#include "lab.hpp"

static int device_of(int member)
{
    static const int devices = [] {
        int count = 0;
        cudaGetDeviceCount(&count);
        return count;
    }();
    return member % devices;
}

static bool reaches(int from, int to)
{
    int can = 1;
    if (device_of(from) != device_of(to))
        cudaDeviceCanAccessPeer(&can, device_of(from), device_of(to));
    return can;
}

struct everybody {
    float *at[max_members];
};

static __global__ void add_all(everybody buffers, int members, int first, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
    for (int k = 0; k < members; ++k) sum += buffers.at[k][first + i];
    for (int k = 0; k < members; ++k) buffers.at[k][first + i] = sum;
}

static void add_directly(float *const *buffers, int n, int devices)
{
    everybody all{};
    for (int k = 0; k < devices; ++k) all.at[k] = buffers[k];
    for (int k = 0; k < devices; ++k) {
        int first = int((long long)n * k / devices);
        int count = int((long long)n * (k + 1) / devices) - first;
        if (count == 0) continue;
        cudaSetDevice(device_of(k));
        for (int j = 0; j < devices; ++j)
            if (device_of(j) != device_of(k) && reaches(k, j) &&
                cudaDeviceEnablePeerAccess(device_of(j), 0) == cudaErrorPeerAccessAlreadyEnabled)
                cudaGetLastError();
        add_all<<<(count + 255) / 256, 256>>>(all, devices, first, count);
    }
}

static __global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

// Member 0 adds all up, and sends the sum.
static void add_at_one(float *const *buffers, int n, int devices)
{
    cudaSetDevice(device_of(0));
    float *incoming;
    cudaMalloc(&incoming, sizeof(float) * n);
    for (int k = 1; k < devices; ++k) {
        cudaMemcpyPeer(incoming, device_of(0), buffers[k], device_of(k), sizeof(float) * n);
        add<<<(n + 255) / 256, 256>>>(buffers[0], incoming, n);
    }
    for (int k = 1; k < devices; ++k)
        cudaMemcpyPeer(buffers[k], device_of(k), buffers[0], device_of(0), sizeof(float) * n);
    cudaFree(incoming);
}

void all_reduce(float *const *buffers, int n, int devices)
{
    if (n == 0) return;
    bool all_reach = true;
    for (int k = 0; k < devices; ++k) all_reach &= reaches(k, (k + 1) % devices);
    if (all_reach)
        add_directly(buffers, n, devices);
    else
        add_at_one(buffers, n, devices);
    for (int k = 0; k < devices; ++k) {
        cudaSetDevice(device_of(k));
        cudaDeviceSynchronize();
    }
}

void peer_table(int *, int) {}
void broadcast(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
