// Lab 12, rung 1: direct copies between devices.
//
// New: enable_peers, with which devices send to each other directly. Everything is still computed
// on one device, except the images.
// Unchanged: peer_table.
#include "../check.hpp"
#include "../devices.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#include <vector>

using std::size_t;

// Copies n elements from one member's memory to another's, queued on the current device.
template <class T> static void send(T *to, int receiver, const T *from, int sender, size_t n)
{
    check(cudaMemcpyPeerAsync(to, device_of(receiver), from, device_of(sender), sizeof(T) * n),
          "cudaMemcpyPeerAsync");
}

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

// Member 0 sends everything to all others.
void broadcast(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    use(0);
    for (int k = 1; k < devices; ++k) send(buffers[k], k, buffers[0], 0, n);
}

constexpr int block_size = 256;
static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

// to[i] += from[i].
static __global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) to[i] += from[i];
}

// Member 0 gets everything, adds it up, and sends it back.
void all_reduce(float *const *buffers, int n, int devices)
{
    if (n == 0) return;
    enable_peers(devices);
    use(0);
    array<float> other(n);
    for (int k = 1; k < devices; ++k) {
        send(other.at, 0, buffers[k], k, n);
        add<<<blocks_for(n), block_size>>>(buffers[0], other.at, n);
    }
    check_launch("add");
    broadcast(buffers, n, devices);
    // cudaFree need not wait for work queued behind a copy from another device.
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
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
    size_t image = size_t(width) * height;
    for (int k = 0; k < devices; ++k) {
        size_t first = image * (size_t(count) * k / devices);
        size_t last = image * (size_t(count) * (k + 1) / devices);
        use(k);
        merge_pixels(first_host + first, second_host + first, out_host + first, int(last - first));
    }
}
