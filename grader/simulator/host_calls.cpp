// Calls of the runtime that need no device, wherever the devices are.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace simulator::runtime {
cudaError_t record(cudaError_t result); // remembers an error for cudaGetLastError; returns it
}

namespace {

// What <<<...>>> says, between its evaluation and the call of the kernel's host function.
struct launch_configuration {
    dim3 grid, block;
    std::size_t dynamic_shared;
    cudaStream_t stream;
};
thread_local std::vector<launch_configuration> pushed;

} // namespace

extern "C" {

void __cudaRegisterFatBinaryEnd(void **) {}

// At exit only: what was loaded goes with the process.
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
    if (pushed.empty()) return simulator::runtime::record(cudaErrorMissingConfiguration);
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

} // extern "C"
