// f16 and bf16: arithmetic, comparisons, conversions and atomics of the toolkit's headers, compared
// with what doubles give.
#include "check.hpp"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum {
    added,
    product,
    difference,
    least,
    greatest,
    fused,
    clamped,
    cut,
    absolute,
    opposite,
    cases
};

template <typename T> __global__ void one_each(const T *a, const T *b, T *out, int n)
{
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    const T x = a[i], y = b[i];
    out[added * n + i] = x + y;
    out[product * n + i] = x * y;
    out[difference * n + i] = x - y;
    out[least * n + i] = __hmin(x, y);
    out[greatest * n + i] = __hmax(x, y);
    out[fused * n + i] = __hfma(x, y, x);
    out[clamped * n + i] = __hfma_sat(x, y, x);
    out[cut * n + i] = __hfma_relu(x, y, x);
    out[absolute * n + i] = __habs(x);
    out[opposite * n + i] = -x;
}

// The same, two at once.
template <typename P> __global__ void two_each(const P *a, const P *b, P *out, int n)
{
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    const P x = a[i], y = b[i];
    out[added * n + i] = x + y;
    out[product * n + i] = x * y;
    out[difference * n + i] = x - y;
    out[least * n + i] = __hmin2(x, y);
    out[greatest * n + i] = __hmax2(x, y);
    out[fused * n + i] = __hfma2(x, y, x);
    out[clamped * n + i] = __hfma2_sat(x, y, x);
    out[cut * n + i] = __hfma2_relu(x, y, x);
    out[absolute * n + i] = __habs2(x);
    out[opposite * n + i] = __hneg2(x);
}

inline double of(int what, double x, double y)
{
    switch (what) {
    case added:
        return x + y;
    case product:
        return x * y;
    case difference:
        return x - y;
    case least:
        return std::fmin(x, y);
    case greatest:
        return std::fmax(x, y);
    case clamped:
        return std::fmin(std::fmax(x * y + x, 0), 1);
    case cut:
        return std::fmax(x * y + x, 0);
    case absolute:
        return std::fabs(x);
    case opposite:
        return -x;
    default:
        return x * y + x;
    }
}

template <typename T> double value(T x)
{
    if constexpr (sizeof(T) == 2) return static_cast<double>(static_cast<float>(x));
}

template <typename T, typename P> void arithmetic(T (*rounded)(double))
{
    std::vector<T> a, b;
    for (double x :
         {0.0, 1.0, -1.0, 0.333, 1e-7, 60000.0, 1.0009765625, -2.5, 0.1, 3e-5, 7.0, -123.4})
        for (double y : {0.5, -3.0, 1.0, 1e-3, 257.0, -0.02, 65000.0, 6e-8}) {
            a.push_back(rounded(x));
            b.push_back(rounded(y));
        }
    const int n = static_cast<int>(a.size());
    const T *from = upload(a), *with = upload(b);
    T *one = upload(std::vector<T>(cases * n, rounded(0))),
      *two = upload(std::vector<T>(cases * n, rounded(0)));
    one_each<<<2, 64>>>(from, with, one, n);
    two_each<<<1, 64>>>(reinterpret_cast<const P *>(from), reinterpret_cast<const P *>(with),
                        reinterpret_cast<P *>(two), n / 2);
    const auto got = download(one, cases * n), paired = download(two, cases * n);
    for (int what = 0; what < cases; ++what)
        for (int i = 0; i < n; ++i) {
            const double wanted = value(rounded(of(what, value(a[i]), value(b[i]))));
            const double is = value(got[what * n + i]);
            CHECK(is == wanted);
            CHECK(value(paired[what * n + i]) == wanted);
            if (is != wanted)
                std::printf("case %d of %g and %g: %g, not %g\n", what, value(a[i]), value(b[i]),
                            is, wanted);
        }
}

__global__ void compared(const __half2 *a, unsigned *out)
{
    const __half2 x = a[0], y = a[1];
    out[0] = __hlt2_mask(x, y);
    out[1] = __hbeq2(x, x) + 2 * __hbgt2(x, y);
    out[2] = __hisnan(__low2half(a[2])) + 2 * __hltu(__low2half(a[2]), __low2half(x));
    out[3] = __half_as_ushort(__hmax_nan(__low2half(a[2]), __low2half(x)));
    out[4] = __half_as_ushort(__low2half(__hge2(x, y)));
    out[5] = __half2int_rz(__high2half(x)) + __half2uint_ru(__low2half(x));
}

__global__ void sums(__half *a, __half2 *b, __half *c)
{
    __shared__ __half part;
    if (threadIdx.x == 0) part = 0;
    __syncthreads();
    atomicAdd(&part, __half(1));
    atomicAdd(a, __half(2));
    atomicAdd(b, __half2(1, 0.5));
    __syncthreads();
    if (threadIdx.x == 0) *c = part;
}

int main()
{
    arithmetic<__half, __half2>([](double v) { return __double2half(v); });
    arithmetic<__nv_bfloat16, __nv_bfloat162>([](double v) { return __double2bfloat16(v); });
    unsigned *out = upload(std::vector<unsigned>(6, 0));
    compared<<<1, 1>>>(upload(std::vector<__half2>{{1.5, 7.75}, {2, 7}, {NAN, 0}}), out);
    const auto c = download(out, 6);
    CHECK(c[0] == 0xffff);
    CHECK(c[1] == 1);
    CHECK(c[2] == 3);
    CHECK(c[3] == 0x7fff);
    CHECK(c[4] == 0);
    CHECK(c[5] == 7 + 2);
    __half *a = upload(std::vector<__half>(4, 0));
    sums<<<1, 64>>>(a, reinterpret_cast<__half2 *>(a + 2), a + 1);
    const auto s = download(a, 4);
    CHECK(value(s[0]) == 128);
    CHECK(value(s[1]) == 64);
    CHECK(value(s[2]) == 64);
    CHECK(value(s[3]) == 32);
    return done();
}
