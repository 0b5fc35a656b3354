// Passes: the names of kernels are cut in reports
// Threat F59: Has a kernel whose name has millions of characters in words.
#include "lab.hpp"

template <class, class> struct both;
template <int n> struct level {
    using type = both<typename level<n - 1>::type, typename level<n - 1>::type>;
};
template <> struct level<0> {
    using type = int;
};

template <class> static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<level<18>::type><<<(n + 255) / 256, 256>>>(x, y, n);
}
