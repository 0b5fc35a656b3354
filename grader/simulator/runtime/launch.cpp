// Registration of the code that nvcc embeds, and kernel launches.
#include "runtime.hpp"

#include "simulator/core/grid.hpp"
#include "simulator/machine/counters.hpp"
#include "simulator/machine/finding.hpp"
#include "simulator/machine/host.hpp"
#include "simulator/ptx/fatbin.hpp"
#include "simulator/ptx/ptx.hpp"
#include "work.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace simulator::runtime {

namespace {

struct managed_variable {
    void **host_pointer; // the program reads the variable's address here
    std::string name;
};

// A registered fat binary and the modules loaded from it.
struct binary {
    std::function<fat_binary()> images; // throws as images_of_wrapper does
    std::map<int, module> modules;      // by device
    std::vector<managed_variable> managed;
    module::variables managed_at;    // shared by all devices
    cudaError_t error = cudaSuccess; // set when loading failed; reported once, returned every time
    std::string refused_for;         // why ptxas would also refuse the code; else empty
};

struct symbol {
    binary *from;
    std::string name;
};

} // namespace

struct kernel {
    binary *from;
    std::string name;
    std::optional<std::uint32_t> dynamic_shared; // cudaFuncAttributeMaxDynamicSharedMemorySize
};

namespace {

struct registry {
    std::vector<std::unique_ptr<binary>> binaries;
    std::map<const void *, std::unique_ptr<kernel>> kernels; // by host function
    std::map<const void *, symbol> symbols;                  // by host object
};

registry &registered()
{
    // Never destroyed: registration runs before main, and calls may come until the process ends.
    static auto *const one = new registry;
    return *one;
}

void report_unsupported(const std::string &why)
{
    complain(why);
    finding f;
    f.kind = finding_kind::unsupported;
    f.detail = why;
    findings::instance().add(std::move(f));
}

// Returns the code of a binary on a device, loaded at first use; null if that fails, with the
// reason in from.error.
module *load(binary &from, int device)
{
    if (auto it = from.modules.find(device); it != from.modules.end()) return &it->second;
    if (from.error != cudaSuccess && !from.refused_for.empty())
        fail_because(from.error, from.refused_for);
    if (from.error != cudaSuccess) return nullptr;
    device_count(); // decides if variables are marked with their device
    const auto failed = [&from](cudaError_t error, const std::string &why) {
        from.error = error;
        report_unsupported(why);
        return nullptr;
    };
    const auto refused = [&from](const std::string &why) {
        from.refused_for = why;
        from.error = fail_because(cudaErrorInvalidPtx, why);
        return nullptr;
    };

    std::string text;
    try {
        const int architecture = profile().major * 10 + profile().minor;
        text = link_ptx(ptx_of(from.images(), architecture));
    } catch (const ptx::refused &e) {
        return refused(e.what());
    } catch (const std::runtime_error &e) {
        return failed(cudaErrorNoKernelImageForDevice, e.what());
    }
    try {
        module &code =
            from.modules.emplace(device, module(text, device, &from.managed_at)).first->second;
        for (const auto &m : from.managed)
            if (const auto *v = code.find_variable(m.name))
                host().write(m.host_pointer, {sizeof v->start},
                             reinterpret_cast<const std::byte *>(&v->start));
        return &code;
    } catch (const ptx::refused &e) {
        return refused(e.what());
    } catch (const std::runtime_error &e) {
        return failed(cudaErrorInvalidPtx, e.what());
    }
}

kernel *find_kernel(const void *function)
{
    auto &all = registered().kernels;
    if (auto it = all.find(function); it != all.end()) return it->second.get();
    for (auto &[host, k] : all)
        if (k.get() == function) return k.get();
    return nullptr;
}

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
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension: {
        const auto &d = a.val.clusterDim;
        return d.x == 1 && d.y == 1 && d.z == 1
                   ? cudaSuccess
                   : refuse("thread block clusters (compute 8.0 has none)");
    }
    case cudaLaunchAttributeProgrammaticStreamSerialization:
        // Kernels in one stream never overlap here, which the attribute permits.
        return cudaSuccess;
    case cudaLaunchAttributeProgrammaticEvent:
        return refuse("cudaLaunchAttributeProgrammaticEvent");
    case cudaLaunchAttributeLaunchCompletionEvent:
        return refuse("cudaLaunchAttributeLaunchCompletionEvent");
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        return refuse("cudaLaunchAttributeDeviceUpdatableKernelNode");
    default:
        return refuse(("launch attribute " + std::to_string(a.id)).c_str());
    }
}

} // namespace

cudaError_t resolve(const void *function, int device, resolved &out)
{
    out.handle = find_kernel(function);
    if (!out.handle) return cudaErrorInvalidDeviceFunction;
    out.code = load(*out.handle->from, device);
    if (!out.code) return out.handle->from->error;
    try {
        out.info = out.code->find_kernel(out.handle->name);
    } catch (const ptx::refused &e) {
        return fail_because(cudaErrorInvalidPtx, e.what());
    } catch (const std::runtime_error &e) { // the code cannot be decoded
        report_unsupported(e.what());
        return cudaErrorInvalidPtx;
    }
    return out.info ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t resolve(const void *function, resolved &out)
{
    return resolve(function, current_device(), out);
}

resolved known_as(const kernel_info &info)
{
    resolved out;
    out.info = &info;
    for (const auto &[host, k] : registered().kernels)
        for (const auto &[device, code] : k->from->modules)
            if (k->name == info.name && code.find_kernel(k->name) == &info) out.handle = k.get();
    return out;
}

bool is_symbol(const void *host) { return registered().symbols.count(host) > 0; }

cudaError_t resolve_symbol(const void *host, module::variable &out)
{
    auto it = registered().symbols.find(host);
    if (it == registered().symbols.end())
        return fail_because(cudaErrorInvalidSymbol,
                            "what it was given is no __device__ or __constant__ variable: it "
                            "takes the variable itself, no pointer to it and no text");
    module *code = load(*it->second.from, current_device());
    if (!code) return it->second.from->error;
    const auto *v = code->find_variable(it->second.name);
    if (!v) return cudaErrorInvalidSymbol;
    out = *v;
    return cudaSuccess;
}

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

namespace {

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
        return fault(e, "a kernel that was queued is there no more");
    launch how;
    how.grid = {p.grid.x, p.grid.y, p.grid.z};
    how.block = {p.block.x, p.block.y, p.block.z};
    how.dynamic_shared = static_cast<std::uint32_t>(p.dynamic_shared);
    how.parameters = p.parameters;
    how.device = p.device;
    how.closed = closed_memory(p.device);
    if (p.cooperative) {
        const auto workspace = new_grid_workspace(p.device);
        if (!workspace)
            return fault(cudaErrorLaunchFailure, "no addresses are left for a cooperative launch");
        how.grid_workspace = *workspace;
    }
    const kernel_work before = work_so_far();
    const outcome end = k.code->run(*k.info, how);
    const kernel_work after = work_so_far();
    timeline::instance().ran_kernel(
        demangled_name(k.info->name), std::uint64_t{p.grid.x} * p.grid.y * p.grid.z,
        after.warp_instructions - before.warp_instructions, after.sectors - before.sectors,
        after.peer_bytes - before.peer_bytes);
    if (p.cooperative) memory::instance().release(how.grid_workspace);
    // As on hardware the launch itself succeeds; a later call surfaces the fault.
    if (end.error != 0) fault(static_cast<cudaError_t>(end.error), end.message);
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

cudaError_t run(const void *function, dim3 grid, dim3 block, void **arguments,
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

void **register_binary(std::function<fat_binary()> images)
{
    std::lock_guard guard(lock());
    read_environment();
    link_harness();
    report_at_exit();
    auto &all = registered().binaries;
    all.push_back(std::make_unique<binary>());
    all.back()->images = std::move(images);
    return reinterpret_cast<void **>(all.back().get());
}

cudaError_t parameters_of(const void *function, std::vector<std::uint32_t> &bytes)
{
    std::lock_guard guard(lock());
    resolved k;
    if (cudaError_t e = resolve(function, k); e != cudaSuccess) return e;
    bytes.clear();
    for (const auto &p : k.info->parameters) bytes.push_back(p.bytes);
    return cudaSuccess;
}

void unload(int device)
{
    for (auto &b : registered().binaries) {
        b->modules.erase(device);
        b->error = cudaSuccess;
        if (!b->modules.empty()) continue;
        for (const auto &[name, v] : b->managed_at) memory::instance().release(v.start);
        b->managed_at.clear();
    }
}

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::runtime;

extern "C" {

void **__cudaRegisterFatBinary(void *wrapper)
{
    return register_binary([wrapper] { return images_of_wrapper(wrapper); });
}

void __cudaRegisterFunction(void **handle, const char *host, char *, const char *name, int, uint3 *,
                            uint3 *, dim3 *, dim3 *, int *)
{
    std::lock_guard guard(lock());
    auto k = std::make_unique<kernel>();
    k->from = reinterpret_cast<binary *>(handle);
    k->name = name;
    registered().kernels[host] = std::move(k);
}

void __cudaRegisterVar(void **handle, char *host, char *, const char *name, int, std::size_t, int,
                       int)
{
    std::lock_guard guard(lock());
    registered().symbols[host] = {reinterpret_cast<binary *>(handle), name};
}

void __cudaRegisterManagedVar(void **handle, void **host, char *, const char *name, int,
                              std::size_t, int, int)
{
    std::lock_guard guard(lock());
    auto *from = reinterpret_cast<binary *>(handle);
    from->managed.push_back({host, name});
    registered().symbols[host] = {from, name};
}

// The program calls this before the host touches a managed variable of this binary.
char __cudaInitModule(void **handle)
{
    std::lock_guard guard(lock());
    return load(*reinterpret_cast<binary *>(handle), current_device()) != nullptr;
}

cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host)
{
    std::lock_guard guard(lock());
    *out = reinterpret_cast<cudaKernel_t>(find_kernel(host));
    return *out ? cudaSuccess : record(cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaGetKernel(cudaKernel_t *out, const void *host)
{
    return out ? __cudaGetKernel(out, host) : record(cudaErrorInvalidValue);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             std::size_t dynamic_shared, cudaStream_t stream)
{
    return call(
        [&] { return run(function, grid, block, arguments, dynamic_shared, stream, false); });
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, std::size_t dynamic_shared,
                                        cudaStream_t stream)
{
    return call(
        [&] { return run(function, grid, block, arguments, dynamic_shared, stream, true); });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *function, void **arguments)
{
    return call([&] {
        if (!c || (c->numAttrs && !c->attrs)) return cudaErrorInvalidValue;
        bool cooperative = false;
        for (unsigned i = 0; i < c->numAttrs; ++i)
            if (cudaError_t e = apply_attribute(c->attrs[i], cooperative); e != cudaSuccess)
                return e;
        return run(function, c->gridDim, c->blockDim, arguments, c->dynamicSmemBytes, c->stream,
                   cooperative);
    });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *out, const void *function)
{
    return call([&] {
        if (!out) return cudaErrorInvalidValue;
        resolved k;
        if (cudaError_t e = resolve(function, k); e != cudaSuccess) return e;
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
    return call([&] {
        resolved k;
        if (cudaError_t e = resolve(function, k); e != cudaSuccess) return e;
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
            return refuse("this attribute of cudaFuncSetAttribute");
        }
    });
}

cudaError_t cudaFuncSetCacheConfig(const void *function, cudaFuncCache)
{
    return call([&] {
        resolved k;
        return resolve(function, k);
    });
}

cudaError_t cudaFuncGetParamInfo(const void *function, std::size_t index, std::size_t *offset,
                                 std::size_t *bytes)
{
    return call([&] {
        resolved k;
        if (cudaError_t e = resolve(function, k); e != cudaSuccess) return e;
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
    return call([&] {
        if (!blocks || threads <= 0) return cudaErrorInvalidValue;
        resolved k;
        if (cudaError_t e = resolve(function, k); e != cudaSuccess) return e;
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
    return call([&] {
        if (!bytes || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
        resolved k;
        if (cudaError_t e = resolve(function, k); e != cudaSuccess) return e;
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
