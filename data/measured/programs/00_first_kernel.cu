// Times the sum of two arrays piece by piece, copies and kernel, and the same loop on one CPU core:
// medians of nine.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -o times data/measured/programs/00_first_kernel.cu && ./times
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

static __global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// Milliseconds of the host's clock until the work has ended; the first turn warms up.
static double median_ms(const std::function<void()> &work)
{
    std::vector<double> times;
    for (int turn = 0; turn < 10; ++turn) {
        check(cudaDeviceSynchronize());
        const auto begin = std::chrono::steady_clock::now();
        work();
        check(cudaDeviceSynchronize());
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        if (turn > 0) times.push_back(took.count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

int main(int count, char **arguments)
{
    const int max_log = count > 1 ? std::atoi(arguments[1]) : 26;
    std::printf("%12s %12s %12s %12s %12s  (ms)  c\n", "n", "copy there", "kernel", "copy back",
                "CPU core");
    for (int log = 10; log <= max_log; log += 4) {
        const int n = 1 << log;
        const size_t bytes = n * sizeof(float);
        std::vector<float> a_host(n, 1), b_host(n, 2), c_host(n);
        float *a, *b, *c;
        check(cudaMalloc(&a, bytes));
        check(cudaMalloc(&b, bytes));
        check(cudaMalloc(&c, bytes));
        const double there = median_ms([&] {
            check(cudaMemcpy(a, a_host.data(), bytes, cudaMemcpyHostToDevice));
            check(cudaMemcpy(b, b_host.data(), bytes, cudaMemcpyHostToDevice));
        });
        const double kernel = median_ms([&] {
            add<<<(n + 255) / 256, 256>>>(a, b, c, n);
            check(cudaGetLastError());
        });
        const double back =
            median_ms([&] { check(cudaMemcpy(c_host.data(), c, bytes, cudaMemcpyDeviceToHost)); });
        const double core = median_ms([&] {
            for (int i = 0; i < n; ++i) c_host[i] = a_host[i] + b_host[i];
        });
        std::printf("%12d %12.4f %12.4f %12.4f %12.4f        %g\n", n, there, kernel, back, core,
                    double(c_host[n / 2]));
        for (float *array : {a, b, c}) check(cudaFree(array));
    }
}
