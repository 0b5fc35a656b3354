// Fails: device_facts: what the runtime says | WRONG_ANSWER | fill the structure before
// cudaGetDeviceProperties is never called.
#include "lab.hpp"

#include <cuda_runtime.h>

void device_facts(device_facts_t *out_host)
{
    cudaDeviceProp device{};
    cudaGetDeviceCount(&out_host->devices);
    for (size_t i = 0; i < sizeof device.name; ++i) out_host->name[i] = device.name[i];
    out_host->multiprocessors = device.multiProcessorCount;
    out_host->max_threads_per_block = device.maxThreadsPerBlock;
    out_host->shared_per_block = device.sharedMemPerBlock;
    out_host->constant_memory = device.totalConstMem;
    out_host->l2 = device.l2CacheSize;
    out_host->warp_size = device.warpSize;
    out_host->copy_engines = device.asyncEngineCount;
}

// Not begun.
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
