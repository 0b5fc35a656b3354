// Error codes: the sticky error, the last error, and unsupported features.
#include "runtime.hpp"

#include "simulator/machine/finding.hpp"
#include "simulator/machine/host.hpp"

#include <cstdio>
#include <map>
#include <utility>

namespace simulator::runtime {

namespace {

struct sticky_state {
    cudaError_t error = cudaSuccess;
    bool surfaced = false; // a call has returned it
};

// Shared by all devices: after a fault the process cannot use CUDA any more, as on hardware.
sticky_state sticky;
bool harnessed = false;      // a harness reads and reports the findings itself
failure_reason call_failure; // of the current call

} // namespace

std::recursive_mutex &lock()
{
    // Never destroyed: objects that outlive main may still free their memory.
    static auto *const one = new std::recursive_mutex;
    return *one;
}

host_thread &this_thread()
{
    static auto *const all = new std::map<std::uint64_t, host_thread>;
    return (*all)[calling_thread()];
}

cudaError_t surface_sticky_error()
{
    if (sticky.error != cudaSuccess) sticky.surfaced = true;
    return sticky.error;
}

cudaError_t sticky_error() { return sticky.error; }

cudaError_t set_last_error(cudaError_t result)
{
    if (result != cudaSuccess) this_thread().last_error = result;
    return result;
}

void set_sticky_error(cudaError_t kernel_error, const std::string &message)
{
    if (sticky.error == cudaSuccess) sticky.error = kernel_error;
    if (!harnessed) complain(message);
}

void silence_fault_messages() { harnessed = true; }
bool has_harness() { return harnessed; }

void complain(const std::string &message)
{
    std::fprintf(stderr, "simulator: %s\n", message.c_str());
}

cudaError_t fail_because(cudaError_t error, std::string why, wrong_pointer pointer)
{
    std::lock_guard guard(lock());
    call_failure.why = std::move(why);
    call_failure.pointer = pointer;
    return error;
}

void mark_failure_reported()
{
    std::lock_guard guard(lock());
    call_failure.found = true;
}

failure_reason take_failure_reason()
{
    std::lock_guard guard(lock());
    return std::exchange(call_failure, {});
}

cudaError_t not_supported(const char *function)
{
    const std::string sentence = std::string("the simulator does not offer ") + function +
                                 "; run this on a GPU, or do without it";
    complain(sentence);
    finding f;
    f.kind = finding_kind::unsupported;
    f.kernel = function;
    f.host_call = true;
    f.detail = sentence;
    findings::instance().add(std::move(f));
    mark_failure_reported();
    std::lock_guard guard(lock());
    return set_last_error(cudaErrorNotSupported);
}

int not_supported_entry_point(const char *name) { return not_supported(name); }

} // namespace simulator::runtime

using namespace simulator::runtime;

extern "C" {

cudaError_t cudaPeekAtLastError()
{
    std::lock_guard guard(lock());
    // Right after a launch the fault is still pending; only a later call surfaces it.
    return sticky.surfaced ? sticky.error : this_thread().last_error;
}

cudaError_t cudaGetLastError()
{
    std::lock_guard guard(lock());
    const cudaError_t error = sticky.surfaced ? sticky.error : this_thread().last_error;
    this_thread().last_error = cudaSuccess;
    return error;
}

} // extern "C"
