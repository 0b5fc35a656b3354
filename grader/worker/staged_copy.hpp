// Copies large arrays between a device and memory that this process shares with the grader.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace grading {

// Fewer bytes are not worth several threads.
constexpr std::uint64_t min_staged_bytes = 8 << 20;

// Like cudaMemcpy, but several times as fast: between pageable memory and that of `device`. Waits
// for all work on the device first.
cudaError_t staged_copy(void *to, const void *from, std::uint64_t bytes, cudaMemcpyKind kind,
                        int device);

// The same between two places in host memory, whatever pages they have.
cudaError_t host_copy(void *to, const void *from, std::uint64_t bytes, int device);

} // namespace grading
