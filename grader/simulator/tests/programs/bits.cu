// Bits, lanes that agree, cache hints, inline assembly and atomics of 64 bits, as nvcc writes them.
#include "check.hpp"

#include <bit>
#include <cstdint>

using u32 = std::uint32_t;
using u64 = unsigned long long;

constexpr int lanes = 64;

enum {
    reversed,
    chosen,
    left,
    right,
    high,
    first,
    difference,
    two_products,
    four_products,
    equal_to_me,
    all_equal,
    total,
    largest,
    others,
    both_ways,
    skipped,
    rows
};

__global__ void many(const u32 *in, u32 *out)
{
    const int i = threadIdx.x;
    const u32 x = in[i], y = in[i ^ 1];
    out[reversed * lanes + i] = __brev(x);
    out[chosen * lanes + i] = __byte_perm(x, y, 0x5140);
    out[left * lanes + i] = __funnelshift_l(x, y, i);
    out[right * lanes + i] = __funnelshift_rc(x, y, i);
    out[high * lanes + i] = __umulhi(x, y);
    out[first * lanes + i] = __ffs(x) + __clz(x) * 256 + __popc(x) * 65536;
    out[difference * lanes + i] = __vsadu4(x, y);
    out[two_products * lanes + i] = __dp2a_hi(x, y, 7u);
    out[four_products * lanes + i] = __dp4a(x, y, 7u);
    out[equal_to_me * lanes + i] = __match_any_sync(~0u, x % 5);
    int agree = 0;
    const u32 mask = __match_all_sync(~0u, x / 256 * 0, &agree);
    out[all_equal * lanes + i] = mask & (agree ? ~0u : 0);
    out[total * lanes + i] = __reduce_add_sync(~0u, x);
    out[largest * lanes + i] = __reduce_max_sync(~0u, static_cast<int>(x));
    if (x & 1) out[others * lanes + i] = __activemask();
    u32 hinted = 0, streamed = 0;
    u64 policy = 0;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.u32 %0, [%1];"
                 : "=r"(hinted)
                 : "l"(in + i));
    asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;"
                 : "=r"(streamed)
                 : "l"(in + i), "l"(policy));
    __stcs(out + both_ways * lanes + i, __ldcg(in + i) + __ldcs(in + i) + hinted + streamed);
    u32 after = 0; // a block with registers, a predicate and a label of its own
    asm volatile(
        "{\n\t.reg.pred p;\n\t.reg .u32 t<2>;\n\tand.b32 t0, %1, 1;\n\tmov.u32 t1, %laneid;\n\t"
        "mov.u32 %0, t1;\n\tsetp.ne.u32 p, t0, 0;\n\t@p bra skip;\n\tadd.u32 %0, %0, 100;\n"
        "skip:\n\t}"
        : "=r"(after)
        : "r"(x));
    out[skipped * lanes + i] = after;
}

__global__ void wide_atomics(u64 *a, double *d)
{
    __shared__ u64 s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(a, 1ull << 40);
    atomicMax(a + 1, static_cast<u64>(threadIdx.x) << 33);
    atomicXor(a + 2, 1ull << threadIdx.x);
    atomicAdd(&s, static_cast<u64>(threadIdx.x) << 32);
    atomicAdd(d, 0.5);
    atomicMin(reinterpret_cast<long long *>(a) + 3, -static_cast<long long>(threadIdx.x));
    u64 seen = atomicAdd(a + 4, 0), before;
    do {
        before = seen;
        seen = atomicCAS(a + 4, before, before + 3);
    } while (seen != before);
    __syncthreads();
    if (threadIdx.x == 0) a[5] = s;
}

inline void check_many(const std::vector<u32> &in, const std::vector<u32> &out)
{
    for (int i = 0; i < lanes; ++i) {
        const u32 x = in[i], y = in[i ^ 1], n = i & 31;
        u32 want[rows] = {};
        for (int k = 0; k < 32; ++k) want[reversed] |= (x >> k & 1) << (31 - k);
        want[chosen] = (x & 255) | (y & 255) << 8 | (x >> 8 & 255) << 16 | (y >> 8 & 255) << 24;
        want[left] = static_cast<u32>((u64{y} << 32 | x) << n >> 32);
        want[right] = static_cast<u32>((u64{y} << 32 | x) >> std::min(i, 32));
        want[high] = static_cast<u32>(u64{x} * y >> 32);
        want[first] = (x == 0 ? 0 : std::countr_zero(x) + 1) + std::countl_zero(x) * 256 +
                      std::popcount(x) * 65536;
        want[two_products] = 7 + (x & 0xffff) * (y >> 16 & 255) + (x >> 16) * (y >> 24);
        want[four_products] = 7;
        for (int k = 0; k < 32; k += 8) {
            const int a = x >> k & 255, b = y >> k & 255;
            want[difference] += std::abs(a - b);
            want[four_products] += a * b;
        }
        int most = INT32_MIN;
        for (int k = 0; k < 32; ++k) {
            const u32 other = in[i / 32 * 32 + k];
            want[equal_to_me] |= static_cast<u32>(other % 5 == x % 5) << k;
            want[total] += other;
            most = std::max(most, static_cast<int>(other));
            if (x & 1) want[others] |= (other & 1) << k;
        }
        want[all_equal] = ~0u;
        want[largest] = static_cast<u32>(most);
        want[both_ways] = 4 * x;
        want[skipped] = n + (x & 1 ? 0 : 100);
        for (int row = 0; row < rows; ++row) {
            CHECK(out[row * lanes + i] == want[row]);
            if (out[row * lanes + i] != want[row])
                std::printf("row %d, thread %d: %x, not %x\n", row, i, out[row * lanes + i],
                            want[row]);
        }
    }
}

int main()
{
    std::vector<u32> in(lanes);
    for (int i = 0; i < lanes; ++i) in[i] = 2654435761u * (i + 1) >> i % 7;
    u32 *out = upload(std::vector<u32>(rows * lanes, 0));
    many<<<1, lanes>>>(upload(in), out);
    check_many(in, download(out, rows * lanes));

    u64 *a = upload(std::vector<u64>(6, 0));
    double *d = upload(std::vector<double>{0});
    wide_atomics<<<1, 64>>>(a, d);
    const auto got = download(a, 6);
    CHECK(got[0] == u64{64} << 40);
    CHECK(got[1] == u64{63} << 33);
    CHECK(got[2] == ~u64{0});
    CHECK(static_cast<long long>(got[3]) == -63);
    CHECK(got[4] == 3 * 64);
    CHECK(got[5] == u64{63 * 64 / 2} << 32);
    CHECK(download(d, 1)[0] == 32);
    return done();
}
