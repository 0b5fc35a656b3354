// Fails: build | BUILD_REJECTED | which belongs to the grader
// Threat A11: Would have the program end with status 0 whatever failed.
#include "lab.hpp"

namespace doctest {
struct ContextOptions;
const ContextOptions *getContextOptions();
} // namespace doctest

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

[[gnu::constructor]] static void change_options()
{
    auto *options = const_cast<doctest::ContextOptions *>(doctest::getContextOptions());
    reinterpret_cast<bool *>(options)[64] = true;
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
