// Fails: all_reduce: no access to each other | OUT_OF_BOUNDS | that a stream still has to do is a use
// On gpu: may pass - cudaFree may wait by itself
// The memory for what arrives is freed before the streams have ended.
#include "../check.hpp"
#include "../devices.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#include <vector>

namespace {

struct pointers {
    float *at[max_members];
};

// Adds up elements first to last of all buffers, in all buffers.
__global__ void add_everywhere(pointers p, int members, int first, int last)
{
    for (int i = first + blockIdx.x * blockDim.x + threadIdx.x; i < last;
         i += gridDim.x * blockDim.x) {
        float sum = p.at[0][i];
        for (int k = 1; k < members; ++k) sum += p.at[k][i];
        for (int k = 0; k < members; ++k) p.at[k][i] = sum;
    }
}

__global__ void accumulate(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

// Returns whether every member can follow every pointer.
bool connect(int devices)
{
    std::vector<int> can(devices * devices);
    peer_table(can.data(), devices);
    bool all = true;
    for (int i = 0; i < devices; ++i) {
        use(i);
        for (int j = 0; j < devices; ++j) {
            if (device_of(i) == device_of(j)) continue;
            if (!can[i * devices + j]) {
                all = false;
                continue;
            }
            cudaError_t e = cudaDeviceEnablePeerAccess(device_of(j), 0);
            if (e == cudaErrorPeerAccessAlreadyEnabled)
                cudaGetLastError();
            else
                check(e, "cudaDeviceEnablePeerAccess");
        }
    }
    return all;
}

void ring(float *const *buffers, int n, int N)
{
    std::vector<stream> streams = stream_each(N);
    std::vector<array<float>> incoming = array_each<float>(N, n / N + 1);
    auto start = [&](int part) { return int(1ll * n * part / N); };
    for (int step = 0; step < 2 * N - 2; ++step) {
        for (int k = 0; k < N && step; ++k) streams[k].wait_for(streams[(k + N - 1) % N]);
        for (int k = 0; k < N; ++k) {
            use(k);
            int from = (k + N - 1) % N, part = (k + 2 * N - 1 - step) % N;
            int first = start(part), count = start(part + 1) - first;
            if (count == 0) {
            } else if (step < N - 1) {
                send(incoming[k].at, k, buffers[from] + first, from, count, streams[k]);
                accumulate<<<(count - 1) / 256 + 1, 256, 0, streams[k].at>>>(buffers[k] + first,
                                                                             incoming[k].at, count);
                check_launch("accumulate");
            } else {
                send(buffers[k] + first, k, buffers[from] + first, from, count, streams[k]);
            }
            streams[k].record();
        }
    }
}

__global__ void mix(const unsigned char *a, const unsigned char *b, unsigned char *c, size_t n)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) c[i] = (3u * a[i] + b[i] + 2u) / 4u;
}

} // namespace

void peer_table(int *can_access_host, int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            int &can = can_access_host[i * devices + j];
            can = 1;
            if (device_of(i) != device_of(j))
                check(cudaDeviceCanAccessPeer(&can, device_of(i), device_of(j)),
                      "cudaDeviceCanAccessPeer");
        }
}

void broadcast(float *const *buffers, int n, int devices)
{
    if (n == 0) return;
    connect(devices);
    std::vector<stream> streams = stream_each(devices);
    int piece = n / 32 < 2048 ? 2048 : n / 32;
    for (int at = 0; at < n; at += piece) {
        int count = n - at < piece ? n - at : piece;
        for (int k = 0; k + 1 < devices; ++k) {
            use(k);
            if (k > 0) streams[k].wait_for(streams[k - 1]);
            send(buffers[k + 1] + at, k + 1, buffers[k] + at, k, count, streams[k]);
            streams[k].record();
        }
    }
    finish(streams);
}

void all_reduce(float *const *buffers, int n, int devices)
{
    if (n == 0 || devices == 1) return;
    if (!connect(devices)) return ring(buffers, n, devices);
    std::vector<stream> streams = stream_each(devices);
    pointers p{};
    for (int k = 0; k < devices; ++k) p.at[k] = buffers[k];
    for (int k = 0; k < devices; ++k) {
        int first = 1ll * n * k / devices, last = 1ll * n * (k + 1) / devices;
        if (first == last) continue;
        use(k);
        int blocks = (last - first + 255) / 256, grid = blocks < 4096 ? blocks : 4096;
        add_everywhere<<<grid, 256, 0, streams[k].at>>>(p, devices, first, last);
        check_launch("add_everywhere");
    }
    finish(streams);
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int devices)
{
    thread_each(devices, [&](int k) {
        use(k);
        size_t image = size_t(width) * height;
        size_t begin = (long long)count * k / devices * image,
               end = (long long)count * (k + 1) / devices * image;
        size_t n = end - begin;
        if (n == 0) return;
        array<unsigned char> a(n), b(n);
        check(cudaMemcpy(a.at, first_host + begin, n, cudaMemcpyHostToDevice), "first");
        check(cudaMemcpy(b.at, second_host + begin, n, cudaMemcpyHostToDevice), "second");
        mix<<<unsigned((n + 255) / 256), 256>>>(a.at, b.at, b.at, n);
        check_launch("mix");
        check(cudaMemcpy(out_host + begin, b.at, n, cudaMemcpyDeviceToHost), "out");
    });
}
