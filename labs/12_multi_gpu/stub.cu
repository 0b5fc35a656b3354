// Lab 12, multi GPU: the file to edit. What each function must do: lab.hpp. The
// lesson: handouts/12_multi_gpu.md. Stuck at a TODO: ./workbook hint 12.
//
// Most launches are in place below; the communication between devices is
// missing. Streams, memory and host threads are those of ../devices.hpp. Change
// all of it where your idea needs it.
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
            // TODO 1 (peer_table): can_access_host[i * devices + j] must be 1 if
            // kernels on member i's device can be given access to member j's,
            // or if both are the same device; else 0.
        }
}

// Lets devices send to each other directly, not through the host, where they
// can.
static void enable_peers(int devices)
{
    std::vector<int> can(devices * devices);
    peer_table(can.data(), devices);
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            if (device_of(i) == device_of(j) || !can[i * devices + j]) continue;
            // TODO 2 (broadcast: what is sent): Member i's device must have access
            // to member j's. That it has it already is no failure, and must
            // leave no error behind.
        }
}

// A chain: member k sends to member k + 1, one piece at a time.
void broadcast(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    std::vector<stream> streams = stream_each(devices);
    int pieces = min(max(n / 4096, 1), 32);
    // TODO 3 (broadcast): Each member but the last must send on every piece p,
    // from size_t(n) * p / pieces up to size_t(n) * (p + 1) / pieces (n * p may
    // be too large for an int), as soon as it has it. The host must not wait.
    finish(streams);
}

constexpr int block_size = 256;
static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

// to[i] += from[i].
static __global__ void add(float *to, const float *from, int n)
{
    // TODO 4 (all_reduce): Each thread must add one element, if it has one.
}

// A ring: member k gets from member k - 1, and member 0 from the last. There
// are as many parts as members. In each step every member gets one part, and a
// part that has passed all members is complete.
void all_reduce(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    std::vector<stream> streams = stream_each(devices);
    std::vector<array<float>> incoming = array_each<float>(devices, n / devices + 1);
    auto first_of = [&](int part) { return int((long long)n * part / devices); };
    for (int step = 0; step < 2 * (devices - 1); ++step) {
        // All members wait for their neighbours' previous step before any of
        // them records this one.
        for (int k = 0; k < devices && step > 0; ++k)
            streams[k].wait_for(streams[(k + devices - 1) % devices]);
        for (int k = 0; k < devices; ++k) {
            use(k);
            int before = (k + devices - 1) % devices;
            // First the neighbour's own part, then the one that it got a step
            // ago.
            int part = (k + 2 * devices - 1 - step) % devices;
            int first = first_of(part), count = first_of(part + 1) - first;
            float *to = buffers[k] + first;
            const float *from = buffers[before] + first;
            if (count > 0 && step < devices - 1) {
                // TODO 5 (all_reduce): The neighbour's part must be added to the
                // one here; incoming[k] has room for it.
            } else if (count > 0) {
                // TODO 6 (all_reduce): The neighbour's part is complete: it must
                // replace the one here.
            }
            streams[k].record();
        }
    }
    finish(streams);
    // TODO 7 (all_reduce: speed, timed): If all members can follow all pointers,
    // the ring must not begin. In its place one kernel per device must do
    // everything: read its part of all buffers, add, and write the sum to all.
}

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = (3 * first[i] + second[i] + 2) / 4;
}

// Merges n pixels on the current device.
static void merge_pixels(const unsigned char *first_host, const unsigned char *second_host,
                         unsigned char *out_host, int n)
{
    if (n == 0) return;
    array<unsigned char> first(n), second(n);
    check(cudaMemcpy(first.at, first_host, n, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemcpy(second.at, second_host, n, cudaMemcpyHostToDevice), "cudaMemcpy");
    merge<<<blocks_for(n), block_size>>>(first.at, second.at, first.at, n);
    check_launch("merge");
    check(cudaMemcpy(out_host, first.at, n, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int devices)
{
    thread_each(devices, [&](int k) {
        // TODO 8 (merge_images): This host thread must merge the images from
        // size_t(count) * k / devices up to the next member's first, on member
        // k's device.
    });
}
