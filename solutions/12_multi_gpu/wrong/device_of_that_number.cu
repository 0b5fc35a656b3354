// Fails: broadcast: any number of members | CUDA_ERROR | cudaErrorInvalidDevice
// On gpu: may pass - where there are as many GPUs as members
#include "lab.hpp"

void broadcast(float *const *buffers, int n, int devices)
{
    for (int k = 1; k < devices; ++k) {
        cudaSetDevice(k);
        cudaMemcpy(buffers[k], buffers[0], sizeof(float) * n, cudaMemcpyDefault);
    }
}

void peer_table(int *, int) {}
void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
