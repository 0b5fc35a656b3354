// Calls with their own form of message: registration, launches, graph nodes, and harness.h.
#include "server.hpp"

#include "marshal.hpp"

#include "simulator/machine/memory.hpp"
#include "simulator/runtime/harness.h"
#include "simulator/runtime/runtime.hpp"

#include <memory>
#include <string>
#include <vector>

extern "C" {
// Functions that nvcc's code calls but no header declares.
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *,
                            dim3 *, dim3 *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, std::size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, std::size_t, int, int);
char __cudaInitModule(void **);
}

namespace simulator::remote {

namespace {

std::string take_text(reader &from)
{
    const auto bytes = from.take(from.take<std::uint64_t>());
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// The arguments of a kernel, one pointer each, in the form that a launch takes.
class kernel_arguments {
public:
    kernel_arguments(reader &from, const void *function)
    {
        const bool there = from.take<bool>();
        const auto bytes = from.take(from.take<std::uint64_t>());
        std::vector<std::uint32_t> sizes;
        // If there is no such kernel, the launch fails before it reads the arguments.
        if (!there || runtime::parameters_of(function, sizes) != cudaSuccess) return;
        reader each(bytes);
        for (const std::uint32_t n : sizes) {
            const auto one = each.take(n);
            held_.emplace_back(one.begin(), one.end());
        }
        if (each.left()) throw wire_error("a kernel got more arguments than it has parameters");
        for (auto &h : held_) pointers_.push_back(h.data());
        pointers_.push_back(nullptr); // so that an empty list has a non-null pointer
    }
    void **get() { return pointers_.empty() ? nullptr : pointers_.data(); }

private:
    std::vector<std::vector<std::byte>> held_;
    std::vector<void *> pointers_;
};

// The parameters of a kernel node; null if the host passed null.
struct node_parameters {
    explicit node_parameters(reader &from)
    {
        if (!from.take<bool>()) return;
        held = from.take<cudaKernelNodeParams>();
        arguments = std::make_unique<kernel_arguments>(from, held.func);
        held.kernelParams = arguments->get();
    }
    const cudaKernelNodeParams *get() const { return arguments ? &held : nullptr; }
    cudaKernelNodeParams held{};
    std::unique_ptr<kernel_arguments> arguments;
};

} // namespace

// The handle of a binary that still accepts registrations.
void **host_server::unsealed_handle_of(reader &from) const
{
    if (sealed_) throw wire_error("code was registered when inputs were there already");
    return handle_of(from);
}

void **host_server::handle_of(reader &from) const
{
    const auto index = from.take<std::uint64_t>();
    if (index == 0 || index > binaries_.size()) throw wire_error("no such fat binary");
    return binaries_[index - 1];
}

void host_server::serve_special(call_number what, reader &from, writer &to)
{
    switch (what) {
    case call_number::register_binary: {
        if (sealed_) throw wire_error("code was registered when inputs were there already");
        struct images {
            bool linked;
            std::vector<std::vector<std::byte>> bytes;
        };
        auto all = std::make_shared<images>(images{from.take<bool>(), {}});
        for (auto n = from.take<std::uint64_t>(); n > 0; --n) {
            const auto bytes = from.take(from.take<std::uint64_t>());
            all->bytes.emplace_back(bytes.begin(), bytes.end());
        }
        if (all->bytes.empty()) throw wire_error("a fat binary without an image");
        binaries_.push_back(runtime::register_binary([all] {
            fat_binary b{all->linked, {}};
            b.images.assign(all->bytes.begin(), all->bytes.end());
            return b;
        }));
        return;
    }
    case call_number::register_function: {
        void **handle = unsealed_handle_of(from);
        const auto *host = from.take<const char *>();
        __cudaRegisterFunction(handle, host, nullptr, take_text(from).c_str(), 0, nullptr, nullptr,
                               nullptr, nullptr, nullptr);
        return;
    }
    case call_number::register_variable: {
        void **handle = unsealed_handle_of(from);
        auto *host = from.take<char *>();
        __cudaRegisterVar(handle, host, nullptr, take_text(from).c_str(), 0, 0, 0, 0);
        return;
    }
    case call_number::register_managed_variable: {
        void **handle = unsealed_handle_of(from);
        auto *host = from.take<void **>();
        __cudaRegisterManagedVar(handle, host, nullptr, take_text(from).c_str(), 0, 0, 0, 0);
        return;
    }
    case call_number::load_binary:
        return to.put(__cudaInitModule(handle_of(from)));
    case call_number::unsupported:
        return to.put(runtime::not_supported(take_text(from).c_str()));
    case call_number::parameters_of: {
        std::vector<std::uint32_t> sizes;
        to.put(runtime::parameters_of(from.take<const void *>(), sizes));
        return to.put(sizes.data(), sizes.size() * sizeof sizes[0]);
    }
    case call_number::launch:
    case call_number::launch_cooperative: {
        const auto *function = from.take<const void *>();
        const auto grid = from.take<dim3>(), block = from.take<dim3>();
        const auto dynamic_shared = from.take<std::size_t>();
        const auto stream = from.take<cudaStream_t>();
        kernel_arguments arguments(from, function);
        auto *const start =
            what == call_number::launch ? ::cudaLaunchKernel : ::cudaLaunchCooperativeKernel;
        return to.put(start(function, grid, block, arguments.get(), dynamic_shared, stream));
    }
    case call_number::launch_with: {
        const auto *function = from.take<const void *>();
        cudaLaunchConfig_t c{};
        std::vector<cudaLaunchAttribute> attributes;
        const bool there = from.take<bool>();
        if (there) {
            c = from.take<cudaLaunchConfig_t>();
            for (auto n = from.take<std::uint64_t>(); n > 0; --n)
                attributes.push_back(from.take<cudaLaunchAttribute>());
            if (!attributes.empty() && attributes.size() != c.numAttrs)
                throw wire_error("a launch has another number of attributes");
            c.attrs = attributes.empty() ? nullptr : attributes.data();
        }
        kernel_arguments arguments(from, function);
        return to.put(::cudaLaunchKernelExC(there ? &c : nullptr, function, arguments.get()));
    }
    case call_number::add_kernel_node: {
        received<cudaGraphNode_t *, void> out(from);
        const auto graph = from.take<cudaGraph_t>();
        received<const cudaGraphNode_t *, elements<2, 3>> after(from);
        const auto count = from.take<std::size_t>();
        after.check_count(count);
        const node_parameters p(from);
        to.put(::cudaGraphAddKernelNode(out.value(), graph, after.value(), count, p.get()));
        return out.put_back(to);
    }
    case call_number::set_kernel_node: {
        const auto node = from.take<cudaGraphNode_t>();
        const node_parameters p(from);
        return to.put(::cudaGraphKernelNodeSetParams(node, p.get()));
    }
    case call_number::set_kernel_step: {
        const auto e = from.take<cudaGraphExec_t>();
        const auto node = from.take<cudaGraphNode_t>();
        const node_parameters p(from);
        return to.put(::cudaGraphExecKernelNodeSetParams(e, node, p.get()));
    }
    case call_number::set_pool_attribute: {
        const auto pool = from.take<cudaMemPool_t>();
        const auto attribute = from.take<cudaMemPoolAttr>();
        const bool there = from.take<bool>();
        auto held = from.take<std::uint64_t>();
        return to.put(::cudaMemPoolSetAttribute(pool, attribute, there ? &held : nullptr));
    }
    case call_number::get_pool_attribute: {
        const auto pool = from.take<cudaMemPool_t>();
        const auto attribute = from.take<cudaMemPoolAttr>();
        std::uint64_t held = 0;
        to.put(::cudaMemPoolGetAttribute(pool, attribute, from.take<bool>() ? &held : nullptr));
        return to.put(held);
    }
    case call_number::function_name: {
        const char *name = nullptr;
        const bool there = from.take<bool>();
        to.put(::cudaFuncGetName(there ? &name : nullptr, from.take<const void *>()));
        if (name) to.put(name, std::strlen(name));
        return;
    }
    case call_number::capture_info: {
        const auto stream = from.take<cudaStream_t>();
        received<cudaStreamCaptureStatus *, void> status(from);
        received<unsigned long long *, void> id(from);
        received<cudaGraph_t *, void> graph(from);
        received<std::size_t *, void> count(from);
        const cudaGraphNode_t *after = nullptr;
        const cudaGraphEdgeData *edges = nullptr;
        std::size_t nodes = 0;
        to.put(::cudaStreamGetCaptureInfo(stream, status.value(), id.value(), graph.value(), &after,
                                          &edges, count.value() ? count.value() : &nodes));
        status.put_back(to);
        id.put_back(to);
        graph.put_back(to);
        count.put_back(to);
        to.put(after != nullptr);
        if (after) to.put(after, (count.value() ? *count.value() : nodes) * sizeof *after);
        return;
    }
    case call_number::record_error:
        runtime::set_last_error(from.take<cudaError_t>());
        return;
    case call_number::forbid:
    case call_number::forget: {
        const auto *at = from.take<const void *>();
        const auto bytes = from.take<std::size_t>();
        if (!memory::instance().in_one_allocation(as_address(at), bytes)) return;
        return what == call_number::forbid ? simulator_forbid(at, bytes)
                                           : simulator_forget(at, bytes);
    }
    case call_number::label: {
        const auto *at = from.take<const void *>();
        const auto bytes = from.take<std::size_t>();
        const memory &m = memory::instance();
        if (m.contains(as_address(at)) && !m.in_one_allocation(as_address(at), bytes)) return;
        return simulator_label(at, bytes, take_text(from).c_str());
    }
    case call_number::allow: { // not for a submission's arrays on the device: it would hide faults
        const auto *at = from.take<const void *>();
        const auto bytes = from.take<std::size_t>();
        if (!memory::instance().contains(as_address(at))) simulator_allow(at, bytes);
        return;
    }
    default:
        return serve_harness(what, from, to);
    }
}

void host_server::serve_harness(call_number what, reader &from, writer &to) const
{
    if (!alone_) throw wire_error("an unknown call");
    switch (what) {
    case call_number::begin:
        return simulator_begin();
    case call_number::schedule: {
        const int flags = from.take<int>();
        return simulator_schedule(flags, from.take<std::uint64_t>());
    }
    case call_number::streams:
        return simulator_streams(from.take<int>());
    case call_number::close_peers:
        return simulator_close_peers(from.take<std::uint64_t>());
    case call_number::multiprocessors:
        return simulator_multiprocessors(from.take<int>());
    case call_number::limit_work:
        return simulator_limit_work(from.take<std::uint64_t>());
    case call_number::check_races:
        return simulator_check_races(from.take<int>());
    case call_number::findings: {
        std::vector<simulator_finding> all(simulator_findings(nullptr, 0));
        simulator_findings(all.data(), all.size());
        return to.put(all.data(), all.size() * sizeof all[0]);
    }
    case call_number::counters: {
        std::string text(simulator_counters(nullptr, 0), 0);
        simulator_counters(text.data(), text.size() + 1);
        return to.put(text.data(), text.size());
    }
    default:
        throw wire_error("an unknown call");
    }
}

} // namespace simulator::remote
