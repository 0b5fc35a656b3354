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
    // As many blocks as there is room for have it at a time, or the grid is refused.
    int multiprocessors = 0, size = 64;
    void *arguments[] = {&p};
    auto cooperative = [&](int blocks) {
        return cudaLaunchCooperativeKernel((const void *)bounded, blocks, size, arguments, 0,
                                           nullptr);
    };
    CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(multiprocessors > 1);
    const int room = 32 * multiprocessors;
    CHECK_CUDA(cooperative(room));
    CHECK_ERROR(cudaErrorCooperativeLaunchTooLarge, cooperative(room + 1));
    cudaGetLastError();
    // Where a device is told to have few, what as many as usual have room for still fits.
    simulator_multiprocessors(1);
    CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(multiprocessors == 1);
    CHECK_CUDA(cooperative(33));
    CHECK_ERROR(cudaErrorCooperativeLaunchTooLarge, cooperative(room + 1));
    cudaGetLastError();
    simulator_multiprocessors(0);
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto got = download(p, 64);
    CHECK(got[0] == 2);
    CHECK(got[63] == 2);
    return done();
}
