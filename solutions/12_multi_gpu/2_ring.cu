// Lab 12, rung 2: every member sends. A chain of pieces, and a ring of parts (Patarasuk and Yuan,
// 2009).
//
// New: `stream`, in which one device waits for another without a wait of the host; broadcast's
// chain and all_reduce's ring; one host thread per device for images.
#include "../check.hpp"
#include "lab.hpp"

#include <algorithm>
#include <cuda_runtime.h>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

using std::size_t;

static int device_of(int member)
{
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    return member % devices;
}

// Makes the member's device the current one of this host thread.
static void use(int member) { check(cudaSetDevice(device_of(member)), "cudaSetDevice"); }

// A stream of the device that is current when it is created, and an event that marks a point in it.
// Work queued here after wait_for(other) waits for all work queued there before other.record(). The
// host does not wait. (In the NULL stream a copy between two devices waits for all earlier work of
// both, and all their later work waits for it.)
struct stream {
    cudaStream_t at = nullptr;
    cudaEvent_t recorded = nullptr;
    stream()
    {
        check(cudaStreamCreate(&at), "cudaStreamCreate");
        check(cudaEventCreateWithFlags(&recorded, cudaEventDisableTiming), "cudaEventCreate");
    }
    stream(stream &&other) noexcept
        : at(std::exchange(other.at, nullptr)), recorded(std::exchange(other.recorded, nullptr))
    {
    }
    ~stream()
    {
        if (recorded) cudaEventDestroy(recorded);
        if (at) cudaStreamDestroy(at);
    }
    void record() const { check(cudaEventRecord(recorded, at), "cudaEventRecord"); }
    void wait_for(const stream &other) const
    {
        check(cudaStreamWaitEvent(at, other.recorded), "cudaStreamWaitEvent");
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

// The host waits for all streams. It must do so before memory is freed: cudaFree itself need not
// wait for work queued behind a copy from another device.
static void finish(const std::vector<stream> &all)
{
    for (const stream &s : all) check(cudaStreamSynchronize(s.at), "cudaStreamSynchronize");
}

// Memory of the device that is current when it is allocated.
template <class T> struct array {
    T *at = nullptr;
    explicit array(size_t n) { check(cudaMalloc(&at, sizeof(T) * (n + 1)), "cudaMalloc"); }
    array(array &&other) noexcept : at(std::exchange(other.at, nullptr)) {}
    ~array() { cudaFree(at); }
};

template <class T> static std::vector<array<T>> array_each(int devices, size_t n)
{
    std::vector<array<T>> all;
    for (int k = 0; k < devices; ++k) {
        use(k);
        all.emplace_back(n);
    }
    return all;
}

// Copies n elements from one member's memory to another's, queued in a stream of either.
template <class T>
static void send(T *to, int receiver, const T *from, int sender, size_t n, const stream &s)
{
    check(
        cudaMemcpyPeerAsync(to, device_of(receiver), from, device_of(sender), sizeof(T) * n, s.at),
        "cudaMemcpyPeerAsync");
}

void peer_table(int *can_access_host, int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            int can = 1;
            if (device_of(i) != device_of(j))
                check(cudaDeviceCanAccessPeer(&can, device_of(i), device_of(j)),
                      "cudaDeviceCanAccessPeer");
            can_access_host[i * devices + j] = can;
        }
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

// A ring: member k gets from member k - 1, and member 0 from the last. There
// are as many parts as members. In each step every member gets one part, and a part that has passed
// all members is complete.
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

// Calls f(k) in one host thread per member, and waits. An exception that left a thread would end
// the program: it is rethrown here, when all are done.
template <class F> static void thread_each(int devices, F f)
{
    std::vector<std::exception_ptr> failures(devices);
    std::vector<std::thread> threads;
    for (int k = 0; k < devices; ++k)
        threads.emplace_back([&, k] {
            try {
                f(k);
            } catch (...) {
                failures[k] = std::current_exception();
            }
        });
    for (std::thread &t : threads) t.join();
    for (const std::exception_ptr &e : failures)
        if (e) std::rethrow_exception(e);
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int devices)
{
    thread_each(devices, [&](int k) {
        use(k);
        size_t image = size_t(width) * height;
        size_t first = image * (size_t(count) * k / devices);
        size_t last = image * (size_t(count) * (k + 1) / devices);
        merge_pixels(first_host + first, second_host + first, out_host + first, int(last - first));
    });
}
