// A write past the end is found with its place, ends the kernel, and no later call works.
#include "check.hpp"

__global__ void fill(float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = i;
}

int main()
{
    const int n = 1000;
    float *out = nullptr, *more = nullptr;
    CHECK_CUDA(cudaMalloc(&out, n * sizeof(float)));
    simulator_label(out, n * sizeof(float), "out");
    fill<<<8, 128>>>(out, n);
    CHECK_CUDA(cudaGetLastError()); // launched; it fails while it runs
    CHECK_ERROR(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    CHECK_ERROR(cudaErrorIllegalAddress, cudaGetLastError());
    CHECK_ERROR(cudaErrorIllegalAddress, cudaGetLastError());
    CHECK_ERROR(cudaErrorIllegalAddress, cudaMalloc(&more, 4));
    const auto all = found();
    CHECK(all.size() == 1);
    if (!all.empty()) {
        const auto &f = all[0];
        CHECK(is(f, simulator::finding_kind::out_of_bounds));
        CHECK(f.write);
        CHECK(f.bytes == 4);
        CHECK(std::strcmp(f.kernel, "illegal_address::fill") == 0);
        CHECK(std::strstr(f.file, "illegal_address.cu"));
        CHECK(f.line == 7);
        CHECK(f.block[0] == 7);
        CHECK(f.thread[0] == 104);
        CHECK(std::strcmp(f.where, "just past the end of `out` (4000 bytes)") == 0);
        if (failures)
            std::printf("line %d, block %u, thread %u, %s\n", f.line, f.block[0], f.thread[0],
                        f.where);
    }
    return failures != 0;
}
