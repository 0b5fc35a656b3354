// Fails: add_pipelined: streams in any order | UNINITIALISED | is an event missing
// On gpu: may pass - the copy is mostly over in time
// One stream for the copies in, one for all else, and no event between them.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void add_and_work(const float *a, const float *b, float *c, int n, int rounds)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) c[i] = work(a[i] + b[i], rounds);
}

static cudaStream_t stream(int k)
{
    static cudaStream_t streams[4] = {};
    if (!streams[k]) cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking);
    return streams[k];
}

size_t add_pipelined_scratch(int n) { return 3 * sizeof(float) * n; }

void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch)
{
    int piece = (n + 15) / 16;
    for (int first = 0; first < n; first += piece) {
        float *a = static_cast<float *>(scratch) + first, *b = a + n, *c = b + n;
        int count = n - first < piece ? n - first : piece;
        size_t bytes = sizeof(float) * count;
        cudaMemcpyAsync(a, a_host + first, bytes, cudaMemcpyHostToDevice, stream(0));
        cudaMemcpyAsync(b, b_host + first, bytes, cudaMemcpyHostToDevice, stream(0));
        add_and_work<<<(count + 255) / 256, 256, 0, stream(1)>>>(a, b, c, count, rounds);
        cudaMemcpyAsync(c_host + first, c, bytes, cudaMemcpyDeviceToHost, stream(1));
    }
    for (int k = 0; k < 2; ++k) cudaStreamSynchronize(stream(k));
}

size_t merge_images_scratch(int, int, int) { return 0; }
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int,
                  void *)
{
}
size_t diamond_scratch(int) { return 0; }
void diamond(const float *, float *, float *, float *, int, int, void *) {}
