// The devices that a worker uses, and the exceptions that failed CUDA calls become.
#pragma once

#include "process/protocol.hpp"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>

namespace grading {

extern const int contract_devices; // generated from lab.hpp

constexpr const char *local_rank_variable = "OMPI_COMM_WORLD_LOCAL_RANK"; // set in ranks only
// Returns the device that is current when a contract function is called: device 0, or in a rank of
// MPI its local rank modulo the number of devices.
int home_device();

// Copies text and truncates it to the size of the array.
template <std::size_t n> void copy_text(char (&to)[n], const char *text)
{
    std::size_t length = strnlen(text, n - 1);
    std::memcpy(to, text, length);
    to[length] = 0;
}

struct cuda_failure {
    cudaError_t error;
    run_step step;
};

struct acquire_failure {
    acquire_fault what;
};

inline void check(cudaError_t e, run_step step = run_step::none)
{
    if (e != cudaSuccess) throw cuda_failure{e, step};
}

// Calls f on each device that the lab may use. Device 0 comes last, so that it stays current. A
// rank has only its own device.
template <class F> void on_each_device(F f)
{
    int devices = 1;
    const bool alone = !std::getenv(local_rank_variable);
    if (contract_devices > 1 && alone) check(cudaGetDeviceCount(&devices));
    for (int d = devices - 1; d >= 0; --d) {
        check(cudaSetDevice(alone ? d : home_device()));
        f();
    }
}

// Returns the first error of any device.
inline cudaError_t synchronise_devices()
{
    cudaError_t first = cudaSuccess;
    on_each_device([&] {
        if (cudaError_t e = cudaDeviceSynchronize(); first == cudaSuccess) first = e;
    });
    return first;
}

// Prints the peer-to-peer bandwidth and latency of each pair of devices, for the doctor: from
// copies of 256 MiB and from successive copies of 4 bytes. Prints nothing if there are fewer than
// two devices. Returns 0, or 1 after printing the error.
int print_peer_bandwidth();

} // namespace grading
