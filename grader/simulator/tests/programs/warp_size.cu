// warpSize in kernels: sums and scans as books write them.
#include "check.hpp"

#include <numeric>

constexpr int threads = 192, count = 1000;

__inline__ __device__ int warp_sum(int value)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__global__ void sum(const int *in, int *out, int n)
{
    __shared__ int of_warps[32];
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        mine += in[i];
    mine = warp_sum(mine);
    if (lane == 0) of_warps[warp] = mine;
    __syncthreads();
    mine = threadIdx.x < blockDim.x / warpSize ? of_warps[lane] : 0;
    if (warp == 0) mine = warp_sum(mine);
    if (threadIdx.x == 0) atomicAdd(out, mine);
}

// Inclusive, of one block.
__global__ void scan(const int *in, int *out, int n)
{
    __shared__ int ends[32];
    const int lane = threadIdx.x & (warpSize - 1), warp = threadIdx.x / warpSize;
    int value = threadIdx.x < n ? in[threadIdx.x] : 0;
    for (int d = 1; d < warpSize; d *= 2) {
        const int before = __shfl_up_sync(0xffffffff, value, d, warpSize);
        if (lane >= d) value += before;
    }
    if (lane == warpSize - 1) ends[warp] = value;
    __syncthreads();
    for (int w = 0; w < warp; ++w) value += ends[w];
    if (threadIdx.x < n) out[threadIdx.x] = value;
}

__global__ void say(int *out)
{
    out[threadIdx.x] = threadIdx.x < warpSize ? -warpSize : threadIdx.x / warpSize * warpSize;
}

int main()
{
    std::vector<int> values(count);
    for (int i = 0; i < count; ++i) values[i] = i * 37 % 101 - 50;
    int *in = upload(values), *total = upload(std::vector<int>{0}), *sums = nullptr;
    CHECK_CUDA(cudaMalloc(&sums, threads * sizeof(int)));
    sum<<<3, threads>>>(in, total, count);
    CHECK(download(total, 1)[0] == std::accumulate(values.begin(), values.end(), 0));
    scan<<<1, threads>>>(in, sums, threads);
    const auto scanned = download(sums, threads);
    for (int i = 0, s = 0; i < threads; ++i) CHECK(scanned[i] == (s += values[i]));
    say<<<1, threads>>>(sums);
    const auto said = download(sums, threads);
    for (int i = 0; i < threads; ++i) CHECK(said[i] == (i < 32 ? -32 : i / 32 * 32));
    return done();
}
