// CUDA runtime for a process whose devices another process simulates: each call is a message.
//
// One call is in progress at a time, as in the runtime itself. The connection is descriptor 7,
// which a grader gives its workers. A program without it starts its own device process: the
// program named by CUDASIM_DEVICE, or cudasim-device beside it.
#include "client.hpp"
#include "marshal.hpp"

#include "process/device_connection.hpp"
#include "simulator/machine/host.hpp"
#include "simulator/ptx/fatbin.hpp"
#include "simulator/runtime/harness.h"

#include <cuda_runtime_api.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace simulator::remote {

namespace {

[[noreturn]] void give_up(const char *why)
{
    std::fprintf(stderr, "simulator: %s\n", why);
    _exit(status_without_device);
}

thread_local bool in_host_function = false, called_runtime = false;

std::uint32_t number_of_thread()
{
    static std::atomic<std::uint32_t> threads = 0;
    thread_local const std::uint32_t mine = ++threads;
    return mine;
}

pid_t own_device = -1;
int own_connection = -1;

// The device prints its final output before this program exits.
void wait_for_own_device()
{
    shutdown(own_connection, SHUT_WR);
    waitpid(own_device, nullptr, 0);
}

int start_own_device()
{
    std::error_code unknown;
    const auto beside = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
    const char *named = std::getenv("CUDASIM_DEVICE");
    const std::string program = named ? named : (beside / "cudasim-device").string();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        give_up("cannot make a connection to a simulated device");
    own_device = fork();
    if (own_device == 0) {
        const std::string number = std::to_string(fcntl(ends[1], F_DUPFD, 3));
        execl(program.c_str(), program.c_str(), "--alone", number.c_str(), nullptr);
        std::fprintf(stderr, "simulator: cannot start %s; name it in CUDASIM_DEVICE\n",
                     program.c_str());
        _exit(127);
    }
    close(ends[1]);
    own_connection = ends[0];
    std::atexit(wait_for_own_device);
    return ends[0];
}

int connection()
{
    struct stat s {};
    const bool given = fstat(given_connection, &s) == 0 && S_ISSOCK(s.st_mode);
    return given ? given_connection : start_own_device();
}

class device_link {
public:
    // Never destroyed: objects that outlive main may still make calls.
    static device_link &instance()
    {
        static auto *const one = new device_link;
        return *one;
    }

    std::vector<std::byte> call(call_number what, const writer &arguments)
    {
        std::lock_guard guard(mutex_);
        header h;
        h.kind = message::call;
        h.what = static_cast<std::uint32_t>(what);
        h.thread = number_of_thread();
        std::fflush(stdout); // the program's output precedes that of its kernels
        if (!wire_.send(h, arguments.bytes())) give_up("the simulated device is gone");
        while (true) {
            std::vector<std::byte> bytes;
            if (!wire_.receive(h, bytes, ~std::uint64_t{0}))
                give_up("the simulated device is gone");
            if (h.kind == message::result) return bytes;
            reader from(bytes);
            serve(static_cast<host_request>(h.what), from);
        }
    }

private:
    device_link() : wire_(connection())
    {
        greeting g;
        int file = -1;
        if (!wire_.receive_greeting(g, file)) give_up("no simulated device answers");
        // Move the descriptor out of the range that programs use.
        const int high = fcntl(file, F_DUPFD_CLOEXEC, 100);
        close(std::exchange(file, high));
        // Device memory is inaccessible here, so that host code that touches it faults.
        void *base = reinterpret_cast<void *>(g.base);
        const std::uint64_t half = g.reserved / 2;
        auto *shared = static_cast<std::byte *>(base) + half;
        const bool mapped = mmap(base, g.reserved, PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                                 -1, 0) == base &&
                            mmap(shared, half, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                                 file, 0) == shared;
        if (!mapped) give_up("the addresses of device memory are taken in this process");
        madvise(base, g.reserved, MADV_DONTDUMP);
        here_ = std::make_unique<this_process>(file, g.base + half, half);
    }

    // Handles a request of the device's process that only this process can fulfil.
    void serve(host_request what, reader &from)
    {
        writer to;
        switch (what) {
        case host_request::read: {
            const auto *at = from.take<const void *>();
            const auto rows = from.take<host_rows>();
            std::vector<std::byte> bytes(rows.bytes());
            here_->read(at, rows, bytes.data());
            to.put(bytes.data(), bytes.size());
            break;
        }
        case host_request::write: {
            auto *at = from.take<void *>();
            const auto rows = from.take<host_rows>();
            here_->write(at, rows, from.take(rows.bytes()).data());
            break;
        }
        case host_request::call_function: {
            const auto function = from.take<cudaHostFn_t>();
            auto *data = from.take<void *>();
            to.put(in_function([&] { here_->call(function, data); }));
            break;
        }
        case host_request::call_back: {
            const auto function = from.take<cudaStreamCallback_t>();
            const auto stream = from.take<cudaStream_t>();
            const auto status = from.take<cudaError_t>();
            auto *data = from.take<void *>();
            to.put(in_function([&] { here_->call(function, stream, status, data); }));
            break;
        }
        case host_request::open: {
            const auto start = from.take<address>();
            to.put(here_->open(start, from.take<std::uint64_t>()));
            break;
        }
        case host_request::close: {
            const auto start = from.take<address>();
            here_->close(start, from.take<std::uint64_t>());
            break;
        }
        case host_request::lend: {
            const auto pages = from.take<std::uintptr_t>();
            const auto start = from.take<address>();
            to.put(here_->lend(pages, start, from.take<std::uint64_t>()));
            break;
        }
        case host_request::take_back: {
            const auto pages = from.take<std::uintptr_t>();
            to.put(here_->take_back(pages, from.take<std::uint64_t>()));
            break;
        }
        case host_request::has_other_threads:
            to.put(here_->has_other_threads());
            break;
        }
        header h;
        h.kind = message::done;
        if (!wire_.send(h, to.bytes())) give_up("the simulated device is gone");
    }

    // Returns true if the function called the runtime, which is not allowed.
    template <typename function> static bool in_function(function body)
    {
        in_host_function = true;
        called_runtime = false;
        body();
        in_host_function = false;
        return called_runtime;
    }

    std::mutex mutex_;
    channel wire_;
    std::unique_ptr<this_process> here_;
};

// Registrations before main are sent with the first call. A program that makes no call, for
// example one that only starts others, needs no device.
std::vector<std::pair<call_number, writer>> &registrations()
{
    static auto *const all = new std::vector<std::pair<call_number, writer>>;
    return *all;
}

} // namespace

std::vector<std::byte> ask(call_number what, const writer &arguments)
{
    device_link &link = device_link::instance();
    {
        static std::mutex registration_mutex;
        std::lock_guard guard(registration_mutex);
        for (const auto &[number, message] : std::exchange(registrations(), {}))
            link.call(number, message);
    }
    return link.call(what, arguments);
}

void put_text(writer &to, const char *text)
{
    const std::uint64_t bytes = std::strlen(text);
    to.put(bytes);
    to.put(text, bytes);
}

namespace {

// Handles calls made from a host function. They fail, because host functions may not call the
// runtime and the connection is in use; only the resulting error can be queried.
cudaError_t in_function(call_number number)
{
    const bool looks =
        number == call_number::cudaGetLastError || number == call_number::cudaPeekAtLastError;
    const bool called = looks ? called_runtime : true;
    called_runtime = called && number != call_number::cudaGetLastError;
    return called ? cudaErrorNotPermitted : cudaSuccess;
}

bool refused_here()
{
    if (in_host_function) called_runtime = true;
    return in_host_function;
}

template <call_number number, typename... sized, typename... A> cudaError_t forward(A... arguments)
{
    if (in_host_function) return in_function(number);
    const std::tuple<A...> all{arguments...};
    writer to;
    put_arguments<sized...>(to, all);
    const auto bytes = ask(number, to);
    reader from(bytes);
    const auto result = from.take<cudaError_t>();
    if (from.left()) take_results<sized...>(from, all); // a refused call has no results
    return result;
}

cudaError_t ask_for_error(call_number what, const writer &arguments)
{
    if (refused_here()) return cudaErrorNotPermitted;
    const auto bytes = ask(what, arguments);
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
    writer to;
    to.put(function);
    const auto bytes = ask(call_number::parameters_of, to);
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

cudaError_t launch(call_number how, const void *function, dim3 grid, dim3 block, void **arguments,
                   std::size_t dynamic_shared, cudaStream_t stream)
{
    if (refused_here()) return cudaErrorNotPermitted;
    writer to;
    to.put(function);
    to.put(grid);
    to.put(block);
    to.put(dynamic_shared);
    to.put(stream);
    put_kernel_arguments(to, function, arguments);
    return ask_for_error(how, to);
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

std::uint64_t index_of(void **handle) { return reinterpret_cast<std::uint64_t>(handle); }

} // namespace

} // namespace simulator::remote

namespace simulator::runtime {

cudaError_t record(cudaError_t error);
cudaError_t record(cudaError_t error)
{
    remote::ask_with(remote::call_number::record_error, error);
    return error;
}

int refuse_entry_point(const char *name);
int refuse_entry_point(const char *name)
{
    remote::writer to;
    remote::put_text(to, name);
    return remote::ask_for_error(remote::call_number::unsupported, to);
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
        to.put(b.linked);
        to.put(std::uint64_t{b.images.size()});
        for (const auto image : b.images) {
            to.put(std::uint64_t{image.size()});
            to.put(image.data(), image.size());
        }
    } catch (const std::runtime_error &e) {
        give_up(e.what());
    }
    static std::uint64_t binaries = 0; // the server assigns the same numbers, in the same order
    registrations().emplace_back(call_number::register_binary, std::move(to));
    return reinterpret_cast<void **>(++binaries);
}

void __cudaRegisterFunction(void **handle, const char *host, char *, const char *name, int, uint3 *,
                            uint3 *, dim3 *, dim3 *, int *)
{
    writer to;
    to.put(index_of(handle));
    to.put(static_cast<const void *>(host));
    put_text(to, name);
    registrations().emplace_back(call_number::register_function, std::move(to));
}

void __cudaRegisterVar(void **handle, char *host, char *, const char *name, int, std::size_t, int,
                       int)
{
    writer to;
    to.put(index_of(handle));
    to.put(static_cast<const void *>(host));
    put_text(to, name);
    registrations().emplace_back(call_number::register_variable, std::move(to));
}

void __cudaRegisterManagedVar(void **handle, void **host, char *, const char *name, int,
                              std::size_t, int, int)
{
    writer to;
    to.put(index_of(handle));
    to.put(static_cast<const void *>(host));
    put_text(to, name);
    registrations().emplace_back(call_number::register_managed_variable, std::move(to));
}

char __cudaInitModule(void **handle)
{
    writer to;
    to.put(index_of(handle));
    const auto bytes = ask(call_number::load_binary, to);
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
    if (refused_here()) return cudaErrorNotPermitted;
    writer to;
    to.put(function);
    to.put(c != nullptr);
    if (c) {
        to.put(*c);
        const std::uint64_t count = c->attrs ? c->numAttrs : 0;
        to.put(count);
        to.put(c->attrs, count * sizeof *c->attrs);
    }
    put_kernel_arguments(to, function, arguments);
    return ask_for_error(call_number::launch_with, to);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, std::size_t count,
                                   const cudaKernelNodeParams *p)
{
    if (refused_here()) return cudaErrorNotPermitted;
    const std::tuple all{out, graph, after, count};
    writer to;
    put_arguments<elements<2, 3>>(to, all);
    put_node(to, p);
    const auto bytes = ask(call_number::add_kernel_node, to);
    reader from(bytes);
    const auto result = from.take<cudaError_t>();
    take_results<elements<2, 3>>(from, all);
    return result;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *p)
{
    if (refused_here()) return cudaErrorNotPermitted;
    writer to;
    to.put(node);
    put_node(to, p);
    return ask_for_error(call_number::set_kernel_node, to);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t e, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *p)
{
    if (refused_here()) return cudaErrorNotPermitted;
    writer to;
    to.put(e);
    to.put(node);
    put_node(to, p);
    return ask_for_error(call_number::set_kernel_step, to);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    writer to;
    to.put(pool);
    to.put(attribute);
    to.put(value != nullptr);
    std::uint64_t held = 0;
    if (value) std::memcpy(&held, value, bytes_of(attribute));
    to.put(held);
    return ask_for_error(call_number::set_pool_attribute, to);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    if (refused_here()) return cudaErrorNotPermitted;
    writer to;
    to.put(pool);
    to.put(attribute);
    to.put(value != nullptr);
    const auto bytes = ask(call_number::get_pool_attribute, to);
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
    if (refused_here()) return cudaErrorNotPermitted;
    writer to;
    to.put(name != nullptr);
    to.put(function);
    const auto bytes = ask(call_number::function_name, to);
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
    if (refused_here()) return cudaErrorNotPermitted;
    const std::tuple all{stream, status, id, graph, count};
    writer to;
    put_arguments(to, all);
    const auto bytes = ask(call_number::capture_info, to);
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

void simulator_forbid(const void *at, size_t bytes) { ask_with(call_number::forbid, at, bytes); }
void simulator_forget(const void *at, size_t bytes) { ask_with(call_number::forget, at, bytes); }

void simulator_label(const void *at, size_t bytes, const char *name)
{
    writer to;
    to.put(at);
    to.put(bytes);
    put_text(to, name);
    ask(call_number::label, to);
}

// Only for a program with its own device, e.g. when a worker repeats a call; a grader's device
// closes the connection.
size_t simulator_counters(char *out, size_t room)
{
    const auto bytes = ask_with(call_number::counters);
    if (room) {
        const std::size_t n = std::min(bytes.size(), room - 1);
        if (n) std::memcpy(out, bytes.data(), n);
        out[n] = 0;
    }
    return bytes.size();
}

} // extern "C"
