// A read of memory that nobody wrote is a finding; the kernel goes on.
#include "check.hpp"

__global__ void sum(const int *in, int *out, int n)
{
    int total = 0;
    for (int i = 0; i < n; ++i) total += in[i];
    *out = total;
}

int main()
{
    const std::vector<int> ones(10, 1);
    int *in = nullptr, *out = nullptr;
    CHECK_CUDA(cudaMalloc(&in, 12 * sizeof(int)));
    CHECK_CUDA(cudaMalloc(&out, sizeof(int)));
    CHECK_CUDA(cudaMemcpy(in, ones.data(), 40, cudaMemcpyHostToDevice));
    sum<<<1, 1>>>(in, out, 10);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(download(out, 1)[0] == 10);
    CHECK(found().empty());
    sum<<<1, 1>>>(in, out, 12);
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto all = found();
    CHECK(all.size() == 1);
    for (const auto &f : all) {
        CHECK(is(f, simulator::finding_kind::uninitialised));
        CHECK(f.line == 7);
        CHECK(f.threads == 2);
    }
    return failures != 0;
}
