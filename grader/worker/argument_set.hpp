// The arguments of a call, in host and device memory of the worker.
#pragma once

#include "devices.hpp"
#include "pinned_memory.hpp"
#include "staged_copy.hpp"

#include "process/contract.hpp"
#include "simulator/runtime/harness.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grading {

// Returns a function of the contract or one of the grader's own kernels; null if there is none.
const entry *find_entry(std::string_view name);

// One buffer of one argument: guard zone, payload, guard zone, at the requested misalignment.
class buffer {
public:
    buffer(const argument_descriptor &s, std::uint64_t payload, int device)
        : where_(s.where),
          guard_(s.guard),
          bytes_(s.repeated_to ? s.repeated_to : payload),
          in_image_(s.scratch ? 0 : payload),
          misalign_bytes_(std::uint64_t{s.misalign} * s.element),
          device_(device),
          scratch_(s.scratch)
    {
        const std::uint64_t all = whole_bytes();
        switch (where_) {
        case argument_memory::host:
            base_ = static_cast<std::byte *>(std::aligned_alloc(256, (all + 255) / 256 * 256));
            if (!base_) throw cuda_failure{cudaErrorMemoryAllocation, run_step::none};
            break;
        case argument_memory::pinned:
        case argument_memory::mapped:
            base_ = static_cast<std::byte *>(pinned_memory(all, pinned_flags()));
            break;
        case argument_memory::managed:
            check(cudaMallocManaged(address(), all, cudaMemAttachGlobal));
            break;
        case argument_memory::acquired:
            acquire(all);
            break;
        default:
            check(cudaSetDevice(device_));
            check(cudaMalloc(address(), all));
        }
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer()
    {
        if (simulator_allow) simulator_allow(base_, misalign_bytes_ + 2 * guard_ + bytes_);
        if (where_ == argument_memory::host)
            std::free(base_);
        else if (where_ == argument_memory::pinned || where_ == argument_memory::mapped)
            release_pinned(base_, whole_bytes(), pinned_flags());
        else if (where_ == argument_memory::acquired)
            release();
        else
            cudaFree(base_);
    }

    std::byte *payload() const { return base_ + misalign_bytes_ + guard_; }
    std::uint64_t payload_bytes() const { return bytes_; }
    std::uint64_t image_bytes() const { return 2 * guard_ + in_image_; }

    void load(const std::byte *image)
    {
        if (is_whole()) return copy(base_ + misalign_bytes_, image, image_bytes());
        copy(payload() - guard_, image, guard_);
        copy(payload() + bytes_, image + guard_ + in_image_, guard_);
        // The fill byte is as unpredictable as the guards, and never 0.
        if (scratch_) check(cudaMemset(payload(), std::to_integer<int>(image[0]) | 1, bytes_));
        for (std::uint64_t at = 0; in_image_ && at < bytes_; at += in_image_)
            copy(payload() + at, image + guard_, std::min(in_image_, bytes_ - at));
    }
    void store(std::byte *image) const
    {
        if (simulator_allow) simulator_allow(base_, misalign_bytes_ + 2 * guard_ + bytes_);
        if (is_whole()) return copy(image, base_ + misalign_bytes_, image_bytes());
        copy(image, payload() - guard_, guard_ + in_image_);
        copy(image + guard_ + in_image_, payload() + bytes_, guard_);
    }
    void patch(std::uint64_t at, const std::byte *from, std::uint64_t bytes)
    {
        copy(payload() + at, from, bytes);
    }
    // Declares the guards, the uninitialised output and the argument's name to the simulator.
    void watch(const argument_descriptor &s) const
    {
        if (!simulator_forbid) return;
        simulator_forbid(base_, misalign_bytes_ + guard_);
        simulator_forbid(payload() + bytes_, guard_);
        simulator_label(payload(), bytes_, s.name);
        if (s.output) simulator_forget(payload(), bytes_);
    }

private:
    std::uint64_t whole_bytes() const
    {
        return std::max<std::uint64_t>(misalign_bytes_ + 2 * guard_ + bytes_, 1);
    }
    unsigned pinned_flags() const
    {
        return where_ == argument_memory::mapped ? cudaHostAllocMapped : cudaHostAllocDefault;
    }
    bool is_whole() const { return bytes_ == in_image_; } // in the image
    void **address() { return reinterpret_cast<void **>(&base_); }
    // Each result of `acquire` must go to `release` before the next call of `acquire`.
    void acquire(std::uint64_t bytes)
    {
        if (still_pinned_) throw acquire_failure{acquire_fault::not_released};
        std::size_t floats = (bytes + sizeof(float) - 1) / sizeof(float);
        void *n = &floats;
        find_entry("acquire")->run(&n, &base_);
        if (!base_) throw acquire_failure{acquire_fault::nothing};
        auto kind = [this](std::uint64_t at) {
            cudaPointerAttributes a{};
            check(cudaPointerGetAttributes(&a, base_ + at));
            return a.type;
        };
        if (kind(bytes - 1) != kind(0)) throw acquire_failure{acquire_fault::too_little};
    }
    void release()
    {
        void *memory = base_;
        try {
            find_entry("release")->run(&memory, nullptr);
        } catch (const std::exception &) { // the check below detects that nothing was released
        }
        cudaPointerAttributes a{};
        if (cudaPointerGetAttributes(&a, memory) == cudaSuccess)
            still_pinned_ |= a.type == cudaMemoryTypeHost;
        else
            cudaGetLastError(); // clear the error of this query: it is not the submission's
    }
    static inline bool still_pinned_ = false;

    void copy(void *to, const void *from, std::uint64_t bytes) const
    {
        if (!bytes) return;
        // The host writes managed memory, as host code would. It also writes memory from `acquire`
        // where simulated devices refuse work between calls.
        const bool by_host = where_ == argument_memory::host ||
                             where_ == argument_memory::managed ||
                             (where_ == argument_memory::acquired && simulator_is_elsewhere);
        if (by_host)
            std::memcpy(to, from, bytes);
        else if (simulator_put) // the simulator owns all memory but the parent's input and output
            check(simulator_put(to, from, bytes) || simulator_get(to, from, bytes)
                      ? cudaSuccess
                      : cudaErrorInvalidValue);
        else
            check(copied(to, from, bytes));
    }
    cudaError_t copied(void *to, const void *from, std::uint64_t bytes) const
    {
        const bool in_device =
            where_ == argument_memory::device || where_ == argument_memory::per_device;
        const bool pinned = where_ == argument_memory::pinned || where_ == argument_memory::mapped;
        if ((!in_device && !pinned) || bytes < min_staged_bytes)
            return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
        if (pinned) return host_copy(to, from, bytes, device_);
        const bool inward = to >= base_ && to < payload() + bytes_ + guard_;
        return staged_copy(to, from, bytes,
                           inward ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, device_);
    }

    argument_memory where_;
    std::uint64_t guard_, bytes_, in_image_, misalign_bytes_;
    int device_;
    bool scratch_;
    std::byte *base_ = nullptr;
};

struct loaded_argument {
    argument_descriptor descriptor;
    std::deque<buffer> buffers;   // one, or one per device; empty if another process holds them
    std::vector<void *> payloads; // addresses in those buffers, in whichever process
    std::vector<std::byte> value;
};

struct argument_set {
    explicit argument_set(std::span<const argument_descriptor> given) : arguments(given.size())
    {
        for (std::size_t i = 0; i < given.size(); ++i) arguments[i].descriptor = given[i];
    }
    std::vector<loaded_argument> arguments;
    std::vector<void *> pointers; // the arguments of entry::run
};

// Returns one hash per argument, of the memory that a call may write.
std::vector<std::uint64_t> digests(const argument_set &s);

// Calls `function`_scratch with the values of the same names and returns the bytes it asks for.
// Throws std::runtime_error if it cannot be called or asks for more than the device has.
std::uint64_t scratch_bytes(const argument_set &s, const std::string &function,
                            bool of_any_size = false);

} // namespace grading
