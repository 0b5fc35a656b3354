// Constant and device variables, written and read by host and kernel.
#include "check.hpp"

__constant__ float weights[5];
__constant__ int defaults[3] = {7, 8, 9};
__device__ unsigned long long total = 100;
__device__ double grid[2][3];

__global__ void weigh(float *out)
{
    const int i = threadIdx.x;
    out[i] = weights[i % 5] * defaults[i % 3];
    atomicAdd(&total, 2ull);
    if (i < 6) grid[i / 3][i % 3] = i + 0.25;
}

int main()
{
    const float w[5] = {1, 2, 4, 8, 16};
    CHECK_CUDA(cudaMemcpyToSymbol(weights, w, sizeof w));
    CHECK_CUDA(cudaMemcpyToSymbol(weights, w + 1, sizeof(float), 4 * sizeof(float)));
    float *out = nullptr;
    CHECK_CUDA(cudaMalloc(&out, 32 * sizeof(float)));
    weigh<<<1, 32>>>(out);
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto got = download(out, 32);
    CHECK(got[3] == 8 * 7);
    CHECK(got[4] == 2 * 8);
    CHECK(got[31] == 2 * 8);
    unsigned long long sum = 0;
    CHECK_CUDA(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    CHECK(sum == 164);
    double host[2][3];
    CHECK_CUDA(cudaMemcpyFromSymbol(host, grid, sizeof host));
    CHECK(host[1][2] == 5.25);

    void *at = nullptr;
    size_t bytes = 0;
    CHECK_CUDA(cudaGetSymbolAddress(&at, grid));
    CHECK_CUDA(cudaGetSymbolSize(&bytes, grid));
    CHECK(bytes == sizeof host);
    CHECK_CUDA(cudaMemset(at, 0, bytes));
    CHECK_CUDA(cudaMemcpyFromSymbol(host, grid, sizeof host));
    CHECK(host[1][2] == 0);
    CHECK_ERROR(cudaErrorInvalidValue, cudaMemcpyToSymbol(weights, w, sizeof w, 4));
    return done();
}
