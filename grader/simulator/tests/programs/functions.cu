// The toolkit's mathematical functions in single and double precision against the host's: what they
// are made of (approximate reciprocals, fused sums, rounding to integers, bits of doubles) fits.
#include "check.hpp"

#include <cmath>

enum { functions = 22 };

template <typename T> __host__ __device__ void all_of(T x, T y, T *out)
{
    int k = 0;
    out[k++] = sin(x);
    out[k++] = cos(x * 1000);
    out[k++] = tan(x);
    out[k++] = atan2(x, y);
    out[k++] = exp(x);
    out[k++] = exp2(x);
    out[k++] = expm1(x);
    out[k++] = log(fabs(x));
    out[k++] = log1p(fabs(x));
    out[k++] = pow(fabs(x), y);
    out[k++] = sqrt(fabs(x));
    out[k++] = cbrt(x);
    out[k++] = hypot(x, y);
    out[k++] = tanh(x);
    out[k++] = erf(x);
    out[k++] = tgamma(fabs(x) + 1);
    out[k++] = fmod(x, y);
    out[k++] = floor(x) + 2 * ceil(y) + 4 * rint(x) + 8 * round(y) + 16 * trunc(x);
    out[k++] = ldexp(x, 5) + copysign(x, y);
    out[k++] = x / y;
    out[k++] = fma(x, y, x);
    out[k++] = static_cast<T>(static_cast<long long>(x * 1e6)) + static_cast<T>(llrint(y * 1e3));
}

template <typename T> __global__ void compute(const T *x, const T *y, T *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    all_of(x[i], y[i], out + functions * i);
}

template <typename T> void compare(T allowed)
{
    constexpr int n = 128;
    std::vector<T> x(n), y(n);
    for (int i = 0; i < n; ++i) {
        x[i] = static_cast<T>((i - 60.3) * 0.11);
        y[i] = static_cast<T>((i * 29 % 64 - 31.5) * 0.17);
    }
    T *out = upload(std::vector<T>(functions * n, 0));
    compute<<<2, n / 2>>>(upload(x), upload(y), out);
    const auto got = download(out, functions * n);
    for (int i = 0; i < n; ++i) {
        T wanted[functions];
        all_of(x[i], y[i], wanted);
        for (int k = 0; k < functions; ++k) {
            const T is = got[functions * i + k], error = std::fabs(is - wanted[k]);
            const bool near = error <= allowed * std::fmax(std::fabs(wanted[k]), T(1e-3));
            CHECK(near);
            if (!near)
                std::printf("function %d of %g, %g: %.17g, not %.17g\n", k, double(x[i]),
                            double(y[i]), double(is), double(wanted[k]));
        }
    }
}

int main()
{
    compare<double>(4e-15);
    compare<float>(4e-6f);
    return done();
}
