// Fails: twice: 1000 elements | NOT_WRITTEN | no element of its output was written
// Threat E11: Leaves the work to a callback that runs when the stream is waited for.
#include "lab.hpp"

#include <vector>

struct promise {
    const float *x;
    float *y;
    int n;
};

static void keep(void *of)
{
    auto *p = static_cast<promise *>(of);
    std::vector<float> values(p->n);
    cudaMemcpy(values.data(), p->x, p->n * sizeof(float), cudaMemcpyDeviceToHost);
    for (float &v : values) v *= 2;
    cudaMemcpy(p->y, values.data(), p->n * sizeof(float), cudaMemcpyHostToDevice);
    cudaGetLastError(); // callbacks may make no calls
    delete p;
}

void twice(const float *x, float *y, int n)
{
    cudaLaunchHostFunc(nullptr, keep, new promise{x, y, n});
}
