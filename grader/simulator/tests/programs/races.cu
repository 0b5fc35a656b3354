// Races in shared and device memory are found, with both lines; their clean twins are not.
#include "check.hpp"

#include <cooperative_groups.h>
#include <numeric>
#include <string>

namespace cg = cooperative_groups;
using simulator::finding_kind;

template <bool second_barrier, bool first_barrier>
__global__ void tiles(const float *in, float *out, int n)
{
    __shared__ float unused[5], tile[16][16];
    float sum = unused == nullptr;
    for (int t = 0; t < n; t += 16) {
        tile[threadIdx.y][threadIdx.x] = in[(t + threadIdx.y) * 16 + threadIdx.x];
        if (first_barrier) __syncthreads();
        for (int k = 0; k < 16; ++k) sum += tile[k][threadIdx.x];
        if (second_barrier) __syncthreads();
    }
    out[threadIdx.y * 16 + threadIdx.x] = sum;
}

template <bool synchronised> __global__ void warp_sum(const int *in, int *out)
{
    __shared__ int part[64];
    int lane = threadIdx.x % 32;
    int *mine = part + threadIdx.x / 32 * 32;
    mine[lane] = in[threadIdx.x];
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        int other = lane < d ? mine[lane + d] : 0;
        if (synchronised) __syncwarp();
        if (lane < d) mine[lane] += other;
        if (synchronised) __syncwarp();
    }
    if (lane == 0) out[threadIdx.x / 32] = mine[0];
}

// Old code: volatile in place of barriers.
__global__ void volatile_sum(const int *in, int *out)
{
    __shared__ volatile int part[32];
    part[threadIdx.x] = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        if (threadIdx.x < d) part[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + d];
    if (threadIdx.x == 0) *out = part[0];
}

__global__ void shuffled_sum(const int *in, int *out)
{
    int v = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x == 0) *out = v;
}

// Tiles of a warp that synchronise by themselves, and by turns.
template <bool synchronised> __global__ void tiled_groups(int *out)
{
    __shared__ int all[64];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    auto warp = cg::tiled_partition<32>(block);
    int *mine = all + threadIdx.x / 16 * 16, rank = tile.thread_rank();
    for (int round = 0; round < 3; ++round) {
        mine[rank] = rank + round;
        tile.sync();
        int v = mine[15 - rank];
        if (synchronised) tile.sync();
        mine[rank] = v;
        warp.sync();
        all[threadIdx.x ^ 16] += 1;
        warp.sync();
    }
    block.sync();
    out[threadIdx.x] = all[threadIdx.x];
}

// Same value: no harm. Different values: one of them is lost.
template <bool same> __global__ void one_place(int *out)
{
    __shared__ int flag;
    flag = same ? 7 : threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = flag;
}

template <bool atomic> __global__ void histogram(const unsigned char *in, int *out)
{
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    if (atomic)
        atomicAdd(&bins[in[threadIdx.x] % 4], 1);
    else
        bins[in[threadIdx.x] % 4] += 1;
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}

// Neighbouring bytes of one word belong to different threads.
template <int reach> __global__ void bytes(unsigned char *out)
{
    __shared__ unsigned char row[65];
    row[threadIdx.x] = threadIdx.x;
    row[64] = 0;
    __syncthreads();
    unsigned char v = row[threadIdx.x + reach];
    row[threadIdx.x] = v + 1;
    __syncthreads();
    out[threadIdx.x] = row[threadIdx.x];
}

// Half of the block fills, the other half empties, by barriers of their own.
template <bool answers_late> __global__ void pipe(int *out)
{
    __shared__ int box[32];
    bool fills = threadIdx.x < 32;
    int lane = threadIdx.x % 32, sum = 0;
    for (int round = 0; round < 4; ++round) {
        if (fills) {
            if (round > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
            box[lane] = round * lane;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            if (!answers_late && round < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
            sum += box[31 - lane];
            if (answers_late && round < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
    if (!fills) out[lane] = sum;
}

__device__ void await(int *flag)
{
    while (*const_cast<volatile int *>(flag) == 0) {
    }
}

// The first warp writes, and raises a flag; one of the others polls it for the two that wait at a
// barrier of their own. Or it leaves the flag to a warp that it has met at such a barrier.
enum class raised_by { nobody, writer, another };
template <raised_by who> __global__ void flag_and_barrier(int *out)
{
    __shared__ int box[32], flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp == 0) {
        box[lane] = lane;
        if (who == raised_by::another) asm volatile("bar.sync 2, 64;" ::: "memory");
    }
    if (who == raised_by::another && warp == 3) asm volatile("bar.sync 2, 64;" ::: "memory");
    if (warp == (who == raised_by::another ? 3 : 0)) {
        __syncwarp();
        if (who != raised_by::nobody) __threadfence_block();
        if (lane == 0) atomicExch(&flag, 1);
    }
    if (warp == 1) await(&flag);
    if (warp == 1 || warp == 2) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x] = box[31 - lane]; // what was raised
    }
}

// Lane 0 meets the first lanes one after the other; it may write what they had read before.
template <bool met_last> __global__ void pairs_of_lanes(int *out)
{
    __shared__ int word;
    const int lane = threadIdx.x;
    if (lane == 0) word = 5;
    __syncwarp();
    int v = 0;
    if (lane == 1) v = *const_cast<volatile int *>(&word);
    if (lane < 2) __syncwarp(3);
    if (lane == 2) v = *const_cast<volatile int *>(&word);
    if (lane == 0 || lane == 2)
        if (met_last) __syncwarp(5);
    if (lane == 0) word = 6; // after those that read it
    out[lane] = v;
}

__device__ void copy_async(int *to, const int *from)
{
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
}

// Two threads bring each word.
template <bool same> __global__ void brought_twice(const int *in, int *out)
{
    __shared__ int row[32];
    copy_async(row + threadIdx.x % 32, in + (same ? threadIdx.x % 32 : threadIdx.x));
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = row[threadIdx.x % 32];
}

template <bool locked> __global__ void critical(int *total)
{
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        if (locked)
            while (atomicCAS(&lock, 0, 1) != 0) {
            }
        __threadfence_block();
        sum += threadIdx.x;
        __threadfence_block();
        if (locked) atomicExch(&lock, 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) *total = sum;
}

// Device memory.

template <bool synchronised> __global__ void neighbours(float *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = data[i] + (threadIdx.x + 1 < blockDim.x ? data[i + 1] : 0);
    if (synchronised) __syncthreads();
    data[i] = v;
}

template <bool own> __global__ void last_block_wins(int *out)
{
    if (threadIdx.x == 0) out[own ? blockIdx.x : 0] = blockIdx.x;
}

// The last block to finish adds up what all have written.
template <bool fenced> __global__ void sum_of_sums(int *part, unsigned *done, int *out)
{
    __shared__ bool last;
    if (threadIdx.x == 0) part[blockIdx.x] = blockIdx.x + 1;
    if (threadIdx.x == 0) {
        if (fenced) __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) atomicAdd(out, part[b]);
}

// One block reads, then lets the other overwrite. For what was read, a barrier and any atomic do.
template <bool all_have_read> __global__ void in_place(int *data, int *turn)
{
    if (blockIdx.x == 0) {
        int v = data[threadIdx.x];
        if (all_have_read) __syncthreads();
        if (threadIdx.x == 0) atomicExch(turn, 1);
        data[64 + threadIdx.x] = v;
    } else {
        if (threadIdx.x == 0)
            while (atomicAdd(turn, 0) == 0) {
            }
        __syncthreads();
        data[threadIdx.x] = 0;
    }
}

static void expect_clean(const char *what)
{
    CHECK_CUDA(cudaDeviceSynchronize());
    for (const auto &f : found())
        std::printf("%s, %s: %s; %s\n", what, f.kernel, f.where, f.detail);
    CHECK(found().empty());
    simulator_begin();
}

// Races, the first at the line with `text` (null: anywhere); each of `parts` is in what is said of
// it.
static void expect_race(const char *text, std::initializer_list<const char *> parts)
{
    CHECK_CUDA(cudaDeviceSynchronize());
    const auto all = found();
    if (all.empty()) std::printf("nothing found: %s\n", text);
    CHECK(!all.empty());
    for (const auto &f : all) CHECK(is(f, finding_kind::race));
    if (!all.empty()) {
        const std::string said = std::string(all[0].where) + "; " + all[0].detail;
        const bool there = text == nullptr || all[0].line == line_with(__FILE__, text);
        if (!there) std::printf("at line %d: %s\n", all[0].line, said.c_str());
        CHECK(there);
        for (const char *part : parts)
            if (said.find(part) == said.npos) {
                std::printf("`%s` is not in: %s\n", part, said.c_str());
                ++failures;
            }
    }
    simulator_begin();
}

// A million accesses lie between those of the first block and of the last.
template <bool own> __global__ void far_apart(int *out, int rounds)
{
    __shared__ volatile int busy[32];
    for (int i = 0; i < rounds; ++i) busy[threadIdx.x] = i;
    bool outer = blockIdx.x == 0 || blockIdx.x + 1 == gridDim.x;
    if (threadIdx.x == 0 && outer) out[own ? blockIdx.x : 0] = blockIdx.x;
}

static void in_shared_memory()
{
    float *f = upload(std::vector<float>(1024, 1)), *sums = upload(std::vector<float>(256, 0));
    int *n = upload(std::vector<int>(64, 1)), *out = upload(std::vector<int>(64, 0));
    std::vector<int> numbers(64);
    std::iota(numbers.begin(), numbers.end(), 0);
    int *wide_out = upload(std::vector<int>(128, 0)), *increasing = upload(numbers);
    auto *in = upload(std::vector<unsigned char>(64, 3)),
         *row = upload(std::vector<unsigned char>(64));
    const dim3 square(16, 16);
    const char *const written = "tile[threadIdx.y][threadIdx.x] =", *const read = "sum += tile[k]";

    tiles<true, true><<<2, square>>>(f, sums, 64), expect_clean("both barriers");
    tiles<true, false><<<1, square>>>(f, sums, 64);
    expect_race(read, {"of `tile`", "reads what thread (", "wrote at races.cu", "__syncthreads()"});
    tiles<false, true><<<1, square>>>(f, sums, 64);
    expect_race(written, {"writes what thread (", "read at races.cu"});
    warp_sum<true><<<1, 64>>>(n, out), expect_clean("a warp's sum");
    warp_sum<false><<<1, 64>>>(n, out), expect_race("int other = lane < d", {"__syncwarp()"});
    volatile_sum<<<1, 32>>>(n, out), expect_race("part[threadIdx.x] = part[", {"`part`"});
    shuffled_sum<<<1, 32>>>(n, out), expect_clean("shuffles");
    tiled_groups<true><<<1, 64>>>(out), expect_clean("tiles of a warp");
    tiled_groups<false><<<1, 64>>>(out), expect_race("mine[rank] = v;", {"read at"});
    one_place<true><<<1, 64>>>(out), expect_clean("the same value");
    one_place<false><<<1, 64>>>(out), expect_race("flag = same ?", {"left to chance", "byte 0 of"});
    histogram<true><<<1, 64>>>(in, out), expect_clean("atomics");
    histogram<false><<<1, 64>>>(in, out), expect_race("bins[in[threadIdx.x] % 4] += 1", {"bins"});
    bytes<0><<<1, 64>>>(row), expect_clean("bytes");
    bytes<1><<<1, 64>>>(row), expect_race("row[threadIdx.x] = v + 1", {"read at"});
    pipe<true><<<1, 64>>>(out), expect_clean("named barriers");
    pipe<false><<<1, 64>>>(out), expect_race(nullptr, {"`box`"});
    flag_and_barrier<raised_by::writer><<<1, 128>>>(wide_out),
        expect_clean("a flag, then a barrier");
    flag_and_barrier<raised_by::another><<<1, 128>>>(wide_out),
        expect_clean("a barrier, then a flag");
    flag_and_barrier<raised_by::nobody><<<1, 128>>>(wide_out),
        expect_race("// what was", {"`box`"});
    pairs_of_lanes<true><<<1, 32>>>(out), expect_clean("pairs of lanes");
    pairs_of_lanes<false><<<1, 32>>>(out), expect_race("word = 6", {"thread (2, 0, 0) read at"});
    brought_twice<true><<<1, 64>>>(increasing, out), expect_clean("the same copy twice");
    brought_twice<false><<<1, 64>>>(increasing, out), expect_race("cp.async.ca", {"`row`"});
    critical<true><<<1, 256>>>(out), expect_clean("a lock");
    critical<false><<<1, 256>>>(out), expect_race("sum += threadIdx.x", {"wrote at"});
}

static void in_device_memory()
{
    float *f = upload(std::vector<float>(1024, 1));
    int *out = upload(std::vector<int>(64, 0)), *sum = upload(std::vector<int>(1, 0));
    auto *done = upload(std::vector<unsigned>(2, 0));

    neighbours<true><<<4, 256>>>(f), expect_clean("neighbours");
    neighbours<false><<<4, 256>>>(f), expect_race("data[i] = v;", {"read at races.cu"});
    last_block_wins<true><<<8, 32>>>(out), expect_clean("a place a block");
    last_block_wins<false><<<8, 32>>>(out), expect_race("out[own ?", {"of block (", "two blocks"});
    far_apart<true><<<64, 32>>>(out, 40000), expect_clean("a place of its own, much later");
    far_apart<false><<<64, 32>>>(out, 40000);
    expect_race("if (threadIdx.x == 0 && outer)", {"wrote long before", "two blocks"});
    int *turn = upload(std::vector<int>(2, 0)), *data = upload(std::vector<int>(128, 1));
    in_place<true><<<2, 64>>>(data, turn), expect_clean("a block that has read");
    in_place<false><<<2, 64>>>(data, turn + 1), expect_race(nullptr, {"two blocks"});
    sum_of_sums<true><<<64, 32>>>(out, done, sum);
    CHECK(download(sum, 1)[0] == 64 * 65 / 2);
    expect_clean("the last block");
    sum_of_sums<false><<<64, 32>>>(out, done + 1, sum),
        expect_race("atomicAdd(out, part", {"wrote"});
}

int main()
{
    simulator_begin();
    in_shared_memory();
    in_device_memory();
    return done();
}
