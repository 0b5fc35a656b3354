// Keeps large pinned memory for the next argument of its size.
#include "pinned_memory.hpp"

#include "devices.hpp"
#include "simulator/runtime/harness.h"

#include <cuda_runtime_api.h>

#include <map>
#include <utility>

namespace grading {

namespace {

constexpr std::uint64_t min_kept_bytes = 8 << 20;

using kind = std::pair<std::uint64_t, unsigned>; // bytes and flags
std::multimap<kind, void *> kept;

// The simulator tells who uses memory that was freed.
bool is_kept(std::uint64_t bytes) { return bytes >= min_kept_bytes && !simulator_put; }

// False if the submission has freed what was given to it.
bool is_pinned(const void *memory)
{
    cudaPointerAttributes a{};
    return cudaPointerGetAttributes(&a, memory) == cudaSuccess && a.type == cudaMemoryTypeHost;
}

} // namespace

void *pinned_memory(std::uint64_t bytes, unsigned flags)
{
    if (const auto same = kept.find({bytes, flags}); same != kept.end()) {
        void *memory = same->second;
        kept.erase(same);
        if (is_pinned(memory)) return memory;
    }
    if (is_kept(bytes)) // sizes change: no case asks for the others again
        for (const auto &[what, memory] : std::exchange(kept, {})) cudaFreeHost(memory);
    void *memory = nullptr;
    check(cudaHostAlloc(&memory, bytes, flags));
    return memory;
}

void release_pinned(void *memory, std::uint64_t bytes, unsigned flags)
{
    if (is_kept(bytes))
        kept.emplace(kind{bytes, flags}, memory);
    else
        cudaFreeHost(memory);
}

} // namespace grading
