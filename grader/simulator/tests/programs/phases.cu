// Barriers in shared memory (mbarrier), as cuda::barrier and cuda::pipeline use them, with copies
// that arrive at them. A missing wait is a race.
#include "check.hpp"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#pragma nv_diag_suppress static_var_with_dynamic_init // init() does it

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// Turns pieces of 128 around, one after the other.
template <bool waits> __global__ void turned(const int *in, int *out, int pieces)
{
    __shared__ int piece[128];
    __shared__ block_barrier ready, done;
    const int i = threadIdx.x;
    if (i == 0) {
        init(&ready, 128);
        init(&done, 128);
    }
    __syncthreads();
    for (int p = 0; p < pieces; ++p) {
        piece[i] = in[128 * p + i];
        auto mine = ready.arrive();
        if (waits) ready.wait(std::move(mine));
        out[128 * p + i] = piece[127 - i];
        done.arrive_and_wait();
    }
}

// The same with copies two stages deep.
__global__ void turned_by_pipeline(const int *in, int *out, int pieces)
{
    __shared__ alignas(16) int stage[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    const int i = threadIdx.x;
    for (int p = 0, next = 0; p < pieces; ++p) {
        for (; next < pieces && next < p + 2; ++next) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[next % 2], in + 128 * next,
                               cuda::aligned_size_t<16>(sizeof stage[0]), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[128 * p + i] = stage[p % 2][127 - i];
        pipe.consumer_release();
    }
}

// Threads that leave are waited for no longer.
__global__ void leave_by_turns(int *out)
{
    __shared__ block_barrier together;
    __shared__ int left;
    const int i = threadIdx.x;
    if (i == 0) {
        init(&together, blockDim.x);
        left = 0;
    }
    __syncthreads();
    for (int round = 0; round < 4; ++round) {
        if (i / 32 == round) {
            atomicAdd(&left, 1);
            together.arrive_and_drop();
            return;
        }
        together.arrive_and_wait();
        if (i == 127) out[round] = atomicAdd(&left, 0);
    }
}

int main()
{
    const int pieces = 5, n = 128 * pieces;
    std::vector<int> in(n), want(n);
    for (int i = 0; i < n; ++i) in[i] = 7 * i;
    for (int i = 0; i < n; ++i) want[i] = in[i / 128 * 128 + 127 - i % 128];
    const int *from = upload(in);
    int *out = upload(std::vector<int>(n, 0));
    for (int seed = 0; seed < 3; ++seed) {
        simulator_schedule(seed > 0, seed);
        turned<true><<<1, 128>>>(from, out, pieces);
        CHECK(download(out, n) == want);
        CHECK_CUDA(cudaMemset(out, 0, n * sizeof(int)));
        turned_by_pipeline<<<1, 128>>>(from, out, pieces);
        CHECK(download(out, n) == want);
        leave_by_turns<<<1, 128>>>(out);
        const auto left = download(out, 3); // at the least: others may be ahead
        for (int round = 0; round < 3; ++round) CHECK(left[round] >= 32 * (round + 1));
    }
    CHECK(done() == 0);
    simulator_schedule(0, 0);
    turned<false><<<1, 128>>>(from, out, pieces);
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto all = found();
    CHECK(!all.empty());
    for (const auto &f : all) CHECK(is(f, simulator::finding_kind::race));
    return failures != 0;
}
