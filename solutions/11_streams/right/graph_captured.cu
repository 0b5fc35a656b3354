// Right: each function records its whole pipeline as a graph, by stream capture with forks and
// joins of events, and launches that once.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace {

constexpr int lanes = 3, block = 192;

cudaStream_t main_stream()
{
    static cudaStream_t s = [] {
        cudaStream_t made;
        check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "main stream");
        return made;
    }();
    return s;
}

// Captures what f(lane_streams) queues, runs it, and returns without waiting.
template <class F> void run_as_graph(F f)
{
    static cudaStream_t side[lanes] = {};
    static cudaEvent_t fork = nullptr, joins[lanes] = {};
    if (!fork) {
        for (int k = 0; k < lanes; ++k) {
            check(cudaStreamCreateWithFlags(&side[k], cudaStreamNonBlocking), "side stream");
            check(cudaEventCreateWithFlags(&joins[k], cudaEventDisableTiming), "join event");
        }
        check(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming), "fork event");
    }
    cudaStream_t origin = main_stream();
    check(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal), "begin capture");
    check(cudaEventRecord(fork, origin), "fork");
    for (cudaStream_t s : side) check(cudaStreamWaitEvent(s, fork), "fork");
    f(side);
    for (int k = 0; k < lanes; ++k) {
        check(cudaEventRecord(joins[k], side[k]), "join");
        check(cudaStreamWaitEvent(origin, joins[k]), "join");
    }
    cudaGraph_t graph;
    check(cudaStreamEndCapture(origin, &graph), "end capture");
    cudaGraphExec_t ready;
    check(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphLaunch(ready, origin), "cudaGraphLaunch");
    // Destroying what still runs is allowed: it is freed when it is done.
    check(cudaGraphExecDestroy(ready), "cudaGraphExecDestroy");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

__global__ void add_and_work(const float *a, const float *b, float *c, int n, int rounds)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = work(a[i] + b[i], rounds);
}

__global__ void merge(const unsigned char *first, const unsigned char *second, unsigned char *out,
                      int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = (3 * first[i] + second[i] + 2) >> 2;
}

int grid_for(int n) { return std::max(1, n / block + (n % block != 0)); }

template <class T, class K>
void pipeline(const T *a_host, const T *b_host, T *c_host, int n, int piece, T *slots, K launch)
{
    run_as_graph([&](const cudaStream_t *side) {
        for (int first = 0, turn = 0; first < n; first += piece, turn = (turn + 1) % lanes) {
            int count = std::min(piece, n - first);
            T *a = slots + size_t(3) * turn * piece, *b = a + piece, *c = b + piece;
            cudaStream_t s = side[turn];
            check(cudaMemcpyAsync(a, a_host + first, count * sizeof(T), cudaMemcpyDefault, s), "a");
            check(cudaMemcpyAsync(b, b_host + first, count * sizeof(T), cudaMemcpyDefault, s), "b");
            launch(s, a, b, c, count);
            check(cudaMemcpyAsync(c_host + first, c, count * sizeof(T), cudaMemcpyDefault, s), "c");
        }
    });
    check(cudaStreamSynchronize(main_stream()), "waiting for the graph");
}

int piece_of(int n) { return n / 20 + 1; }

} // namespace

size_t add_pipelined_scratch(int n) { return sizeof(float) * 3 * lanes * piece_of(n); }
void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch)
{
    if (n == 0) return;
    pipeline(a_host, b_host, c_host, n, piece_of(n), static_cast<float *>(scratch),
             [=](cudaStream_t s, const float *a, const float *b, float *c, int count) {
                 add_and_work<<<grid_for(count), block, 0, s>>>(a, b, c, count, rounds);
             });
}

// Pixels are pixels: the pieces do not mind where an image ends.
size_t merge_images_scratch(int width, int height, int count)
{
    return size_t(3) * lanes * piece_of(width * height * count);
}
void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch)
{
    int n = width * height * count;
    if (n == 0) return;
    pipeline(first_host, second_host, out_host, n, piece_of(n),
             static_cast<unsigned char *>(scratch),
             [](cudaStream_t s, const unsigned char *a, const unsigned char *b, unsigned char *c,
                int pixels) { merge<<<grid_for(pixels), block, 0, s>>>(a, b, c, pixels); });
}

__global__ void compute_top(const float *in, float *top, int n)
{
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n) top[i] = work(in[i], 1);
}
__global__ void branch(const float *top, float *out, int n, int rounds, bool right)
{
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
        out[i] = work(right ? top[n - 1 - i] / 2 : top[i], rounds);
}
__global__ void join(const float *left, const float *right, float *out, int n)
{
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n) out[i] = left[i] - right[i];
}

size_t diamond_scratch(int n) { return n * sizeof(float); }
void diamond(const float *in, float *left, float *right, float *out, int n, int rounds,
             void *scratch)
{
    if (n == 0) return;
    float *top = static_cast<float *>(scratch);
    cudaStream_t origin = main_stream();
    int grid = grid_for(n);
    compute_top<<<grid, block, 0, origin>>>(in, top, n);
    run_as_graph([&](const cudaStream_t *side) {
        branch<<<grid, block, 0, side[0]>>>(top, left, n, rounds, false);
        branch<<<grid, block, 0, side[1]>>>(top, right, n, rounds, true);
    });
    join<<<grid, block, 0, origin>>>(left, right, out, n);
    check_launch("join");
}
