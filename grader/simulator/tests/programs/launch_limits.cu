// Launches that a device refuses: told once, and the next launch works.
#include "check.hpp"

__global__ void touch(int *p) { *p = 1; }
__global__ void __launch_bounds__(64) bounded(int *p) { p[threadIdx.x] = 2; }

int main()
{
    int *p = nullptr;
    CHECK_CUDA(cudaMalloc(&p, 1024 * sizeof(int)));
    touch<<<1, 1025>>>(p);
    CHECK_ERROR(cudaErrorInvalidValue, cudaPeekAtLastError());
    CHECK_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    CHECK_CUDA(cudaGetLastError());
    touch<<<dim3(1, 70000), 1>>>(p);
    CHECK_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    touch<<<0, 1>>>(p);
    CHECK_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    bounded<<<1, 65>>>(p);
    CHECK_ERROR(cudaErrorInvalidValue, cudaGetLastError());
    CHECK_CUDA(cudaDeviceSynchronize());
    bounded<<<1, 64>>>(p);
    touch<<<1, 1>>>(p);
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto got = download(p, 64);
    CHECK(got[0] == 1);
    CHECK(got[63] == 2);
    return done();
}
