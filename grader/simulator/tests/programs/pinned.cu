// Kernels follow pointers to pinned, mapped and registered host memory.
#include "check.hpp"

__global__ void double_each(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
}

int main()
{
    const int n = 700;
    int *pinned = nullptr, *seen = nullptr;
    CHECK_CUDA(cudaHostAlloc(&pinned, n * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < n; ++i) pinned[i] = i;
    CHECK_CUDA(cudaHostGetDevicePointer(&seen, pinned, 0));
    simulator_begin();
    double_each<<<6, 128>>>(seen, n);
    CHECK(counted("host_sectors") == 2 * (n * sizeof(int) + 31) / 32); // there and back
    double_each<<<6, 128>>>(pinned, n);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(pinned[0] == 0);
    CHECK(pinned[n - 1] == 4 * (n - 1));
    CHECK_CUDA(cudaFreeHost(pinned));

    std::vector<int> own(n, 21);
    CHECK_CUDA(cudaHostRegister(own.data(), n * sizeof(int), cudaHostRegisterMapped));
    CHECK_CUDA(cudaHostGetDevicePointer(&seen, own.data(), 0));
    double_each<<<6, 128>>>(seen, n);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(own[0] == 42);
    CHECK(own[n - 1] == 42);
    CHECK_CUDA(cudaHostUnregister(own.data()));
    CHECK(own[n / 2] == 42);

    int *device = nullptr;
    CHECK_CUDA(cudaMalloc(&device, n * sizeof(int)));
    CHECK_CUDA(cudaMallocHost(&pinned, n * sizeof(int)));
    CHECK_CUDA(cudaHostRegister(own.data(), n * sizeof(int), cudaHostRegisterDefault));
    simulator_begin();
    CHECK_CUDA(cudaMemcpy(device, pinned, n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(device, own.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(counted("from_pageable") == 0);
    CHECK_CUDA(cudaHostUnregister(own.data()));
    CHECK_CUDA(cudaMemcpy(device, own.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(counted("from_pageable") == n * sizeof(int));
    CHECK(counted("host_to_device") == 3 * n * sizeof(int));
    double_each<<<6, 128>>>(device, n);
    CHECK(counted("host_sectors") == 0);
    return done();
}
