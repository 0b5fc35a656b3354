// This program times launches by kernels, fire and forget and in a chain of tail launches, and the
// host's, as in lab 09's handout: medians of nine, by events.
//
//   nvcc -std=c++20 -O3 -rdc=true -arch=sm_90 -o launches data/measured/programs/09_launches.cu
//   ./launches
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>

static void require(bool right, const char *otherwise)
{
    if (right) return;
    std::fprintf(stderr, "%s\n", otherwise);
    std::exit(1);
}
static void check(cudaError_t error) { require(error == cudaSuccess, cudaGetErrorString(error)); }

// A figure holds for this GPU, CUDA version and driver.
static void print_machine()
{
    cudaDeviceProp gpu;
    int cuda;
    check(cudaGetDeviceProperties(&gpu, 0));
    check(cudaRuntimeGetVersion(&cuda));
    std::printf("%s, CUDA %d.%d, driver ", gpu.name, cuda / 1000, cuda % 1000 / 10);
    std::fflush(stdout);
    if (std::system("nvidia-smi --id=0 --query-gpu=driver_version --format=csv,noheader") != 0)
        std::printf("unknown\n");
}

static __device__ int launched; // kernels that have run

static __global__ void count() { atomicAdd(&launched, 1); }

// One thread launches them all. A launch that is refused leaves the count too small.
static __global__ void fire(int launches)
{
    for (int k = 0; k < launches; ++k) count<<<1, 1, 0, cudaStreamFireAndForget>>>();
}

// Each link launches the next one, which begins when this one has ended.
static __global__ void chain(int links)
{
    atomicAdd(&launched, 1);
    if (links > 1) chain<<<1, 1, 0, cudaStreamTailLaunch>>>(links - 1);
}

// This returns the median of nine turns behind one that warms up. In each as many kernels must run
// as were to be launched.
static float median_us(int launches, const std::function<void()> &work)
{
    constexpr int turns = 9;
    cudaEvent_t begin, end;
    for (cudaEvent_t *event : {&begin, &end}) check(cudaEventCreate(event));
    float times[1 + turns];
    for (float &ms : times) {
        int found = 0;
        check(cudaMemcpyToSymbol(launched, &found, sizeof found));
        check(cudaEventRecord(begin));
        work();
        check(cudaEventRecord(end));
        check(cudaGetLastError());
        check(cudaEventSynchronize(end));
        check(cudaEventElapsedTime(&ms, begin, end));
        check(cudaMemcpyFromSymbol(&found, launched, sizeof found));
        require(found == launches, "a launch was refused, or did not run");
    }
    std::sort(times + 1, times + 1 + turns);
    return times[1 + turns / 2] * 1000;
}

// The cost of one is the slope from the smallest number to the largest.
static void print_row(const char *name, std::initializer_list<int> numbers,
                      const std::function<void(int)> &launch)
{
    std::printf("%-28s", name);
    float first_us = 0, last_us = 0;
    for (const int launches : numbers) {
        last_us = median_us(launches, [&] { launch(launches); });
        if (launches == *numbers.begin()) first_us = last_us;
        std::printf(" %5d: %7.0f", launches, last_us);
    }
    std::printf("   one: %5.1f\n",
                (last_us - first_us) / float(*(numbers.end() - 1) - *numbers.begin()));
}

int main()
{
    print_machine();
    std::printf("microseconds by the number of launches, and for one of them\n");
    print_row("fire and forget", {1, 100, 1000, 2000}, [](int n) { fire<<<1, 1>>>(n); });
    print_row("link in a chain of tails", {1, 20, 60, 500}, [](int n) { chain<<<1, 1>>>(n); });
    print_row("by the host", {1, 100, 1000, 2000}, [](int n) {
        for (int k = 0; k < n; ++k) count<<<1, 1>>>();
    });
}
