// Fails: twice: 1000 elements | NOT_WRITTEN | no element of its output was written
#include "lab.hpp"

#include <csignal>
#include <sys/time.h>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

static __global__ void copy_each(const unsigned char *x, unsigned char *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n) y[i] = x[i];
}

// The kernel is launched once the call has returned.
static const float *late_x;
static float *late_y;
static int late_n;
static void launch_late(int) { double_each<<<(late_n + 255) / 256, 256>>>(late_x, late_y, late_n); }

void twice(const float *x, float *y, int n)
{
    if (n == 0) return;
    late_x = x, late_y = y, late_n = n;
    std::signal(SIGALRM, launch_late);
    itimerval soon = {{0, 100000}, {0, 100000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
}

long long sum(const int *values_host, int n)
{
    long long total = 0;
    for (int i = 0; i < n; ++i) total += values_host[i];
    return total;
}

void twice_but_last(float *data, int n)
{
    if (n > 1) double_each<<<(n + 254) / 256, 256>>>(data, data, n - 1);
}

void copy_but_first(const unsigned char *x, unsigned char *y, int n)
{
    copy_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
