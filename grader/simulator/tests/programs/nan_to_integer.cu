// NaN becomes 0 in integers of up to 32 bits, except from double, and else the integer whose
// highest bit alone is set.
#include "check.hpp"

#include <cmath>
#include <cstdint>

using u32 = std::uint32_t;
using u64 = unsigned long long;

__global__ void convert(float f, double d, u32 *words, u64 *wide)
{
    unsigned short half_word = 0;
    asm volatile("cvt.rzi.s32.f32 %0, %1;" : "=r"(words[0]) : "f"(f));
    asm volatile("cvt.rzi.u32.f32 %0, %1;" : "=r"(words[1]) : "f"(f));
    asm volatile("cvt.rzi.s32.f64 %0, %1;" : "=r"(words[2]) : "d"(d));
    asm volatile("cvt.rni.u32.f64 %0, %1;" : "=r"(words[3]) : "d"(d));
    asm volatile("cvt.rzi.s16.f32 %0, %1;" : "=h"(half_word) : "f"(f));
    words[4] = half_word;
    asm volatile("cvt.rzi.s64.f32 %0, %1;" : "=l"(wide[0]) : "f"(f));
    asm volatile("cvt.rzi.u64.f32 %0, %1;" : "=l"(wide[1]) : "f"(f));
    asm volatile("cvt.rzi.s64.f64 %0, %1;" : "=l"(wide[2]) : "d"(d));
    asm volatile("cvt.rni.u64.f64 %0, %1;" : "=l"(wide[3]) : "d"(d));
}

int main()
{
    u32 *words = nullptr, got[5] = {};
    u64 *wide = nullptr, got_wide[4] = {};
    CHECK(cudaMalloc(&words, sizeof got) == cudaSuccess);
    CHECK(cudaMalloc(&wide, sizeof got_wide) == cudaSuccess);
    convert<<<1, 1>>>(std::nanf(""), std::nan(""), words, wide);
    CHECK(cudaMemcpy(got, words, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(cudaMemcpy(got_wide, wide, sizeof got_wide, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(got[0] == 0);
    CHECK(got[1] == 0);
    CHECK(got[2] == 0x80000000);
    CHECK(got[3] == 0x80000000);
    CHECK(got[4] == 0);
    for (u64 v : got_wide) CHECK(v == 0x8000000000000000);
    CHECK(cudaFree(words) == cudaSuccess);
    CHECK(cudaFree(wide) == cudaSuccess);
    return done();
}
