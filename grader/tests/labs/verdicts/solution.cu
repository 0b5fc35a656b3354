// Right in every case, also where it names warpSize, which PTX has a constant for.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

static __global__ void copy_each(const unsigned char *x, unsigned char *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x / warpSize * warpSize + threadIdx.x % warpSize;
    if (i >= 1 && i < n) y[i] = x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}

long long sum(const int *values_host, int n)
{
    long long total = 0;
    for (int i = 0; i < n; ++i) total += values_host[i];
    return total;
}

void twice_but_last(float *data, int n) { twice(data, data, n - 1); }

// In two steps and two streams.
void copy_but_first(const unsigned char *x, unsigned char *y, int n)
{
    unsigned char *kept = nullptr;
    cudaStream_t first, second;
    cudaEvent_t copied;
    cudaMalloc(&kept, n);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&copied, cudaEventDisableTiming);
    copy_each<<<(n + 255) / 256, 256, 0, first>>>(x, kept, n);
    cudaEventRecord(copied, first);
    cudaStreamWaitEvent(second, copied);
    copy_each<<<(n + 255) / 256, 256, 0, second>>>(kept, y, n);
    cudaStreamSynchronize(second);
    cudaEventDestroy(copied);
    cudaStreamDestroy(second);
    cudaStreamDestroy(first);
    cudaFree(kept);
}
