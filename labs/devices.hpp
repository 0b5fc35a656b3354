// For students' files and ours of labs 12 and 15: devices, streams, memory and
// host threads of several members. Member k works on device k % N, where N is
// the number of devices. If a call of the runtime fails, these functions throw
// cuda_failure, see check.hpp. A file that needs other ones defines its own and
// does not include this.
//
//     std::vector<stream> streams = stream_each(devices);
//     std::vector<array<float>> sums = array_each<float>(devices, n);
//     for (int k = 0; k < devices; ++k) {
//         use(k);
//         add<<<blocks, threads, 0, streams[k].at>>>(sums[k].at, n);
//     }
//     finish(streams);
#pragma once

#include "check.hpp"

#include <cuda_runtime_api.h>
#include <pthread.h>

#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

inline int device_of(int member)
{
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    return member % devices;
}

// Makes the member's device the current one of this host thread.
inline void use(int member) { check(cudaSetDevice(device_of(member)), "cudaSetDevice"); }

// A stream of the device that is current when it is created, and an event that
// marks a point in it. Work queued here after wait_for(other) waits for all
// work queued there before other.record(). The host does not wait. (In the NULL
// stream a copy between two devices waits for all earlier work of both, and all
// their later work waits for it.)
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

// Returns one stream per member, on the member's device. The last member's
// device is current afterwards.
inline std::vector<stream> stream_each(int devices)
{
    std::vector<stream> all;
    for (int k = 0; k < devices; ++k) {
        use(k);
        all.emplace_back();
    }
    return all;
}

// The host waits for all streams. It must do so before memory is freed:
// cudaFree itself need not wait for work queued behind a copy from another
// device.
inline void finish(const std::vector<stream> &all)
{
    for (const stream &s : all) check(cudaStreamSynchronize(s.at), "cudaStreamSynchronize");
}

// Memory for n elements, of the device that is current when it is allocated. It
// is freed with the array.
template <class T> struct array {
    T *at = nullptr;
    explicit array(std::size_t n)
    {
        check(cudaMalloc(&at, sizeof(T) * (n > 0 ? n : 1)), "cudaMalloc");
    }
    array(array &&other) noexcept : at(std::exchange(other.at, nullptr)) {}
    ~array() { cudaFree(at); }
};

// Returns one array of n elements per member, on the member's device. The last
// member's device is current afterwards.
template <class T> std::vector<array<T>> array_each(int devices, std::size_t n)
{
    std::vector<array<T>> all;
    for (int k = 0; k < devices; ++k) {
        use(k);
        all.emplace_back(n);
    }
    return all;
}

// Copies n elements from one member's memory to another's, queued in a stream
// of either.
template <class T>
void send(T *to, int receiver, const T *from, int sender, std::size_t n, const stream &s)
{
    check(
        cudaMemcpyPeerAsync(to, device_of(receiver), from, device_of(sender), sizeof(T) * n, s.at),
        "cudaMemcpyPeerAsync");
}

// Calls f(k) in one host thread per member, and waits for all. An exception that
// left a thread would end the program: here the caller gets it, that of the
// lowest member if several threw one. (The threads are POSIX threads: the header
// <thread> alone takes the compiler longer than everything else here.)
template <class F> void thread_each(int devices, F f)
{
    struct member {
        F *f;
        int k;
        pthread_t thread;
        std::exception_ptr failure;
    };
    std::vector<member> all;
    for (int k = 0; k < devices; ++k) all.push_back({&f, k, {}, {}});
    auto run = [](void *at) -> void * {
        member &m = *static_cast<member *>(at);
        try {
            (*m.f)(m.k);
        } catch (...) {
            m.failure = std::current_exception();
        }
        return nullptr;
    };
    int started = 0;
    while (started < devices &&
           pthread_create(&all[started].thread, nullptr, run, &all[started]) == 0)
        ++started;
    for (int k = 0; k < started; ++k) pthread_join(all[k].thread, nullptr);
    check(started < devices ? cudaErrorOperatingSystem : cudaSuccess, "pthread_create");
    for (const member &m : all)
        if (m.failure) std::rethrow_exception(m.failure);
}
