// Right: aligned_alloc memory pinned by cudaHostRegister, uploads in two streams, chunks summed
// while the next is copied, host threads for samples, macros that throw.
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

void device_facts(device_facts_t *out_host)
{
    int device = 0;
    cudaDeviceProp has = {};
    TRY(cudaGetDeviceCount(&out_host->devices));
    TRY(cudaGetDevice(&device));
    TRY(cudaGetDeviceProperties(&has, device));
    std::string(has.name).copy(out_host->name, sizeof has.name - 1);
    out_host->name[std::string(has.name).size()] = 0;
    out_host->multiprocessors = has.multiProcessorCount;
    out_host->threads_a_block = has.maxThreadsPerBlock;
    out_host->shared_a_block = has.sharedMemPerBlock;
    out_host->constant_memory = has.totalConstMem;
    out_host->l2 = has.l2CacheSize;
    out_host->warp_size = has.warpSize;
    out_host->copy_engines = has.asyncEngineCount;
}

static __device__ float in_global;
static __global__ void add_one(float *to) { *to += 1; }

void add_to_global(float start, float *out_host)
{
    float *at;
    TRY(cudaGetSymbolAddress(reinterpret_cast<void **>(&at), in_global));
    TRY(cudaMemcpyToSymbolAsync(in_global, &start, 4, 0, cudaMemcpyHostToDevice, side(0)));
    add_one<<<1, 1, 0, side(0)>>>(at);
    LAUNCHED();
    TRY(cudaMemcpyFromSymbolAsync(out_host, in_global, 4, 0, cudaMemcpyDeviceToHost, side(0)));
    TRY(cudaStreamSynchronize(side(0)));
}

static __constant__ float coefficients[most_coefficients];

// Even and odd powers apart: two chains that do not wait for each other.
static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    if (me() >= n) return;
    float at = x[me()], square = at * at, even = 0, odd = 0;
    for (int k = degree / 2 * 2; k >= 0; k -= 2) {
        even = even * square + coefficients[k];
        odd = odd * square + (k < degree ? coefficients[k + 1] : 0);
    }
    y[me()] = even + at * odd;
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    TRY(cudaMemcpyToSymbol(coefficients, coefficients_host, sizeof(float) * (degree + 1)));
    evaluate<<<GRID(n), BLOCK>>>(x, y, n, degree);
    LAUNCHED();
}

static __device__ unsigned char next_state[256];

// A word an entry: 32 banks share 256 entries, and lanes that want bytes of one
// word no longer exist. Simple, and six rounds at most for random lanes.
static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ int table[256];
    for (int s = threadIdx.x; s < 256; s += BLOCK) table[s] = next_state[s];
    __syncthreads();
    for (int i = me(); i < n; i += gridDim.x * BLOCK) {
        int s = start[i];
#pragma unroll 4
        for (int k = 0; k < steps; k++) s = table[s];
        out[i] = (unsigned char)s;
    }
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    TRY(cudaMemcpyToSymbol(next_state, next_host, 256));
    walk<<<std::min(GRID(n), 2048), BLOCK>>>(start, out, n, steps);
    LAUNCHED();
}

// Sixteen rounds of neighbours, as float4 where the arrays begin well.
static __global__ void sort_runs(const float *in, float *out, int n, bool aligned)
{
    float v[run_length];
    int first = me() * run_length;
    if (first >= n) return;
    bool wide = aligned && first + run_length <= n;
#pragma unroll
    for (int e = 0; e < run_length; e += 4) {
        if (wide) {
            float4 four = *(const float4 *)(in + first + e);
            v[e] = four.x, v[e + 1] = four.y, v[e + 2] = four.z, v[e + 3] = four.w;
            continue;
        }
#pragma unroll
        for (int k = e; k < e + 4; k++) v[k] = first + k < n ? in[first + k] : INFINITY;
    }
#pragma unroll
    for (int round = 0; round < run_length; round++)
#pragma unroll
        for (int e = round % 2; e + 1 < run_length; e += 2) {
            float small = fminf(v[e], v[e + 1]);
            v[e + 1] = fmaxf(v[e], v[e + 1]);
            v[e] = small;
        }
#pragma unroll
    for (int e = 0; e < run_length; e += 4) {
        if (wide) {
            *(float4 *)(out + first + e) = make_float4(v[e], v[e + 1], v[e + 2], v[e + 3]);
            continue;
        }
#pragma unroll
        for (int k = e; k < e + 4; k++)
            if (first + k < n) out[first + k] = v[k];
    }
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    bool aligned = (size_t)in % 16 == 0 && (size_t)out % 16 == 0;
    sort_runs<<<GRID((n - 1) / run_length + 1), BLOCK>>>(in, out, n, aligned);
    LAUNCHED();
}

// 1024 threads or as many as a piece has elements, in warps.
static __global__ void reverse_pieces(float *data, int n, int block)
{
    __shared__ float before[1024];
    int first = blockIdx.x * block, length = min(block, n - first), t = threadIdx.x;
    if (t < length) before[length - 1 - t] = data[first + t];
    __syncthreads();
    if (t < length) data[first + t] = before[t];
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    reverse_pieces<<<(n - 1) / block + 1, (block + 31) / 32 * 32>>>(data, n, block);
    LAUNCHED();
}

#define PITCH 33

// Blocks of 32 x WARPS threads; the rows of tiles go in the grid's x, whose
// limit is far away.
static __global__ void transpose_tiles(const float *in, float *out, int rows, int cols, int down)
{
    __shared__ float tile[32 * PITCH];
    int row = blockIdx.x % down * 32, col = blockIdx.x / down * 32, x = threadIdx.x;
    for (int y = threadIdx.y; y < 32 && row + y < rows; y += WARPS)
        if (col + x < cols) tile[y * PITCH + x] = __ldg(&in[(row + y) * cols + col + x]);
    __syncthreads();
    if (row + x >= rows) return;
    for (int y = threadIdx.y; y < 32 && col + y < cols; y += WARPS)
        out[(col + y) * rows + row + x] = tile[x * PITCH + y];
}

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int down = (rows - 1) / 32 + 1, across = (cols - 1) / 32 + 1;
    transpose_tiles<<<down * across, dim3(32, WARPS)>>>(in, out, rows, cols, down);
    LAUNCHED();
}

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    if (me() < n) out[me()] = tex2D<float>(texture, at[me()].x + .5f, at[me()].y + .5f);
}

static __global__ void sample_loads(const unsigned char *image, int width, int height,
                                    const float2 *at, float *out, int n)
{
    if (me() >= n) return;
    float x = fmaxf(0, fminf(at[me()].x, width - 1)), y = fmaxf(0, fminf(at[me()].y, height - 1));
    int l = min((int)x, width - 1), t = min((int)y, height - 1);
    int r = min(l + 1, width - 1), b = min(t + 1, height - 1);
    const unsigned char *top = image + t * width, *bottom = image + b * width;
    float upper = top[l] + (x - l) * (top[r] - top[l]);
    float lower = bottom[l] + (x - l) * (bottom[r] - bottom[l]);
    out[me()] = (upper + (y - t) * (lower - upper)) / 255;
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    if (width > 131072 || height > 65536) { // no array is as large
        sample_loads<<<GRID(n), BLOCK>>>(image, width, height, at, out, n);
        LAUNCHED();
        return;
    }
    cudaResourceDesc where = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    cudaChannelFormatDesc texel = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    where.resType = cudaResourceTypeArray;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    TRY(cudaMallocArray(&where.res.array.array, &texel, width, height));
    TRY(cudaMemcpy2DToArray(where.res.array.array, 0, 0, image, width, width, height,
                            cudaMemcpyDefault));
    TRY(cudaCreateTextureObject(&texture, &where, &how, nullptr));
    // Two host threads launch a half each, in streams of their own.
    cudaStream_t streams[2] = {side(0), side(1)};
    cudaError_t errors[2] = {};
    auto half = [&](int h) {
        int from = h ? n / 2 : 0, to = h ? n : n / 2;
        if (from < to)
            sample<<<GRID(to - from), BLOCK, 0, streams[h]>>>(texture, at + from, out + from,
                                                              to - from);
        errors[h] = cudaGetLastError();
        if (!errors[h]) errors[h] = cudaStreamSynchronize(streams[h]);
    };
    std::thread other(half, 1);
    half(0);
    other.join();
    TRY(cudaDestroyTextureObject(texture));
    TRY(cudaFreeArray(where.res.array.array));
    TRY(errors[0]);
    TRY(errors[1]);
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
