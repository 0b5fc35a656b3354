// The host process, whose code calls the runtime: this one, or another at the end of a socket
// (remote/). The runtime accesses ordinary host memory only through this interface.
#pragma once

#include "memory.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace simulator {

// Rows of `width` bytes in host memory: `height` rows per slice and `depth` slices, with the
// distances `pitch` and `slice` in bytes.
struct host_rows {
    std::uint64_t width = 0, height = 1, depth = 1, pitch = 0, slice = 0;
    std::uint64_t bytes() const { return width * height * depth; }
};

// Thrown when queued work needs the host's memory or functions between two calls of the host. Work
// queued behind it would fail the same way, so the caller may stop.
struct host_is_away : std::runtime_error {
    using runtime_error::runtime_error;
};

class host_process {
public:
    virtual ~host_process() = default;

    // Copy from and to host memory; on the simulator's side the rows are contiguous.
    virtual void read(const void *from, const host_rows &rows, std::byte *to) = 0;
    virtual void write(void *to, const host_rows &rows, const std::byte *from) = 0;

    // Call functions of the program on behalf of a stream.
    virtual void call(cudaHostFn_t function, void *data) = 0;
    virtual void call(cudaStreamCallback_t function, cudaStream_t stream, cudaError_t status,
                      void *data) = 0;

    // Set the protection of memory that device and host share, at its device addresses in the host
    // process. Returns false if the system refuses.
    virtual bool make_accessible(address start, std::uint64_t bytes) = 0;
    virtual void make_inaccessible(address start, std::uint64_t bytes) = 0;

    // For cudaHostRegister: replaces whole pages of the program by shared memory that is already
    // accessible. Both addresses then show the previous contents of the pages.
    enum class share_result { shared, already_shared, refused };
    virtual share_result share_pages(std::uintptr_t pages, address start, std::uint64_t bytes) = 0;
    // Undoes `share_pages`: the pages keep their contents and are private again.
    virtual bool unshare_pages(std::uintptr_t pages, std::uint64_t bytes) = 0;

    // True if the host has threads besides the one whose call is being served.
    virtual bool has_other_threads() = 0;
};

// The operations of a host process in its own address space, also on behalf of a remote runtime.
class this_process : public host_process {
public:
    // `shared` is the file of the memory that device and host share; it is mapped at `first`.
    this_process(int shared, address first, std::uint64_t bytes)
        : shared_(shared), first_(first), bytes_(bytes)
    {
    }

    void read(const void *from, const host_rows &rows, std::byte *to) override;
    void write(void *to, const host_rows &rows, const std::byte *from) override;
    void call(cudaHostFn_t function, void *data) override;
    void call(cudaStreamCallback_t function, cudaStream_t stream, cudaError_t status,
              void *data) override;
    bool make_accessible(address start, std::uint64_t bytes) override;
    void make_inaccessible(address start, std::uint64_t bytes) override;
    share_result share_pages(std::uintptr_t pages, address start, std::uint64_t bytes) override;
    bool unshare_pages(std::uintptr_t pages, std::uint64_t bytes) override;
    bool has_other_threads() override;

private:
    int shared_;
    address first_;
    std::uint64_t bytes_;
};

// A unique number for the host thread that calls the runtime. A runtime that serves another
// process sets the thread whose call it makes.
std::uint64_t calling_thread();
void set_calling_thread(std::uint64_t number);

// This process, unless set_host has set another.
host_process &host();
void set_host(host_process *other); // null restores this process

} // namespace simulator
