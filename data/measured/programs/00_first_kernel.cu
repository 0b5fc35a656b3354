// Times lab 00's saxpy_host piece by piece, copies and kernel, and the same loop on one CPU core:
// the median of nine.
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

static __global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
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
    std::printf("%12s %12s %12s %12s %12s  (ms)  y\n", "n", "copy there", "kernel", "copy back",
                "CPU core");
    for (int log = 10; log <= max_log; log += 4) {
        const int n = 1 << log;
        const size_t bytes = n * sizeof(float);
        std::vector<float> x_host(n, 1), y_host(n, 2);
        float *x, *y;
        check(cudaMalloc(&x, bytes));
        check(cudaMalloc(&y, bytes));
        const double there = median_ms([&] {
            check(cudaMemcpy(x, x_host.data(), bytes, cudaMemcpyHostToDevice));
            check(cudaMemcpy(y, y_host.data(), bytes, cudaMemcpyHostToDevice));
        });
        const double kernel = median_ms([&] {
            saxpy<<<(n + 255) / 256, 256>>>(0.5f, x, y, n);
            check(cudaGetLastError());
        });
        const double back =
            median_ms([&] { check(cudaMemcpy(y_host.data(), y, bytes, cudaMemcpyDeviceToHost)); });
        const double core = median_ms([&] {
            for (int i = 0; i < n; ++i) y_host[i] = 0.5f * x_host[i] + y_host[i];
        });
        std::printf("%12d %12.4f %12.4f %12.4f %12.4f        %g\n", n, there, kernel, back, core,
                    double(y_host[n / 2]));
        check(cudaFree(x));
        check(cudaFree(y));
    }
}
