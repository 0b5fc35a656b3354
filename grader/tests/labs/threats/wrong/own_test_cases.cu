// Fails: build | BUILD_REJECTED | which belongs to the grader
// Threat A12: Brings test cases of its own, which pass.
#include "lab.hpp"

namespace doctest {
namespace detail {
struct TestSuite;
struct TestCase {
    TestCase(void (*)(), const char *, unsigned, const TestSuite &, const char *, int);
};
int regTest(const TestCase &);
} // namespace detail
} // namespace doctest

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

static void passes() {}
[[gnu::constructor]] static void enter_case()
{
    using namespace doctest::detail;
    static char suite[64];
    regTest(TestCase(passes, "mine.cu", 1, reinterpret_cast<const TestSuite &>(suite), "", -1));
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
