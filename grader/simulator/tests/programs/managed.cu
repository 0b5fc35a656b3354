// Managed allocations and variables, touched by host and kernel in turn.
#include "check.hpp"

__managed__ int shared_count = 5;
__managed__ float squares[64];

__global__ void work(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
    if (i < 64) squares[i] = float(i) * i;
    if (i == 0) shared_count += 10;
}

__global__ void touch(int *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = 1;
}

int main()
{
    const int n = 3000;
    int *p = nullptr;
    CHECK_CUDA(cudaMallocManaged(&p, n * sizeof(int)));
    for (int i = 0; i < n; ++i) p[i] = i;
    shared_count += 1;
    const cudaMemLocation gpu = {cudaMemLocationTypeDevice, 0};
    const cudaMemLocation host = {cudaMemLocationTypeHost, 0};
    CHECK_CUDA(cudaMemAdvise(p, n * sizeof(int), cudaMemAdviseSetPreferredLocation, gpu));
    CHECK_CUDA(cudaMemPrefetchAsync(p, n * sizeof(int), gpu, 0, nullptr));
    work<<<(n + 63) / 64, 64>>>(p, n);
    CHECK_CUDA(cudaMemPrefetchAsync(p, n * sizeof(int), host, 0, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    bool doubled = true;
    for (int i = 0; i < n; ++i) doubled = doubled && p[i] == 2 * i;
    CHECK(doubled);
    CHECK(shared_count == 16);
    CHECK(squares[63] == 3969);
    int place = 0, by[2] = {};
    cudaMemLocationType type;
    const auto ask = [&](cudaMemRangeAttribute what, size_t bytes) {
        CHECK_CUDA(cudaMemRangeGetAttribute(&place, sizeof place, what, p, bytes));
        return place;
    };
    CHECK(ask(cudaMemRangeAttributePreferredLocation, n * sizeof(int)) == 0);
    CHECK(ask(cudaMemRangeAttributeLastPrefetchLocation, n * sizeof(int)) == cudaCpuDeviceId);
    CHECK_CUDA(cudaMemPrefetchAsync(p, 4096, gpu, 0, nullptr)); // its first page
    CHECK(ask(cudaMemRangeAttributeLastPrefetchLocation, 4096) == 0);
    CHECK(ask(cudaMemRangeAttributeLastPrefetchLocation, n * sizeof(int)) == cudaInvalidDeviceId);
    CHECK_CUDA(cudaMemRangeGetAttribute(&type, sizeof type,
                                        cudaMemRangeAttributeLastPrefetchLocationType, p, 4096));
    CHECK(type == cudaMemLocationTypeDevice);
    CHECK_CUDA(cudaMemAdvise(p, n * sizeof(int), cudaMemAdviseSetAccessedBy, gpu));
    CHECK_CUDA(cudaMemRangeGetAttribute(by, sizeof by, cudaMemRangeAttributeAccessedBy, p, 8192));
    CHECK(by[0] == 0 && by[1] == cudaInvalidDeviceId);
    CHECK(ask(cudaMemRangeAttributeReadMostly, 8192) == 0);
    CHECK_CUDA(cudaMemAdvise(p, 8192, cudaMemAdviseSetReadMostly, gpu));
    CHECK(ask(cudaMemRangeAttributeReadMostly, 8192) == 1);
    CHECK_CUDA(cudaFree(p));

    CHECK_CUDA(cudaMallocManaged(&p, n * sizeof(int))); // on three pages
    const auto pages_on_demand = [&] {
        simulator_begin();
        touch<<<(n + 63) / 64, 64>>>(p, n);
        return counted("managed_pages");
    };
    CHECK(pages_on_demand() == 3);
    CHECK(pages_on_demand() == 0); // there by now
    CHECK_CUDA(cudaMemPrefetchAsync(p, n * sizeof(int), host, 0, nullptr));
    CHECK_CUDA(cudaMemPrefetchAsync(p, 4096, gpu, 0, nullptr));
    CHECK(pages_on_demand() == 2);
    CHECK(counted("host_sectors") == 0);
    CHECK_CUDA(cudaFree(p));
    return done();
}
