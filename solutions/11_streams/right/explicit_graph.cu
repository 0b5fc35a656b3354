// Right: the pipeline is a graph built node by node (copies, kernels and the edges between them),
// no stream is named but the one that launches it; slots are edges, too.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

namespace {

constexpr int slots = 5, threads = 128;

using nodes = std::vector<cudaGraphNode_t>;

// A graph under construction. Every method gives the node it has added.
class plan {
public:
    plan() { check(cudaGraphCreate(&graph_, 0), "cudaGraphCreate"); }
    plan(const plan &) = delete;
    plan &operator=(const plan &) = delete;
    ~plan() { cudaGraphDestroy(graph_); }

    cudaGraphNode_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                         const nodes &after)
    {
        cudaGraphNode_t node;
        check(cudaGraphAddMemcpyNode1D(&node, graph_, after.data(), after.size(), to, from, bytes,
                                       kind),
              "a copy node");
        return node;
    }
    template <class... Parameters> cudaGraphNode_t
    kernel(void (*function)(Parameters...), int n, const nodes &after, Parameters... parameters)
    {
        void *pointers[] = {&parameters...}; // copied when the node is added
        cudaKernelNodeParams p{};
        p.func = reinterpret_cast<void *>(function);
        p.gridDim = dim3(std::max(1, n / threads + (n % threads != 0)));
        p.blockDim = dim3(threads);
        p.kernelParams = pointers;
        cudaGraphNode_t node;
        check(cudaGraphAddKernelNode(&node, graph_, after.data(), after.size(), &p),
              "a kernel node");
        return node;
    }
    void launch(cudaStream_t s) const
    {
        cudaGraphExec_t exec;
        check(cudaGraphInstantiate(&exec, graph_, 0), "cudaGraphInstantiate");
        check(cudaGraphLaunch(exec, s), "cudaGraphLaunch");
        check(cudaGraphExecDestroy(exec), "cudaGraphExecDestroy");
    }

private:
    cudaGraph_t graph_ = nullptr;
};

__global__ void add_and_work(const float *a, const float *b, float *c, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = work(a[i] + b[i], rounds);
}

__global__ void merge(const unsigned char *a, const unsigned char *b, unsigned char *c, int n, int)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = (a[i] + a[i] + a[i] + b[i] + 2) / 4;
}

int piece_of(int n) { return std::max(n / 32, 1); }

template <class T> void through(void (*function)(const T *, const T *, T *, int, int),
                                const T *a_host, const T *b_host, T *c_host, int n, int extra,
                                void *scratch)
{
    if (n == 0) return;
    plan p;
    int piece = piece_of(n);
    std::vector<nodes> free(slots); // what must be done before the slot is used again
    nodes last_b;                   // keeps the way in in the order of the pieces
    for (int first = 0, slot = 0; first < n; first += piece, slot = (slot + 1) % slots) {
        int count = std::min(piece, n - first);
        size_t bytes = sizeof(T) * count;
        T *a = static_cast<T *>(scratch) + size_t(3) * slot * piece, *b = a + piece, *c = b + piece;
        nodes before = free[slot];
        before.insert(before.end(), last_b.begin(), last_b.end());
        auto in_a = p.copy(a, a_host + first, bytes, cudaMemcpyHostToDevice, before);
        auto in_b = p.copy(b, b_host + first, bytes, cudaMemcpyHostToDevice, nodes{in_a});
        auto made =
            p.kernel(function, count, nodes{in_b}, (const T *)a, (const T *)b, c, count, extra);
        auto out = p.copy(c_host + first, c, bytes, cudaMemcpyDeviceToHost, nodes{made});
        free[slot] = nodes{out};
        last_b = nodes{in_b};
    }
    p.launch(cudaStreamPerThread);
    check(cudaStreamSynchronize(cudaStreamPerThread), "the graph");
}

__global__ void top_of(const float *in, float *top, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) top[i] = work(in[i], 1);
}
__global__ void left_of(const float *top, float *left, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) left[i] = work(top[i], rounds);
}
__global__ void right_of(const float *top, float *right, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) right[i] = work(top[n - 1 - i] / 2, rounds);
}
__global__ void difference(const float *left, const float *right, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = left[i] - right[i];
}

} // namespace

size_t add_pipelined_scratch(int n) { return size_t(3) * slots * piece_of(n) * sizeof(float); }
void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch)
{
    through(add_and_work, a_host, b_host, c_host, n, rounds, scratch);
}

size_t merge_images_scratch(int width, int height, int count)
{
    return size_t(3) * slots * piece_of(width * height * count);
}
void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, void *scratch)
{
    through(merge, first_host, second_host, out_host, width * height * count, 0, scratch);
}

size_t diamond_scratch(int n) { return sizeof(float) * n; }
void diamond(const float *in, float *left, float *right, float *out, int n, int rounds,
             void *scratch)
{
    if (n == 0) return;
    plan p;
    float *top = static_cast<float *>(scratch);
    auto t = p.kernel(top_of, n, {}, in, top, n);
    auto l = p.kernel(left_of, n, {t}, (const float *)top, left, n, rounds);
    auto r = p.kernel(right_of, n, {t}, (const float *)top, right, n, rounds);
    p.kernel(difference, n, {l, r}, (const float *)left, (const float *)right, out, n);
    p.launch(cudaStreamPerThread);
}
