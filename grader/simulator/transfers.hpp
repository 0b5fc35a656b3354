// Copies: what moves where, checked and queued.
#pragma once

#include "work.hpp"

#include "finding.hpp"

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
    // The source's rows, one behind another, where they were read when the call was made.
    std::shared_ptr<std::vector<std::byte>> staged = {};
};

enum class until { queued, copied };

// Checks a copy and queues it; a copy of nothing is no copy.
cudaError_t copy(copy_request, cudaStream_t, until);

// A finding about an argument of a runtime call.
void find_misuse(finding_kind, const char *function, const void *at, std::uint64_t bytes,
                 bool write, std::string detail);

bool is_registered(const void *); // host memory that cudaHostRegister was given

// A call that works in a stream.
template <typename function> cudaError_t in(cudaStream_t stream, function body)
{
    return call([&] { return valid(stream) ? body() : cudaErrorInvalidResourceHandle; });
}

// Arrays.
bool is_array(cudaArray_t); // made and not freed
std::uint64_t element_bytes(cudaArray_t);
// Where a box of an array starts: `from` counts bytes, rows and slices.
cudaError_t place_in(cudaArray_t, const cudaPos &from, const box &, std::byte *&at, layout &);

} // namespace simulator::runtime
