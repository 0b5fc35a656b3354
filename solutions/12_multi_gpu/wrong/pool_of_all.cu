// Fails: broadcast: what is sent | TOO_SLOW | whose own links are idle
// Threat F62: Sends through memory of a pool that all devices share, as if it were nobody's.
#include "lab.hpp"

static __global__ void copy_each(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

static int number_of_devices()
{
    static const int n = [] {
        int all = 0;
        cudaGetDeviceCount(&all);
        return all;
    }();
    return n;
}

static cudaMemPool_t pool_of_all()
{
    cudaMemPool_t pool = nullptr;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPoolCreate(&pool, &properties);
    for (int d = 1; d < number_of_devices(); ++d) {
        cudaMemAccessDesc access{{cudaMemLocationTypeDevice, d}, cudaMemAccessFlagsProtReadWrite};
        cudaMemPoolSetAccess(pool, &access, 1);
    }
    return pool;
}

void broadcast(float *const *buffers, int n, int devices)
{
    if (n == 0 || devices < 2) return;
    cudaMemPool_t pool = pool_of_all();
    float *shared = nullptr;
    const int blocks = (n + 255) / 256;
    cudaSetDevice(0);
    cudaMallocFromPoolAsync(&shared, sizeof(float) * n, pool, nullptr);
    copy_each<<<blocks, 256>>>(shared, buffers[0], n);
    cudaDeviceSynchronize();
    for (int k = 1; k < devices; ++k) {
        cudaSetDevice(k % number_of_devices());
        copy_each<<<blocks, 256>>>(buffers[k], shared, n);
    }
    for (int d = 0; d < number_of_devices(); ++d) {
        cudaSetDevice(d);
        cudaDeviceSynchronize();
    }
    cudaFree(shared);
    cudaMemPoolDestroy(pool);
}

void peer_table(int *, int) {}
void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
