// Kernel launches: checked when they are queued, run when it is their turn.
#include "kernels.hpp"
#include "work.hpp"

#include "simulator/machine/counters.hpp"
#include "simulator/machine/finding.hpp"
#include "simulator/machine/memory.hpp"

#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

namespace simulator::runtime {

namespace {

// Returns nullopt if no addresses are left.
std::optional<address> new_grid_workspace(int device)
{
    struct {
        std::uint32_t bytes = 8, arrived = 0;
    } fresh;
    memory &m = memory::instance();
    // A device that is out of memory can still launch.
    const auto at = m.allocate(sizeof fresh, memory_kind::internal, device);
    if (!at) return at;
    std::memcpy(m.at(*at), &fresh, sizeof fresh);
    m.mark(*at, sizeof fresh, initialised, 0);
    return at;
}

std::vector<std::byte> pack(const kernel_info &info, void **arguments)
{
    std::vector<std::byte> bytes(info.parameter_bytes);
    for (std::size_t i = 0; i < info.parameters.size(); ++i)
        if (const parameter p = info.parameters[i];
            p.offset <= bytes.size() && p.bytes <= bytes.size() - p.offset)
            std::memcpy(bytes.data() + p.offset, arguments[i], p.bytes);
        else
            throw std::logic_error("a parameter of " + info.name + " lies outside of them all");
    return bytes;
}

// Applies a launch attribute; most are performance hints and change no results.
cudaError_t apply_attribute(const cudaLaunchAttribute &a, bool &cooperative)
{
    switch (a.id) {
    case cudaLaunchAttributeCooperative:
        cooperative = a.val.cooperative != 0;
        return cudaSuccess;
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeNvlinkUtilCentricScheduling:
    // Kernels in one stream never overlap here, which this attribute permits.
    case cudaLaunchAttributeProgrammaticStreamSerialization:
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension: {
        const auto &d = a.val.clusterDim;
        return d.x == 1 && d.y == 1 && d.z == 1
                   ? cudaSuccess
                   : not_supported("thread block clusters (compute 8.0 has none)");
    }
    case cudaLaunchAttributeProgrammaticEvent:
        return not_supported("cudaLaunchAttributeProgrammaticEvent");
    case cudaLaunchAttributeLaunchCompletionEvent:
        return not_supported("cudaLaunchAttributeLaunchCompletionEvent");
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        return not_supported("cudaLaunchAttributeDeviceUpdatableKernelNode");
    default:
        return not_supported(("launch attribute " + std::to_string(a.id)).c_str());
    }
}

// A checked launch that can run any number of times.
struct prepared {
    const void *function;
    dim3 grid, block;
    std::vector<std::byte> parameters;
    std::size_t dynamic_shared;
    int device;
    bool cooperative;
};

struct kernel_work {
    std::uint64_t warp_instructions = 0, sectors = 0; // sectors: distinct per launch
    std::uint64_t peer_bytes = 0;                     // to and from other devices
};

// The sum over all kernels so far.
kernel_work work_so_far()
{
    kernel_work sum;
    for (const kernel_counts &k : counters::instance().kernels) {
        sum.warp_instructions += k.total.warp_instructions;
        sum.sectors += k.sectors_read + k.sectors_written;
    }
    for (const std::uint64_t bytes : counters::instance().transfers.sent) sum.peer_bytes += bytes;
    return sum;
}

void run(const prepared &p)
{
    resolved k;
    if (cudaError_t e = resolve(p.function, p.device, k); e != cudaSuccess)
        return set_sticky_error(e, "a queued kernel no longer exists");
    launch config;
    config.grid = {p.grid.x, p.grid.y, p.grid.z};
    config.block = {p.block.x, p.block.y, p.block.z};
    config.dynamic_shared = static_cast<std::uint32_t>(p.dynamic_shared);
    config.parameters = p.parameters;
    config.device = p.device;
    config.closed = inaccessible_memory(p.device);
    if (p.cooperative) {
        const auto workspace = new_grid_workspace(p.device);
        if (!workspace)
            return set_sticky_error(cudaErrorLaunchFailure,
                                    "no addresses are left for a cooperative launch");
        config.grid_workspace = *workspace;
    }
    const kernel_work before = work_so_far();
    const outcome end = k.code->run(*k.info, config);
    const kernel_work after = work_so_far();
    timeline::instance().ran_kernel(
        demangled_name(k.info->name), std::uint64_t{p.grid.x} * p.grid.y * p.grid.z,
        after.warp_instructions - before.warp_instructions, after.sectors - before.sectors,
        after.peer_bytes - before.peer_bytes);
    if (p.cooperative) memory::instance().release(config.grid_workspace);
    // As on hardware the launch itself succeeds; a later call surfaces the fault.
    if (end.error != 0) set_sticky_error(static_cast<cudaError_t>(end.error), end.message);
}

} // namespace

cudaError_t prepare(const void *function, dim3 grid, dim3 block, void **arguments,
                    std::size_t dynamic_shared, bool cooperative, task &out)
{
    resolved k;
    if (cudaError_t e = resolve(function, k); e != cudaSuccess) return e;
    if (cudaError_t e = check_limits(k, grid, block, dynamic_shared, cooperative);
        e != cudaSuccess) {
        // The finding names the launch that failed, which the error code alone does not.
        finding f;
        f.kind = finding_kind::refused_launch;
        f.kernel = demangled_name(k.info->name);
        f.detail = refused_text(*k.info, grid, block, dynamic_shared);
        findings::instance().add(std::move(f));
        mark_failure_reported();
        return e;
    }
    if (!arguments && !k.info->parameters.empty()) return cudaErrorInvalidValue;
    out.type = cudaGraphNodeTypeKernel;
    out.run = [p = prepared{function, grid, block, pack(*k.info, arguments), dynamic_shared,
                            current_device(), cooperative}] { run(p); };
    return cudaSuccess;
}

namespace {

cudaError_t queue_launch(const void *function, dim3 grid, dim3 block, void **arguments,
                         std::size_t dynamic_shared, cudaStream_t stream, bool cooperative)
{
    if (!valid(stream))
        return fail_because(cudaErrorInvalidResourceHandle, "its stream does not exist");
    if (const int device = state_of(stream).device; device != current_device())
        return fail_because(cudaErrorInvalidResourceHandle,
                            "its stream was made on device " + std::to_string(device) +
                                ", and device " + std::to_string(current_device()) +
                                " is the current one");
    task t;
    if (cudaError_t e = prepare(function, grid, block, arguments, dynamic_shared, cooperative, t);
        e != cudaSuccess)
        return e;
    return queue(stream, std::move(t));
}

} // namespace
} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             std::size_t dynamic_shared, cudaStream_t stream)
{
    return call([&] {
        return queue_launch(function, grid, block, arguments, dynamic_shared, stream, false);
    });
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, std::size_t dynamic_shared,
                                        cudaStream_t stream)
{
    return call([&] {
        return queue_launch(function, grid, block, arguments, dynamic_shared, stream, true);
    });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *function, void **arguments)
{
    return call([&] {
        if (!c || (c->numAttrs && !c->attrs)) return cudaErrorInvalidValue;
        bool cooperative = false;
        for (unsigned i = 0; i < c->numAttrs; ++i)
            if (cudaError_t e = apply_attribute(c->attrs[i], cooperative); e != cudaSuccess)
                return e;
        return queue_launch(function, c->gridDim, c->blockDim, arguments, c->dynamicSmemBytes,
                            c->stream, cooperative);
    });
}

} // extern "C"
