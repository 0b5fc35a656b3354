// Right: the other way round: a warp has eight bodies, its lanes each sum over a 32nd of those that
// pull, and shuffles add up; a step is a graph, captured from a stream.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <memory>

namespace cg = cooperative_groups;

constexpr int warps = 16, threads = 32 * warps, own = 8, per_block = warps * own;

static __global__ __launch_bounds__(threads) void pull(const float4 *points, float4 *out, int n,
                                                       float eps2)
{
    __shared__ float4 tile[threads];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int first = blockIdx.x * per_block + warp.meta_group_rank() * own;
    float4 at[own];
    float x[own] = {}, y[own] = {}, z[own] = {};
    for (int k = 0; k < own; ++k)
        at[k] = points[min(first + k, n - 1)]; // one address for all lanes
    for (int start = 0; start < n; start += threads) {
        int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? points[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int t = warp.thread_rank(); t < threads; t += 32) {
            float4 o = tile[t];
#pragma unroll
            for (int k = 0; k < own; ++k) {
                float dx = o.x - at[k].x, dy = o.y - at[k].y, dz = o.z - at[k].z;
                float r = rsqrtf(dx * dx + dy * dy + dz * dz + eps2), f = o.w * r * r * r;
                x[k] += dx * f, y[k] += dy * f, z[k] += dz * f;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < own; ++k) {
        float sx = cg::reduce(warp, x[k], cg::plus<float>());
        float sy = cg::reduce(warp, y[k], cg::plus<float>());
        float sz = cg::reduce(warp, z[k], cg::plus<float>());
        if (warp.thread_rank() == k && first + k < n) out[first + k] = make_float4(sx, sy, sz, 0);
    }
}

static __global__ void pack(const body *bodies, float4 *points, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) points[i] = make_float4(bodies[i].x, bodies[i].y, bodies[i].z, bodies[i].mass);
}

static __global__ void kick(float4 *velocity, const float4 *a, int n, float dt)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    velocity[i].x += a[i].x * dt;
    velocity[i].y += a[i].y * dt;
    velocity[i].z += a[i].z * dt;
}

static __global__ void drift(float4 *position, const float4 *v, int n, float dt)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    position[i].x += v[i].x * dt;
    position[i].y += v[i].y * dt;
    position[i].z += v[i].z * dt;
}

static int over(int n, int each) { return (n + each - 1) / each; }

size_t accelerations_scratch(int n) { return sizeof(float4) * n; }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch)
{
    if (n == 0) return;
    float4 *points = static_cast<float4 *>(scratch);
    pack<<<over(n, 256), 256>>>(bodies, points, n);
    check_launch("pack");
    pull<<<over(n, per_block), threads>>>(points, out, n, softening * softening);
    check_launch("pull");
}

struct destroy {
    void operator()(cudaStream_t s) const { cudaStreamDestroy(s); }
    void operator()(cudaGraph_t g) const { cudaGraphDestroy(g); }
    void operator()(cudaGraphExec_t e) const { cudaGraphExecDestroy(e); }
};
template <class T> using owned = std::unique_ptr<std::remove_pointer_t<T>, destroy>;

size_t step_scratch(int n) { return sizeof(float4) * n; }

void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch)
{
    if (n == 0 || steps == 0) return;
    float4 *a = static_cast<float4 *>(scratch);
    float eps2 = softening * softening;
    int grid = over(n, 256);
    cudaStream_t stream;
    check(cudaStreamCreate(&stream), "cudaStreamCreate");
    owned<cudaStream_t> stream_owner(stream);

    // One step is the graph; it is launched as often as there are steps.
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin of capture");
    kick<<<grid, 256, 0, stream>>>(velocity, a, n, dt / 2);
    drift<<<grid, 256, 0, stream>>>(position_mass, velocity, n, dt);
    pull<<<over(n, per_block), threads, 0, stream>>>(position_mass, a, n, eps2);
    kick<<<grid, 256, 0, stream>>>(velocity, a, n, dt / 2);
    cudaGraph_t graph;
    check(cudaStreamEndCapture(stream, &graph), "end of capture");
    owned<cudaGraph_t> graph_owner(graph);
    cudaGraphExec_t exec;
    check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
    owned<cudaGraphExec_t> exec_owner(exec);

    pull<<<over(n, per_block), threads, 0, stream>>>(position_mass, a, n, eps2);
    check_launch("pull");
    for (int s = 0; s < steps; ++s) check(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
    // Stream and graph may be destroyed now: the runtime keeps them until the work is done.
}
