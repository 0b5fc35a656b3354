// Lab 12, worked: where devices can access each other, every link between them carries only what it
// must, in both directions, all the time; the host waits only at the end.
//
// New against rung 2: all_reduce is one kernel on each device, which reads its part of all buffers
// and writes the sums to all. Where a device cannot reach another, one adds up everything.
#include "../check.hpp"
#include "../devices.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#include <vector>

using std::size_t;

void peer_table(int *can_access_host, int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            int from = device_of(i), to = device_of(j), can = 1;
            if (from != to)
                check(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer");
            can_access_host[i * devices + j] = can;
        }
}

// Gives every member access to every other's memory, as far as that is possible; returns whether
// all have it. Access stays enabled: later calls change nothing.
static bool enable_peers(int devices)
{
    bool all = true;
    std::vector<int> can(devices * devices);
    peer_table(can.data(), devices);
    for (int i = 0; i < devices; ++i) {
        use(i);
        for (int j = 0; j < devices; ++j) {
            all = all && can[i * devices + j];
            if (!can[i * devices + j] || device_of(i) == device_of(j)) continue;
            cudaError_t error = cudaDeviceEnablePeerAccess(device_of(j), 0);
            if (error == cudaErrorPeerAccessAlreadyEnabled)
                cudaGetLastError(); // no failure: clear it
            else
                check(error, "cudaDeviceEnablePeerAccess");
        }
    }
    return all;
}

// A chain: each member sends on the piece it has received while the next one arrives.
void broadcast(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    std::vector<stream> streams = stream_each(devices);
    int pieces = devices > 2 ? min(max(n / 4096, 1), 32) : 1;
    for (int p = 0; p < pieces; ++p) {
        size_t first = size_t(n) * p / pieces, last = size_t(n) * (p + 1) / pieces;
        for (int k = 0; k + 1 < devices; ++k) {
            if (k > 0) streams[k].wait_for(streams[k - 1]);
            send(buffers[k + 1] + first, k + 1, buffers[k] + first, k, last - first, streams[k]);
            streams[k].record();
        }
    }
    finish(streams);
}

struct pointers {
    float *at[max_members];
};

constexpr int reduce_block = 512, in_flight = 4; // threads; float4 per thread

// Adds up float4 `first` to `last` of all buffers and writes the sums to all: no other member
// touches them, so none has to wait. Members begin with different neighbours.
static __global__ void __launch_bounds__(reduce_block)
    reduce_part(const __grid_constant__ pointers p, int devices, int self, int first, int last)
{
    int i = first + blockIdx.x * reduce_block * in_flight + threadIdx.x;
    float4 sum[in_flight] = {};
    for (int k = 0; k < devices; ++k) {
        const float4 *from = reinterpret_cast<const float4 *>(p.at[(self + k) % devices]);
        for (int u = 0; u < in_flight; ++u) {
            int at = i + u * reduce_block;
            float4 x = at < last ? from[at] : float4{};
            sum[u].x += x.x, sum[u].y += x.y, sum[u].z += x.z, sum[u].w += x.w;
        }
    }
    for (int k = 0; k < devices; ++k) {
        float4 *to = reinterpret_cast<float4 *>(p.at[(self + k) % devices]);
        for (int u = 0; u < in_flight; ++u)
            if (int at = i + u * reduce_block; at < last) to[at] = sum[u];
    }
}

// The up to three floats behind the last float4.
static __global__ void reduce_rest(const __grid_constant__ pointers p, int devices, int first,
                                   int n)
{
    int i = first + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < devices; ++k) sum += p.at[k][i];
    for (int k = 0; k < devices; ++k) p.at[k][i] = sum;
}

static __global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

// For kernels that cannot access each other's memory: copies everything to member 0 and back.
static void reduce_by_copies(float *const *buffers, int n, int devices)
{
    use(0);
    array<float> other(n);
    std::vector<stream> streams = stream_each(1);
    for (int k = 1; k < devices; ++k) {
        send(other.at, 0, buffers[k], k, n, streams[0]);
        add<<<(n + 255) / 256, 256, 0, streams[0].at>>>(buffers[0], other.at, n);
    }
    check_launch("add");
    finish(streams);
    broadcast(buffers, n, devices);
}

void all_reduce(float *const *buffers, int n, int devices)
{
    if (n == 0) return;
    if (!enable_peers(devices)) return reduce_by_copies(buffers, n, devices);
    pointers p;
    for (int k = 0; k < devices; ++k) p.at[k] = buffers[k];
    for (int k = 0; k < devices; ++k) {
        int whole = n / 4, first = (long long)whole * k / devices,
            last = (long long)whole * (k + 1) / devices, per_block = reduce_block * in_flight;
        use(k);
        if (first < last)
            reduce_part<<<(last - first + per_block - 1) / per_block, reduce_block>>>(p, devices, k,
                                                                                      first, last);
        check_launch("reduce_part");
        if (k == devices - 1 && n % 4 != 0) reduce_rest<<<1, 32>>>(p, devices, 4 * whole, n);
        check_launch("reduce_rest");
    }
}

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (3 * first[i] + second[i] + 2) / 4;
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int devices)
{
    thread_each(devices, [&](int k) {
        use(k);
        size_t image = size_t(width) * height, from = image * (size_t(count) * k / devices);
        int n = int(image * (size_t(count) * (k + 1) / devices) - from);
        if (n == 0) return;
        array<unsigned char> first(n), second(n);
        check(cudaMemcpy(first.at, first_host + from, n, cudaMemcpyHostToDevice), "cudaMemcpy");
        check(cudaMemcpy(second.at, second_host + from, n, cudaMemcpyHostToDevice), "cudaMemcpy");
        merge<<<(n + 255) / 256, 256>>>(first.at, second.at, first.at, n);
        check_launch("merge");
        check(cudaMemcpy(out_host + from, first.at, n, cudaMemcpyDeviceToHost), "cudaMemcpy");
    });
}
