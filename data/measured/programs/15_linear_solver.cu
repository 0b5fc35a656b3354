// Times eliminate of lab 15 with 1, 2, 4, ... members, one GPU each, for 8192 equations. The last
// of three calls, by the host's clock, and the largest residual over the sum of its terms'
// magnitudes.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -Ilabs/15_linear_solver \
//       data/measured/programs/15_linear_solver.cu FILE
//
// FILE has the functions: labs/15_linear_solver/stub.cu when it is done, or another; the vendor's
// needs -lcusolver.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
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

static double residual(const std::vector<double> &system, const std::vector<double> &x)
{
    size_t n = x.size();
    double worst = 0;
    for (size_t i = 0; i < n; ++i) {
        const double *row = system.data() + i * (n + 1);
        double rest = -row[n], all = std::abs(rest);
        for (size_t j = 0; j < n; ++j) rest += row[j] * x[j], all += std::abs(row[j] * x[j]);
        worst = std::max(worst, std::abs(rest) / all);
    }
    return worst;
}

static void time_elimination(int members)
{
    constexpr int n = 8192;
    std::vector<double> system(size_t(n) * (n + 1)), x(n);
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> any(-1, 1);
    for (double &a : system) a = any(random);
    double ms = 0;
    int singular = 0;
    for (int c = 0; c < 3; ++c)
        ms = milliseconds(members,
                          [&] { singular = eliminate(system.data(), n, x.data(), members); });
    std::printf("%d members: eliminate %.1f ms, returned %d, residual %.2g\n", members, ms,
                singular, residual(system, x));
}

int main()
{
    int devices = 0;
    check(cudaGetDeviceCount(&devices));
    for (int members = 1; members <= devices; members *= 2) time_elimination(members);
}
