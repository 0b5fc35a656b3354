// nvcc: -rdc=true -std=c++17
// Two quicksorts whose kernels launch kernels: a level at a time, and a part at a time.
#include "check.hpp"

#include <algorithm>
#include <random>

constexpr int tile = 128; // keys, of a block

struct part {
    int at, n, first_tile; // keys; and the first block that has some of them
    unsigned pivot;
};

// A level takes its keys from keys[level % 2]; what is in order goes to keys[0].
struct sorting {
    unsigned *keys[2];
    part *parts[2], *leaves;
    unsigned long long *moved; // of each part: smaller keys, larger keys << 32
    int level, count;
};

__global__ void fill(unsigned *keys, int n, unsigned value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) keys[i] = value;
}

__global__ void sort_leaf(const sorting s)
{
    __shared__ unsigned keys[tile];
    const part p = s.leaves[blockIdx.x];
    const int i = threadIdx.x;
    if (i < p.n) keys[i] = s.keys[s.level % 2][p.at + i];
    __syncthreads();
    if (i >= p.n) return;
    int before = 0;
    for (int k = 0; k < p.n; ++k) before += keys[k] < keys[i] || (keys[k] == keys[i] && k < i);
    s.keys[0][p.at + before] = keys[i];
}

// A block takes a tile of a part: smaller keys to its front, larger ones to its end.
__global__ void split(const sorting s)
{
    __shared__ unsigned smaller, larger;
    __shared__ unsigned long long base;
    const part *all = s.parts[s.level % 2];
    int which = 0;
    while (which + 1 < s.count && all[which + 1].first_tile <= int(blockIdx.x)) ++which;
    const part p = all[which];
    const int i = (blockIdx.x - p.first_tile) * tile + threadIdx.x;
    if (threadIdx.x == 0) smaller = larger = 0;
    __syncthreads();
    const unsigned key = i < p.n ? s.keys[s.level % 2][p.at + i] : p.pivot;
    unsigned mine = 0;
    if (key < p.pivot) mine = atomicAdd(&smaller, 1);
    if (key > p.pivot) mine = atomicAdd(&larger, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        base = atomicAdd(&s.moved[which], smaller | static_cast<unsigned long long>(larger) << 32);
    __syncthreads();
    unsigned *to = s.keys[(s.level + 1) % 2] + p.at;
    if (key < p.pivot) to[static_cast<unsigned>(base) + mine] = key;
    if (key > p.pivot) to[p.n - 1 - static_cast<unsigned>(base >> 32) - mine] = key;
}

// Turns what a level has split into the work of the next.
__global__ void plan(sorting s, int n)
{
    __shared__ int parts, tiles, leaves;
    if (threadIdx.x == 0) parts = tiles = leaves = 0;
    __syncthreads();
    const int next = s.level + 1;
    const auto add = [&](int at, int n) {
        if (n == 0) return;
        if (n <= tile) {
            s.leaves[atomicAdd(&leaves, 1)] = {at, n, 0, 0};
            return;
        }
        const unsigned *k = s.keys[next % 2] + at;
        const unsigned low = min(k[0], k[n / 2]), high = max(k[0], k[n / 2]);
        part p{at, n, 0, max(low, min(high, k[n - 1]))};
        s.parts[next % 2][atomicAdd(&parts, 1)] = p;
    };
    if (s.level < 0 && threadIdx.x == 0) add(0, n);
    for (int i = threadIdx.x; s.level >= 0 && i < s.count; i += blockDim.x) {
        const part p = s.parts[s.level % 2][i];
        const int smaller = static_cast<unsigned>(s.moved[i]), larger = s.moved[i] >> 32;
        const int equal = p.n - smaller - larger;
        add(p.at, smaller), add(p.at + p.n - larger, larger);
        fill<<<(equal + tile - 1) / tile, tile, 0, cudaStreamFireAndForget>>>(
            s.keys[0] + p.at + smaller, equal, p.pivot);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 0; i < parts; ++i) {
        s.parts[next % 2][i].first_tile = tiles;
        tiles += (s.parts[next % 2][i].n + tile - 1) / tile;
        s.moved[i] = 0;
    }
    s.level = next;
    s.count = parts;
    if (leaves > 0) sort_leaf<<<leaves, tile, 0, cudaStreamFireAndForget>>>(s);
    if (parts == 0) return;
    split<<<tiles, tile, 0, cudaStreamFireAndForget>>>(s);
    plan<<<1, tile, 0, cudaStreamTailLaunch>>>(s, n);
}

__device__ void sort_alone(unsigned *keys, int n)
{
    for (int gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (int i = gap; i < n; ++i) {
            const unsigned key = keys[i];
            int k = i;
            for (; k >= gap && keys[k - gap] > key; k -= gap) keys[k] = keys[k - gap];
            keys[k] = key;
        }
}

// Returns true if the last launch was accepted; else counts the reason: no pending launch was free,
// or another.
__device__ bool launched(unsigned *refused)
{
    const cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) atomicAdd(refused + (e != cudaErrorLaunchPendingCountExceeded), 1);
    return e == cudaSuccess;
}

// The textbook's: a thread splits, two children go on. What cannot be launched is sorted here.
__global__ void sort_part(unsigned *keys, int n, unsigned *refused)
{
    if (n <= 16) return sort_alone(keys, n);
    const unsigned pivot = keys[n / 2];
    int low = 0, high = n - 1;
    while (low <= high) {
        while (keys[low] < pivot) ++low;
        while (keys[high] > pivot) --high;
        if (low > high) break;
        const unsigned k = keys[low];
        keys[low++] = keys[high];
        keys[high--] = k;
    }
    if (high > 0) {
        sort_part<<<1, 1>>>(keys, high + 1, refused);
        if (!launched(refused)) sort_alone(keys, high + 1);
    }
    if (low < n - 1) {
        cudaStream_t other;
        cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        sort_part<<<1, 1, 0, other>>>(keys + low, n - low, refused);
        if (!launched(refused)) sort_alone(keys + low, n - low);
        cudaStreamDestroy(other);
    }
}

static std::vector<unsigned> by_levels(const std::vector<unsigned> &keys)
{
    const int n = static_cast<int>(keys.size());
    sorting s{};
    s.keys[0] = upload(keys);
    CHECK_CUDA(cudaMalloc(&s.keys[1], n * sizeof(unsigned)));
    for (auto list : {&s.parts[0], &s.parts[1], &s.leaves})
        CHECK_CUDA(cudaMalloc(list, (n + 2) * sizeof(part)));
    CHECK_CUDA(cudaMalloc(&s.moved, (n + 2) * sizeof *s.moved));
    s.level = -1;
    plan<<<1, tile>>>(s, n);
    return download(s.keys[0], keys.size());
}

static std::vector<unsigned> by_parts(const std::vector<unsigned> &keys, bool crowded = false)
{
    unsigned *data = upload(keys), *refused = upload(std::vector<unsigned>(2, 0));
    sort_part<<<1, 1>>>(data, static_cast<int>(keys.size()), refused);
    CHECK((download(refused, 1)[0] > 0) == crowded);
    return download(data, keys.size());
}

static std::vector<std::vector<unsigned>> inputs(int n)
{
    std::mt19937 random(n);
    std::vector<std::vector<unsigned>> all(6, std::vector<unsigned>(n));
    for (int i = 0; i < n; ++i) {
        all[0][i] = random();
        all[1][i] = i;
        all[2][i] = n - i;
        all[3][i] = 7;
        all[4][i] = random() % 5;
        all[5][i] = std::min(i, n - i); // up, and down again
    }
    return all;
}

int main()
{
    for (const int n : {1, 400, 2000})
        for (const auto &keys : inputs(n)) {
            auto sorted = keys;
            std::sort(sorted.begin(), sorted.end());
            simulator_schedule(0, 1);
            CHECK(by_levels(keys) == sorted);
            CHECK(by_parts(keys) == sorted);
            if (n > 400) continue;
            for (int seed = 1; seed < 3; ++seed) {
                simulator_schedule(1, seed);
                CHECK(by_levels(keys) == sorted);
                CHECK(by_parts(keys) == sorted);
            }
        }
    auto keys = inputs(1500)[0];
    CHECK_CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 8));
    const auto crowded = by_parts(keys, true);
    std::sort(keys.begin(), keys.end());
    CHECK(crowded == keys);
    return done();
}
