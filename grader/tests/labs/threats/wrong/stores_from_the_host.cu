// Fails: twice: 1000 elements | CRASH | SIGSEGV
// Threat F11: Has the host write where a device pointer points.
#include "lab.hpp"

void twice(const float *x, float *y, int n)
{
    for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
