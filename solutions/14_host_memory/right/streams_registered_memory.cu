// Right: aligned_alloc memory pinned by cudaHostRegister, uploads in two streams, chunks summed
// while the next is copied, macros that throw.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (cudaError_t error = (call))                                                            \
            throw std::runtime_error(std::string(#call) + ": " + cudaGetErrorString(error));       \
    } while (false)
#define LAUNCHED() TRY(cudaPeekAtLastError())
#define WARPS 6
#define BLOCK (WARPS * 32)
#define GRID(n) (((n)-1) / BLOCK + 1)

static __device__ int me() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Two streams beside the default stream, which they wait for and which waits
// for them: they are of the blocking kind.
static cudaStream_t side(int which)
{
    static cudaStream_t streams[2];
    if (!streams[which]) TRY(cudaStreamCreate(&streams[which]));
    return streams[which];
}

// Whole pages, so that no two registrations share one.
float *acquire(size_t n)
{
    size_t bytes = (n * sizeof(float) + 4095) / 4096 * 4096;
    void *memory = std::aligned_alloc(4096, bytes);
    if (!memory) throw std::bad_alloc();
    TRY(cudaHostRegister(memory, bytes, cudaHostRegisterDefault));
    return static_cast<float *>(memory);
}

void upload(const float *src_host, float *dst, size_t n)
{
    size_t half = n / 2;
    TRY(cudaMemcpyAsync(dst, src_host, half * sizeof(float), cudaMemcpyHostToDevice, side(0)));
    TRY(cudaMemcpyAsync(dst + half, src_host + half, (n - half) * sizeof(float),
                        cudaMemcpyHostToDevice, side(1)));
}

void release(float *memory)
{
    TRY(cudaHostUnregister(memory));
    std::free(memory);
}

size_t sum_mapped_scratch(int n) { return (size_t)n * sizeof(float); }

static __global__ void add_powers(const float *values, int n, int power, double *sum)
{
    __shared__ double of_warp[WARPS];
    double mine = 0;
    for (int i = me(); i < n; i += gridDim.x * BLOCK) {
        double v = values[i], product = v;
        for (int p = 1; p < power; p++) product *= v;
        mine += product;
    }
    for (int lanes = 16; lanes; lanes >>= 1) mine += __shfl_xor_sync(-1u, mine, lanes);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < WARPS; w++) mine += of_warp[w];
    atomicAdd(sum, mine);
}

// Four chunks: one stream copies, the other adds up what has come.
void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    TRY(cudaMemsetAsync(out, 0, passes * sizeof(double), side(1)));
    float *values = (float *)scratch;
    int chunk = n / 4 + 1;
    for (int from = 0; from < n; from += chunk) {
        int length = std::min(chunk, n - from);
        cudaEvent_t copied;
        TRY(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming));
        TRY(cudaMemcpyAsync(values + from, mapped + from, length * sizeof(float), cudaMemcpyDefault,
                            side(0)));
        TRY(cudaEventRecord(copied, side(0)));
        TRY(cudaStreamWaitEvent(side(1), copied, 0));
        TRY(cudaEventDestroy(copied)); // freed when it has happened
        for (int p = 0; p < passes; p++)
            add_powers<<<std::min(GRID(length), 512), BLOCK, 0, side(1)>>>(values + from, length,
                                                                           p + 1, out + p);
        LAUNCHED();
    }
}

static __global__ void scale(float *managed, int n, float factor, int rounds)
{
    if (me() >= n) return;
    float v = managed[me()];
    for (int r = 0; r < rounds; r++) v = __fmul_rn(v, factor);
    managed[me()] = v;
    if (rounds > 1000000 && me() == 0) printf("scale: %d rounds, really?\n", rounds);
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0) return;
    int device, paged;
    TRY(cudaGetDevice(&device));
    TRY(cudaDeviceGetAttribute(&paged, cudaDevAttrConcurrentManagedAccess, device));
    if (paged) {
        cudaMemLocation here = {cudaMemLocationTypeDevice, device};
        size_t bytes = n * sizeof(float);
        TRY(cudaMemAdvise(managed, bytes, cudaMemAdviseSetPreferredLocation, here));
        TRY(cudaMemPrefetchAsync(managed, bytes, here, 0, side(0)));
    }
    scale<<<GRID(n), BLOCK, 0, side(0)>>>(managed, n, factor, rounds);
    LAUNCHED();
}

float time_copy_ms(const float *src_host, float *dst, size_t n, int repeats)
{
    cudaEvent_t start, stop;
    TRY(cudaEventCreate(&start));
    TRY(cudaEventCreate(&stop));
    for (int k = 0; k <= repeats; ++k) {
        TRY(cudaMemcpyAsync(dst, src_host, n * sizeof(float), cudaMemcpyHostToDevice, side(1)));
        if (k == 0) TRY(cudaEventRecord(start, side(1)));
    }
    TRY(cudaEventRecord(stop, side(1)));
    while (cudaEventQuery(stop) == cudaErrorNotReady) std::this_thread::yield();
    float ms = 0;
    TRY(cudaEventElapsedTime(&ms, start, stop));
    TRY(cudaEventDestroy(start));
    TRY(cudaEventDestroy(stop));
    return ms / repeats;
}
