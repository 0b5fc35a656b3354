// Caches large pinned memory, and pins large pages, which takes far less time than cudaHostAlloc
// does (data/measured/README.md).
#include "pinned_memory.hpp"

#include "devices.hpp"
#include "simulator/runtime/harness.h"

#include <cuda_runtime_api.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace grading {

namespace {

constexpr std::uint64_t min_cached_bytes = 8 << 20;

using size_and_flags = std::pair<std::uint64_t, unsigned>;
std::multimap<size_and_flags, void *> cached;

// The simulator tells who uses memory that was freed.
bool is_cached(std::uint64_t bytes) { return bytes >= min_cached_bytes && !simulator_put; }

// Forgets the error of a call of ours, so that no submission is charged with it.
bool succeeds(cudaError_t e)
{
    if (e != cudaSuccess) cudaGetLastError();
    return e == cudaSuccess;
}

// False if the submission has freed what was given to it.
bool is_pinned(const void *memory)
{
    cudaPointerAttributes a{};
    return succeeds(cudaPointerGetAttributes(&a, memory)) && a.type == cudaMemoryTypeHost;
}

// True if the device reads registered memory at the host's address, as it does what cudaHostAlloc
// returns.
bool has_one_address()
{
    int device = 0, one = 0;
    return succeeds(cudaGetDevice(&device)) &&
           succeeds(cudaDeviceGetAttribute(&one, cudaDevAttrCanUseHostPointerForRegisteredMem,
                                           device)) &&
           one != 0;
}

constexpr std::size_t large_page = std::size_t{2} << 20;

// So that several threads make the pages; else the driver makes one after the other.
void touch(std::byte *memory, std::size_t bytes)
{
    constexpr std::size_t threads = 8, small_page = 4096;
    const std::size_t part = (bytes / threads + large_page) / large_page * large_page;
    try {
        std::vector<std::jthread> running;
        for (std::size_t first = 0; first < bytes; first += part)
            running.emplace_back([=] {
                for (std::size_t at = first; at < std::min(bytes, first + part); at += small_page)
                    memory[at] = std::byte{};
            });
    } catch (const std::system_error &) { // no further thread can be started
    }
}

// Returns null where memory of the process cannot be pinned, or has another address on the device.
void *pinned_large_pages(std::size_t bytes, unsigned flags)
{
    static_assert(cudaHostRegisterDefault == cudaHostAllocDefault &&
                  cudaHostRegisterMapped == cudaHostAllocMapped);
    static const bool one_address = has_one_address();
    if (!one_address) return nullptr;
    const std::size_t whole = (bytes + large_page - 1) / large_page * large_page;
    auto *memory = static_cast<std::byte *>(std::aligned_alloc(large_page, whole));
    if (!memory) return nullptr;
    madvise(memory, whole, MADV_HUGEPAGE); // a wish
    touch(memory, bytes);
    if (succeeds(cudaHostRegister(memory, bytes, flags))) return memory;
    std::free(memory);
    return nullptr;
}

void free_cached()
{
    for (const auto &[what, memory] : std::exchange(cached, {})) {
        if (succeeds(cudaHostUnregister(memory)))
            std::free(memory);
        else
            succeeds(cudaFreeHost(memory));
    }
}

} // namespace

void *pinned_memory(std::uint64_t bytes, unsigned flags)
{
    if (const auto same = cached.find({bytes, flags}); same != cached.end()) {
        void *memory = same->second;
        cached.erase(same);
        if (is_pinned(memory)) return memory;
    }
    if (is_cached(bytes)) {
        free_cached(); // of other sizes, as an earlier case had
        if (void *memory = pinned_large_pages(bytes, flags)) return memory;
    }
    void *memory = nullptr;
    if (cached.empty() || !succeeds(cudaHostAlloc(&memory, bytes, flags))) {
        free_cached();
        check(cudaHostAlloc(&memory, bytes, flags));
    }
    return memory;
}

void release_pinned(void *memory, std::uint64_t bytes, unsigned flags)
{
    if (is_cached(bytes))
        cached.emplace(size_and_flags{bytes, flags}, memory);
    else
        cudaFreeHost(memory);
}

} // namespace grading
