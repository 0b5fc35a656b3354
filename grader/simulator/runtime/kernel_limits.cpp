// Limits of kernels: attributes of functions, sizes of launches, and occupancy.
#include "kernels.hpp"

#include "simulator/machine/finding.hpp"

#include <algorithm>

namespace simulator::runtime {

namespace {

std::uint32_t round_up(std::uint32_t n, std::uint32_t unit) { return (n + unit - 1) / unit * unit; }

// An H200 under driver 580 answers every launch beyond its limits with cudaErrorInvalidValue.
cudaError_t check_shape(dim3 grid, dim3 block)
{
    const auto threads = std::uint64_t{block.x} * block.y * block.z;
    const bool fits = grid.x && grid.y && grid.z && grid.x <= 0x7fffffff && grid.y <= 65535 &&
                      grid.z <= 65535 && threads && block.x <= 1024 && block.y <= 1024 &&
                      block.z <= 64 &&
                      threads <= static_cast<std::uint64_t>(profile().threads_per_block);
    return fits ? cudaSuccess : cudaErrorInvalidValue;
}

std::string text_of(dim3 d)
{
    return "(" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z) +
           ")";
}

// In bytes per block at launch.
std::uint32_t dynamic_shared_limit(const resolved &k)
{
    if (k.handle && k.handle->dynamic_shared) return *k.handle->dynamic_shared;
    const std::uint32_t all = profile().shared_per_block;
    return all > k.info->static_shared ? all - k.info->static_shared : 0;
}

int blocks_per_multiprocessor(const kernel_info &info, int threads, std::size_t dynamic_shared)
{
    const device_profile &p = profile();
    if (threads <= 0 || threads > p.threads_per_block) return 0;
    const int warps = (threads + 31) / 32;
    int blocks = std::min(p.blocks_per_multiprocessor, p.threads_per_multiprocessor / 32 / warps);
    // The driver reserves 1 KiB of shared memory per block. Register use is unknown.
    const std::uint64_t shared = info.static_shared + dynamic_shared;
    if (shared > p.shared_per_block_optin) return 0;
    const auto each = round_up(static_cast<std::uint32_t>(shared), 128) + 1024;
    return std::min<int>(blocks, static_cast<int>(p.shared_per_multiprocessor / each));
}

// Wraps the body of a call about a kernel; `fits`: its other arguments are valid.
template <typename body_of_call>
cudaError_t with_kernel(const void *function, bool fits, body_of_call body)
{
    return call([&] {
        if (!fits) return cudaErrorInvalidValue;
        resolved k;
        const cudaError_t e = resolve(function, k);
        return e == cudaSuccess ? body(k) : e;
    });
}

} // namespace

std::string refused_text(const kernel_info &info, dim3 grid, dim3 block, std::size_t dynamic_shared)
{
    std::string s = "Kernel " + demangled_name(info.name) + " was asked for a grid of " +
                    text_of(grid) + " blocks of " + text_of(block) + " threads";
    if (dynamic_shared)
        s += ", with " + std::to_string(dynamic_shared) + " bytes of shared memory each";
    return s + ".";
}

cudaError_t check_limits(const resolved &k, dim3 grid, dim3 block, std::size_t dynamic_shared,
                         bool cooperative)
{
    if (cudaError_t e = check_shape(grid, block); e != cudaSuccess) return e;
    const std::uint32_t threads = block.x * block.y * block.z;
    if (k.info->max_threads && threads > k.info->max_threads) return cudaErrorInvalidValue;
    if (dynamic_shared > dynamic_shared_limit(k)) return cudaErrorInvalidValue;
    if (!cooperative) return cudaSuccess;
    // A test may set few multiprocessors; a cooperative grid that fits the usual number still
    // fits.
    const int available = std::max(multiprocessors(), profile().multiprocessors);
    const auto resident = static_cast<std::uint64_t>(available) *
                          static_cast<std::uint64_t>(blocks_per_multiprocessor(
                              *k.info, static_cast<int>(threads), dynamic_shared));
    return std::uint64_t{grid.x} * grid.y * grid.z > resident ? cudaErrorCooperativeLaunchTooLarge
                                                              : cudaSuccess;
}

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *out, const void *function)
{
    return with_kernel(function, out != nullptr, [&](const resolved &k) {
        *out = {};
        out->sharedSizeBytes = k.info->static_shared;
        out->localSizeBytes = k.info->local_bytes;
        out->maxThreadsPerBlock = k.info->max_threads ? static_cast<int>(k.info->max_threads)
                                                      : profile().threads_per_block;
        // PTX has virtual registers, so numRegs stays 0.
        out->ptxVersion = out->binaryVersion = profile().major * 10 + profile().minor;
        out->maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_limit(k));
        out->preferredShmemCarveout = -1;
        return cudaSuccess;
    });
}

cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value)
{
    return with_kernel(function, true, [&](const resolved &k) {
        switch (attribute) {
        case cudaFuncAttributeMaxDynamicSharedMemorySize: {
            const std::int64_t max_dynamic = std::int64_t{profile().shared_per_block_optin} -
                                             std::int64_t{k.info->static_shared};
            if (value < 0 || value > max_dynamic) return cudaErrorInvalidValue;
            k.handle->dynamic_shared = static_cast<std::uint32_t>(value);
            return cudaSuccess;
        }
        case cudaFuncAttributePreferredSharedMemoryCarveout:
            return value < -1 || value > 100 ? cudaErrorInvalidValue : cudaSuccess;
        default:
            return not_supported("this attribute of cudaFuncSetAttribute");
        }
    });
}

cudaError_t cudaFuncSetCacheConfig(const void *function, cudaFuncCache)
{
    return with_kernel(function, true, [](const resolved &) { return cudaSuccess; });
}

cudaError_t cudaFuncGetParamInfo(const void *function, std::size_t index, std::size_t *offset,
                                 std::size_t *bytes)
{
    return with_kernel(function, true, [&](const resolved &k) {
        if (!offset || index >= k.info->parameters.size()) return cudaErrorInvalidValue;
        *offset = k.info->parameters[index].offset;
        if (bytes) *bytes = k.info->parameters[index].bytes;
        return cudaSuccess;
    });
}

cudaError_t cudaFuncGetName(const char **name, const void *function)
{
    return call([&] {
        if (!name) return cudaErrorInvalidValue;
        kernel *k = find_kernel(function);
        if (!k) return cudaErrorInvalidDeviceFunction;
        *name = k->name.c_str();
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *function, int threads, std::size_t dynamic_shared, unsigned)
{
    return with_kernel(function, blocks && threads > 0, [&](const resolved &k) {
        *blocks = blocks_per_multiprocessor(*k.info, threads, dynamic_shared);
        return cudaSuccess;
    });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int threads, std::size_t dynamic_shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                  dynamic_shared, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t *bytes, const void *function,
                                                      int blocks, int threads)
{
    return with_kernel(function, bytes && blocks > 0 && threads > 0, [&](const resolved &k) {
        if (blocks > blocks_per_multiprocessor(*k.info, threads, 0)) return cudaErrorInvalidValue;
        const device_profile &p = profile();
        const std::uint32_t each =
            p.shared_per_multiprocessor / static_cast<std::uint32_t>(blocks) / 128 * 128;
        const std::uint32_t taken = k.info->static_shared + 1024;
        *bytes = each > taken ? std::min(each - taken, p.shared_per_block_optin) : 0;
        return cudaSuccess;
    });
}

} // extern "C"
