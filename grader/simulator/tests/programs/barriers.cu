// Barriers that not all threads come to, or not in the same way, are found; their clean twins are
// not.
#include "check.hpp"

#include <string>

using simulator::finding_kind;

// The classic: a guard that returns before the barrier.
template <bool returns> __global__ void guarded(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = 0;
    if (returns && i >= n) return;
    if (i < n) tile[threadIdx.x] = in[i];
    __syncthreads(); // after the guard
    if (i < n) out[i] = tile[threadIdx.x];
}

template <bool inside> __global__ void in_bounds_test(int *out, int n)
{
    __shared__ int tile[64];
    if (threadIdx.x < n) {
        tile[threadIdx.x] = threadIdx.x;
        if (inside) __syncthreads(); // in the test
        out[threadIdx.x] = tile[threadIdx.x];
    }
    if (!inside) __syncthreads();
    if (threadIdx.x < n) out[threadIdx.x] += 1;
    __syncthreads(); // for all
    if (threadIdx.x < n) out[threadIdx.x] += 1;
}

// As many rounds as a thread has elements: the last threads have fewer.
template <bool ragged> __global__ void rounds(int *out, int n)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int last = ragged ? n : (n + blockDim.x - 1) / blockDim.x * blockDim.x;
    for (int i = threadIdx.x; i < last; i += blockDim.x) {
        if (i < n) atomicAdd(&sum, i);
        __syncthreads(); // in the loop
    }
    if (threadIdx.x == 0) *out = sum;
}

template <int other> __global__ void counted_barrier(int *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 1, %0;" ::"r"(other) : "memory"); // of another count
    out[threadIdx.x] = 1;
}

// The second warp waits at a barrier that the first never comes to.
template <bool answered> __global__ void waiting(int *out)
{
    if (threadIdx.x >= 32 || answered) asm volatile("bar.sync 3, 64;" ::: "memory"); // forever
    out[threadIdx.x] = 1;
    asm volatile("bar.sync 4, 64;" ::: "memory"); // the first warp
}

__global__ void reductions(const int *in, int *out)
{
    int i = threadIdx.x;
    int n = __syncthreads_count(in[i] > 0), any = __syncthreads_or(i == 63),
        all = __syncthreads_and(i < 64);
    out[i] = n == 64 && any && all;
}

// Lanes of a warp that wait for a lane that never comes.
template <unsigned mask> __global__ void lanes_wait(int *out)
{
    if (threadIdx.x < 16) __syncwarp(mask); // half the warp
    out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 3);
}

static void expect_clean(const char *what)
{
    CHECK_CUDA(cudaDeviceSynchronize());
    for (const auto &f : found()) std::printf("%s, %s: %s\n", what, f.kernel, f.detail);
    CHECK(found().empty());
}

static void expect_barrier(const char *text, std::initializer_list<const char *> parts)
{
    const auto all = found();
    CHECK(all.size() == 1);
    for (const auto &f : all) {
        const std::string said = f.detail;
        CHECK(is(f, finding_kind::barrier));
        if (f.line != line_with(__FILE__, text)) std::printf("at line %d: %s\n", f.line, f.detail);
        CHECK(f.line == line_with(__FILE__, text));
        for (const char *part : parts)
            if (said.find(part) == said.npos) {
                std::printf("`%s` is not in: %s\n", part, f.detail);
                ++failures;
            }
    }
}

static void that_end()
{
    int *in = upload(std::vector<int>(128, 1)), *out = upload(std::vector<int>(128, 0));
    const std::string guard =
        "after the test at barriers.cu:" + std::to_string(line_with(__FILE__, "if (returns && i"));

    simulator_begin(), guarded<false><<<2, 64>>>(in, out, 100),
        expect_clean("guard without return");
    guarded<true><<<2, 64>>>(in, out, 128), expect_clean("nobody returns");
    guarded<true><<<2, 64>>>(in, out, 100), CHECK_CUDA(cudaDeviceSynchronize());
    expect_barrier("// after the guard", {"28 had ended", guard.c_str(), "36 threads"});
    simulator_begin(), in_bounds_test<false><<<1, 64>>>(out, 40), expect_clean("barrier outside");
    in_bounds_test<true><<<1, 64>>>(out, 64), expect_clean("all inside");
    in_bounds_test<true><<<1, 64>>>(out, 40), CHECK_CUDA(cudaDeviceSynchronize());
    expect_barrier("// in the test", {"40 threads", "24 wait at the barrier at barriers.cu"});
    simulator_begin(), rounds<false><<<1, 64>>>(out, 100), expect_clean("rounds for all");
    rounds<true><<<1, 64>>>(out, 100), CHECK_CUDA(cudaDeviceSynchronize());
    expect_barrier("// in the loop", {"36 threads", "28 had ended"});
    simulator_begin(), counted_barrier<64><<<1, 64>>>(out), expect_clean("counts agree");
    waiting<true><<<1, 64>>>(out), reductions<<<1, 64>>>(in, out),
        lanes_wait<0xffff><<<1, 32>>>(out);
    expect_clean("all come");
}

// Nothing can run after one of these: each has a process of its own.
static void that_stops(void (*fault)(int *), const char *text,
                       std::initializer_list<const char *> parts)
{
    CHECK(in_child([&] {
        int *out = upload(std::vector<int>(128, 0));
        simulator_begin(), fault(out);
        CHECK(cudaDeviceSynchronize() != cudaSuccess);
        expect_barrier(text, parts);
    }));
}

int main()
{
    that_stops([](int *out) { counted_barrier<32><<<1, 64>>>(out); }, "// of another count",
               {"barrier 1 waits for 64 threads", "for 32 threads"});
    that_stops([](int *out) { counted_barrier<48><<<1, 64>>>(out); }, "// of another count",
               {"48 threads", "multiple of 32"});
    that_stops([](int *out) { waiting<false><<<1, 64>>>(out); }, "// forever",
               {"32 threads wait at it while 32 wait at barrier 4 at barriers.cu"});
    that_stops([](int *out) { lanes_wait<~0u><<<1, 32>>>(out); }, "// half the warp",
               {"16 threads wait at it for lanes of their warp while 16 wait at the shuffle at"});
    that_end();
    return failures != 0;
}
