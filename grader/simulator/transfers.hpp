// Copies: what moves where, checked and queued.
#pragma once

#include "work.hpp"

namespace simulator::runtime {

// What a copy moves: rows of `width` bytes, `height` of them a slice, `depth` slices.
struct box {
    std::uint64_t width = 0, height = 1, depth = 1;
    bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

// Where the rows of one side lie: bytes from one to the next, and from slice to slice.
struct layout {
    std::uint64_t pitch = 0, slice = 0;
};

struct copy_request {
    const char *function;
    void *to;
    layout rows_to;
    const void *from;
    layout rows_from;
    box size;
    cudaMemcpyKind kind;
};

enum class until { queued, copied };

// Checks a copy and queues it; a copy of nothing is no copy.
cudaError_t copy(copy_request, cudaStream_t, until);

// Arrays.
bool is_array(cudaArray_t); // made and not freed
std::uint64_t element_bytes(cudaArray_t);
// Where a box of an array starts: `from` counts bytes, rows and slices.
cudaError_t place_in(cudaArray_t, const cudaPos &from, const box &, std::byte *&at, layout &);

} // namespace simulator::runtime
