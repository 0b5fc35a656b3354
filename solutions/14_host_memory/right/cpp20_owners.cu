// Right: C++20: pinned memory and events with owners, powers by squares, a pair of events per copy,
// atomic_ref.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/atomic>
#include <cuda/std/span>
#include <cuda_runtime.h>

#include <algorithm>
#include <concepts>
#include <memory>
#include <span>
#include <unordered_map>

namespace {

constexpr int threads = 256;
template <std::integral I> constexpr int blocks_for(I n, int a_block = threads)
{
    return static_cast<int>((n + a_block - 1) / a_block);
}
__device__ int my_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <auto release> struct releaser {
    template <typename T> void operator()(T *what) const { release(what); }
};

// The powers a thread adds up, one after the other, each block's to the sum.
__global__ void add_powers(cuda::std::span<const float> values, int power, double *sum)
{
    double mine = 0;
    for (size_t i = my_number(); i < values.size(); i += gridDim.x * blockDim.x) {
        double product = 1, value = values[i];
        for (int p = power; p > 0; p /= 2, value *= value) // by squares
            if (p % 2) product *= value;
        mine += product;
    }
    for (int apart = 16; apart > 0; apart /= 2) mine += __shfl_xor_sync(~0u, mine, apart);
    if (threadIdx.x % 32 == 0)
        cuda::atomic_ref<double, cuda::thread_scope_device>(*sum).fetch_add(
            mine, cuda::memory_order_relaxed);
}

__global__ void scale(cuda::std::span<float> managed, float factor, int rounds)
{
    if (auto i = static_cast<size_t>(my_number()); i < managed.size())
        for (float &value = managed[i]; rounds > 0; --rounds) value *= factor;
}

} // namespace

using pinned = std::unique_ptr<float, releaser<cudaFreeHost>>;
static std::unordered_map<float *, pinned> given_out;

float *acquire(size_t n)
{
    float *memory = nullptr;
    check(cudaMallocHost(&memory, n * sizeof(float)), "cudaMallocHost");
    given_out.emplace(memory, memory);
    return memory;
}

void upload(const float *src_host, float *dst, size_t n)
{
    std::span from(src_host, n);
    check(cudaMemcpyAsync(dst, from.data(), from.size_bytes(), cudaMemcpyDefault),
          "cudaMemcpyAsync");
}

void release(float *memory) { given_out.erase(memory); }

size_t sum_mapped_scratch(int n) { return n * sizeof(float); }

void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    check(cudaMemsetAsync(out, 0, passes * sizeof *out), "cudaMemsetAsync");
    if (n == 0) return;
    size_t count = n;
    check(cudaMemcpyAsync(scratch, mapped, count * sizeof(float), cudaMemcpyDefault), "cudaMemcpy");
    for (double &sum : std::span(out, passes)) // addresses only: they are the device's
        add_powers<<<std::min(blocks_for(n), 512), threads>>>(
            {static_cast<const float *>(scratch), count}, static_cast<int>(&sum - out) + 1, &sum);
    check_launch("add_powers");
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0 || rounds == 0) return;
    int device, can;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&can, cudaDevAttrConcurrentManagedAccess, device), "attribute");
    std::span all(managed, n);
    if (can)
        check(cudaMemPrefetchAsync(all.data(), all.size_bytes(),
                                   {.type = cudaMemLocationTypeDevice, .id = device}, 0),
              "cudaMemPrefetchAsync");
    scale<<<blocks_for(n), threads>>>({managed, static_cast<size_t>(n)}, factor, rounds);
    check_launch("scale");
}

namespace {

class event {
public:
    event() { check(cudaEventCreate(&handle_), "cudaEventCreate"); }
    event(const event &) = delete;
    ~event() { cudaEventDestroy(handle_); }
    void record() { check(cudaEventRecord(handle_), "cudaEventRecord"); }
    float since(const event &earlier) const
    {
        float ms = 0;
        check(cudaEventSynchronize(handle_), "cudaEventSynchronize");
        check(cudaEventElapsedTime(&ms, earlier.handle_, handle_), "cudaEventElapsedTime");
        return ms;
    }

private:
    cudaEvent_t handle_ = nullptr;
};

} // namespace

float time_copy_ms(const float *src_host, float *dst, size_t n, int repeats)
{
    auto copy = [=] {
        check(cudaMemcpyAsync(dst, src_host, n * sizeof(float), cudaMemcpyHostToDevice),
              "cudaMemcpyAsync");
    };
    copy();
    event start, stop;
    float ms = 0;
    for (int k = 0; k < repeats; ++k) {
        start.record();
        copy();
        stop.record();
        ms += stop.since(start);
    }
    return ms / repeats;
}
