// Memory that kernels get from malloc: kept from one launch to the next, and free of nothing else.
#include "check.hpp"

__device__ int *kept;

__global__ void take(int n)
{
    kept = static_cast<int *>(malloc(n * sizeof(int)));
    for (int i = 0; i < n; ++i) kept[i] = i * i;
}

__global__ void give_back(int *sum, int n)
{
    *sum = 0;
    for (int i = 0; i < n; ++i) *sum += kept[i];
    free(kept);
}

__global__ void take_much(int *got)
{
    void *p = malloc(6 << 20), *q = malloc(6 << 20); // of 8 MiB
    *got = (p != nullptr) + (q != nullptr);
    free(p);
    free(q);
}

__global__ void free_foreign(int *p) { free(p); }

int main()
{
    int *sum = nullptr, *next = nullptr, *inside = nullptr, out[10];
    CHECK_CUDA(cudaMemcpyFromSymbol(&inside, kept, sizeof inside)); // has the variable its place
    CHECK_CUDA(cudaMalloc(&sum, 4));
    std::size_t before = 0, after = 0, all_of_it = 0;
    CHECK_CUDA(cudaMemGetInfo(&before, &all_of_it));
    take<<<1, 1>>>(10);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpyFromSymbol(&inside, kept, sizeof inside));
    // The host does not see what kernels take: neither by what is left, nor by addresses.
    CHECK_CUDA(cudaMemGetInfo(&after, &all_of_it));
    CHECK(before == after);
    CHECK_CUDA(cudaMalloc(&next, 4));
    CHECK(reinterpret_cast<char *>(next) - reinterpret_cast<char *>(sum) < 100 << 10);
    CHECK_CUDA(cudaFree(next));
    cudaPointerAttributes about;
    CHECK_CUDA(cudaPointerGetAttributes(&about, inside));
    CHECK(about.type == cudaMemoryTypeUnregistered);
    CHECK_ERROR(cudaErrorInvalidValue, cudaMemcpy(out, inside, 40, cudaMemcpyDeviceToHost));
    CHECK_ERROR(cudaErrorInvalidValue, cudaFree(inside));
    cudaGetLastError();
    give_back<<<1, 1>>>(sum, 10);
    CHECK(download(sum, 1)[0] == 285);
    take_much<<<1, 1>>>(sum);
    CHECK(download(sum, 1)[0] == 1);
    CHECK_CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    take_much<<<1, 1>>>(sum);
    CHECK(download(sum, 1)[0] == 2);
    CHECK(done() == 0);

    free_foreign<<<1, 1>>>(sum);
    CHECK_ERROR(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    const auto all = found();
    CHECK(all.size() == 1 && is(all[0], simulator::finding_kind::trap));
    return failures != 0;
}
