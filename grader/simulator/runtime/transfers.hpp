// Copies between host, device and arrays: checks and queueing.
#pragma once

#include "work.hpp"

#include "simulator/machine/finding.hpp"

namespace simulator::runtime {

// The size of a copy: rows of `width` bytes, `height` rows per slice and `depth` slices.
struct box {
    std::uint64_t width = 0, height = 1, depth = 1;
    bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

// The layout of one side: distance in bytes between rows, and between slices.
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
    // The source rows, packed, if they were read during the call.
    std::shared_ptr<std::vector<std::byte>> staged = {};
};

// A copy of consecutive bytes.
copy_request contiguous(const char *function, void *to, const void *from, std::size_t bytes,
                        cudaMemcpyKind);

enum class until { queued, copied };

// Checks a copy and queues it; an empty copy does nothing.
cudaError_t copy(copy_request, cudaStream_t, until);

// Adds a finding about an argument of a runtime call.
void report_misuse(finding_kind, const char *function, const void *at, std::uint64_t bytes,
                   bool write, std::string detail);

bool is_registered(const void *); // true for host memory registered by cudaHostRegister

// Arrays.
bool is_array(cudaArray_t); // created and not freed
std::uint64_t element_bytes(cudaArray_t);
std::size_t created_textures(); // texture and surface objects that are not destroyed
// Finds the start of a box in an array: `from` is in bytes, rows and slices.
cudaError_t place_in(cudaArray_t, const cudaPos &from, const box &, std::byte *&at, layout &);

} // namespace simulator::runtime
