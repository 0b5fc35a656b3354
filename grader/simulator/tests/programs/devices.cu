// Two devices: managed variables that they share, variables that they do not.
#include "check.hpp"

#include <cstdlib>

__managed__ int shared_by_all;
__device__ int one_each;

__global__ void copy_managed(int *out)
{
    *out = shared_by_all++;
    one_each += 1;
}

int main()
{
    setenv("SIMULATOR_DEVICES", "2", 1);
    int n = 0;
    CHECK_CUDA(cudaGetDeviceCount(&n));
    CHECK(n == 2);
    shared_by_all = 5;
    for (int device = 1; device >= 0; --device) {
        int *out = nullptr, got = -1;
        CHECK_CUDA(cudaSetDevice(device));
        CHECK_CUDA(cudaMalloc(&out, 4));
        copy_managed<<<1, 1>>>(out);
        CHECK_CUDA(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
        CHECK(got == (device ? 5 : 6));
        CHECK_CUDA(cudaMemcpyFromSymbol(&got, one_each, 4));
        CHECK(got == 1);
    }
    CHECK(shared_by_all == 7);
    return done();
}
