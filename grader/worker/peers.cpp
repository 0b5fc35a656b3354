// WORKER --peers: measures and prints peer-to-peer bandwidth and latency of this machine's devices.
#include "devices.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace grading {

namespace {

constexpr std::size_t large_copy = std::size_t{256} << 20; // bytes

// Returns the milliseconds that `copies` copies of `bytes` bytes take, one after another, from the
// current device: the minimum of five samples.
double copy_ms(void *to, int receiver, const void *from, int sender, std::size_t bytes, int copies)
{
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    float best = 0;
    for (int sample = 0; sample < 6; ++sample) { // the first is a warm-up
        check(cudaEventRecord(begin));
        for (int i = 0; i < copies; ++i)
            check(cudaMemcpyPeerAsync(to, receiver, from, sender, bytes));
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin, end));
        best = sample < 2 ? ms : std::min(best, ms);
    }
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
    return static_cast<double>(best);
}

struct pair_speed {
    double gb_per_second = 0, latency_us = 0;
    bool direct = true; // by peer access, not staged through the host
};

pair_speed measure(int sender, int receiver, const std::vector<void *> &memory)
{
    int direct = 0;
    check(cudaSetDevice(sender));
    check(cudaDeviceCanAccessPeer(&direct, sender, receiver));
    if (direct) check(cudaDeviceEnablePeerAccess(receiver, 0));
    const auto from = static_cast<std::size_t>(sender), to = static_cast<std::size_t>(receiver);
    const double ms = copy_ms(memory[to], receiver, memory[from], sender, large_copy, 4) / 4;
    const double us = copy_ms(memory[to], receiver, memory[from], sender, 4, 100) / 100 * 1e3;
    return {static_cast<double>(large_copy) / ms / 1e6, us, direct != 0};
}

// Prints one row per sending device and one column per receiving device.
void print_matrix(const char *title, const std::vector<std::vector<pair_speed>> &links,
                  double pair_speed::*value, int decimals)
{
    std::printf("%s\n  ", title);
    for (std::size_t d = 0; d < links.size(); ++d) std::printf("%6zu", d);
    for (std::size_t from = 0; from < links.size(); ++from) {
        std::printf("\n%2zu", from);
        for (std::size_t to = 0; to < links.size(); ++to)
            if (from == to)
                std::printf("%6s", "-");
            else
                std::printf("%6.*f", decimals, links[from][to].*value);
    }
    std::printf("\n");
}

} // namespace

int print_peer_bandwidth()
{
    int devices = 0;
    try {
        check(cudaGetDeviceCount(&devices));
        std::vector<void *> memory(static_cast<std::size_t>(devices));
        for (int d = 0; d < devices && devices > 1; ++d) {
            check(cudaSetDevice(d));
            check(cudaMalloc(&memory[static_cast<std::size_t>(d)], large_copy));
        }
        if (devices < 2) return 0;
        std::vector<std::vector<pair_speed>> links(memory.size(),
                                                   std::vector<pair_speed>(memory.size()));
        bool direct = true;
        for (std::size_t from = 0; from < links.size(); ++from)
            for (std::size_t to = 0; to < links.size(); ++to) {
                if (from == to) continue;
                links[from][to] = measure(static_cast<int>(from), static_cast<int>(to), memory);
                direct = direct && links[from][to].direct;
            }
        print_matrix("GB/s, from the row's to the column's:", links, &pair_speed::gb_per_second, 0);
        print_matrix("microseconds a copy of 4 bytes:", links, &pair_speed::latency_us, 1);
        std::printf(direct ? "all directly\n" : "some by way of the host\n");
        return 0;
    } catch (const cuda_failure &f) {
        std::printf("%s: %s\n", cudaGetErrorName(f.error), cudaGetErrorString(f.error));
        return 1;
    }
}

} // namespace grading
