// Runtime calls that the server and the client (remote/) have in common: they need no device, or
// only call the runtime.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace simulator::runtime {
cudaError_t set_last_error(cudaError_t result); // declared in runtime.hpp
}

using simulator::runtime::set_last_error;

namespace {

// The configuration in <<<...>>>, kept from its evaluation to the call of the kernel's host
// function.
struct launch_configuration {
    dim3 grid, block;
    std::size_t dynamic_shared;
    cudaStream_t stream;
};
thread_local std::vector<launch_configuration> pushed;

// Splits `count` bytes of an array, from byte x of row y on, into planes:
// copy(x, y, offset in memory, bytes per row, rows).
template <class function> cudaError_t for_each_plane(cudaArray_const_t array, std::size_t x,
                                                     std::size_t y, std::size_t count,
                                                     function copy)
{
    cudaExtent size{};
    cudaChannelFormatDesc format{};
    cudaError_t e = cudaArrayGetInfo(&format, &size, nullptr, const_cast<cudaArray_t>(array));
    const int bits = format.x + format.y + format.z + format.w;
    const std::size_t row = size.width * static_cast<std::size_t>(bits / 8);
    if (e == cudaSuccess && x >= row) e = set_last_error(cudaErrorInvalidValue);
    for (std::size_t done = 0; e == cudaSuccess && done < count; x = 0) {
        const std::size_t left = count - done;
        const bool whole = x == 0 && left >= row;
        const std::size_t width = whole ? row : std::min(row - x, left);
        const std::size_t height = whole ? left / row : 1;
        e = copy(x, y, done, width, height);
        done += width * height;
        y += height;
    }
    return e;
}

} // namespace

extern "C" {

void __cudaRegisterFatBinaryEnd(void **) {}

// Called only at exit, where the process releases everything.
void __cudaUnregisterFatBinary(void **) {}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t dynamic_shared,
                                     cudaStream_t stream)
{
    pushed.push_back({grid, block, dynamic_shared, stream});
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, std::size_t *dynamic_shared,
                                       void *stream)
{
    if (pushed.empty()) return set_last_error(cudaErrorMissingConfiguration);
    *grid = pushed.back().grid;
    *block = pushed.back().block;
    *dynamic_shared = pushed.back().dynamic_shared;
    *static_cast<cudaStream_t *>(stream) = pushed.back().stream;
    pushed.pop_back();
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t function, dim3 grid, dim3 block, void **arguments,
                               std::size_t dynamic_shared, cudaStream_t stream)
{
    return cudaLaunchKernel(function, grid, block, arguments, dynamic_shared, stream);
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f)
{
    return {x, y, z, w, f};
}

// Both functions are deprecated but still taught.

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void *from,
                              std::size_t count, cudaMemcpyKind kind)
{
    return for_each_plane(
        to, x, y, count, [&](auto at, auto row, auto done, auto width, auto height) {
            return cudaMemcpy2DToArray(to, at, row, static_cast<const std::byte *>(from) + done,
                                       width, width, height, kind);
        });
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t count, cudaMemcpyKind kind)
{
    return for_each_plane(
        from, x, y, count, [&](auto at, auto row, auto done, auto width, auto height) {
            return cudaMemcpy2DFromArray(static_cast<std::byte *>(to) + done, width, from, at, row,
                                         width, height, kind);
        });
}

} // extern "C"
