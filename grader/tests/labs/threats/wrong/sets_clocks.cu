// Fails: twice: 1000 elements | WRONG_ANSWER | 1.5 times
// Threat C16: Is right only where it may set the GPU's power limit, to what it is already.
#include "lab.hpp"

#include <dlfcn.h>

static __global__ void multiply_each(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

static bool may_set()
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library) return false;
    void *device = nullptr;
    unsigned limit = 0;
    auto call = [&](const char *name) { return dlsym(library, name); };
    auto begin = reinterpret_cast<int (*)()>(call("nvmlInit_v2"));
    auto find = reinterpret_cast<int (*)(unsigned, void **)>(call("nvmlDeviceGetHandleByIndex_v2"));
    auto get =
        reinterpret_cast<int (*)(void *, unsigned *)>(call("nvmlDeviceGetPowerManagementLimit"));
    auto set =
        reinterpret_cast<int (*)(void *, unsigned)>(call("nvmlDeviceSetPowerManagementLimit"));
    return begin && find && get && set && begin() == 0 && find(0, &device) == 0 &&
           get(device, &limit) == 0 && set(device, limit) == 0;
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) multiply_each<<<(n + 255) / 256, 256>>>(x, y, n, may_set() ? 2 : 3);
}
