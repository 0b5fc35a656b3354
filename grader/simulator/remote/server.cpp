// Executes the runtime calls that another process sends.
#include "server.hpp"

#include "marshal.hpp"
#include "numbers.hpp"

#include "simulator/machine/memory.hpp"
#include "simulator/runtime/harness.h"
#include "simulator/runtime/runtime.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

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

struct host_gone {};

struct forwarded {
    std::string_view name;
    void (*make)(reader &, writer &);
};

constexpr forwarded table[] = {
#define CALL(count, name, ...) {#name, served<&::name __VA_OPT__(, ) __VA_ARGS__>::call},
#include "calls.hpp"
#undef CALL
};

// Distinct from this process's own threads.
constexpr std::uint64_t others_threads = std::uint64_t{1} << 32;

bool is_work(std::string_view name)
{
    constexpr std::string_view work[] = {"cudaMemcpy",         "cudaMemset",
                                         "cudaGraphLaunch",    "cudaMemPrefetch",
                                         "cudaLaunchHostFunc", "cudaStreamAddCallback"};
    return std::any_of(std::begin(work), std::end(work),
                       [name](std::string_view w) { return name.starts_with(w); });
}

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
        there_ = from.take<bool>();
        const auto bytes = from.take(from.take<std::uint64_t>());
        std::vector<std::uint32_t> sizes;
        // If there is no such kernel, the launch fails before it reads the arguments.
        if (!there_ || runtime::parameters_of(function, sizes) != cudaSuccess) return;
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
    bool there_ = false;
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

// While an instance exists, calls are made on behalf of a host thread that can answer requests.
class host_turn {
public:
    host_turn(bool &serving, std::uint64_t thread) : serving_(serving), own_(calling_thread())
    {
        serving_ = true;
        act_for_thread(thread);
    }
    ~host_turn()
    {
        serving_ = false;
        act_for_thread(own_);
    }
    host_turn(const host_turn &) = delete;
    host_turn &operator=(const host_turn &) = delete;

private:
    bool &serving_;
    const std::uint64_t own_;
};

} // namespace

host_server::host_server(int connection, bool alone)
    : wire_(connection),
      local_(memory::instance().shared_file(), memory::instance().shared(),
             memory::instance().reserved() / 2),
      alone_(alone)
{
    const memory &m = memory::instance();
    serve_host(this);
    gone_ = !wire_.send_greeting({m.base(), m.reserved()}, m.shared_file());
}

bool host_server::serve_one()
{
    if (gone_ || !complaint_.empty()) return false;
    header h;
    std::vector<std::byte> bytes;
    try {
        if (!wire_.receive(h, bytes, max_call_bytes)) return false;
        if (h.kind != message::call) throw wire_error("no call where one was awaited");
        const host_turn turn(serving_, others_threads + h.thread);
        reader from(bytes);
        writer to;
        for (const change &c : std::exchange(changes_, {}))
            ask(c.what, with(c.start, c.bytes), c.what == host_request::open ? sizeof(bool) : 0);
        make(static_cast<call_number>(h.what), from, to);
        std::fflush(stdout);
        h.kind = message::result;
        return wire_.send(h, to.bytes());
    } catch (const host_gone &) {
        return false;
    } catch (const wire_error &e) {
        complaint_ = e.what();
    } catch (const std::length_error &) {
        complaint_ = "a call asks for more memory than there can be";
    } catch (const std::bad_alloc &) {
        complaint_ = "a call asks for more memory than there is";
    } catch (const std::system_error &) { // caused by the system, not by the program
        throw;
    } catch (const std::logic_error &) { // a bug in the simulator
        throw;
    } catch (const std::exception &e) {
        complaint_ = std::string("a call could not be made: ") + e.what();
    }
    return false;
}

void host_server::make(call_number what, reader &from, writer &to)
{
    const auto number = static_cast<std::size_t>(what);
    const bool special = what >= call_number::first_special;
    const bool work = special ? what >= call_number::launch && what <= call_number::launch_with
                              : is_work(table[number].name);
    if (work && !may_work_) {
        if (refused_.empty()) refused_ = special ? "cudaLaunchKernel" : table[number].name;
        return to.put(runtime::record(cudaErrorNotPermitted));
    }
    runtime::take_failure_reason();
    if (special)
        make_special(what, from, to);
    else
        table[number].make(from, to);
    if (what >= call_number::launch && what <= call_number::launch_with)
        note_failure("cudaLaunchKernel", to);
    else if (!special)
        note_failure(table[number].name, to);
}

// Records the first failed call of a grader's run, except errors that are ordinary answers.
void host_server::note_failure(std::string_view name, const writer &result)
{
    cudaError_t error = cudaSuccess;
    std::memcpy(&error, result.bytes().data(), std::min(sizeof error, result.bytes().size()));
    const bool answers = error == cudaSuccess || error == cudaErrorNotReady ||
                         error == cudaErrorPeerAccessAlreadyEnabled || name == "cudaGetLastError" ||
                         name == "cudaPeekAtLastError";
    if (answers || alone_ || !may_work_ || failed_ || runtime::fault_stands()) return;
    failed_ = true;
    const runtime::failure_reason words = runtime::take_failure_reason();
    if (words.found) return;
    finding f;
    f.kind = finding_kind::failed_call;
    f.kernel = name;
    f.host_call = true;
    f.where = cudaGetErrorName(error);
    f.detail = words.why;
    findings::instance().add(std::move(f));
}

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

void host_server::make_special(call_number what, reader &from, writer &to)
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
        return to.put(runtime::refuse(take_text(from).c_str()));
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
        runtime::record(from.take<cudaError_t>());
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
        if (!memory::instance().in_one_allocation(as_address(at), bytes)) return;
        return simulator_label(at, bytes, take_text(from).c_str());
    }
    default:
        return make_of_harness(what, from, to);
    }
}

void host_server::make_of_harness(call_number what, reader &from, writer &to) const
{
    if (!alone_) throw wire_error("an unknown call");
    switch (what) {
    case call_number::allow: {
        const auto *at = from.take<const void *>();
        return simulator_allow(at, from.take<std::size_t>());
    }
    case call_number::begin:
        return simulator_begin();
    case call_number::schedule: {
        const int random = from.take<int>();
        return simulator_schedule(random, from.take<std::uint64_t>());
    }
    case call_number::streams:
        return simulator_streams(from.take<int>());
    case call_number::close_peers:
        return simulator_close_peers(from.take<std::uint64_t>());
    case call_number::multiprocessors:
        return simulator_multiprocessors(from.take<int>());
    case call_number::step_budget:
        return simulator_step_budget(from.take<std::uint64_t>());
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
    case call_number::digest: {
        const auto *at = from.take<const void *>();
        return to.put(simulator_digest(at, from.take<std::size_t>()));
    }
    default:
        throw wire_error("an unknown call");
    }
}

std::vector<std::byte> host_server::ask(host_request what, const writer &w, std::uint64_t answer)
{
    header h;
    h.kind = message::request;
    h.what = static_cast<std::uint32_t>(what);
    std::fflush(stdout); // keeps the output of both processes in order
    std::vector<std::byte> bytes;
    if (!wire_.send(h, w.bytes()) || !wire_.receive(h, bytes, answer)) throw host_gone();
    if (h.kind != message::done || bytes.size() != answer)
        throw wire_error("the host did not do what it was asked for");
    return bytes;
}

// Host addresses are read and host functions called only here, and only while the host waits for
// one of its calls.
void host_server::require_host() const
{
    if (!serving_) throw host_is_away("work that needs the host was left when it had returned");
}

void host_server::read(const void *from, const host_rows &rows, std::byte *to)
{
    require_host();
    const auto bytes = ask(host_request::read, with(from, rows), rows.bytes());
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
}

void host_server::write(void *to, const host_rows &rows, const std::byte *from)
{
    require_host();
    writer w = with(to, rows);
    w.put(from, rows.bytes());
    ask(host_request::write, w, 0);
}

// A host function may not call the runtime; if it did, its thread gets an error.
void host_server::call(cudaHostFn_t function, void *data)
{
    require_host();
    const auto called = ask(host_request::call_function, with(function, data), sizeof(bool));
    if (called[0] != std::byte{0}) runtime::record(cudaErrorNotPermitted);
}

void host_server::call(cudaStreamCallback_t function, cudaStream_t stream, cudaError_t status,
                       void *data)
{
    require_host();
    const auto called =
        ask(host_request::call_back, with(function, stream, status, data), sizeof(bool));
    if (called[0] != std::byte{0}) runtime::record(cudaErrorNotPermitted);
}

bool host_server::open(address start, std::uint64_t bytes)
{
    local_.open(start, bytes);
    if (!serving_) {
        changes_.push_back({host_request::open, start, bytes});
        return true;
    }
    return ask(host_request::open, with(start, bytes), sizeof(bool))[0] != std::byte{0};
}

void host_server::close(address start, std::uint64_t bytes)
{
    local_.close(start, bytes);
    if (!serving_) return changes_.push_back({host_request::close, start, bytes});
    ask(host_request::close, with(start, bytes), 0);
}

host_process::lent host_server::lend(std::uintptr_t pages, address start, std::uint64_t bytes)
{
    require_host();
    const auto answer = ask(host_request::lend, with(pages, start, bytes), sizeof(lent));
    return reader(answer).take<lent>();
}

bool host_server::take_back(std::uintptr_t pages, std::uint64_t bytes)
{
    require_host();
    return ask(host_request::take_back, with(pages, bytes), sizeof(bool))[0] != std::byte{0};
}

bool host_server::has_other_threads()
{
    if (!serving_) return false;
    return ask(host_request::has_other_threads, {}, sizeof(bool))[0] != std::byte{0};
}

} // namespace simulator::remote
