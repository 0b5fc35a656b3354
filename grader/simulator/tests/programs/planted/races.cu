// Races in shared and device memory.

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
// barrier of their own. Or it leaves the flag to a warp that it has met at such a barrier. A fence
// after the barrier takes nothing from what that has handed on.
enum class raised_by { nobody, writer, another };
template <raised_by who, bool fences = false> __global__ void flag_and_barrier(int *out)
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
        if (fences) __threadfence_block();
        out[threadIdx.x] = box[31 - lane]; // what was raised
    }
}

// Lane 0 meets the first lanes one after the other; it may write what they had read before.
template <bool met_last> __device__ int read_by_turns(int *word)
{
    const int lane = threadIdx.x % 32;
    int v = 0;
    if (lane == 1) v = *const_cast<volatile int *>(word);
    if (lane < 2) __syncwarp(3);
    if (lane == 2) v = *const_cast<volatile int *>(word);
    if (lane == 0 || lane == 2)
        if (met_last) __syncwarp(5);
    if (lane == 0) *word = 6; // after those that read it
    return v;
}

template <bool met_last> __global__ void pairs_of_lanes(int *out)
{
    __shared__ int word;
    if (threadIdx.x == 0) word = 5;
    __syncwarp();
    out[threadIdx.x] = read_by_turns<met_last>(&word);
}

// The same when another warp has read before.
template <bool met_last> __global__ void pairs_after_a_warp(int *out)
{
    __shared__ int word;
    if (threadIdx.x == 0) word = 5;
    __syncthreads();
    if (threadIdx.x < 32) {
        out[threadIdx.x] = *const_cast<volatile int *>(&word);
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x] = read_by_turns<met_last>(&word);
    }
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

// A million accesses lie between those of the first block and of the last.
template <bool own> __global__ void far_apart(int *out, int rounds)
{
    __shared__ volatile int busy[32];
    for (int i = 0; i < rounds; ++i) busy[threadIdx.x] = i;
    bool outer = blockIdx.x == 0 || blockIdx.x + 1 == gridDim.x;
    if (threadIdx.x == 0 && outer) out[own ? blockIdx.x : 0] = blockIdx.x;
}

// A value and the flag that announces it, with or without fences on both sides.
template <bool fenced> __global__ void flag_between_blocks(int *data, int *flag)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 1;
        if (fenced) __threadfence();
        atomicExch(flag, 1);
    } else {
        await(flag);
        if (fenced) __threadfence();
        data[1] = data[0]; // announced
    }
}

// The same, where the reader's fence is for its block alone.
template <bool wide_enough> __global__ void read_behind_a_narrow_fence(int *data, int *flag)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[0] = 1;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        await(flag);
        if (wide_enough)
            __threadfence();
        else
            __threadfence_block();
        data[1] = data[0]; // not yet announced
    }
}

// Two warps of a block may add like that, two blocks may not.
template <bool in_one_block> __global__ void added_for_the_block(int *sums)
{
    atomicAdd_block(&sums[in_one_block ? blockIdx.x : 0], 1); // for one block
}

// Blocks take turns: what one has done is released before the other begins.
__global__ void added_in_turn(int *sum, int *turn)
{
    if (threadIdx.x == 0)
        while (atomicAdd(turn, 0) != static_cast<int>(blockIdx.x)) {
        }
    __syncthreads();
    atomicAdd_block(sum, 1);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(turn, 1);
}

// Sums that a plain addition and an atomic one meet in.
template <bool all_atomic> __global__ void mixed_additions(int *sum)
{
    if (threadIdx.x < 32 || all_atomic)
        atomicAdd(sum, 1);
    else if (threadIdx.x == 32)
        *sum = 1; // without an atomic
}

// A total that is read while others still add to it.
template <bool all_added> __global__ void total_read_early(int *sum, int *out)
{
    if (threadIdx.x < 32) atomicAdd(sum, 1);
    if (all_added) __syncthreads();
    if (threadIdx.x == 32) *out = *sum; // too early
}

// A loop around compare-and-swap, whose first read is a guess. What it meets decides.
enum class meets { swaps, halves, store, swaps_elsewhere };
template <meets what> __global__ void swap_loop(unsigned long long *sums)
{
    if (threadIdx.x < 32 && what == meets::halves) {
        atomicAdd(reinterpret_cast<unsigned *>(sums), 1u);
    } else if (threadIdx.x < 32 && what == meets::store) {
        if (threadIdx.x == 0) *sums = 7;
    } else {
        unsigned long long old = *sums, assumed; // the guess
        do {
            assumed = old;
            old = atomicCAS(sums + (what == meets::swaps_elsewhere), assumed, assumed + 3);
        } while (old != assumed);
        if (what == meets::swaps_elsewhere) atomicAdd(sums, 1ull);
    }
}

// A barrier of the warp where one of the block is needed.
template <bool of_the_block> __global__ void turned_around(int *out)
{
    __shared__ int row[64];
    row[threadIdx.x] = threadIdx.x; // for the other warp
    if (of_the_block)
        __syncthreads();
    else
        __syncwarp();
    out[threadIdx.x] = row[63 - threadIdx.x];
}

// Each block writes one element more than its own.
template <int more> __global__ void overlapping(int *out)
{
    for (int i = threadIdx.x; i < 32 + more; i += 32) out[32 * blockIdx.x + i] = blockIdx.x; // lays
}

template <meets what> void swap_faulty(bool faulty)
{
    auto *sums = reinterpret_cast<unsigned long long *>(numbers(4));
    faulty ? swap_loop<what><<<1, 64>>>(sums) : swap_loop<meets::swaps><<<2, 64>>>(sums);
}

static std::vector<planted> races()
{
    using enum simulator::finding_kind;
    const char *const tile_written = "tile[threadIdx.y][threadIdx.x] =";
    return {
        {"no barrier before the tile is read",
         "sum += tile[k]",
         race,
         {"of `tile`", "reads what thread (", "wrote at", "__syncthreads()"},
         [](bool f) {
             float *in = upload(std::vector<float>(1024, 1)), *out = unwritten<float>(256);
             const dim3 square(16, 16);
             f ? tiles<true, false><<<1, square>>>(in, out, 64)
               : tiles<true, true><<<2, square>>>(in, unwritten<float>(256), 64);
         }},
        {"no barrier before the tile is written anew",
         tile_written,
         race,
         {"writes what thread (", "read at"},
         [](bool f) {
             float *in = upload(std::vector<float>(1024, 1)), *out = unwritten<float>(256);
             const dim3 square(16, 16);
             f ? tiles<false, true><<<1, square>>>(in, out, 64)
               : tiles<true, true><<<1, square>>>(in, out, 64);
         }},
        {"a warp's sum without __syncwarp",
         "int other = lane < d",
         race,
         {"__syncwarp()"},
         [](bool f) {
             int *in = numbers(64), *out = unwritten<int>(2);
             f ? warp_sum<false><<<1, 64>>>(in, out) : warp_sum<true><<<1, 64>>>(in, out);
         }},
        {"volatile in place of __syncwarp",
         "part[threadIdx.x] = part[",
         race,
         {"`part`"},
         [](bool f) {
             int *in = numbers(64), *out = unwritten<int>(1);
             f ? volatile_sum<<<1, 32>>>(in, out) : shuffled_sum<<<1, 32>>>(in, out);
         }},
        {"tiles of a warp that do not meet",
         "mine[rank] = v;",
         race,
         {"read at"},
         [](bool f) {
             int *out = unwritten<int>(64);
             f ? tiled_groups<false><<<1, 64>>>(out) : tiled_groups<true><<<1, 64>>>(out);
         }},
        {"different values in one place",
         "flag = same ?",
         race,
         {"left to chance", "byte 0 of"},
         [](bool f) {
             int *out = unwritten<int>(64);
             f ? one_place<false><<<1, 64>>>(out) : one_place<true><<<1, 64>>>(out);
         }},
        {"bins counted without atomics",
         "bins[in[threadIdx.x] % 4] += 1",
         race,
         {"bins"},
         [](bool f) {
             auto *in = upload(std::vector<unsigned char>(64, 3));
             int *out = unwritten<int>(4);
             f ? histogram<false><<<1, 64>>>(in, out) : histogram<true><<<1, 64>>>(in, out);
         }},
        {"a neighbour's byte",
         "row[threadIdx.x] = v + 1",
         race,
         {"read at"},
         [](bool f) {
             auto *row = unwritten<unsigned char>(64);
             f ? bytes<1><<<1, 64>>>(row) : bytes<0><<<1, 64>>>(row);
         }},
        {"a pipe that answers too early",
         "box[lane] = round * lane",
         race,
         {"`box`"},
         [](bool f) {
             int *out = unwritten<int>(32);
             f ? pipe<false><<<1, 64>>>(out) : pipe<true><<<1, 64>>>(out);
         }},
        {"a flag that nobody raises for the box",
         "// what was raised",
         race,
         {"`box`"},
         [](bool f) {
             int *out = unwritten<int>(128);
             if (f) return flag_and_barrier<raised_by::nobody><<<1, 128>>>(out);
             flag_and_barrier<raised_by::writer><<<1, 128>>>(out);
             flag_and_barrier<raised_by::writer, true><<<1, 128>>>(out);
             flag_and_barrier<raised_by::another><<<1, 128>>>(unwritten<int>(128));
         }},
        {"a lane that has not met another",
         "after those that read it",
         race,
         {"thread (2, 0, 0) read at"},
         [](bool f) {
             int *out = unwritten<int>(32);
             f ? pairs_of_lanes<false><<<1, 32>>>(out) : pairs_of_lanes<true><<<1, 32>>>(out);
         }},
        {"a lane that has not met another, after a warp that has",
         "after those that read it",
         race,
         {"thread (34, 0, 0) read at"},
         [](bool f) {
             int *out = unwritten<int>(64);
             f ? pairs_after_a_warp<false><<<1, 64>>>(out)
               : pairs_after_a_warp<true><<<1, 64>>>(out);
         }},
        {"two copies to one place",
         "cp.async.ca",
         race,
         {"`row`"},
         [](bool f) {
             int *in = numbers(64), *out = unwritten<int>(64);
             f ? brought_twice<false><<<1, 64>>>(in, out) : brought_twice<true><<<1, 64>>>(in, out);
         }},
        {"no lock",
         "sum += threadIdx.x",
         race,
         {"wrote at"},
         [](bool f) {
             int *out = unwritten<int>(1);
             f ? critical<false><<<1, 256>>>(out) : critical<true><<<1, 256>>>(out);
         }},
        {"a barrier of the warp for the block",
         "row[threadIdx.x] = threadIdx.x; //",
         race,
         {"`row`"},
         [](bool f) {
             int *out = unwritten<int>(64);
             f ? turned_around<false><<<1, 64>>>(out) : turned_around<true><<<1, 64>>>(out);
         }},
        {"neighbours in device memory",
         "data[i] = v;",
         race,
         {"read at"},
         [](bool f) {
             float *data = upload(std::vector<float>(1024, 1));
             f ? neighbours<false><<<4, 256>>>(data) : neighbours<true><<<4, 256>>>(data);
         }},
        {"plain beside atomic",
         "// without an atomic",
         race,
         {"`data`"},
         [](bool f) {
             int *sum = numbers(1);
             f ? mixed_additions<false><<<1, 64>>>(sum) : mixed_additions<true><<<1, 64>>>(sum);
         }},
        {"a total read while others add",
         "// too early",
         race,
         {"`data`"},
         [](bool f) {
             int *sum = numbers(1), *out = unwritten<int>(1);
             f ? total_read_early<false><<<1, 64>>>(sum, out)
               : total_read_early<true><<<1, 64>>>(sum, out);
         }},
        {"a guess beside atomics of another size",
         "// the guess",
         race,
         {"`data`", "swap_loop"},
         [](bool f) { swap_faulty<meets::halves>(f); }},
        {"a guess beside a plain store",
         "// the guess",
         race,
         {"`data`"},
         [](bool f) { swap_faulty<meets::store>(f); }},
        {"a value read in one place and swapped in another",
         "atomicAdd(sums, 1ull)",
         race,
         {"`data`"},
         [](bool f) { swap_faulty<meets::swaps_elsewhere>(f); }},
        {"blocks that write the same place",
         "out[own ?",
         race,
         {"of block (", "two blocks"},
         [](bool f) {
             int *out = unwritten<int>(8);
             f ? last_block_wins<false><<<8, 32>>>(out) : last_block_wins<true><<<8, 32>>>(out);
         }},
        {"blocks whose parts overlap",
         "// lays",
         race,
         {"`data`", "two blocks"},
         [](bool f) {
             int *out = unwritten<int>(32 * 5);
             f ? overlapping<1><<<4, 32>>>(out) : overlapping<0><<<4, 32>>>(out);
         }},
        {"blocks that write the same place, far apart",
         "if (threadIdx.x == 0 && outer)",
         race,
         {"wrote long before", "two blocks"},
         [](bool f) {
             int *out = unwritten<int>(64);
             f ? far_apart<false><<<64, 32>>>(out, 40000) : far_apart<true><<<64, 32>>>(out, 40000);
         }},
        {"overwritten before all have read",
         "data[threadIdx.x] = 0;",
         race,
         {"two blocks"},
         [](bool f) {
             int *turn = numbers(1), *data = numbers(128);
             f ? in_place<false><<<2, 64>>>(data, turn) : in_place<true><<<2, 64>>>(data, turn);
         }},
        {"a flag between blocks without a fence",
         "// announced",
         race,
         {"two blocks"},
         [](bool f) {
             int *data = numbers(2), *flag = numbers(1);
             f ? flag_between_blocks<false><<<2, 32>>>(data, flag)
               : flag_between_blocks<true><<<2, 32>>>(data, flag);
         }},
        {"a flag between blocks with a fence for the block",
         "// not yet announced",
         race,
         {"no __threadfence() comes"},
         [](bool f) {
             int *data = numbers(2), *flag = numbers(1);
             f ? read_behind_a_narrow_fence<false><<<2, 32>>>(data, flag)
               : read_behind_a_narrow_fence<true><<<2, 32>>>(data, flag);
         }},
        {"atomics for one block in two of them",
         "// for one block",
         race,
         {"of block (", "_block"},
         [](bool f) {
             int *sums = numbers(4);
             if (f) return added_for_the_block<false><<<4, 64>>>(sums);
             added_for_the_block<true><<<4, 64>>>(sums);
             added_in_turn<<<4, 64>>>(sums, numbers(1));
         }},
        {"the last block's sum without a fence",
         "atomicAdd(out, part",
         race,
         {"wrote"},
         [](bool f) {
             int *part = unwritten<int>(64), *sum = numbers(1);
             auto *done = reinterpret_cast<unsigned *>(numbers(1));
             if (f) return sum_of_sums<false><<<64, 32>>>(part, done, sum);
             sum_of_sums<true><<<64, 32>>>(part, done, sum);
             CHECK(download(sum, 1)[0] == 64 * 65 / 2);
         }},
    };
}
