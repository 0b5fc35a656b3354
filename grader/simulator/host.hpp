// The process whose host code calls the runtime: this one, or another at the end of a socket
// (remote/). The runtime touches ordinary host memory through this interface alone.
#pragma once

#include "memory.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace simulator {

// Rows of `width` bytes in host memory: `height` of them a slice, `depth` slices, so far apart.
struct host_rows {
    std::uint64_t width = 0, height = 1, depth = 1, pitch = 0, slice = 0;
    std::uint64_t bytes() const { return width * height * depth; }
};

// Work that was queued reached for the host's memory or functions between two calls of the host's.
// What is queued behind it will, too: nothing more is worth doing.
struct host_is_away : std::runtime_error {
    using runtime_error::runtime_error;
};

class host_process {
public:
    virtual ~host_process() = default;

    // From and to host memory; the other side holds the rows one behind another.
    virtual void read(const void *from, const host_rows &rows, std::byte *to) = 0;
    virtual void write(void *to, const host_rows &rows, const std::byte *from) = 0;

    // Functions of the program's that a stream calls.
    virtual void call(cudaHostFn_t function, void *data) = 0;
    virtual void call(cudaStreamCallback_t function, cudaStream_t stream, cudaError_t status,
                      void *data) = 0;

    // Memory that device and host share, at its addresses: host code may touch it from now on, or
    // no longer. False where the system refuses.
    virtual bool open(address start, std::uint64_t bytes) = 0;
    virtual void close(address start, std::uint64_t bytes) = 0;

    // Puts shared memory, open already, in the place of whole pages of the program's: both
    // addresses then show what the pages held.
    enum class lent { yes, shared_already, refused };
    virtual lent lend(std::uintptr_t pages, address start, std::uint64_t bytes) = 0;
    // And back: the pages keep their bytes, and are private once more.
    virtual bool take_back(std::uintptr_t pages, std::uint64_t bytes) = 0;

    // Whether it has threads besides the one whose call is under way.
    virtual bool has_other_threads() = 0;
};

// What a host process does in its own address space, also on behalf of a runtime elsewhere.
class this_process : public host_process {
public:
    // `shared` is the file of the memory that device and host share; it is mapped from `first` on.
    this_process(int shared, address first, std::uint64_t bytes);

    void read(const void *from, const host_rows &rows, std::byte *to) override;
    void write(void *to, const host_rows &rows, const std::byte *from) override;
    void call(cudaHostFn_t function, void *data) override;
    void call(cudaStreamCallback_t function, cudaStream_t stream, cudaError_t status,
              void *data) override;
    bool open(address start, std::uint64_t bytes) override;
    void close(address start, std::uint64_t bytes) override;
    lent lend(std::uintptr_t pages, address start, std::uint64_t bytes) override;
    bool take_back(std::uintptr_t pages, std::uint64_t bytes) override;
    bool has_other_threads() override;

private:
    int shared_;
    address first_;
    std::uint64_t bytes_;
};

// The thread of the host that calls the runtime: a number that no other thread has. A runtime that
// serves another process says whose call it makes.
std::uint64_t calling_thread();
void act_for_thread(std::uint64_t number);

// This process, unless another was named.
host_process &host();
void serve_host(host_process *other); // null: this process again

} // namespace simulator
