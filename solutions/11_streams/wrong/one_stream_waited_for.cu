// Fails: add_pipelined: streams as late as can be | LATE_WRITE | returned before
// On gpu: may pass - the other streams are mostly done by then
// Four streams have work, and the host waits for one.
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

size_t add_pipelined_scratch(int n) { return 12 * sizeof(float) * ((n + 15) / 16); }

void add_pipelined(const float *a_host, const float *b_host, float *c_host, int n, int rounds,
                   void *scratch)
{
    int piece = (n + 15) / 16;
    for (int first = 0, k = 0; first < n; first += piece, ++k) {
        float *a = static_cast<float *>(scratch) + 3 * size_t(k % 4) * piece, *b = a + piece,
              *c = b + piece;
        int count = n - first < piece ? n - first : piece;
        size_t bytes = sizeof(float) * count;
        cudaStream_t s = stream(k % 4);
        cudaMemcpyAsync(a, a_host + first, bytes, cudaMemcpyHostToDevice, s);
        cudaMemcpyAsync(b, b_host + first, bytes, cudaMemcpyHostToDevice, s);
        add_and_work<<<(count + 255) / 256, 256, 0, s>>>(a, b, c, count, rounds);
        cudaMemcpyAsync(c_host + first, c, bytes, cudaMemcpyDeviceToHost, s);
    }
    cudaStreamSynchronize(stream(0));
}

size_t merge_images_scratch(int, int, int) { return 0; }
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int,
                  void *)
{
}
size_t diamond_scratch(int) { return 0; }
void diamond(const float *, float *, float *, float *, int, int, void *) {}
