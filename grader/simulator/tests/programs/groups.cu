// Cooperative groups: tiles, lanes that happen to run together, partitions; reduce, scan, votes;
// and the whole grid.
#include "check.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

constexpr int threads = 96;

enum {
    tile_sum,
    tile_before,
    tile_mates,
    warp_most,
    third_size,
    third_sum,
    label_size,
    half_sum,
    rows
};

__global__ void work(const int *in, int *out, long long *wide)
{
    const auto block = cg::this_thread_block();
    const int i = static_cast<int>(block.thread_rank()), x = in[i];
    const auto tile = cg::tiled_partition<8>(block);
    const auto warp = cg::tiled_partition<32>(block);
    out[tile_sum * threads + i] = cg::reduce(tile, x, cg::plus<int>());
    out[tile_before * threads + i] = cg::exclusive_scan(tile, x, cg::plus<int>());
    out[tile_mates * threads + i] =
        __popc(tile.match_any(x % 3)) + 100 * __popc(tile.ballot(x > 5));
    out[warp_most * threads + i] = cg::reduce(warp, x, cg::greater<int>());
    wide[i] = cg::reduce(warp, 1ll << (x + 20), cg::plus<long long>());
    if (i % 3 == 0) {
        const auto third = cg::coalesced_threads();
        out[third_size * threads + i] = static_cast<int>(third.size());
        out[third_sum * threads + i] = cg::reduce(third, x, cg::plus<int>());
        const auto same = cg::labeled_partition(third, x % 2);
        out[label_size * threads + i] = static_cast<int>(same.size());
    }
    block.sync();
    const auto half = cg::tiled_partition(block, 16);
    __shared__ int part[threads];
    part[i] = x;
    for (int d = 8; d > 0; d /= 2) {
        half.sync();
        const int other = part[i ^ d];
        half.sync();
        part[i] += other;
    }
    out[half_sum * threads + i] = part[i];
}

// Sums of neighbours, several times, all blocks in step.
__global__ void smooth(int *a, int *b, int n, int rounds)
{
    const auto grid = cg::this_grid();
    for (int round = 0; round < rounds; ++round) {
        for (int i = static_cast<int>(grid.thread_rank()); i < n; i += grid.num_threads())
            b[i] = a[i] + a[(i + 1) % n];
        grid.sync();
        int *other = a;
        a = b;
        b = other;
    }
}

static void whole_grid()
{
    int n = 1000, rounds = 3;
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[i] = i * i % 101;
    int *a = upload(in), *b = upload(in);
    void *arguments[] = {&a, &b, &n, &rounds};
    CHECK_CUDA(cudaLaunchCooperativeKernel(smooth, 7, 64, arguments));
    const auto got = download(b, n);
    for (int i = 0; i < n; ++i)
        CHECK(got[i] == in[i] + 3 * in[(i + 1) % n] + 3 * in[(i + 2) % n] + in[(i + 3) % n]);
}

int main()
{
    whole_grid();
    std::vector<int> in(threads);
    for (int i = 0; i < threads; ++i) in[i] = i * 37 % 23;
    int *out = upload(std::vector<int>(rows * threads, 0));
    long long *wide = upload(std::vector<long long>(threads, 0));
    work<<<1, threads>>>(upload(in), out, wide);
    const auto got = download(out, rows * threads);
    const auto got_wide = download(wide, threads);
    for (int i = 0; i < threads; ++i) {
        int wanted[rows] = {};
        long long sum = 0;
        for (int k = i / 8 * 8; k < i / 8 * 8 + 8; ++k) {
            wanted[tile_sum] += in[k];
            wanted[tile_before] += k < i ? in[k] : 0;
            wanted[tile_mates] += (in[k] % 3 == in[i] % 3) + 100 * (in[k] > 5);
        }
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
            wanted[warp_most] = std::max(wanted[warp_most], in[k]);
            sum += 1ll << (in[k] + 20);
            if (i % 3 == 0 && k % 3 == 0) {
                wanted[third_size] += 1;
                wanted[third_sum] += in[k];
                wanted[label_size] += in[k] % 2 == in[i] % 2;
            }
        }
        for (int k = i / 16 * 16; k < i / 16 * 16 + 16; ++k) wanted[half_sum] += in[k];
        for (int what = 0; what < rows; ++what) {
            CHECK(got[what * threads + i] == wanted[what]);
            if (got[what * threads + i] != wanted[what])
                std::printf("row %d, thread %d\n", what, i);
        }
        CHECK(got_wide[i] == sum);
    }
    return done();
}
