// Right: cooperative groups: six warps per block, each transposes its own 32 particles and syncs
// only itself; groups of four lanes gather.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int threads = 192; // six warps

static int blocks_for(int n) { return (n + threads - 1) / threads; }

__device__ static auto this_warp() { return cg::tiled_partition<32>(cg::this_thread_block()); }

layout drift_layout() { return layout::soa; }

// Four runs of 32 particles per warp, all loaded before one is stored.
__global__ static void move_particles(float *particles, int n, float dt)
{
    auto warp = this_warp();
    int number = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    int first = number * 128 + warp.thread_rank();
    float x[4], vx[4];
    for (int s = 0; s < 4; ++s)
        if (first + 32 * s < n) {
            x[s] = particles[n * field_x + first + 32 * s];
            vx[s] = particles[n * field_vx + first + 32 * s];
        }
    for (int s = 0; s < 4; ++s)
        if (first + 32 * s < n) particles[n * field_x + first + 32 * s] = fmaf(vx[s], dt, x[s]);
}

void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    move_particles<<<blocks_for((n + 3) / 4 + 31), threads>>>(particles, n, dt);
    check_launch("move_particles");
}

__device__ static float distance(float x, float y, float z, float3 centre)
{
    x -= centre.x, y -= centre.y, z -= centre.z;
    return __fsqrt_rn(x * x + y * y + z * z);
}

layout distance_all_layout() { return layout::soa; }

__global__ static void measure_all(const float *particles, int n, float3 centre, float *out)
{
    unsigned i = cg::this_grid().thread_rank();
    if (i >= n) return;
    const float *mine = particles + i;
    out[i] = distance(__ldg(mine), __ldg(mine + n), __ldg(mine + 2 * n), centre);
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure_all<<<blocks_for(n), threads>>>(particles, n, centre, out);
    check_launch("measure_all");
}

layout distance_some_layout() { return layout::aos; }

// Groups of four lanes have four particles: each lane reads one number, and
// the group goes through them together, a coordinate a lane.
__global__ static void measure_some(const float *particles, float3 centre, const int *which, int k,
                                    float *out)
{
    auto four = cg::tiled_partition<4>(cg::this_thread_block());
    int j = cg::this_grid().thread_rank(), lane = four.thread_rank();
    int mine = j < k ? which[j] : 0, result_of = j - lane;
    float of_centre = lane == 0 ? centre.x : lane == 1 ? centre.y : centre.z, squares = 0;
    for (int s = 0; s < 4; ++s) {
        int chosen = four.shfl(mine, s);
        bool reads = lane < 3 && result_of + s < k;
        float d = reads ? particles[fields * chosen + lane] - of_centre : 0;
        float sum = d * d;
        sum += four.shfl_xor(sum, 1);
        sum += four.shfl_xor(sum, 2);
        if (lane == s) squares = sum;
    }
    if (j < k) out[j] = sqrtf(squares);
}

void distance_some(const float *particles, int, float3 centre, const int *which, int k, float *out)
{
    if (k == 0) return;
    measure_some<<<blocks_for(k), threads>>>(particles, centre, which, k, out);
    check_launch("measure_some");
}

// A warp's 32 particles, rows of 17 so that a column lies in 32 banks.
struct warp_tile {
    float row[32][fields + 1];
};

__global__ static void split_particles(const float *aos, float *soa, int n)
{
    __shared__ warp_tile tiles[threads / 32];
    auto warp = this_warp();
    int lane = warp.thread_rank();
    int first = (blockIdx.x * warp.meta_group_size() + warp.meta_group_rank()) * 32;
    warp_tile &mine = tiles[warp.meta_group_rank()];
    int floats = min(32, n - first) * fields; // negative where the warp has no particle
    for (int e = lane; e < floats; e += 32)
        mine.row[e / fields][e % fields] = aos[first * fields + e];
    warp.sync();
    if (first + lane >= n) return;
#pragma unroll
    for (int f = 0; f < fields; ++f) soa[f * n + first + lane] = mine.row[lane][f];
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    split_particles<<<blocks_for(n), threads>>>(aos, soa, n);
    check_launch("split_particles");
}

__global__ static void join_particles(const float *soa, float *aos, int n)
{
    __shared__ warp_tile tiles[threads / 32];
    auto warp = this_warp();
    int lane = warp.thread_rank();
    int first = (blockIdx.x * warp.meta_group_size() + warp.meta_group_rank()) * 32;
    warp_tile &mine = tiles[warp.meta_group_rank()];
    if (first + lane < n)
#pragma unroll
        for (int f = 0; f < fields; ++f) mine.row[lane][f] = soa[f * n + first + lane];
    warp.sync();
    int floats = min(32, n - first) * fields;
    for (int e = lane; e < floats; e += 32)
        aos[first * fields + e] = mine.row[e / fields][e % fields];
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    join_particles<<<blocks_for(n), threads>>>(soa, aos, n);
    check_launch("join_particles");
}

namespace transposition {

static __global__ void transpose_tiles(const float *in, float *out, int rows, int cols, int across)
{
    __shared__ float tile[32][33];
    int row = blockIdx.x / across * 32, col = blockIdx.x % across * 32;
    bool whole = row + 32 <= rows && col + 32 <= cols; // then without tests
    int x = threadIdx.x, y = threadIdx.y;
#pragma unroll
    for (int r = 0; r < 32; r += 8)
        if (whole || (row + y + r < rows && col + x < cols))
            tile[y + r][x] = in[(row + y + r) * cols + col + x];
    __syncthreads();
#pragma unroll
    for (int c = 0; c < 32; c += 8)
        if (whole || (col + y + c < cols && row + x < rows))
            out[(col + y + c) * rows + row + x] = tile[x][y + c];
}

} // namespace transposition

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int across = (cols - 1) / 32 + 1, down = (rows - 1) / 32 + 1;
    cudaLaunchConfig_t config{.gridDim = across * down, .blockDim = dim3(32, 8)};
    check(cudaLaunchKernelEx(&config, transposition::transpose_tiles, in, out, rows, cols, across),
          "cudaLaunchKernelEx");
}
