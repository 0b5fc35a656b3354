// Fails: build | BUILD_REJECTED | which belongs to the grader
// Threat A10: Would turn failed assertions into passed ones.
#include "lab.hpp"

namespace doctest {
struct IReporter;
namespace detail {
void registerReporterImpl(const char *, int, IReporter *(*)(), bool);
}
} // namespace doctest

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

static doctest::IReporter *make_listener() { return nullptr; }
[[gnu::constructor]] static void listen()
{
    doctest::detail::registerReporterImpl("listener", 1, make_listener, false);
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
