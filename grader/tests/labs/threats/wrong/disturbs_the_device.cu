// Fails: twice: 1000 elements | PROTOCOL_ERROR |
// On gpu: may pass - there is no such process
// Threat F17: Sends junk to whoever listens, but for the grader: to the process that plays the
// device.
#include "lab.hpp"

#include <sys/socket.h>
#include <unistd.h>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    static const char junk[4096] = {1, 2, 3};
    for (int file = 4; file < 1024; ++file) {
        if (send(file, junk, sizeof junk, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) continue;
        send(file, junk, 0, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
