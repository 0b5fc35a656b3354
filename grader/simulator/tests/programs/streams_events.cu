// Two streams joined by events, callbacks, and an elapsed time that is no measurement.
#include "check.hpp"

__global__ void fill(int *p, int n, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = value + i;
}

__global__ void add_to(int *p, const int *q, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += q[i];
}

int main()
{
    const int n = 5000, blocks = (n + 255) / 256;
    int *a = nullptr, *b = nullptr, *host = nullptr;
    cudaStream_t one, two;
    cudaEvent_t begin, filled, end;
    CHECK_CUDA(cudaStreamCreate(&one));
    CHECK_CUDA(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK_CUDA(cudaEventCreate(&begin));
    CHECK_CUDA(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    CHECK_CUDA(cudaEventCreate(&end));
    CHECK_CUDA(cudaMallocAsync(&a, n * sizeof(int), one));
    CHECK_CUDA(cudaMalloc(&b, n * sizeof(int)));
    CHECK_CUDA(cudaMallocHost(&host, n * sizeof(int)));

    CHECK_CUDA(cudaEventRecord(begin, one));
    fill<<<blocks, 256, 0, one>>>(a, n, 10);
    fill<<<blocks, 256, 0, two>>>(b, n, 500);
    CHECK_CUDA(cudaEventRecord(filled, two));
    CHECK_CUDA(cudaStreamWaitEvent(one, filled));
    add_to<<<blocks, 256, 0, one>>>(a, b, n);
    CHECK_CUDA(cudaMemcpyAsync(host, a, n * sizeof(int), cudaMemcpyDeviceToHost, one));
    int seen = 0;
    struct context {
        int *host, *seen;
    } c = {host, &seen};
    CHECK_CUDA(cudaLaunchHostFunc(
        one,
        [](void *data) {
            auto *c = static_cast<context *>(data);
            *c->seen = c->host[7];
        },
        &c));
    CHECK_CUDA(cudaEventRecord(end, one));
    CHECK_CUDA(cudaEventSynchronize(end));
    CHECK(seen == 524);
    CHECK(host[n - 1] == 510 + 2 * (n - 1));
    float ms = -1;
    CHECK_CUDA(cudaEventElapsedTime(&ms, begin, end));
    CHECK(ms > 0);
    float back = 0;
    CHECK_CUDA(cudaEventElapsedTime(&back, end, begin));
    CHECK(back == -ms);
    CHECK_CUDA(cudaStreamQuery(two));
    CHECK_CUDA(cudaFreeAsync(a, one));
    CHECK_CUDA(cudaStreamDestroy(one));
    fill<<<1, 1, 0, one>>>(b, 1, 1);
    CHECK_ERROR(cudaErrorInvalidResourceHandle, cudaGetLastError());
    return done();
}
