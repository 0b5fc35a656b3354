// Lab 02, rung 4: offsets that cost no sector. A warp loads whole sectors and passes the floats on
// between its lanes.
//
// Unchanged: scale_columns, add_unrolled, predict, resident_blocks, warps_hiding_latency.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdint>

constexpr int block_size = 256;

static int blocks_for(int n, int elements_per_block)
{
    return (n + elements_per_block - 1) / elements_per_block;
}

constexpr int row = 32, rows_per_warp = 4, sector = 8; // floats
constexpr int stretch = row * rows_per_warp;           // floats that a warp adds

// How many floats `p` lies past the last sector boundary.
static int phase(const float *p)
{
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) / sizeof(float) % sector);
}

struct aligned_rows {
    float x[rows_per_warp + 1]; // of the last row only the first sector
};

// A stretch as it lies in memory, from the sector boundary at or before `first` on.
static __device__ aligned_rows load(const float *first, int shift)
{
    int lane = threadIdx.x % 32;
    const float *from = first - shift + lane;
    aligned_rows rows;
    for (int r = 0; r < rows_per_warp; ++r) rows.x[r] = from[r * row];
    rows.x[rows_per_warp] = shift > 0 && lane < sector ? from[rows_per_warp * row] : 0;
    return rows;
}

// Each lane takes the float that lies `shift` lanes ahead; beyond lane 31 that is in the next row.
// So the first lanes, which only those ask, hand out their float of the next row.
static __device__ float realigned(const aligned_rows &rows, int r, int shift)
{
    int lane = threadIdx.x % 32;
    return __shfl_sync(0xffffffffu, lane < shift ? rows.x[r + 1] : rows.x[r], (lane + shift) % 32);
}

// c[i] = a[i] + b[i] for 0 <= i < n. Stretches begin at element `head`, where c is at a sector
// boundary; the last block adds what lies before and behind them.
static __global__ void add_stretches(const float *a, const float *b, float *c, int n, int head,
                                     int stretches, int shift_a, int shift_b)
{
    if (blockIdx.x == gridDim.x - 1) {
        int body = stretches * stretch;
        for (int k = threadIdx.x; k < n - body; k += block_size) {
            int i = k < head ? k : k + body;
            c[i] = a[i] + b[i];
        }
        return;
    }
    int warp = (blockIdx.x * block_size + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp >= stretches) return; // the whole warp: every lane must be there to shuffle
    int first = head + warp * stretch;
    aligned_rows x = load(a + first, shift_a), y = load(b + first, shift_b);
    for (int r = 0; r < rows_per_warp; ++r)
        c[first + r * row + lane] = realigned(x, r, shift_a) + realigned(y, r, shift_b);
}

static void add_realigned(const float *a, const float *b, float *c, int n)
{
    if (n <= 0) return;
    // A sector stays free at both ends, so that aligned loads never leave an array.
    int head = 2 * sector - phase(c), room = n - head - sector;
    int stretches = room > 0 ? room / stretch : 0;
    int blocks = blocks_for(stretches, block_size / 32) + 1;
    add_stretches<<<blocks, block_size>>>(a, b, c, n, head, stretches, phase(a + head),
                                          phase(b + head));
    check_launch("add_stretches");
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add_realigned(a + offset, b + offset, c, n - offset);
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add_realigned(a, b, c + offset, n - offset);
}
