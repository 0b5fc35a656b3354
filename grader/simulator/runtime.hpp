// What the files of the CUDA runtime look-alike share: one lock, the errors, devices, kernels,
// streams.
//
// Unless work is put off (work.hpp), a kernel or copy has ended when the call that queued it
// returns. No duration is ever measured.
#pragma once

#include "fatbin.hpp"
#include "machine.hpp"

#include <cuda_runtime_api.h>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace simulator::runtime {

std::recursive_mutex &lock(); // held by every call: host threads take turns

// Errors. A kernel's fault stays: once a later call has returned it, every call returns it. Other
// errors are reported once by cudaGetLastError, a host thread each.
cudaError_t standing_fault(); // surfaces the fault of an earlier kernel, if any
cudaError_t fault_of_now();   // the same; surfaces nothing
inline bool fault_stands() { return fault_of_now() != cudaSuccess; }
cudaError_t record(cudaError_t result); // remembers an error for cudaGetLastError; returns it
void fault(cudaError_t kernel_error, const std::string &message);
void leave_faults_to_harness(); // no more messages about the faults of kernels
bool has_harness();
void complain(const std::string &message); // one line on stderr, prefixed with "simulator: "
std::size_t streams_and_events();          // that the program has created and not destroyed

// What the program is to know of the call that fails now. `why`: words that follow the call's name
// and its error, "its destination is a null pointer". Returns `error`.
cudaError_t fail_because(cudaError_t error, std::string why);
void fail_as_found(); // a finding of its own says it
struct failure_words {
    std::string why;
    bool found = false;
};
failure_words take_failure_words();       // since they were last taken
cudaError_t refuse(const char *function); // what the simulator does not offer: said, found, refused

// What the runtime keeps for each thread of the host; used under the lock.
struct host_thread {
    int device = 0;
    cudaError_t last_error = cudaSuccess;
    cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
    bool in_host_function = false; // one that a stream called; it may call nothing here
};
host_thread &this_thread();

// Every API function is one of these around its body: lock, standing fault, body, record.
template <typename function> cudaError_t call(function body)
{
    std::lock_guard guard(lock());
    if (this_thread().in_host_function) return record(cudaErrorNotPermitted);
    const cudaError_t standing = standing_fault();
    return record(standing != cudaSuccess ? standing : body());
}

// Devices: SIMULATOR_DEVICES says how many (1 unless set).
int device_count();
int current_device(); // of this host thread
bool valid_device(int device);
cudaError_t attribute_of(int device, cudaDeviceAttr, int &value);
std::uint8_t closed_memory(int device); // shadow bits of what its kernels have no access to
void close_peers(std::uint64_t pairs);  // bit 8 * device + peer: no access from now on
bool can_be_peer(int device, int peer); // whether `device` can have access to the other's memory
void close_pools();                     // to devices that cannot have access any more
bool copies_directly(int from, int to); // not by way of the host: either has access to the other

constexpr int texels_of_linear_memory = 1 << 27; // at least so many everywhere, says CUDA's guide
// Kernels, by the host function that stands for them or by the handle of __cudaGetKernel.
struct kernel;
struct resolved {
    kernel *handle = nullptr;
    module *code = nullptr;
    const kernel_info *info = nullptr;
};
resolved known_as(const kernel_info &); // of loaded code; the handle: null when it has none
// A launch against the limits of the device and of the kernel; what to say of one beyond them.
cudaError_t check_limits(const resolved &, dim3 grid, dim3 block, std::size_t dynamic_shared,
                         bool cooperative);
std::string refused_text(const kernel_info &, dim3 grid, dim3 block, std::size_t dynamic_shared);
// cudaErrorInvalidDeviceFunction, cudaErrorNoKernelImageForDevice or cudaErrorInvalidPtx when that
// fails.
cudaError_t resolve(const void *function, resolved &out);
std::uint32_t dynamic_shared_limit(const resolved &k); // bytes a block may ask for at launch
int blocks_per_multiprocessor(const kernel_info &info, int threads, std::size_t dynamic_shared);
cudaError_t run(const void *function, dim3 grid, dim3 block, void **arguments,
                std::size_t dynamic_shared, cudaStream_t stream, bool cooperative);
// The handle of a fat binary, whose images are read when it is first used.
void **register_binary(std::function<fat_binary()> images);
// How many bytes each parameter of a kernel has; an error as `resolve` returns it.
cudaError_t parameters_of(const void *function, std::vector<std::uint32_t> &bytes);
void unload(int device); // drops the code and variables of a device; they load again when used

// Variables, by the host object that stands for them. cudaErrorInvalidSymbol when there is none.
cudaError_t resolve_symbol(const void *symbol, module::variable &out);
bool is_symbol(const void *host); // whether it stands for a variable

void free_all(int device); // every allocation made on a device

// SIMULATOR_STREAMS=late or random: when work in streams runs; SIMULATOR_CORES=N: how many cores
// the blocks of a grid may take, all unless set.
void heed_environment();

void report_at_exit(); // SIMULATOR_COUNTERS=1 adds the counters

void link_harness(); // draws harness.h's functions into every program

} // namespace simulator::runtime
