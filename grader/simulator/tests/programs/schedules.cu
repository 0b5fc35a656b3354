// Code that is right by luck: right in the usual order, wrong in another legal order.
#include "check.hpp"

// Half of the warp writes, the other half reads: the compiler's order of the two is luck.
template <bool synchronised> __global__ void handed_over(int *out)
{
    __shared__ int box[16];
    const int lane = threadIdx.x;
    if (lane < 16) box[lane] = -1;
    __syncwarp();
    int got = 0;
    if (lane < 16)
        got = synchronised ? 0 : atomicAdd(&box[lane], 0);
    else
        atomicExch(&box[lane - 16], lane);
    if (synchronised) {
        __syncwarp();
        if (lane < 16) got = box[lane];
    }
    if (lane < 16) out[lane] = got;
}

// Sums that round: the order of the additions shows. Exact ones do not.
template <typename T> __global__ void add_up(const float *in, T *sum)
{
    if (threadIdx.x % 32 == 0) atomicAdd(sum, static_cast<T>(in[blockIdx.x]));
}

__global__ void fill(int *p) { p[threadIdx.x] = 7; }
__global__ void double_each(int *to, const int *from) { to[threadIdx.x] = 2 * from[threadIdx.x]; }

template <bool synchronised> static bool handed_over_right()
{
    int *out = upload(std::vector<int>(16, 0));
    handed_over<synchronised><<<1, 32>>>(out);
    const auto got = download(out, 16);
    bool right = true;
    for (int i = 0; i < 16; ++i) right = right && got[i] == 16 + i;
    return right;
}

template <typename T> static bool sum_right()
{
    const float *in = upload(std::vector<float>{1 << 24, 1, 1, -(1 << 24)});
    T *sum = upload(std::vector<T>{0});
    add_up<<<4, 32>>>(in, sum);
    return download(sum, 1)[0] == (sizeof(T) == 4 ? 0 : 2); // in order, f32 loses both ones
}

// One stream makes what another one uses.
template <bool with_event> static bool in_two_streams_right()
{
    cudaStream_t one, two;
    CHECK_CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    int *a = upload(std::vector<int>(32, 1)), *b = upload(std::vector<int>(32, 1));
    fill<<<1, 32, 0, one>>>(a);
    if (with_event) {
        cudaEvent_t made;
        CHECK_CUDA(cudaEventCreate(&made));
        CHECK_CUDA(cudaEventRecord(made, one));
        CHECK_CUDA(cudaStreamWaitEvent(two, made));
    }
    double_each<<<1, 32, 0, two>>>(b, a);
    CHECK_CUDA(cudaStreamSynchronize(two));
    const bool right = download(b, 32)[31] == 14;
    CHECK_CUDA(cudaDeviceSynchronize());
    return right;
}

// Pinned memory is used again while a copy of it may still be under way.
template <bool waits> static bool used_again_right()
{
    int *pinned = nullptr, *a = upload(std::vector<int>(32, 1));
    CHECK_CUDA(cudaMallocHost(&pinned, 32 * sizeof(int)));
    for (int i = 0; i < 32; ++i) pinned[i] = 7;
    CHECK_CUDA(cudaMemcpyAsync(a, pinned, 32 * sizeof(int), cudaMemcpyHostToDevice, nullptr));
    if (waits) CHECK_CUDA(cudaStreamSynchronize(nullptr));
    for (int i = 0; i < 32; ++i) pinned[i] = 8;
    const bool right = download(a, 32)[31] == 7;
    CHECK_CUDA(cudaFreeHost(pinned));
    return right;
}

enum order { at_once, late, random_order };

// How many of `seeds` schedules give a wrong result.
template <typename F> static int wrong(F right, bool shuffled, order streams, int seeds)
{
    int n = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
        simulator_schedule(shuffled, seed);
        simulator_streams(streams);
        n += !right();
    }
    simulator_schedule(0, 1), simulator_streams(at_once);
    return n;
}

int main()
{
    simulator_begin();
    simulator_check_races(0); // which would find the first in any order
    CHECK(wrong(handed_over_right<false>, false, at_once, 4) == 0);
    CHECK(wrong(handed_over_right<false>, true, at_once, 16) > 0);
    CHECK(wrong(handed_over_right<true>, true, at_once, 16) == 0);
    CHECK(wrong(sum_right<float>, false, at_once, 4) == 0);
    CHECK(wrong(sum_right<float>, true, at_once, 16) > 0);
    CHECK(wrong(sum_right<double>, true, at_once, 16) == 0);
    CHECK(wrong(in_two_streams_right<false>, false, at_once, 4) == 0);
    CHECK(wrong(in_two_streams_right<false>, false, late, 1) == 1);
    CHECK(wrong(in_two_streams_right<false>, false, random_order, 16) > 0);
    CHECK(wrong(in_two_streams_right<true>, false, late, 1) == 0);
    CHECK(wrong(in_two_streams_right<true>, false, random_order, 16) == 0);
    CHECK(wrong(used_again_right<false>, false, at_once, 4) == 0);
    CHECK(wrong(used_again_right<false>, false, late, 1) == 1);
    CHECK(wrong(used_again_right<true>, false, late, 1) == 0);
    simulator_check_races(1);
    return done();
}
