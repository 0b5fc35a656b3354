// Times loads of one float per thread, `stride` floats apart, for each granularity of the L2's
// fetches from memory that can be asked for: medians of nine.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -o strides data/measured/programs/02_coalescing.cu && ./strides
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

constexpr size_t loads = size_t(1) << 24; // of one launch; with stride 1 they exceed the L2
constexpr int max_stride = 64;

// Stores only what no element is, so that nothing but loads moves.
static __global__ void load_strided(const float *in, int stride, float *out)
{
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (const float x = in[i * stride]; x != 0) *out = x;
}

int main()
{
    float *in, *out;
    check(cudaMalloc(&in, loads * max_stride * sizeof(float)));
    check(cudaMalloc(&out, sizeof(float)));
    check(cudaMemset(in, 0, loads * max_stride * sizeof(float)));
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::printf("%11s %8s", "granularity", "is");
    for (int stride = 1; stride <= max_stride; stride *= 2) std::printf(" %7d", stride);
    std::printf("  (ms, by stride in floats)\n");
    for (size_t asked : {0, 32, 64, 128}) { // 0: as it is
        if (asked) check(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, asked));
        size_t is;
        check(cudaDeviceGetLimit(&is, cudaLimitMaxL2FetchGranularity));
        std::printf("%11zu %8zu", asked, is);
        for (int stride = 1; stride <= max_stride; stride *= 2) {
            std::vector<float> times;
            for (int turn = 0; turn < 10; ++turn) { // the first warms up
                check(cudaEventRecord(begin));
                load_strided<<<loads / 256, 256>>>(in, stride, out);
                check(cudaEventRecord(end));
                check(cudaEventSynchronize(end));
                float ms;
                check(cudaEventElapsedTime(&ms, begin, end));
                if (turn > 0) times.push_back(ms);
            }
            std::sort(times.begin(), times.end());
            std::printf(" %7.3f", times[times.size() / 2]);
        }
        std::printf("\n");
    }
}
