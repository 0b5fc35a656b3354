// Right: distance_some gathers through a linear texture of float4 (RAII); conversions are graphs
// captured from a stream; blocks of 96; macros.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#define CU(call)                                                                                   \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess)                                                                \
            throw std::runtime_error(std::string(#call) + ": " + cudaGetErrorString(status_));     \
    } while (0)
#define BLOCK 96
#define GRID(n) (((n)-1) / BLOCK + 1)

layout drift_layout() { return layout::soa; }
layout distance_all_layout() { return layout::soa; }
layout distance_some_layout() { return layout::aos; }

static __device__ float length(float x, float y, float z)
{
    return sqrtf(fmaf(x, x, fmaf(y, y, z * z)));
}

// Two particles per thread, half of the grid apart.
static __global__ void drift_kernel(float *__restrict__ x, const float *__restrict__ vx, int n,
                                    float dt)
{
    int half = gridDim.x * BLOCK, i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    float x0 = x[i], v0 = vx[i];
    if (i + half < n) {
        float x1 = x[i + half], v1 = vx[i + half];
        x[i + half] = x1 + v1 * dt;
    }
    x[i] = x0 + v0 * dt;
}

void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    drift_kernel<<<GRID((n + 1) / 2), BLOCK>>>(particles, particles + n * field_vx, n, dt);
    CU(cudaPeekAtLastError());
}

static __global__ void all_kernel(const float *__restrict__ x, const float *__restrict__ y,
                                  const float *__restrict__ z, int n, float3 c, float *out)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n) return;
    out[i] = length(x[i] - c.x, y[i] - c.y, z[i] - c.z);
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    all_kernel<<<GRID(n), BLOCK>>>(particles, particles + n, particles + 2 * n, n, centre, out);
    CU(cudaPeekAtLastError());
}

// A texture over float4 where they lie.
class linear_texture {
public:
    linear_texture(const float4 *data, size_t count)
    {
        cudaResourceDesc where = {};
        where.resType = cudaResourceTypeLinear;
        where.res.linear.devPtr = const_cast<float4 *>(data);
        where.res.linear.desc = cudaCreateChannelDesc<float4>();
        where.res.linear.sizeInBytes = count * sizeof(float4);
        cudaTextureDesc how = {};
        how.readMode = cudaReadModeElementType;
        CU(cudaCreateTextureObject(&object_, &where, &how, nullptr));
    }
    ~linear_texture() { cudaDestroyTextureObject(object_); }
    linear_texture(const linear_texture &) = delete;
    linear_texture &operator=(const linear_texture &) = delete;
    cudaTextureObject_t get() const { return object_; }

private:
    cudaTextureObject_t object_ = 0;
};

// `texture` is 0 where the particles do not fit one: then plain loads.
static __global__ void some_kernel(cudaTextureObject_t texture, const float4 *__restrict__ quarters,
                                   float3 c, const int *__restrict__ which, int k, float *out)
{
    int j = blockIdx.x * BLOCK + threadIdx.x;
    if (j >= k) return;
    int at = which[j] * 4;
    float4 p = texture ? tex1Dfetch<float4>(texture, at) : __ldg(quarters + at);
    out[j] = length(p.x - c.x, p.y - c.y, p.z - c.z);
}

void distance_some(const float *particles, int n, float3 centre, const int *which, int k,
                   float *out)
{
    if (k == 0) return;
    int device, alignment, most;
    CU(cudaGetDevice(&device));
    CU(cudaDeviceGetAttribute(&alignment, cudaDevAttrTextureAlignment, device));
    CU(cudaDeviceGetAttribute(&most, cudaDevAttrMaxTexture1DLinearWidth, device));
    const float4 *quarters = reinterpret_cast<const float4 *>(particles);
    // The particles begin at a multiple of 256 bytes; a texture may want 512.
    if (reinterpret_cast<uintptr_t>(particles) % alignment != 0 || 4 * n > most) {
        some_kernel<<<GRID(k), BLOCK>>>(0, quarters, centre, which, k, out);
        CU(cudaPeekAtLastError());
        return;
    }
    linear_texture texture(quarters, size_t(n) * 4);
    some_kernel<<<GRID(k), BLOCK>>>(texture.get(), quarters, centre, which, k, out);
    CU(cudaPeekAtLastError());
    CU(cudaStreamSynchronize(0)); // the texture must outlive the kernel
}

#define PITCH (fields + 1) // 17: a column of the tile lies in 32 banks

static __global__ void to_soa_kernel(const float *__restrict__ aos, float *__restrict__ soa, int n)
{
    extern __shared__ float tile[]; // BLOCK rows
    int first = blockIdx.x * BLOCK, here = min(BLOCK, n - first), i = first + threadIdx.x;
    for (int e = threadIdx.x; e < here * fields; e += BLOCK)
        tile[e / fields * PITCH + e % fields] = aos[first * fields + e];
    __syncthreads();
    if (i >= n) return;
    for (int f = 0; f < fields; f++) soa[f * n + i] = tile[threadIdx.x * PITCH + f];
}

static __global__ void to_aos_kernel(const float *__restrict__ soa, float *__restrict__ aos, int n)
{
    extern __shared__ float tile[];
    int first = blockIdx.x * BLOCK, here = min(BLOCK, n - first), i = first + threadIdx.x;
    for (int f = 0; f < fields && i < n; f++) tile[threadIdx.x * PITCH + f] = soa[f * n + i];
    __syncthreads();
    for (int e = threadIdx.x; e < here * fields; e += BLOCK)
        aos[first * fields + e] = tile[e / fields * PITCH + e % fields];
}

static void launch_as_graph(void (*kernel)(const float *, float *, int), const float *from,
                            float *to, int n)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CU(cudaStreamCreate(&stream));
    CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    kernel<<<GRID(n), BLOCK, BLOCK * PITCH * sizeof(float), stream>>>(from, to, n);
    CU(cudaStreamEndCapture(stream, &graph));
    CU(cudaGraphInstantiate(&ready, graph, 0));
    CU(cudaGraphLaunch(ready, stream)); // after the default stream's work, as any such stream
    CU(cudaStreamSynchronize(stream));
    CU(cudaGraphExecDestroy(ready));
    CU(cudaGraphDestroy(graph));
    CU(cudaStreamDestroy(stream));
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    launch_as_graph(to_soa_kernel, aos, soa, n);
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    launch_as_graph(to_aos_kernel, soa, aos, n);
}

namespace transposition {

constexpr int pitch = 33, warps = 6;

// Blocks of 32 x warps threads; the rows of tiles go in the grid's x, whose
// limit is far away.
static __global__ void transpose_tiles(const float *in, float *out, int rows, int cols, int down)
{
    __shared__ float tile[32 * pitch];
    int row = blockIdx.x % down * 32, col = blockIdx.x / down * 32, x = threadIdx.x;
    for (int y = threadIdx.y; y < 32 && row + y < rows; y += warps)
        if (col + x < cols) tile[y * pitch + x] = __ldg(&in[(row + y) * cols + col + x]);
    __syncthreads();
    if (row + x >= rows) return;
    for (int y = threadIdx.y; y < 32 && col + y < cols; y += warps)
        out[(col + y) * rows + row + x] = tile[x * pitch + y];
}

} // namespace transposition

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int down = (rows - 1) / 32 + 1, across = (cols - 1) / 32 + 1;
    transposition::transpose_tiles<<<down * across, dim3(32, transposition::warps)>>>(in, out, rows,
                                                                                      cols, down);
    CU(cudaPeekAtLastError());
}
