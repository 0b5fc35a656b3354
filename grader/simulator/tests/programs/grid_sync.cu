// nvcc: -rdc=true
// A cooperative launch: all blocks meet in the middle of the kernel.
#include "check.hpp"

#include <cooperative_groups.h>

__global__ void rotate(int *p, int n)
{
    const auto grid = cooperative_groups::this_grid();
    const int i = static_cast<int>(grid.thread_rank());
    const int value = p[(i + 1) % n];
    grid.sync();
    p[i] = value;
}

int main()
{
    const int blocks = 8, threads = 64, n = blocks * threads;
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[i] = i;
    int *p = upload(in), count = n;
    void *arguments[] = {&p, &count};
    CHECK_CUDA(cudaLaunchCooperativeKernel(rotate, blocks, threads, arguments));
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto out = download(p, n);
    bool right = true;
    for (int i = 0; i < n; ++i) right = right && out[i] == (i + 1) % n;
    CHECK(right);
    CHECK_ERROR(cudaErrorCooperativeLaunchTooLarge,
                cudaLaunchCooperativeKernel(rotate, 100000, threads, arguments));
    CHECK_ERROR(cudaErrorCooperativeLaunchTooLarge, cudaGetLastError());
    return done();
}
