// Memory pools: limits, figures, thresholds, and who may use their memory.
#include "check.hpp"

#include <cstdlib>

__global__ void fill(char *p, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = 1;
}

static std::uint64_t figure(cudaMemPool_t pool, cudaMemPoolAttr which)
{
    std::uint64_t value = 0;
    CHECK_CUDA(cudaMemPoolGetAttribute(pool, which, &value));
    return value;
}

static std::string counts()
{
    std::string text(simulator_counters(nullptr, 0), 0);
    simulator_counters(text.data(), text.size() + 1);
    return text;
}

static cudaMemPool_t limited(int device, std::size_t most)
{
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, device};
    props.maxSize = most;
    cudaMemPool_t pool = nullptr;
    CHECK_CUDA(cudaMemPoolCreate(&pool, &props));
    return pool;
}

int main()
{
    setenv("SIMULATOR_DEVICES", "2", 1);
    cudaMemPool_t standard, now;
    CHECK_CUDA(cudaDeviceGetDefaultMemPool(&standard, 0));
    CHECK_CUDA(cudaDeviceGetMemPool(&now, 0));
    CHECK(standard == now);
    char *p = nullptr, *q = nullptr;
    CHECK_CUDA(cudaMallocAsync(&p, 1000, nullptr));
    CHECK(figure(standard, cudaMemPoolAttrUsedMemCurrent) == 1000);
    std::uint64_t threshold = 4000;
    CHECK_CUDA(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK_CUDA(cudaFreeAsync(p, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(figure(standard, cudaMemPoolAttrUsedMemCurrent) == 0);
    CHECK(figure(standard, cudaMemPoolAttrUsedMemHigh) == 1000);
    CHECK(figure(standard, cudaMemPoolAttrReservedMemCurrent) == 1000);
    CHECK_CUDA(cudaMemPoolTrimTo(standard, 0));
    CHECK(figure(standard, cudaMemPoolAttrReservedMemCurrent) == 0);

    cudaMemPool_t small = limited(0, 1500);
    CHECK_CUDA(cudaDeviceSetMemPool(0, small));
    CHECK_CUDA(cudaMallocAsync(&p, 1000, nullptr));
    CHECK_ERROR(cudaErrorMemoryAllocation, cudaMallocAsync(&q, 1000, nullptr));
    CHECK_CUDA(cudaMallocFromPoolAsync(&q, 1000, standard, nullptr));
    fill<<<8, 128>>>(p, 1000);
    CHECK_CUDA(cudaMemPoolDestroy(small)); // its memory lives on
    CHECK_CUDA(cudaDeviceGetMemPool(&now, 0));
    CHECK(standard == now);
    CHECK(download(p, 1000)[999] == 1);
    CHECK_CUDA(cudaFree(p));
    CHECK_CUDA(cudaFreeAsync(q, nullptr));
    CHECK_ERROR(cudaErrorInvalidValue, cudaMemPoolDestroy(standard));
    cudaGetLastError();

    cudaMemPool_t shared = limited(0, 0);
    CHECK_CUDA(cudaMallocFromPoolAsync(&p, 1000, shared, nullptr));
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 1}, cudaMemAccessFlagsProtReadWrite};
    CHECK_CUDA(cudaMemPoolSetAccess(shared, &access, 1));
    CHECK_CUDA(cudaMallocFromPoolAsync(&q, 1000, shared, nullptr));
    cudaMemAccessFlags flags;
    CHECK_CUDA(cudaMemPoolGetAccess(&flags, shared, &access.location));
    CHECK(flags == cudaMemAccessFlagsProtReadWrite);
    CHECK_CUDA(cudaSetDevice(1));
    simulator_begin();
    fill<<<8, 128>>>(p, 1000);
    fill<<<8, 128>>>(q, 1000);
    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK(counts().find("\"sent\":[0,2048") != std::string::npos); // the memory is device 0's
    access.flags = cudaMemAccessFlagsProtNone;
    CHECK_CUDA(cudaMemPoolSetAccess(shared, &access, 1));
    CHECK(done() == 0);

    access.flags = cudaMemAccessFlagsProtReadWrite;
    CHECK_CUDA(cudaMemPoolSetAccess(shared, &access, 1));
    simulator_close_peers(1 << 8); // device 1 to device 0
    CHECK_CUDA(cudaMemPoolGetAccess(&flags, shared, &access.location));
    CHECK(flags == cudaMemAccessFlagsProtNone);
    CHECK_ERROR(cudaErrorInvalidDevice, cudaMemPoolSetAccess(shared, &access, 1));
    cudaGetLastError();
    fill<<<8, 128>>>(p, 1000);
    CHECK_ERROR(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    return failures != 0;
}
