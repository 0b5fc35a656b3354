// Shuffles, votes and atomics: a sum over blocks, warps and lanes.
#include "check.hpp"

__global__ void sum(const int *in, int n, int *total, int *odd)
{
    __shared__ int partial[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int x = i < n ? in[i] : 0;
    const unsigned odd_lanes = __ballot_sync(0xffffffff, x & 1);
    if (lane == 0) atomicAdd(odd, __popc(odd_lanes));
    for (int d = 16; d > 0; d /= 2) x += __shfl_down_sync(0xffffffff, x, d);
    if (lane == 0) partial[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    x = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffff, x, d);
    if (threadIdx.x == 0) atomicAdd(total, x);
}

int main()
{
    const int n = 10007;
    std::vector<int> in(n);
    int total = 0, odd = 0;
    for (int i = 0; i < n; ++i) {
        in[i] = (i * 7919) % 1000 - 300;
        total += in[i];
        odd += in[i] & 1;
    }
    int *d = upload(in), *out = upload(std::vector<int>{0, 0});
    sum<<<(n + 255) / 256, 256>>>(d, n, out, out + 1);
    const auto got = download(out, 2);
    CHECK(got[0] == total);
    CHECK(got[1] == odd);
    return done();
}
