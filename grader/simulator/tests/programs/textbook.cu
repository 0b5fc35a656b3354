// Kernels as books and samples have them, each with something that a strict reader could take for
// a fault: right results, and no finding.
#include "check.hpp"

#include <algorithm>
#include <cuda_fp16.h>

// Open addressing: who finds a slot free takes it.
constexpr unsigned nobody = ~0u, slots = 512;

__global__ void count_keys(const unsigned *keys, unsigned *table, unsigned *counts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned key = keys[i];
    for (unsigned slot = key * 2654435761u % slots;; slot = (slot + 1) % slots) {
        const unsigned owner = atomicCAS(&table[slot], nobody, key);
        if (owner != nobody && owner != key) continue;
        atomicAdd(&counts[slot], 1);
        return;
    }
}

// A list that all threads push to: the head is read plainly, then swapped.
struct node {
    int value, next; // next: an index above 0
};

__global__ void push(node *nodes, int *head, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    nodes[i].value = i;
    int old = *head, assumed;
    do {
        assumed = old;
        nodes[i].next = assumed;
        __threadfence();
        old = atomicCAS(head, assumed, i + 1);
    } while (old != assumed);
}

// A tile of which the last block fills only a part, and reads only that.
__global__ void three_point(const float *in, float *out, int n)
{
    __shared__ float tile[34];
    const int i = blockIdx.x * 32 + threadIdx.x, at = threadIdx.x + 1;
    if (i < n) tile[at] = in[i];
    if (threadIdx.x == 0 && i > 0) tile[0] = in[i - 1];
    if (threadIdx.x == 31 && i + 1 < n) tile[33] = in[i + 1];
    __syncthreads();
    const float left = i > 0 ? tile[at - 1] : 0, right = i + 1 < n ? tile[at + 1] : 0;
    if (i < n) out[i] = left + tile[at] + right;
}

// The four largest of each lane's values, in an array that fills up.
__global__ void four_largest(const int *in, int *out, int n)
{
    int best[4], have = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int at = have < 4 ? have++ : 4;
        if (at == 4 && in[i] <= best[3]) continue;
        for (at = min(at, 3); at > 0 && best[at - 1] < in[i]; --at) best[at] = best[at - 1];
        best[at] = in[i];
    }
    for (int k = 0; k < 4; ++k) out[4 * threadIdx.x + k] = k < have ? best[k] : -1;
}

// A result of which the value is set only where there is one.
struct place {
    bool found;
    int index;
};

__device__ __noinline__ place find(const int *in, int n, int key)
{
    place p;
    p.found = false;
    for (int i = 0; i < n && !p.found; ++i)
        if (in[i] == key) {
            p.found = true;
            p.index = i;
        }
    return p;
}

__global__ void look_up(const int *in, int *out, int n)
{
    const place p = find(in, n, threadIdx.x);
    out[threadIdx.x] = p.found ? p.index : -1;
}

// Pairs of halves, and a sum over the warp.
__global__ void dot(const __half2 *a, const __half2 *b, float *out, int n)
{
    __half2 sum = __float2half2_rn(0);
    for (int i = threadIdx.x; i < n; i += warpSize) sum = __hfma2(a[i], b[i], sum);
    float all = __low2float(sum) + __high2float(sum);
    for (int d = warpSize / 2; d > 0; d /= 2) all += __shfl_xor_sync(~0u, all, d);
    if (threadIdx.x == 0) *out = all;
}

// Sums of the compiler's own 128 bits.
__global__ void wide_sums(unsigned long long *out)
{
    const unsigned __int128 a = static_cast<unsigned __int128>(~0ull) * (threadIdx.x + 3);
    const unsigned __int128 sum = a - (static_cast<unsigned __int128>(threadIdx.x) << 70) + 5;
    out[2 * threadIdx.x] = static_cast<unsigned long long>(sum);
    out[2 * threadIdx.x + 1] = static_cast<unsigned long long>(sum >> 64);
}

template <typename T> T *room(std::size_t n)
{
    T *p = nullptr;
    CHECK_CUDA(cudaMalloc(&p, n * sizeof(T)));
    return p;
}

static void check_lists()
{
    std::vector<unsigned> keys(2000);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i % 300 * 7;
    auto *table = upload(std::vector<unsigned>(slots, nobody)),
         *counts = upload(std::vector<unsigned>(slots, 0));
    count_keys<<<8, 256>>>(upload(keys), table, counts, keys.size());
    unsigned sum = 0, used = 0;
    for (unsigned n : download(counts, slots)) sum += n, used += n > 0;
    CHECK(sum == keys.size() && used == 300);
    node *nodes = room<node>(500);
    int *head = upload(std::vector<int>{0}), length = 0;
    push<<<4, 128>>>(nodes, head, 500);
    const auto all = download(nodes, 500);
    for (int i = download(head, 1)[0]; i > 0; i = all[i - 1].next) ++length;
    CHECK(length == 500);
}

int main()
{
    check_lists();
    float *sums = room<float>(100), *product = room<float>(1);
    three_point<<<4, 32>>>(upload(std::vector<float>(100, 1)), sums, 100);
    const auto s = download(sums, 100);
    for (int i = 0; i < 100; ++i) CHECK(s[i] == (i == 0 || i == 99 ? 2 : 3));
    std::vector<int> values(100);
    for (int i = 0; i < 100; ++i) values[i] = i * 37 % 100;
    int *in = upload(values), *largest = room<int>(4 * 32), *places = room<int>(32);
    four_largest<<<1, 32>>>(in, largest, 100);
    const auto best = download(largest, 4 * 32);
    for (int lane = 0; lane < 32; ++lane) {
        std::vector<int> mine;
        for (int i = lane; i < 100; i += 32) mine.push_back(values[i]);
        std::sort(mine.rbegin(), mine.rend());
        mine.resize(4, -1);
        for (int k = 0; k < 4; ++k) CHECK(best[4 * lane + k] == mine[k]);
    }
    look_up<<<1, 32>>>(upload(std::vector<int>{5, 3, 9}), places, 3);
    const auto p = download(places, 32);
    for (int i = 0; i < 32; ++i) CHECK(p[i] == (i == 5 ? 0 : i == 3 ? 1 : i == 9 ? 2 : -1));
    const auto *pairs = upload(std::vector<__half2>(64, __floats2half2_rn(1, 2)));
    dot<<<1, 32>>>(pairs, pairs, product, 64);
    CHECK(download(product, 1)[0] == 64 * 5);
    auto *wide = room<unsigned long long>(64);
    wide_sums<<<1, 32>>>(wide);
    const auto words = download(wide, 64);
    for (unsigned t = 0; t < 32; ++t) {
        const auto a = static_cast<unsigned __int128>(~0ull) * (t + 3);
        const auto sum = a - (static_cast<unsigned __int128>(t) << 70) + 5;
        CHECK(words[2 * t] == static_cast<unsigned long long>(sum));
        CHECK(words[2 * t + 1] == static_cast<unsigned long long>(sum >> 64));
    }
    return done();
}
