// Parameters of every size and alignment, and launches by cudaLaunchKernel and cudaLaunchKernelEx.
#include "check.hpp"

struct alignas(16) wide {
    float4 v;
    char tag;
};

struct list {
    double values[20];
    short count;
};

__global__ void gather(char a, double b, short c, wide d, list e, const float *p, bool f,
                       double *out)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d.v.x + d.v.w;
    out[4] = d.tag;
    out[5] = e.values[e.count - 1];
    out[6] = p[1];
    out[7] = f;
}

template <typename T> __global__ void set(T *p, T value) { p[threadIdx.x] = value; }

int main()
{
    list e = {};
    e.count = 20;
    e.values[19] = 6.5;
    float *p = upload(std::vector<float>{1, 2});
    double *out = nullptr;
    CHECK_CUDA(cudaMalloc(&out, 8 * sizeof(double)));
    const wide d = {{1, 2, 3, 4}, 'x'};
    gather<<<1, 1>>>(-3, 2.25, -300, d, e, p, true, out);
    CHECK(download(out, 8) == std::vector<double>{-3, 2.25, -300, 5, 'x', 6.5, 2, 1});

    double value = 9.75;
    void *arguments[] = {&out, &value};
    CHECK_CUDA(cudaLaunchKernel(set<double>, 1, 8, arguments, 0, nullptr));
    CHECK(download(out, 8)[7] == 9.75);
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 4;
    CHECK_CUDA(cudaLaunchKernelEx(&config, set<double>, out, 1.5));
    CHECK(download(out, 8)[3] == 1.5);
    CHECK(download(out, 8)[4] == 9.75);

    int threads = 0, blocks = 0;
    CHECK_CUDA(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, set<float>, 0, 0));
    CHECK(threads == 1024);
    CHECK(blocks > 0);
    cudaFuncAttributes a;
    CHECK_CUDA(cudaFuncGetAttributes(&a, gather));
    CHECK(a.maxThreadsPerBlock == 1024);
    return done();
}
