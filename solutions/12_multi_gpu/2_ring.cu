// Lab 12, rung 2: every member sends. A chain of pieces, and a ring of parts (Patarasuk and Yuan,
// 2009).
//
// New: a stream per member, in which one device waits for another without a wait of the host;
// broadcast's chain and all_reduce's ring.
// Unchanged: peer_table, merge_images.
#include "../check.hpp"
#include "../devices.hpp"
#include "lab.hpp"

#include <algorithm>
#include <cuda_runtime.h>
#include <vector>

using std::size_t;

// Lets devices send to each other directly, not through the host, where they can.
static void enable_peers(int devices)
{
    std::vector<int> can(devices * devices);
    peer_table(can.data(), devices);
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            if (device_of(i) == device_of(j) || !can[i * devices + j]) continue;
            use(i);
            if (cudaDeviceEnablePeerAccess(device_of(j), 0) != cudaSuccess)
                if (cudaError_t e = cudaGetLastError(); e != cudaErrorPeerAccessAlreadyEnabled)
                    check(e, "cudaDeviceEnablePeerAccess");
        }
}

// A chain: member k sends to member k + 1, one piece at a time.
void broadcast(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    std::vector<stream> streams = stream_each(devices);
    int pieces = std::clamp(n / 4096, 1, 32);
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

constexpr int block_size = 256;
static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

// to[i] += from[i].
static __global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) to[i] += from[i];
}

// A ring: member k gets from member k - 1, and member 0 from the last. There are as many parts as
// members. In each step every member gets one part, and a part that has passed all members is
// complete.
void all_reduce(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    std::vector<stream> streams = stream_each(devices);
    std::vector<array<float>> incoming = array_each<float>(devices, n / devices + 1);
    auto first_of = [&](int part) { return int((long long)n * part / devices); };
    for (int step = 0; step < 2 * (devices - 1); ++step) {
        // All members wait for their neighbours' previous step before any of them records this one.
        for (int k = 0; k < devices && step > 0; ++k)
            streams[k].wait_for(streams[(k + devices - 1) % devices]);
        for (int k = 0; k < devices; ++k) {
            use(k);
            int before = (k + devices - 1) % devices;
            // First the neighbour's own part, then the one that it got a step ago.
            int part = (k + 2 * devices - 1 - step) % devices;
            int first = first_of(part), count = first_of(part + 1) - first;
            float *to = buffers[k] + first;
            const float *from = buffers[before] + first;
            if (count > 0 && step < devices - 1) {
                send(incoming[k].at, k, from, before, count, streams[k]);
                add<<<blocks_for(count), block_size, 0, streams[k].at>>>(to, incoming[k].at, count);
                check_launch("add");
            } else if (count > 0) {
                send(to, k, from, before, count, streams[k]);
            }
            streams[k].record();
        }
    }
    finish(streams);
}
