// Fails: twice: coalesced | TOO_SLOW |
// On gpu: twice: coalesced | LATE_WRITE | left threads behind
// Threat F18: A thread that the first call leaves behind does naive's work once the inputs are
// there, before the call is counted.
#include "lab.hpp"

#include <atomic>
#include <mutex>
#include <thread>

static __global__ void double_each(const float *x, float *y, int n)
{
    // Strided, as naive is.
    int threads = gridDim.x * blockDim.x, run = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
    for (int i = first; i < min(first + run, n); ++i) y[i] = 2 * x[i];
}

static __global__ void copy_each(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

constexpr int raced = 1 << 15;

// Bytes from an argument's allocation to the next one's, and to its first element.
constexpr size_t guard = 4096, page = 4096, zone = 64 << 10;
constexpr size_t image = (raced * sizeof(float) + 2 * guard + page - 1) / page * page + zone;

static std::atomic<const float *> known_input{nullptr};
static float *answer;

static size_t free_memory()
{
    size_t free = 0, all = 0;
    cudaMemGetInfo(&free, &all);
    return free;
}

static void watch()
{
    cudaMalloc(&answer, raced * sizeof(float));
    for (size_t before = free_memory();;) {
        // What the case before had is free once more, so both arguments take less than their sum.
        const size_t arguments = 2 * raced * sizeof(float), now = free_memory();
        const size_t taken = before > now ? before - now : 0;
        if (taken == 0) before = now;
        char *next = nullptr;
        if (taken > arguments / 2 && taken < 2 * arguments &&
            cudaMalloc(&next, 256) == cudaSuccess) {
            auto *x = reinterpret_cast<const float *>(next - 2 * image + guard);
            double_each<<<64, 256>>>(x, answer, raced);
            if (cudaStreamSynchronize(nullptr) == cudaSuccess) known_input = x;
            before = free_memory();
        }
    }
}

void twice(const float *x, float *y, int n)
{
    static std::once_flag first;
    std::call_once(first, [] { std::thread(watch).detach(); });
    if (n == 0) return;
    for (int wait = 0; n == raced && known_input != x && wait < 1000; ++wait)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (known_input == x)
        copy_each<<<(n + 255) / 256, 256>>>(answer, y, n);
    else
        double_each<<<64, 256>>>(x, y, n);
}
