// Fails: twice: 1000 elements | WRONG_ANSWER | 1.5 times
// Threat B28: Prints what terminals, XML and readers obey.
#include "lab.hpp"

#include <cstdio>

static __global__ void multiply_each(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) multiply_each<<<(n + 255) / 256, 256>>>(x, y, n, 3);
    static const char text[] =
        "\x1b[2J\x1b]0;title\a\r]]></system-out>\xff\xfe\xe2\x80\xae\0<script>\b\b\x9b"
        "31m\n";
    std::fwrite(text, 1, sizeof text, stdout);
}
