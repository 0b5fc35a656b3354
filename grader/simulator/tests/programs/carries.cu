// Carry chains: numbers of 128 bits, and what each instruction leaves in CC.CF to the next.
#include "check.hpp"

#include <cstdint>

using u32 = unsigned;
using u64 = unsigned long long;

struct wide {
    u32 word[4];
};

__device__ wide sum(const wide &a, const wide &b)
{
    wide r;
    asm("add.cc.u32 %0, %4, %8; addc.cc.u32 %1, %5, %9; addc.cc.u32 %2, %6, %10; "
        "addc.u32 %3, %7, %11;"
        : "=r"(r.word[0]), "=r"(r.word[1]), "=r"(r.word[2]), "=r"(r.word[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[0]),
          "r"(b.word[1]), "r"(b.word[2]), "r"(b.word[3]));
    return r;
}

__device__ wide difference(const wide &a, const wide &b)
{
    wide r;
    asm("sub.cc.u32 %0, %4, %8; subc.cc.u32 %1, %5, %9; subc.cc.u32 %2, %6, %10; "
        "subc.u32 %3, %7, %11;"
        : "=r"(r.word[0]), "=r"(r.word[1]), "=r"(r.word[2]), "=r"(r.word[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[0]),
          "r"(b.word[1]), "r"(b.word[2]), "r"(b.word[3]));
    return r;
}

// The lower 64 bits squared, as number theory does it.
__device__ wide square(const wide &a)
{
    wide r;
    asm("mul.lo.u32 %0, %4, %4; mul.hi.u32 %1, %4, %4; mul.lo.u32 %2, %5, %5; mul.hi.u32 %3, %5, "
        "%5;\n\t"
        "mad.lo.cc.u32 %1, %4, %5, %1; madc.hi.cc.u32 %2, %4, %5, %2; addc.u32 %3, %3, 0;\n\t"
        "mad.lo.cc.u32 %1, %4, %5, %1; madc.hi.cc.u32 %2, %4, %5, %2; addc.u32 %3, %3, 0;"
        : "=&r"(r.word[0]), "=&r"(r.word[1]), "=&r"(r.word[2]), "=&r"(r.word[3])
        : "r"(a.word[0]), "r"(a.word[1]));
    return r;
}

__global__ void calculate(const wide *a, const wide *b, wide *sums, wide *differences,
                          wide *squares)
{
    const int i = threadIdx.x;
    sums[i] = sum(a[i], b[i]);
    differences[i] = difference(a[i], b[i]);
    squares[i] = square(a[i]);
}

// A pair of instructions; the third shows the carry that the second leaves.
#define PAIR(type, letter, first, second)                                                          \
    asm(first "." #type " %0, %3, %4; " second "." #type " %1, %5, %6; addc." #type " %2, 0, 0;"   \
        : "=" letter(r[0]), "=" letter(r[1]), "=" letter(r[2])                                     \
        : letter(a), letter(b), letter(c), letter(d));                                             \
    r += 3

constexpr int pairs = 6;

template <typename T> __global__ void leave_carries(const T *in, T *out)
{
    const T a = in[threadIdx.x], b = in[threadIdx.x / 8], c = in[threadIdx.x % 8],
            d = in[(threadIdx.x + 3) % 8];
    T *r = out + 3 * pairs * threadIdx.x;
    if constexpr (sizeof(T) == 4) {
        PAIR(u32, "r", "add.cc", "addc.cc");
        PAIR(u32, "r", "add.cc", "subc.cc");
        PAIR(u32, "r", "sub.cc", "addc.cc");
        PAIR(u32, "r", "sub.cc", "subc.cc");
        PAIR(u32, "r", "sub.cc", "subc.cc");
        PAIR(u32, "r", "add.cc", "add.cc");
    } else {
        PAIR(u64, "l", "add.cc", "addc.cc");
        PAIR(u64, "l", "add.cc", "subc.cc");
        PAIR(u64, "l", "sub.cc", "addc.cc");
        PAIR(u64, "l", "sub.cc", "subc.cc");
        PAIR(u64, "l", "sub.cc", "subc.cc");
        PAIR(u64, "l", "add.cc", "sub.cc");
    }
}
#undef PAIR

// The same by the rule that SASS shows: a subtraction is a + ~b + carry, with a carry of 1 where it
// begins a chain.
template <typename T> struct chain {
    T carry = 0;
    T step(T a, T b, bool subtracts, bool uses)
    {
        const unsigned __int128 total = static_cast<unsigned __int128>(a) + T(subtracts ? ~b : b) +
                                        (uses ? carry : T(subtracts));
        carry = T(total >> 8 * sizeof(T));
        return T(total);
    }
};

template <typename T> void compare_carries(const std::vector<T> &in)
{
    struct pair {
        bool first_subtracts, second_subtracts, second_uses;
    };
    const pair all[pairs] = {{false, false, true}, {false, true, true},
                             {true, false, true},  {true, true, true},
                             {true, true, true},   {false, sizeof(T) == 8, false}};
    T *out = nullptr;
    CHECK_CUDA(cudaMalloc(&out, in.size() * 3 * pairs * sizeof(T)));
    leave_carries<<<1, in.size()>>>(upload(in), out);
    const std::vector<T> got = download(out, in.size() * 3 * pairs);
    for (std::size_t t = 0; t < in.size(); ++t)
        for (int p = 0; p < pairs; ++p) {
            chain<T> c;
            const T first = c.step(in[t], in[t / 8], all[p].first_subtracts, false);
            const T second =
                c.step(in[t % 8], in[(t + 3) % 8], all[p].second_subtracts, all[p].second_uses);
            const T *r = got.data() + 3 * (pairs * t + p);
            CHECK(r[0] == first);
            CHECK(r[1] == second);
            CHECK(r[2] == c.carry);
        }
}

using big = unsigned __int128;

static wide words_of(big v)
{
    wide w;
    for (u32 &word : w.word) word = u32(v), v >>= 32;
    return w;
}

static big value_of(const wide &w)
{
    big v = 0;
    for (int k = 3; k >= 0; --k) v = v << 32 | w.word[k];
    return v;
}

int main()
{
    std::vector<u64> values = {
        0, 1, ~u64{0}, ~u64{0} - 1, u64{1} << 63, 0xffffffff, u64{1} << 32, 0xdeadbeefcafef00d};
    while (values.size() < 64)
        values.push_back(values[values.size() - 5] * 6364136223846793005 + 7);
    std::vector<wide> a, b;
    for (std::size_t i = 0; i < values.size(); ++i) {
        a.push_back(words_of(big(values[i / 8]) << 64 | values[i]));
        b.push_back(words_of(big(values[i]) << 64 | values[i % 8]));
    }
    auto *in_a = upload(a), *in_b = upload(b), *sums = upload(a), *differences = upload(a),
         *squares = upload(a);
    calculate<<<1, 64>>>(in_a, in_b, sums, differences, squares);
    const auto s = download(sums, 64), d = download(differences, 64), q = download(squares, 64);
    for (std::size_t i = 0; i < 64; ++i) {
        const big x = value_of(a[i]), y = value_of(b[i]), low = u64(x);
        CHECK(value_of(s[i]) == x + y);
        CHECK(value_of(d[i]) == x - y);
        CHECK(value_of(q[i]) == low * low);
    }
    compare_carries(values);
    std::vector<u32> words;
    for (u64 v : values) words.push_back(u32(v >> 16));
    compare_carries(words);
    return done();
}
