// Right: no shared memory at all; a warp keeps 32 bodies in its registers and passes them round by
// shuffles, four pulled bodies per lane.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

namespace {

constexpr int block_size = 128, per_lane = 4, per_warp = 32 * per_lane;

int div_up(int a, int b) { return (a + b - 1) / b; }

__global__ void pack(const body *bodies, float4 *points, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        points[i] = make_float4(bodies[i].x, bodies[i].y, bodies[i].z, bodies[i].mass);
}

__global__ void __launch_bounds__(block_size)
    pull(const float4 *__restrict__ points, float4 *__restrict__ out, int n, float eps2)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int lane = warp.thread_rank();
    int first = (blockIdx.x * (block_size / 32) + warp.meta_group_rank()) * per_warp + lane;
    if (first - lane >= n) return; // the warp as a whole: nobody waits for it

    float3 at[per_lane], sum[per_lane];
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
        float4 p = points[min(first + 32 * k, n - 1)]; // a copy of the last one does no harm
        at[k] = make_float3(p.x, p.y, p.z);
        sum[k] = make_float3(0, 0, 0);
    }
    for (int j = 0; j < n; j += 32) {
        float4 mine = j + lane < n ? points[j + lane] : make_float4(0, 0, 0, 0);
        for (int l = 0; l < 32; ++l) {
            float x = warp.shfl(mine.x, l), y = warp.shfl(mine.y, l), z = warp.shfl(mine.z, l);
            float mass = warp.shfl(mine.w, l);
#pragma unroll
            for (int k = 0; k < per_lane; ++k) {
                float dx = x - at[k].x, dy = y - at[k].y, dz = z - at[k].z;
                float r = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, eps2))));
                float s = mass * r * r * r;
                sum[k].x = fmaf(dx, s, sum[k].x);
                sum[k].y = fmaf(dy, s, sum[k].y);
                sum[k].z = fmaf(dz, s, sum[k].z);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < per_lane; ++k)
        if (first + 32 * k < n) out[first + 32 * k] = make_float4(sum[k].x, sum[k].y, sum[k].z, 0);
}

void launch_pull(const float4 *points, float4 *out, int n, float softening)
{
    pull<<<div_up(n, per_warp * block_size / 32), block_size>>>(points, out, n,
                                                                softening * softening);
    check_launch("pull");
}

__device__ void add(float4 &to, float4 what, float times)
{
    to.x += what.x * times, to.y += what.y * times, to.z += what.z * times;
}

__global__ void kick_drift(float4 *pos, float4 *vel, const float4 *acc, int n, float kick,
                           float drift)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 v = vel[i], p = pos[i];
        add(v, acc[i], kick);
        add(p, v, drift);
        vel[i] = v, pos[i] = p;
    }
}

} // namespace

size_t accelerations_scratch(int n) { return sizeof(float4) * n; }
void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch)
{
    if (n == 0) return;
    auto *points = static_cast<float4 *>(scratch);
    pack<<<min(div_up(n, 256), 1024), 256>>>(bodies, points, n);
    check_launch("pack");
    launch_pull(points, out, n, softening);
}

size_t step_scratch(int n) { return sizeof(float4) * n; }
void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch)
{
    if (n == 0 || steps == 0) return;
    auto *acc = static_cast<float4 *>(scratch);
    int grid = min(div_up(n, 256), 1024);
    launch_pull(position_mass, acc, n, softening);
    for (int s = 0; s < steps; ++s) {
        kick_drift<<<grid, 256>>>(position_mass, velocity, acc, n, dt / 2, dt);
        check_launch("kick_drift");
        launch_pull(position_mass, acc, n, softening);
        kick_drift<<<grid, 256>>>(position_mass, velocity, acc, n, dt / 2, 0);
        check_launch("the second kick");
    }
}
