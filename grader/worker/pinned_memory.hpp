// Pinned host memory for arguments.
#pragma once

#include <cstdint>

namespace grading {

// As cudaHostAlloc with these flags. Large memory may be what an earlier argument of this size had,
// with whatever that left in it: to pin it anew takes longer than all copies. Throws cuda_failure.
void *pinned_memory(std::uint64_t bytes, unsigned flags);
void release_pinned(void *memory, std::uint64_t bytes, unsigned flags);

} // namespace grading
