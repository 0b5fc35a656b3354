// Right: 128 threads exchange two elements each, a row of a picture has one block, and a group adds
// up.
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

static __global__ void exchange_pairs(int *data)
{
    int t = threadIdx.x, other = block_size - 1 - t, mine = data[t];
    data[t] = data[other];
    data[other] = mine;
}

void reverse_block(int *data) { exchange_pairs<<<1, block_size / 2>>>(data); }

static __global__ void mirror_row(const unsigned char *in, unsigned char *out, int width)
{
    in += blockIdx.x * width;
    out += blockIdx.x * width;
    for (int x = threadIdx.x; x < width; x += blockDim.x) out[width - 1 - x] = in[x];
}

void mirror(const unsigned char *in, unsigned char *out, int width, int height)
{
    mirror_row<<<height, 64>>>(in, out, width);
}

static __global__ void add_up(const int *in, int *out)
{
    __shared__ int of_warps[8];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int sum = cg::reduce(warp, in[blockIdx.x * block_size + threadIdx.x], cg::plus<int>());
    if (warp.thread_rank() == 0) of_warps[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        int total = cg::reduce(warp, threadIdx.x < 8 ? of_warps[threadIdx.x] : 0, cg::plus<int>());
        if (threadIdx.x == 0) out[blockIdx.x] = total;
    }
}

void block_sums(const int *in, int *out, int blocks) { add_up<<<blocks, block_size>>>(in, out); }

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void saxpy_host(float, const float *, float *, int) {}
int launch_error(int) { return -1; }
void differences(const float *, float *, int) {}
