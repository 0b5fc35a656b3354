// alloca: memory of a thread's own, of a size known at run time, also in functions and loops.
#include "check.hpp"

#include <algorithm>

// Sorts by insertion what lies in memory taken for as long as the function runs.
__device__ __noinline__ int median(const int *from, int n)
{
    int *keys = static_cast<int *>(alloca(n * sizeof(int)));
    for (int i = 0; i < n; ++i) {
        int at = i;
        for (; at > 0 && keys[at - 1] > from[i]; --at) keys[at] = keys[at - 1];
        keys[at] = from[i];
    }
    return keys[n / 2];
}

__global__ void medians(int *out, const int *in, int n)
{
    const int size = 1 + (threadIdx.x % 5) * 2; // lanes ask for different sizes
    double *sums = static_cast<double *>(alloca(n * sizeof(double)));
    for (int i = 0; i < n; ++i) sums[i] = median(in + threadIdx.x + i, size);
    double all = 0;
    for (int i = 0; i < n; ++i) all += sums[i];
    out[threadIdx.x] = static_cast<int>(all);
}

// Each activation has its own, and none changes another's.
__device__ __noinline__ int depth_first(int levels, int seed)
{
    volatile int *mine = static_cast<volatile int *>(alloca(sizeof(int) * (levels + 1)));
    for (int i = 0; i <= levels; ++i) mine[i] = seed + i;
    const int below = levels == 0 ? 0 : depth_first(levels - 1, seed + 100);
    int sum = below;
    for (int i = 0; i <= levels; ++i) sum += mine[i];
    return sum;
}

__global__ void recurse(int *out) { out[threadIdx.x] = depth_first(threadIdx.x % 4, threadIdx.x); }

__global__ void read_fresh(int *out, int n)
{
    volatile int *fresh = static_cast<volatile int *>(alloca(n * sizeof(int)));
    fresh[0] = 1;
    out[threadIdx.x] = fresh[n - 1]; // nobody wrote it
}

__global__ void take_all(int *out, long long bytes)
{
    volatile char *all = static_cast<volatile char *>(alloca(bytes)); // too much
    all[0] = 1;
    out[0] = all[0];
}

int main()
{
    std::vector<int> in(64);
    for (int i = 0; i < 64; ++i) in[i] = i * 37 % 64;
    int *from = upload(in), *out = nullptr;
    CHECK_CUDA(cudaMalloc(&out, 32 * sizeof(int)));
    const int n = 7;
    medians<<<1, 32>>>(out, from, n);
    auto got = download(out, 32);
    for (int t = 0; t < 32; ++t) {
        int want = 0;
        for (int i = 0; i < n; ++i) {
            std::vector<int> keys(in.begin() + t + i, in.begin() + t + i + 1 + t % 5 * 2);
            std::sort(keys.begin(), keys.end());
            want += keys[keys.size() / 2];
        }
        CHECK(got[t] == want);
    }
    recurse<<<1, 32>>>(out);
    got = download(out, 32);
    for (int t = 0; t < 32; ++t) {
        int want = 0;
        for (int level = t % 4, seed = t; level >= 0; --level, seed += 100)
            for (int i = 0; i <= level; ++i) want += seed + i;
        CHECK(got[t] == want);
    }
#ifndef ON_GPU
    CHECK(done() == 0);
    simulator_begin();
    read_fresh<<<1, 32>>>(out, 3);
    CHECK_CUDA(cudaDeviceSynchronize());
    auto all = found();
    CHECK(all.size() == 1 && is(all[0], simulator::finding_kind::uninitialised));
    CHECK(all.size() == 1 && all[0].line == line_with(__FILE__, "// nobody wrote it"));
    simulator_begin();
    take_all<<<1, 32>>>(out, 1ll << 40);
    CHECK_ERROR(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    all = found();
    CHECK(all.size() == 1 && is(all[0], simulator::finding_kind::trap));
    CHECK(all.size() == 1 && all[0].line == line_with(__FILE__, "// too much"));
#endif
    return failures != 0;
}
