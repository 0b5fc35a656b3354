// What <<<...>>> says, between its evaluation and the call of the kernel's host function.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace simulator::runtime {
cudaError_t record(cudaError_t result); // remembers an error for cudaGetLastError; returns it
}

namespace {

struct launch_configuration {
    dim3 grid, block;
    std::size_t dynamic_shared;
    cudaStream_t stream;
};
thread_local std::vector<launch_configuration> pushed;

} // namespace

extern "C" {

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

} // extern "C"
