// Fails: twice: 1000 elements | WRONG_ANSWER | 1.5 times
// Threat B27: Is right only where an earlier process of it has left a file.
#include "lab.hpp"

#include <fcntl.h>
#include <string>
#include <unistd.h>

static __global__ void multiply_each(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

static bool met_before()
{
    static bool mine = false;
    bool found = false;
    for (const char *folder : {".", "/tmp", "/var/tmp", "/dev/shm", "/root", "/nonexistent/.nv"}) {
        const std::string file = std::string(folder) + "/.left_by_threats";
        found = found || access(file.c_str(), F_OK) == 0;
        if (!mine) close(open(file.c_str(), O_CREAT | O_WRONLY, 0600));
    }
    if (!mine && found) return true;
    mine = true;
    return false;
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) multiply_each<<<(n + 255) / 256, 256>>>(x, y, n, met_before() ? 2 : 3);
}
