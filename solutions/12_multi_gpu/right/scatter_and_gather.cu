// Right: the root sends each member its part, and every member sends its own to all others, at once
// (van de Geijn): a device sends one and a half times what one buffer holds.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#include <utility>
#include <vector>

static int device_of(int member)
{
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    return member % devices;
}

static void use(int member) { check(cudaSetDevice(device_of(member)), "cudaSetDevice"); }

// A stream of the device that was current when it was made. In the NULL stream a copy between two
// devices would wait for all that both have been given, and all that they are given later would
// wait for it.
struct stream {
    cudaStream_t at = nullptr;
    stream() { check(cudaStreamCreate(&at), "cudaStreamCreate"); }
    stream(stream &&other) noexcept : at(std::exchange(other.at, nullptr)) {}
    ~stream()
    {
        if (at) cudaStreamDestroy(at);
    }
};

static std::vector<stream> stream_each(int devices)
{
    std::vector<stream> all;
    for (int k = 0; k < devices; ++k) {
        use(k);
        all.emplace_back();
    }
    return all;
}

static void finish(const std::vector<stream> &all)
{
    for (const stream &s : all) check(cudaStreamSynchronize(s.at), "cudaStreamSynchronize");
}

// Copies from one member's memory to another's, in a stream of either.
template <class T>
static void send(T *to, int receiver, const T *from, int sender, std::size_t n, const stream &s)
{
    check(
        cudaMemcpyPeerAsync(to, device_of(receiver), from, device_of(sender), sizeof(T) * n, s.at),
        "cudaMemcpyPeerAsync");
}

// Gives every member access to every other's memory, as far as that can be had.
static void enable_peers(int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            int can = 0;
            if (device_of(i) == device_of(j)) continue;
            check(cudaDeviceCanAccessPeer(&can, device_of(i), device_of(j)),
                  "cudaDeviceCanAccessPeer");
            if (!can) continue;
            use(i);
            cudaError_t error = cudaDeviceEnablePeerAccess(device_of(j), 0);
            if (error == cudaErrorPeerAccessAlreadyEnabled)
                cudaGetLastError(); // no failure: clear it
            else
                check(error, "cudaDeviceEnablePeerAccess");
        }
}

void broadcast(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    std::vector<stream> streams = stream_each(devices);
    auto begin = [&](int part) { return std::size_t(n) * part / devices; };
    auto size = [&](int part) { return begin(part + 1) - begin(part); };
    for (int k = 1; k < devices; ++k) {
        use(k);
        send(buffers[k] + begin(k), k, buffers[0] + begin(k), 0, size(k), streams[k]);
    }
    // Member k sends its part to k + d, when it has come: that is in its stream.
    for (int d = 1; d < devices; ++d)
        for (int k = 0; k < devices; ++k) {
            int to = (k + d) % devices;
            if (to == 0) continue; // the root has everything
            use(k);
            send(buffers[to] + begin(k), to, buffers[k] + begin(k), k, size(k), streams[k]);
        }
    finish(streams);
}

// Not begun.
void peer_table(int *, int) {}

void all_reduce(float *const *, int, int) {}
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int, int)
{
}
