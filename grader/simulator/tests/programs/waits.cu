// Threads that wait for others: blocks that look back, locks, grids larger than fit, loops without
// end, and schedules.
#include "check.hpp"

#include <algorithm>
#include <string>

using simulator::finding_kind;

enum class order { volatile_fence, acquire_release, nothing };

__device__ void publish(unsigned *flag, unsigned v, order how)
{
    if (how == order::acquire_release)
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(v) : "memory");
    else
        *const_cast<volatile unsigned *>(flag) = v;
}

__device__ unsigned look(unsigned *flag, order how)
{
    unsigned v;
    if (how == order::acquire_release)
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
    else
        v = *const_cast<volatile unsigned *>(flag);
    return v;
}

// A running sum over blocks: each waits for the one before, whose sum stands beside its flag.
template <order how> __global__ void look_back(const int *in, int *sums, unsigned *flags)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x != 0) return;
    int before = 0;
    if (blockIdx.x > 0) {
        while (look(flags + blockIdx.x - 1, how) == 0) {
        }
        if (how == order::volatile_fence) __threadfence();
        before = sums[blockIdx.x - 1]; // the sum before
    }
    sums[blockIdx.x] = before + total;
    if (how == order::volatile_fence) __threadfence();
    publish(flags + blockIdx.x, 1, how);
}

// Every block waits for the last one: all must be resident.
__global__ void wait_for_last(unsigned *flag, int *seen)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == gridDim.x - 1) atomicExch(flag, 1);
    while (look(flag, order::volatile_fence) == 0) __nanosleep(100);
    seen[blockIdx.x] = 1;
}

__global__ void ticket_lock(unsigned *next, unsigned *serving, int *count)
{
    if (threadIdx.x != 0) return;
    unsigned mine = atomicAdd(next, 1);
    while (look(serving, order::acquire_release) != mine) {
    }
    *count += 1;
    __threadfence();
    atomicAdd(serving, 1);
}

__global__ void never_ends(const int *in, int *out)
{
    int n = 0;
    while (in[0] != 0) n += in[1]; // no end
    *out = n;
}

// Correct only when the warps happen to come in order.
__global__ void first_come(int *at, int *out)
{
    if (threadIdx.x % 32 == 0) out[atomicAdd(at, 1)] = threadIdx.x / 32 + blockIdx.x * 8;
}

static void expect_clean(const char *what)
{
    CHECK_CUDA(cudaDeviceSynchronize());
    for (const auto &f : found())
        std::printf("%s, %s, line %d: %s; %s\n", what, f.kernel, f.line, f.where, f.detail);
    CHECK(found().empty());
    simulator_begin();
}

static void looking_back(int blocks)
{
    int *in = upload(std::vector<int>(blocks * 64, 1)), *sums = upload(std::vector<int>(blocks, 0));
    const auto flags = [blocks] { return upload(std::vector<unsigned>(blocks, 0)); };
    look_back<order::volatile_fence><<<blocks, 64>>>(in, sums, flags());
    CHECK(download(sums, blocks)[blocks - 1] == 64 * blocks);
    expect_clean("volatile and fences");
    look_back<order::acquire_release><<<blocks, 64>>>(in, sums, flags());
    CHECK(download(sums, blocks)[blocks / 2] == 64 * (blocks / 2 + 1));
    expect_clean("acquire and release");
    look_back<order::nothing><<<blocks, 64>>>(in, sums, flags());
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto all = found();
    CHECK(all.size() == 1);
    for (const auto &f : all) {
        CHECK(is(f, finding_kind::race));
        CHECK(f.line == line_with(__FILE__, "// the sum before"));
    }
    simulator_begin();
}

static void waiting(int blocks)
{
    auto *words = upload(std::vector<unsigned>(3, 0));
    int *seen = upload(std::vector<int>(blocks, 0)), *count = upload(std::vector<int>(1, 0));
    wait_for_last<<<blocks, 64>>>(words, seen);
    const auto all = download(seen, blocks);
    CHECK(std::count(all.begin(), all.end(), 1) == blocks);
    ticket_lock<<<blocks, 32>>>(words + 1, words + 2, count);
    CHECK(download(count, 1)[0] == blocks);
    expect_clean("locks");
}

static std::vector<int> arrivals()
{
    int *at = upload(std::vector<int>(1, 0)), *out = upload(std::vector<int>(64, -1));
    first_come<<<8, 256>>>(at, out);
    return download(out, 64);
}

static void schedules()
{
    const auto in_order = arrivals();
    CHECK(std::is_sorted(in_order.begin(), in_order.end()));
    simulator_schedule(1, 7);
    const auto seven = arrivals();
    CHECK(seven != in_order);
    CHECK(std::is_permutation(seven.begin(), seven.end(), in_order.begin()));
    CHECK(arrivals() == seven);
    looking_back(40), waiting(40);
    simulator_schedule(1, 8);
    CHECK(arrivals() != seven);
    simulator_schedule(0, 0);
    CHECK(arrivals() == in_order);
    expect_clean("schedules");
}

static void endless()
{
    CHECK(in_child([] {
        int *in = upload(std::vector<int>(2, 1)), *out = upload(std::vector<int>(1, 0));
        simulator_begin(), simulator_limit_work(100000);
        never_ends<<<1, 32>>>(in, out);
        CHECK_ERROR(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
        const auto all = found();
        CHECK(all.size() == 1);
        for (const auto &f : all) {
            CHECK(is(f, finding_kind::endless));
            CHECK(f.line == line_with(__FILE__, "// no end"));
            CHECK(std::string(f.kernel).find("never_ends") != std::string::npos);
        }
    }));
}

int main()
{
    endless();
    simulator_begin();
    looking_back(3), looking_back(500);
    waiting(300);
    schedules();
    return done();
}
