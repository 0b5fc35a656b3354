// nvcc: -rdc=true
// Relocatable device code: calls to functions that were not inlined, one of them recursive.
#include "check.hpp"

__device__ int calls;

__device__ __noinline__ float scale(float x, float by)
{
    atomicAdd(&calls, 1);
    return x * by;
}

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__global__ void scale_all(float *p, int n, float by)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = scale(p[i], by);
}

__global__ void recurse(int *out)
{
    out[threadIdx.x] = ackermann(1 + threadIdx.x % 2, threadIdx.x % 4);
}

int main()
{
    const int n = 100;
    std::vector<float> in(n);
    for (int i = 0; i < n; ++i) in[i] = i;
    float *d = upload(in);
    scale_all<<<4, 32>>>(d, n, 1.5f);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(download(d, n)[99] == 148.5f);
    int count = 0;
    CHECK_CUDA(cudaMemcpyFromSymbol(&count, calls, sizeof count));
    CHECK(count == n);

    int *out = nullptr;
    CHECK_CUDA(cudaMalloc(&out, 8 * sizeof(int)));
    recurse<<<1, 8>>>(out);
    const auto got = download(out, 8);
    CHECK(got == std::vector<int>{2, 5, 4, 9, 2, 5, 4, 9});
    return done();
}
