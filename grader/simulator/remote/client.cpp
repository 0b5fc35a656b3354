// CUDA runtime for a process whose devices another process simulates: each call is a message.
#include "client.hpp"
#include "marshal.hpp"

#include "simulator/ptx/fatbin.hpp"
#include "simulator/runtime/harness.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace simulator::remote {

namespace {

// Handles calls made from a host function. They fail, because host functions may not call the
// runtime and the connection is in use; only the resulting error can be queried.
cudaError_t call_in_host_function(call_number number)
{
    const bool queries_error =
        number == call_number::cudaGetLastError || number == call_number::cudaPeekAtLastError;
    bool &called_runtime = host_function().called_runtime;
    const bool called = queries_error ? called_runtime : true;
    called_runtime = called && number != call_number::cudaGetLastError;
    return called ? cudaErrorNotPermitted : cudaSuccess;
}

bool called_from_host_function()
{
    host_function_state &state = host_function();
    if (state.running) state.called_runtime = true;
    return state.running;
}

template <call_number number, typename... sized, typename... A> cudaError_t forward(A... arguments)
{
    if (host_function().running) return call_in_host_function(number);
    const std::tuple<A...> all{arguments...};
    writer to;
    put_arguments<sized...>(to, all);
    const auto bytes = make_call(number, to);
    reader from(bytes);
    const auto result = from.take<cudaError_t>();
    if (from.left()) take_results<sized...>(from, all); // a refused call has no results
    return result;
}

cudaError_t make_call_for_error(call_number what, const writer &arguments)
{
    if (called_from_host_function()) return cudaErrorNotPermitted;
    const auto bytes = make_call(what, arguments);
    return reader(bytes).take<cudaError_t>();
}

template <auto function> struct signature;
template <typename R, typename... A, R (*function)(A...)> struct signature<function> {
    template <std::size_t I> using argument = std::tuple_element_t<I, std::tuple<A...>>;
};

// The parameter sizes of a kernel; null if the kernel is unknown, and the device's process then
// reports why.
const std::vector<std::uint32_t> *parameters(const void *function)
{
    static auto *const known = new std::map<const void *, std::vector<std::uint32_t>>;
    static auto *const lock = new std::mutex;
    std::lock_guard guard(*lock);
    if (auto it = known->find(function); it != known->end()) return &it->second;
    const auto bytes = make_call_with(call_number::parameters_of, function);
    reader from(bytes);
    if (from.take<cudaError_t>() != cudaSuccess) return nullptr;
    auto &sizes = (*known)[function];
    while (from.left()) sizes.push_back(from.take<std::uint32_t>());
    return &sizes;
}

void put_kernel_arguments(writer &to, const void *function, void **arguments)
{
    const auto *sizes = parameters(function);
    to.put(arguments != nullptr);
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; arguments && sizes && i < sizes->size(); ++i) bytes += (*sizes)[i];
    to.put(bytes);
    for (std::size_t i = 0; arguments && sizes && i < sizes->size(); ++i)
        to.put(arguments[i], (*sizes)[i]);
}

cudaError_t launch(call_number number, const void *function, dim3 grid, dim3 block,
                   void **arguments, std::size_t dynamic_shared, cudaStream_t stream)
{
    if (called_from_host_function()) return cudaErrorNotPermitted;
    writer to = with(function, grid, block, dynamic_shared, stream);
    put_kernel_arguments(to, function, arguments);
    return make_call_for_error(number, to);
}

void put_node(writer &to, const cudaKernelNodeParams *p)
{
    to.put(p != nullptr);
    if (!p) return;
    to.put(*p);
    put_kernel_arguments(to, p->func, p->kernelParams);
}

// Returns the size of the value of a pool attribute.
std::size_t bytes_of(cudaMemPoolAttr attribute)
{
    return attribute <= cudaMemPoolReuseAllowInternalDependencies ? sizeof(int)
                                                                  : sizeof(std::uint64_t);
}

void put_text(writer &to, const char *text)
{
    const std::uint64_t bytes = std::strlen(text);
    to.put(bytes);
    to.put(text, bytes);
}

// `handle`: the number that __cudaRegisterFatBinary returned.
void register_symbol(call_number what, void **handle, const void *host, const char *name)
{
    writer to = with(handle, host);
    put_text(to, name);
    send_with_first_call(what, std::move(to));
}

} // namespace

} // namespace simulator::remote

namespace simulator::runtime {

cudaError_t set_last_error(cudaError_t error);
cudaError_t set_last_error(cudaError_t error)
{
    remote::make_call_with(remote::call_number::record_error, error);
    return error;
}

int not_supported_entry_point(const char *name);
int not_supported_entry_point(const char *name)
{
    remote::writer to;
    remote::put_text(to, name);
    return remote::make_call_for_error(remote::call_number::unsupported, to);
}

} // namespace simulator::runtime

using namespace simulator;
using namespace simulator::remote;

extern "C" {

// clang-format off
#define A(name, i) typename signature<&::name>::template argument<i> a##i
#define CALL_0(name, ...) cudaError_t name() { return forward<call_number::name>(); }
#define CALL_1(name, ...) cudaError_t name(A(name, 0)) { return forward<call_number::name __VA_OPT__(,) __VA_ARGS__>(a0); }
#define CALL_2(name, ...) cudaError_t name(A(name, 0), A(name, 1)) { return forward<call_number::name __VA_OPT__(,) __VA_ARGS__>(a0, a1); }
#define CALL_3(name, ...) cudaError_t name(A(name, 0), A(name, 1), A(name, 2)) { return forward<call_number::name __VA_OPT__(,) __VA_ARGS__>(a0, a1, a2); }
#define CALL_4(name, ...) cudaError_t name(A(name, 0), A(name, 1), A(name, 2), A(name, 3)) { return forward<call_number::name __VA_OPT__(,) __VA_ARGS__>(a0, a1, a2, a3); }
#define CALL_5(name, ...) cudaError_t name(A(name, 0), A(name, 1), A(name, 2), A(name, 3), A(name, 4)) { return forward<call_number::name __VA_OPT__(,) __VA_ARGS__>(a0, a1, a2, a3, a4); }
#define CALL_6(name, ...) cudaError_t name(A(name, 0), A(name, 1), A(name, 2), A(name, 3), A(name, 4), A(name, 5)) { return forward<call_number::name __VA_OPT__(,) __VA_ARGS__>(a0, a1, a2, a3, a4, a5); }
#define CALL_7(name, ...) cudaError_t name(A(name, 0), A(name, 1), A(name, 2), A(name, 3), A(name, 4), A(name, 5), A(name, 6)) { return forward<call_number::name __VA_OPT__(,) __VA_ARGS__>(a0, a1, a2, a3, a4, a5, a6); }
#define CALL_8(name, ...) cudaError_t name(A(name, 0), A(name, 1), A(name, 2), A(name, 3), A(name, 4), A(name, 5), A(name, 6), A(name, 7)) { return forward<call_number::name __VA_OPT__(,) __VA_ARGS__>(a0, a1, a2, a3, a4, a5, a6, a7); }
#define CALL_9(name, ...) cudaError_t name(A(name, 0), A(name, 1), A(name, 2), A(name, 3), A(name, 4), A(name, 5), A(name, 6), A(name, 7), A(name, 8)) { return forward<call_number::name __VA_OPT__(,) __VA_ARGS__>(a0, a1, a2, a3, a4, a5, a6, a7, a8); }
#define CALL(count, name, ...) CALL_##count(name __VA_OPT__(,) __VA_ARGS__)
#include "calls.hpp"
#undef CALL
#undef A
// clang-format on

void **__cudaRegisterFatBinary(void *wrapper)
{
    writer to;
    try {
        const fat_binary b = images_of_wrapper(wrapper);
        to = with(b.linked, std::uint64_t{b.images.size()});
        for (const auto image : b.images) {
            to.put(std::uint64_t{image.size()});
            to.put(image.data(), image.size());
        }
    } catch (const std::runtime_error &e) {
        give_up(e.what());
    }
    static std::uint64_t binaries = 0; // the server assigns the same numbers, in the same order
    send_with_first_call(call_number::register_binary, std::move(to));
    return reinterpret_cast<void **>(++binaries);
}

void __cudaRegisterFunction(void **handle, const char *host, char *, const char *name, int, uint3 *,
                            uint3 *, dim3 *, dim3 *, int *)
{
    register_symbol(call_number::register_function, handle, host, name);
}

void __cudaRegisterVar(void **handle, char *host, char *, const char *name, int, std::size_t, int,
                       int)
{
    register_symbol(call_number::register_variable, handle, host, name);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *, const char *name, int,
                              std::size_t, int, int)
{
    register_symbol(call_number::register_managed_variable, handle, host, name);
}

char __cudaInitModule(void **handle)
{
    const auto bytes = make_call_with(call_number::load_binary, handle);
    return reader(bytes).take<char>();
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             std::size_t dynamic_shared, cudaStream_t stream)
{
    return launch(call_number::launch, function, grid, block, arguments, dynamic_shared, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, std::size_t dynamic_shared,
                                        cudaStream_t stream)
{
    return launch(call_number::launch_cooperative, function, grid, block, arguments, dynamic_shared,
                  stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *function, void **arguments)
{
    if (called_from_host_function()) return cudaErrorNotPermitted;
    writer to = with(function, c != nullptr);
    if (c) {
        to.put(*c);
        const std::uint64_t count = c->attrs ? c->numAttrs : 0;
        to.put(count);
        to.put(c->attrs, count * sizeof *c->attrs);
    }
    put_kernel_arguments(to, function, arguments);
    return make_call_for_error(call_number::launch_with, to);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, std::size_t count,
                                   const cudaKernelNodeParams *p)
{
    if (called_from_host_function()) return cudaErrorNotPermitted;
    const std::tuple all{out, graph, after, count};
    writer to;
    put_arguments<elements<2, 3>>(to, all);
    put_node(to, p);
    const auto bytes = make_call(call_number::add_kernel_node, to);
    reader from(bytes);
    const auto result = from.take<cudaError_t>();
    take_results<elements<2, 3>>(from, all);
    return result;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *p)
{
    if (called_from_host_function()) return cudaErrorNotPermitted;
    writer to = with(node);
    put_node(to, p);
    return make_call_for_error(call_number::set_kernel_node, to);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t e, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *p)
{
    if (called_from_host_function()) return cudaErrorNotPermitted;
    writer to = with(e, node);
    put_node(to, p);
    return make_call_for_error(call_number::set_kernel_step, to);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    std::uint64_t held = 0;
    if (value) std::memcpy(&held, value, bytes_of(attribute));
    return make_call_for_error(call_number::set_pool_attribute,
                               with(pool, attribute, value != nullptr, held));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    if (called_from_host_function()) return cudaErrorNotPermitted;
    const auto bytes =
        make_call_with(call_number::get_pool_attribute, pool, attribute, value != nullptr);
    reader from(bytes);
    const auto result = from.take<cudaError_t>();
    const auto held = from.take<std::uint64_t>();
    if (result == cudaSuccess && value) std::memcpy(value, &held, bytes_of(attribute));
    return result;
}

cudaError_t cudaMemRangeGetAttributes(void **data, std::size_t *bytes,
                                      cudaMemRangeAttribute *attributes, std::size_t number,
                                      const void *p, std::size_t count)
{
    if (!data || !bytes || !attributes || !number)
        return cudaMemRangeGetAttribute(nullptr, 0, cudaMemRangeAttributeReadMostly, p, count);
    for (std::size_t i = 0; i < number; ++i)
        if (cudaError_t e = cudaMemRangeGetAttribute(data[i], bytes[i], attributes[i], p, count);
            e != cudaSuccess)
            return e;
    return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char **name, const void *function)
{
    static auto *const texts = new std::set<std::string>; // the program may keep pointers to these
    static auto *const lock = new std::mutex;
    if (called_from_host_function()) return cudaErrorNotPermitted;
    const auto bytes = make_call_with(call_number::function_name, name != nullptr, function);
    reader from(bytes);
    const auto result = from.take<cudaError_t>();
    if (result != cudaSuccess) return result;
    const auto text = from.take(from.left());
    std::lock_guard guard(*lock);
    *name = texts->emplace(reinterpret_cast<const char *>(text.data()), text.size()).first->c_str();
    return result;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **after, const cudaGraphEdgeData **edges,
                                     std::size_t *count)
{
    thread_local std::vector<cudaGraphNode_t> nodes; // valid until this thread's next query
    if (called_from_host_function()) return cudaErrorNotPermitted;
    const std::tuple all{stream, status, id, graph, count};
    writer to;
    put_arguments(to, all);
    const auto bytes = make_call(call_number::capture_info, to);
    reader from(bytes);
    const auto result = from.take<cudaError_t>();
    take_results(from, all);
    const bool captures = from.take<bool>();
    nodes.clear();
    while (from.left()) nodes.push_back(from.take<cudaGraphNode_t>());
    if (captures && after) *after = nodes.data();
    if (captures && edges) *edges = nullptr;
    return result;
}

cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host)
{
    return cudaGetKernel(out, host);
}

void simulator_is_elsewhere(void) { cudaPeekAtLastError(); }

void simulator_forbid(const void *at, size_t bytes)
{
    make_call_with(call_number::forbid, at, bytes);
}
void simulator_allow(const void *at, size_t bytes)
{
    make_call_with(call_number::allow, at, bytes);
}
void simulator_forget(const void *at, size_t bytes)
{
    make_call_with(call_number::forget, at, bytes);
}

void simulator_label(const void *at, size_t bytes, const char *name)
{
    writer to = with(at, bytes);
    put_text(to, name);
    make_call(call_number::label, to);
}

// Only for a program with its own device, e.g. when a worker repeats a call; a grader's device
// closes the connection.
size_t simulator_counters(char *out, size_t room)
{
    const auto bytes = make_call_with(call_number::counters);
    if (room) {
        const std::size_t n = std::min(bytes.size(), room - 1);
        if (n) std::memcpy(out, bytes.data(), n);
        out[n] = 0;
    }
    return bytes.size();
}

} // extern "C"
