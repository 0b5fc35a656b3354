// Right: Decoupled look-back whose board is read and written through cuda::atomic_ref (acquire and
// release), flags and sums in separate arrays; C++20 concepts and a constexpr lambda.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/atomic>
#include <cuda_runtime.h>

#include <concepts>

template <class T>
concept addable = std::integral<T> || std::floating_point<T>;

constexpr int threads = 256, rows = 12, tile_size = threads * rows;
constexpr auto tiles_for = [](int n) constexpr { return n / tile_size + (n % tile_size != 0); };

enum told : unsigned { told_nothing, told_own, told_all };

// A tile first tells the sum of its own elements, then that of all up to its end. Each sum has a
// place of its own, so a release of the flag publishes a number that nobody will change again.
template <addable T> struct board {
    T *own_sum, *all_sum;
    unsigned *flag, *ticket;

    board(void *scratch, int tiles)
        : own_sum(static_cast<T *>(scratch)),
          all_sum(own_sum + tiles),
          flag(reinterpret_cast<unsigned *>(all_sum + tiles)),
          ticket(flag + tiles)
    {
    }
    static size_t bytes(int n) { return tiles_for(n) * (2 * sizeof(T) + 4) + 4; }

    __device__ void tell(int tile, told what, T sum) const
    {
        (what == told_own ? own_sum : all_sum)[tile] = sum;
        cuda::atomic_ref<unsigned, cuda::thread_scope_device>(flag[tile])
            .store(what, cuda::memory_order_release);
    }
    __device__ T before(int tile) const
    {
        T sum = 0;
        while (--tile >= 0) {
            cuda::atomic_ref<unsigned, cuda::thread_scope_device> state(flag[tile]);
            unsigned what;
            while ((what = state.load(cuda::memory_order_acquire)) == told_nothing) __nanosleep(20);
            if (what == told_all) return all_sum[tile] + sum;
            sum = own_sum[tile] + sum;
        }
        return sum;
    }
};

template <addable T> static __device__ T scan_warp(T x)
{
    for (int d = 1; d < 32; d *= 2) {
        T left = __shfl_up_sync(~0u, x, d);
        if (threadIdx.x % 32 >= d) x += left;
    }
    return x;
}

// `before_block`, called by one thread with the block's sum, says what comes before the block.
template <bool inclusive, addable T, class F>
static __device__ void scan_tile(const T *in, T *out, int n, int tile, F before_block)
{
    __shared__ T of_warps[threads / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = tile * tile_size + warp * 32 * rows + lane;
    T x[rows], carry = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) x[r] = first + 32 * r < n ? in[first + 32 * r] : T(0);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        T sum = scan_warp(x[r]), left = __shfl_up_sync(~0u, sum, 1);
        x[r] = carry + (inclusive ? sum : lane > 0 ? left : T(0));
        carry += __shfl_sync(~0u, sum, 31);
    }
    if (lane == 0) of_warps[warp] = carry;
    __syncthreads();
    if (threadIdx.x == 0) {
        T sum = 0;
        for (int w = 0; w < threads / 32; ++w) sum += of_warps[w];
        T before = before_block(sum);
        for (int w = 0; w < threads / 32; ++w) {
            T mine = of_warps[w];
            of_warps[w] = before;
            before += mine;
        }
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < rows; ++r)
        if (first + 32 * r < n) out[first + 32 * r] = of_warps[warp] + x[r];
}

template <addable T, bool inclusive> static __global__ void __launch_bounds__(threads)
    scan_all(const T *in, T *out, int n, board<T> b)
{
    __shared__ int tile; // in the order of starting: whoever we wait for is running
    if (threadIdx.x == 0)
        tile = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*b.ticket).fetch_add(
            1, cuda::memory_order_relaxed);
    __syncthreads();
    scan_tile<inclusive>(in, out, n, tile, [&](T sum) {
        b.tell(tile, told_own, sum);
        T before = b.before(tile);
        b.tell(tile, told_all, before + sum);
        return before;
    });
}

template <bool inclusive> static __global__ void scan_small(const int *in, int *out, int n)
{
    scan_tile<inclusive>(in, out, n, 0, [](int) { return 0; });
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_small<true><<<1, threads>>>(in, out, n);
    check_launch("scan_small");
}
void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_small<false><<<1, threads>>>(in, out, n);
    check_launch("scan_small");
}

template <bool inclusive = true, addable T>
static void scan(const T *in, T *out, int n, void *scratch)
{
    if (n == 0) return;
    const int tiles = tiles_for(n);
    board<T> b(scratch, tiles);
    check(cudaMemsetAsync(b.flag, 0, sizeof(unsigned) * (tiles + 1)), "clearing the board");
    scan_all<T, inclusive><<<tiles, threads>>>(in, out, n, b);
    check_launch("scan_all");
}

size_t scan_inclusive_scratch(int n) { return board<int>::bytes(n); }
size_t scan_exclusive_scratch(int n) { return board<int>::bytes(n); }
size_t scan_inclusive_int64_scratch(int n) { return board<std::int64_t>::bytes(n); }
size_t scan_inclusive_float_scratch(int n) { return board<float>::bytes(n); }
void scan_inclusive(const int *in, int *out, int n, void *s) { scan(in, out, n, s); }
void scan_exclusive(const int *in, int *out, int n, void *s) { scan<false>(in, out, n, s); }
void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *s)
{
    scan(in, out, n, s);
}
void scan_inclusive_float(const float *in, float *out, int n, void *s) { scan(in, out, n, s); }
