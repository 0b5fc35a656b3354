// Fails: twice: coalesced | PROTOCOL_ERROR |
// On gpu: twice: coalesced | TOO_SLOW |
// Threat F19: Speaks to the device's process itself: all that it counted is to be forgotten.
#include "lab.hpp"

#include <sys/socket.h>
#include <unistd.h>

static __global__ void double_strided(const float *x, float *y, int n)
{
    // As naive is.
    int threads = gridDim.x * blockDim.x, run = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
    for (int i = first; i < min(first + run, n); ++i) y[i] = 2 * x[i];
}

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

// call_number::begin of wire.hpp, which only a program without a grader may send.
static void forget_counts()
{
    constexpr unsigned forwarded = 155, begin = forwarded + 21;
    struct {
        unsigned magic, kind, what, thread;
        unsigned long long bytes;
    } message = {0x31576443, 1, begin, 1, 0};
    if (send(7, &message, sizeof message, MSG_NOSIGNAL) == sizeof message)
        recv(7, &message, sizeof message, MSG_DONTWAIT);
}

void twice(const float *x, float *y, int n)
{
    if (n == 0) return;
    double_strided<<<64, 256>>>(x, y, n);
    cudaDeviceSynchronize();
    forget_counts();
    double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
