// Declarations that the files of the CUDA runtime share: lock, errors, devices, kernels.
//
// Unless work is deferred (work.hpp), a kernel or copy has completed when the call that queued it
// returns. Durations are never measured.
#pragma once

#include "simulator/machine/machine.hpp"
#include "simulator/ptx/fatbin.hpp"

#include <cuda_runtime_api.h>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace simulator::runtime {

std::recursive_mutex &lock(); // held during every API call, so host threads take turns

// Errors. A kernel's fault is a sticky error: once a call has returned it, every later call
// returns it. Other errors are reported once by cudaGetLastError, per host thread.
cudaError_t sticky_error();         // cudaSuccess without a fault
cudaError_t surface_sticky_error(); // the same; from now on cudaGetLastError returns it, too
inline bool has_sticky_error() { return sticky_error() != cudaSuccess; }
cudaError_t set_last_error(cudaError_t result); // for cudaGetLastError, except success; returns it
void set_sticky_error(cudaError_t, const std::string &message); // the first one stays
void silence_fault_messages(); // the runtime prints no messages about kernel faults from now on
bool has_harness();
void complain(const std::string &message); // one line on stderr, prefixed with "simulator: "
std::size_t streams_and_events();          // number that the program has created and not destroyed

// Sets the reason given to the program for the failure of the current call. `why` continues a
// sentence after the call's name and error, e.g. "its destination is a null pointer". Returns
// `error`.
cudaError_t fail_because(cudaError_t error, std::string why,
                         wrong_pointer pointer = wrong_pointer::none);
void mark_failure_reported(); // the failure of this call is already reported by a finding
struct failure_reason {
    std::string why;
    wrong_pointer pointer = wrong_pointer::none;
    bool found = false;
};
failure_reason take_failure_reason(); // everything set since the last take
// For an unsupported feature: prints a message, adds a finding, returns an error.
cudaError_t not_supported(const char *function);

// The runtime's state per host thread; accessed under the lock.
struct host_thread {
    int device = 0;
    cudaError_t last_error = cudaSuccess;
    cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
    bool in_host_function = false; // a stream called this function, which may not call the runtime
};
host_thread &this_thread();

// Every API function wraps its body in this: lock, sticky error, body, last error.
template <typename function> cudaError_t call(function body)
{
    std::lock_guard guard(lock());
    if (this_thread().in_host_function) return set_last_error(cudaErrorNotPermitted);
    const cudaError_t sticky = surface_sticky_error();
    return set_last_error(sticky != cudaSuccess ? sticky : body());
}

// Devices. SIMULATOR_DEVICES sets their number (default 1).
int device_count();
int current_device(); // of the calling host thread
bool valid_device(int device);
cudaError_t attribute_of(int device, cudaDeviceAttr, int &value);
// The shadow bits of the memory that kernels of this device cannot access.
std::uint8_t inaccessible_memory(int device);
// Bit 8 * device + peer: revokes access, now and for the future.
void close_peers(std::uint64_t pairs);
// True if `device` can be given access to the memory of `peer`.
bool can_be_peer(int device, int peer);
void revoke_pool_access(); // from devices that may not be peers any more
// True if either device has peer access, so a copy is not staged on the host.
bool copies_directly(int from, int to);
// The least of all compute capabilities in the CUDA Programming Guide.
constexpr int texels_of_linear_memory = 1 << 27;

// Kernels, found by their host function or by the handle of __cudaGetKernel.
struct kernel;
struct resolved {
    kernel *handle = nullptr;
    module *code = nullptr;
    const kernel_info *info = nullptr;
};
resolved find_loaded(const kernel_info &); // `handle` is null if no host function names the kernel
// Checks a launch against the limits of device and kernel; refused_text describes the violation.
cudaError_t check_limits(const resolved &, dim3 grid, dim3 block, std::size_t dynamic_shared,
                         bool cooperative);
std::string refused_text(const kernel_info &, dim3 grid, dim3 block, std::size_t dynamic_shared);
// Fails with cudaErrorInvalidDeviceFunction, cudaErrorNoKernelImageForDevice or
// cudaErrorInvalidPtx.
cudaError_t resolve(const void *function, resolved &out);
// Returns the handle of a fat binary; its images are read at first use.
void **register_binary(std::function<fat_binary()> images);
// Returns the size in bytes of each kernel parameter; fails like `resolve`.
cudaError_t parameters_of(const void *function, std::vector<std::uint32_t> &bytes);
// Drops the code and variables of a device; they are loaded again at next use.
void unload(int device);

// Finds a variable by its host object. Fails with cudaErrorInvalidSymbol.
cudaError_t resolve_symbol(const void *symbol, module::variable &out);
bool is_symbol(const void *host); // true if a variable is registered under this host object

void free_all(int device); // frees every allocation on a device

// Reads SIMULATOR_STREAMS=late or random: when queued work runs.
void read_environment();

void report_at_exit(); // SIMULATOR_COUNTERS=1 adds the counters as JSON

void link_harness(); // links harness.h's functions into every program with kernels

} // namespace simulator::runtime
