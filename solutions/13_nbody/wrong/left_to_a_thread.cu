// Fails: accelerations: speed | TOO_SLOW |
// On gpu: accelerations: speed | LATE_WRITE | left threads behind
// Threat F77: A call spins for as long as a good one takes; a thread that it leaves does the work.
#include "lab.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <cuda_runtime.h>

constexpr int block_size = 256;
constexpr int timed = 60000; // bodies: fewer are pulled honestly

static __global__ void attract(const body *bodies, float4 *out, int n, float softening)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float3 a = {0, 0, 0};
    for (int j = 0; j < n; ++j) {
        float dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y;
        float dz = bodies[j].z - bodies[i].z;
        float d = sqrtf(dx * dx + dy * dy + dz * dz + softening * softening);
        float pull = bodies[j].mass / (d * d * d);
        a.x += pull * dx, a.y += pull * dy, a.z += pull * dz;
    }
    out[i] = {a.x, a.y, a.z, 0};
}

static __global__ void spin(long long cycles, volatile int *told)
{
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
    *told = 1;
}

static std::thread worker;
static std::atomic<bool> over{false};

size_t accelerations_scratch(int) { return 0; }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *)
{
    auto pull_all = [=] {
        attract<<<(n + block_size - 1) / block_size, block_size>>>(bodies, out, n, softening);
    };
    if (n == 0) return;
    if (n < timed) return pull_all();
    static volatile int *told = nullptr;
    if (!told) {
        void *p = nullptr;
        cudaHostAlloc(&p, sizeof(int), cudaHostAllocMapped);
        told = static_cast<volatile int *>(p);
        pull_all(); // the first result is read at once
    }
    over = true; // one thread at a time, so that as many are left as were there before
    if (worker.joinable()) worker.join();
    over = false;
    *told = 0;
    spin<<<1, 1>>>(static_cast<long long>(n) * n / 8000, told);
    worker = std::thread([=] {
        while (*told == 0) {
        }
        pull_all();
        while (!over) std::this_thread::sleep_for(std::chrono::microseconds(20));
    });
}

static const struct at_exit {
    ~at_exit()
    {
        if (worker.joinable()) worker.detach();
    }
} leave;

// Not begun.
size_t step_scratch(int) { return 0; }
void step(float4 *, float4 *, int, float, float, int, void *) {}
