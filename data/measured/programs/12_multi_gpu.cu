// Times lab 12's functions with 2, 4, ... members, one GPU each: all_reduce and broadcast of 1 GiB.
// The least of seven calls, by the host's clock.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -Ilabs/12_multi_gpu data/measured/programs/12_multi_gpu.cu FILE
//
// FILE has the functions: labs/12_multi_gpu/stub.cu when it is done, or another; the vendor's need
// -lnccl.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

static void wait_for(int devices)
{
    for (int k = 0; k < devices; ++k) {
        check(cudaSetDevice(k));
        check(cudaDeviceSynchronize());
    }
}

static double milliseconds(int devices, const std::function<void()> &call)
{
    using clock = std::chrono::steady_clock;
    wait_for(devices);
    clock::time_point begin = clock::now();
    call();
    wait_for(devices);
    return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

static void time_buffers(int members)
{
    constexpr int n = 1 << 28, calls = 7;
    std::vector<float *> buffers(members);
    for (int k = 0; k < members; ++k) {
        check(cudaSetDevice(k));
        check(cudaMalloc(&buffers[k], sizeof(float) * n));
        check(cudaMemset(buffers[k], 0, sizeof(float) * n));
    }
    auto best = [&](const std::function<void()> &call) {
        call(); // peers are enabled, which counts for nothing
        double ms = milliseconds(members, call);
        for (int c = 1; c < calls; ++c) ms = std::min(ms, milliseconds(members, call));
        return ms;
    };
    double reduce = best([&] { all_reduce(buffers.data(), n, members); });
    double send = best([&] { broadcast(buffers.data(), n, members); });
    std::printf("%d members: all_reduce %.3f ms, %.0f GB/s sent by each; broadcast %.3f ms, "
                "%.0f GB/s\n",
                members, reduce, 8.0 * n * (members - 1) / members / reduce / 1e6, send,
                4.0 * n / send / 1e6);
    for (int k = 0; k < members; ++k) check(cudaFree(buffers[k]));
}

int main()
{
    int devices = 0;
    check(cudaGetDeviceCount(&devices));
    for (int members = 2; members <= devices; members *= 2) time_buffers(members);
}
