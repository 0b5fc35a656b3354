// Registration of the code that nvcc embeds: fat binaries, kernels and variables.
#include "kernels.hpp"

#include "simulator/machine/finding.hpp"
#include "simulator/machine/host.hpp"
#include "simulator/machine/memory.hpp"
#include "simulator/ptx/fatbin.hpp"
#include "simulator/ptx/link_ptx.hpp"
#include "simulator/ptx/ptx.hpp"

#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

namespace simulator::runtime {

namespace {

struct managed_variable {
    void **host_pointer; // the program reads the variable's address here
    std::string name;
};

} // namespace

// A registered fat binary and the modules loaded from it.
struct binary {
    std::function<fat_binary()> images; // throws as images_of_wrapper does
    std::map<int, module> modules;      // by device
    std::vector<managed_variable> managed;
    module::variables managed_at;    // shared by all devices
    cudaError_t error = cudaSuccess; // set when loading failed; reported once, returned every time
    std::string refused_for;         // why ptxas would also refuse the code; else empty
};

namespace {

struct symbol {
    binary *from;
    std::string name;
};

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
    if (from.error != cudaSuccess) {
        if (!from.refused_for.empty()) fail_because(from.error, from.refused_for);
        return nullptr;
    }
    device_count(); // decides if variables are marked with their device
    cudaError_t unusable = cudaErrorNoKernelImageForDevice;
    try {
        const int architecture = profile().major * 10 + profile().minor;
        const std::string text = link_ptx(ptx_of(from.images(), architecture));
        unusable = cudaErrorInvalidPtx;
        module &code =
            from.modules.emplace(device, module(text, device, &from.managed_at)).first->second;
        for (const auto &m : from.managed)
            if (const auto *v = code.find_variable(m.name))
                host().write(m.host_pointer, {sizeof v->start},
                             reinterpret_cast<const std::byte *>(&v->start));
        return &code;
    } catch (const ptx::refused &e) {
        from.refused_for = e.what();
        from.error = fail_because(cudaErrorInvalidPtx, e.what());
    } catch (const std::runtime_error &e) {
        from.error = unusable;
        report_unsupported(e.what());
    }
    return nullptr;
}

} // namespace

kernel *find_kernel(const void *function)
{
    auto &all = registered().kernels;
    if (auto it = all.find(function); it != all.end()) return it->second.get();
    for (auto &[host, k] : all)
        if (k.get() == function) return k.get();
    return nullptr;
}

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

resolved find_loaded(const kernel_info &info)
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
    return *out ? cudaSuccess : set_last_error(cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaGetKernel(cudaKernel_t *out, const void *host)
{
    return out ? __cudaGetKernel(out, host) : set_last_error(cudaErrorInvalidValue);
}

} // extern "C"
