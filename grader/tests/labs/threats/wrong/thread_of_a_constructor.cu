// Fails: twice: 1000 elements | RESOURCE_LIMIT | 2 threads before any of its functions was called
// Threat F55: A constructor starts a thread that could work while nobody looks at the clock.
#include "lab.hpp"

#include <chrono>
#include <thread>

namespace {

void work_on()
{
    while (true) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

struct starter {
    starter() { std::thread(work_on).detach(); }
} before_main;

} // namespace

static __global__ void double_all(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_all<<<(n + 255) / 256, 256>>>(x, y, n);
}
