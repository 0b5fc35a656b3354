// Right: Hillis-Steele between two buffers of dynamic shared memory (one barrier a step), look-back
// in a 64-bit word by atomics, and the whole call captured from a stream into a graph.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cuda/std/utility>

constexpr int threads = 1024, items = 4, tile_size = threads * items;

static int tiles_for(int n) { return (n + tile_size - 1) / tile_size; }

// The scan of one number a thread. Reads and writes lie in different buffers, so that a step needs
// one barrier and not two.
template <class T> static __device__ T hillis_steele(T x, T *buffers, T &all)
{
    T *from = buffers, *to = buffers + threads;
    const int t = threadIdx.x;
    from[t] = x;
    for (int d = 1; d < threads; d *= 2) {
        __syncthreads();
        to[t] = t >= d ? from[t - d] + from[t] : from[t];
        cuda::std::swap(from, to);
    }
    __syncthreads();
    all = from[threads - 1];
    return t > 0 ? from[t - 1] : T(0); // exclusive
}

struct tile_state {
    unsigned long long own[2], all[2]; // a 32-bit half each, with 1 beside it when it is there
};

// One half is enough for 32 bits; atomicExch and a volatile load keep a word whole.
template <class T> static __device__ void tell(unsigned long long *at, T sum)
{
    unsigned long long bits = 0;
    memcpy(&bits, &sum, sizeof sum);
    atomicExch(at, 1ull << 32 | unsigned(bits));
    if (sizeof(T) == 8) atomicExch(at + 1, 1ull << 32 | bits >> 32);
}
template <class T> static __device__ bool told(const unsigned long long *at, T &sum)
{
    auto *look = const_cast<const volatile unsigned long long *>(at);
    unsigned long long low = look[0], high = sizeof(T) == 8 ? look[1] : 1ull << 32;
    if (!(low >> 32 & high >> 32)) return false;
    unsigned long long bits = high << 32 | unsigned(low);
    memcpy(&sum, &bits, sizeof sum);
    return true;
}

// By one thread, which mostly finds the sum of all at once.
template <class T> static __device__ T look_back(const tile_state *states, int tile)
{
    T before = 0, sum;
    while (--tile >= 0) {
        for (;;) {
            if (told(states[tile].all, sum)) return sum + before;
            if (told(states[tile].own, sum)) break;
        }
        before = sum + before;
    }
    return before;
}

template <class T, bool inclusive>
static __global__ void scan_tiles(const T *in, T *out, int n, int *ticket, tile_state *states)
{
    extern __shared__ __align__(8) unsigned char dynamic[];
    __shared__ T before_tile;
    __shared__ int tile;
    const int t = threadIdx.x;
    if (t == 0) tile = ticket ? atomicAdd(ticket, 1) : 0;
    __syncthreads();
    T *buffers = reinterpret_cast<T *>(dynamic), all, x[items], sum = 0;
    // Four neighbours a thread: the sectors are those of a coalesced load, in four requests.
    const int first = tile * tile_size + t * items;
    for (int k = 0; k < items; ++k) {
        T mine = first + k < n ? in[first + k] : T(0);
        x[k] = inclusive ? sum + mine : sum;
        sum += mine;
    }
    T before = hillis_steele(sum, buffers, all);
    if (t == 0 && states == nullptr) before_tile = 0;
    if (t == 0 && states != nullptr) {
        tell(states[tile].own, all);
        before_tile = look_back<T>(states, tile);
        tell(states[tile].all, before_tile + all);
    }
    __syncthreads();
    before = before_tile + before;
    for (int k = 0; k < items; ++k)
        if (first + k < n) out[first + k] = before + x[k];
}

// A memset and a kernel, as one graph. Destroying it lets what runs run to its end.
template <class T, bool inclusive> static void scan(const T *in, T *out, int n, void *scratch)
{
    if (n == 0) return;
    int *ticket = static_cast<int *>(scratch), tiles = tiles_for(n);
    auto *states = reinterpret_cast<tile_state *>(ticket + 64);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t work;
    check(cudaStreamCreate(&stream), "a stream");
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    cudaMemsetAsync(scratch, 0, 256 + sizeof(tile_state) * tiles, stream);
    scan_tiles<T, inclusive>
        <<<tiles, threads, 2 * threads * sizeof(T), stream>>>(in, out, n, ticket, states);
    check(cudaStreamEndCapture(stream, &graph), "end of capture");
    check(cudaGraphInstantiate(&work, graph, 0), "instantiating");
    check(cudaGraphLaunch(work, cudaStreamLegacy), "launching the graph");
    check(cudaGraphExecDestroy(work), "giving the graph back");
    check(cudaGraphDestroy(graph), "giving the graph back");
    check(cudaStreamDestroy(stream), "giving the stream back");
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_tiles<int, true><<<1, threads, 2 * threads * sizeof(int)>>>(in, out, n, nullptr, nullptr);
    check_launch("scan_tiles");
}
void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_tiles<int, false><<<1, threads, 2 * threads * sizeof(int)>>>(in, out, n, nullptr, nullptr);
    check_launch("scan_tiles");
}
static size_t bytes_for(int n) { return 256 + sizeof(tile_state) * tiles_for(n); }
size_t scan_inclusive_scratch(int n) { return bytes_for(n); }
size_t scan_exclusive_scratch(int n) { return bytes_for(n); }
size_t scan_inclusive_int64_scratch(int n) { return bytes_for(n); }
size_t scan_inclusive_float_scratch(int n) { return bytes_for(n); }
void scan_inclusive(const int *in, int *out, int n, void *s) { scan<int, true>(in, out, n, s); }
void scan_exclusive(const int *in, int *out, int n, void *s) { scan<int, false>(in, out, n, s); }
void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *s)
{
    scan<std::int64_t, true>(in, out, n, s);
}
void scan_inclusive_float(const float *in, float *out, int n, void *s)
{
    scan<float, true>(in, out, n, s);
}
