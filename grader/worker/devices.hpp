// The devices that a worker uses, and what a call of CUDA that fails becomes.
#pragma once

#include "grader/protocol.hpp"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>

namespace grading {

extern const int contract_devices; // generated from lab.hpp

constexpr const char *rank_here = "OMPI_COMM_WORLD_LOCAL_RANK"; // only ranks have it
// The device that is current for a contract function: a rank's own, else the first.
int home_device();

// Cuts what does not fit.
template <std::size_t n> void put(char (&to)[n], const char *text)
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

// Calls f on each device that the lab may use, the first last: it is current from then on. A rank
// has one.
template <class F> void on_each_device(F f)
{
    int devices = 1;
    const bool alone = !std::getenv(rank_here);
    if (contract_devices > 1 && alone) check(cudaGetDeviceCount(&devices));
    for (int d = devices - 1; d >= 0; --d) {
        check(cudaSetDevice(alone ? d : home_device()));
        f();
    }
}

// The first thing that went wrong on any of them.
inline cudaError_t synchronise_devices()
{
    cudaError_t first = cudaSuccess;
    on_each_device([&] {
        if (cudaError_t e = cudaDeviceSynchronize(); first == cudaSuccess) first = e;
    });
    return first;
}

} // namespace grading
