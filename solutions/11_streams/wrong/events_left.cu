// Fails: diamond: sizes, rounds and places | RESOURCE_LIMIT | streams and events more than before it
// On gpu: passes - what a call leaves behind is counted on the simulator alone
// Each call makes two events, and leaves them.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void branch(const float *top, float *out, int n, int rounds, bool right)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = work(right ? top[n - 1 - i] / 2 : top[i], rounds);
}

static __global__ void join(const float *left, const float *right, float *out, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = left[i] - right[i];
}

static cudaStream_t stream(int k)
{
    static cudaStream_t streams[4] = {};
    if (!streams[k]) cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking);
    return streams[k];
}

size_t diamond_scratch(int n) { return sizeof(float) * n; }

void diamond(const float *in, float *left, float *right, float *out, int n, int rounds,
             void *scratch)
{
    if (n == 0) return;
    float *top = static_cast<float *>(scratch);
    cudaStream_t one = stream(0), other = stream(1);
    cudaEvent_t made, joined;
    cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
    int blocks = (n + 255) / 256;
    branch<<<blocks, 256, 0, one>>>(in, top, n, 1, false);
    cudaEventRecord(made, one);
    cudaStreamWaitEvent(other, made);
    branch<<<blocks, 256, 0, one>>>(top, left, n, rounds, false);
    branch<<<blocks, 256, 0, other>>>(top, right, n, rounds, true);
    cudaEventRecord(joined, other);
    cudaStreamWaitEvent(one, joined);
    join<<<blocks, 256, 0, one>>>(left, right, out, n);
}

size_t add_pipelined_scratch(int) { return 0; }
void add_pipelined(const float *, const float *, float *, int, int, void *) {}
size_t merge_images_scratch(int, int, int) { return 0; }
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int,
                  void *)
{
}
