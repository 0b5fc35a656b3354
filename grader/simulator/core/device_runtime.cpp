// The CUDA device runtime, which kernels call while they run: launches, streams and events,
// memory, errors and device attributes.
#include "device_runtime.hpp"

#include "races.hpp"

#include <optional>
#include <stdexcept>

namespace simulator::core {
namespace {

constexpr std::uint32_t max_depth = 24; // nesting depth of launches by kernels; 0: the host's
constexpr std::uint64_t chunk_bytes = 64 << 10; // of parameter buffers
constexpr std::uint64_t parameter_gap = 64;     // unaddressable bytes between two parameter buffers
// cudaStreamTailLaunch and cudaStreamFireAndForget.
constexpr std::uint64_t tail_stream = 3, fire_and_forget_stream = 4;

dim3 as_dim3(const dim &d) { return dim3(d.x, d.y, d.z); }

// The name in the program: "__cudaCDP2StreamDestroy" implements cudaStreamDestroy.
std::string shown_name(const thread_call &c) { return "cuda" + c.name().substr(10); }

// Adds a finding for a launch that returns an error code to the program.
void report_refused(const thread_call &c, std::string why)
{
    findings::instance().add(
        at_lane(c.g.ctx, c.i, c.lane, finding_kind::refused_launch, std::move(why)));
}

void stop(const thread_call &c, finding_kind kind, int error, std::string why)
{
    stop_grid(c.g.ctx, c.i, kind, error, c.lane, std::move(why));
}

// Returns 0 if no address space was left, and the grid was stopped.
address new_memory(const thread_call &c, std::uint64_t bytes)
{
    const int device = c.g.config->device;
    const auto at = memory::instance().allocate(bytes, memory_kind::internal, device);
    if (at) return *at;
    stop(c, finding_kind::trap, cudaErrorLaunchFailure,
         "no addresses are left for what " + shown_name(c) + " needs");
    return 0;
}

address text_in_memory(const thread_call &c, const char *text)
{
    static std::map<std::pair<std::string, int>, address> known;
    const std::pair key(std::string(text), c.g.config->device);
    if (const auto it = known.find(key); it != known.end()) return it->second;
    memory &m = memory::instance();
    const std::size_t bytes = std::strlen(text) + 1;
    const address at = new_memory(c, bytes);
    if (at == 0) return 0;
    std::memcpy(m.at(at), text, bytes);
    m.mark(at, bytes, initialised | read_only, 0);
    return known[key] = at;
}

// Returns a finding if a launch argument is an address of shared or local memory of the launching
// thread, which the child cannot access.
std::optional<finding> shared_or_local(const thread_call &c, std::uint64_t value)
{
    const context &seen = c.g.ctx;
    const bool shared = value - shared_window < seen.shared_bytes;
    if (!shared && value - local_window >= seen.local_bytes) return {};
    finding f = at_lane(c.g.ctx, c.i, c.lane, finding_kind::non_global_argument);
    if (shared)
        describe_shared(seen, f, value);
    else
        f.where = "local memory, byte " + std::to_string(value - local_window);
    return f;
}

// Events can neither be recorded in these streams nor waited for.
bool is_named_stream(std::uint64_t stream)
{
    return stream == tail_stream || stream == fire_and_forget_stream;
}

// The stream of a handle; 0: no such stream.
launch_tree::stream stream_of(const thread_call &c, std::uint64_t handle)
{
    if (handle == reinterpret_cast<std::uint64_t>(cudaStreamPerThread) ||
        handle == reinterpret_cast<std::uint64_t>(cudaStreamLegacy))
        stop(c, finding_kind::unsupported, cudaErrorNotSupported,
             "the simulator does not know cudaStreamPerThread and cudaStreamLegacy in kernels");
    if (handle == 0) return launch_tree::null_stream(c.w.block->number);
    return handle % 2 == 0 ? handle : 0;
}

// Returns null for pointers outside device memory: the device runtime copies only within it.
void *device_pointer(const thread_call &c, std::size_t which)
{
    const auto at = c.argument<address>(which);
    memory &m = memory::instance();
    if (!m.contains(at)) return nullptr;
    if (const allocation *a = m.find(at); a && a->kind == memory_kind::heap)
        stop(c, finding_kind::unsupported, cudaErrorNotSupported,
             "the simulator does not know " + shown_name(c) + " of memory from malloc in kernels");
    return reinterpret_cast<void *>(at);
}

} // namespace

device_runtime::device_runtime(kernels k)
    : kernels_(std::move(k)),
      tree_(settings().pending_launches, settings().random_schedule, settings().seed,
            settings().others_launch)
{
}

device_runtime::~device_runtime()
{
    for (address chunk : chunks_) memory::instance().release(chunk);
}

outcome device_runtime::run(program &p, const launch &how)
{
    outcome end = kernels_.run(p, how, *this, tree_.root());
    tree_.ended(tree_.root());
    for (launch_node *n; end.error == 0 && (n = tree_.next()) != nullptr;) {
        end = std::exchange(n->run, nullptr)(*n);
        tree_.ended(*n);
        errors_.erase(errors_.lower_bound({n, 0, 0}), errors_.upper_bound({n, ~0ull, ~0u}));
    }
    return end;
}

device_runtime::thread_key device_runtime::key_of(const thread_call &c)
{
    return {c.g.self, c.w.block->number, 32 * c.w.index + static_cast<unsigned>(c.lane)};
}

void device_runtime::result(const thread_call &c, cudaError_t e)
{
    if (e != cudaSuccess) errors_[key_of(c)] = e;
    c.return_value(e);
}

void device_runtime::done(const thread_call &c, bool success, cudaError_t otherwise)
{
    result(c, success ? cudaSuccess : otherwise);
}

// Returns success, after writing a value to the address that an argument holds.
template <class T> void device_runtime::result(const thread_call &c, std::size_t which, const T &v)
{
    const auto to = c.argument<address>(which);
    if (to == 0) return result(c, cudaErrorInvalidValue);
    if (!c.memory.write(to, v))
        return stop(c, finding_kind::out_of_bounds, cudaErrorIllegalAddress,
                    shown_name(c) + " was given an address that the thread may not write");
    result(c, cudaSuccess);
}

// Returns 0 if the grid was stopped.
address device_runtime::allocate_parameter_buffer(const thread_call &c, std::uint64_t bytes)
{
    memory &m = memory::instance();
    const std::uint64_t taken = (bytes + parameter_gap + 63) / 64 * 64;
    if (left_in_chunk_ < taken) {
        const address fresh = new_memory(c, chunk_bytes);
        if (fresh == 0) return 0;
        chunks_.push_back(fresh);
        m.mark(chunks_.back(), chunk_bytes, 0, addressable);
        m.label(chunks_.back(), chunk_bytes, "arguments for kernels");
        left_in_chunk_ = chunk_bytes;
    }
    const address at = chunks_.back() + chunk_bytes - left_in_chunk_;
    left_in_chunk_ -= taken;
    m.mark(at, bytes, addressable, 0);
    return at;
}

cudaError_t device_runtime::check_launch(const thread_call &c, program *p, const launch &how)
{
    if (!p) return cudaErrorInvalidDeviceFunction;
    const dim3 grid = as_dim3(how.grid), block = as_dim3(how.block);
    const cudaError_t e = runtime::check_limits(runtime::find_loaded(p->info), grid, block,
                                                how.dynamic_shared, false);
    if (e != cudaSuccess) {
        report_refused(c, runtime::refused_text(p->info, grid, block, how.dynamic_shared));
        // An H200 returns this to a kernel, although the host gets cudaErrorInvalidValue.
        return e == cudaErrorInvalidValue ? cudaErrorInvalidConfiguration : e;
    }
    return reserve_slot(c, "kernel " + p->display_name);
}

cudaError_t device_runtime::reserve_slot(const thread_call &c, const std::string &what)
{
    if (tree_.reserve()) return cudaSuccess;
    const std::uint32_t pending = settings().pending_launches;
    const std::string launches =
        pending == 1 ? "1 launch by a kernel" : std::to_string(pending) + " launches by kernels";
    report_refused(c, "No place was left to launch " + what + ": " + launches +
                          " had not begun (cudaLimitDevRuntimePendingLaunchCount)."
                          " cudaGetLastError() after the launch tells the kernel.");
    return cudaErrorLaunchPendingCountExceeded;
}

// Returns the address of a parameter buffer, which the caller fills, or null.
void device_runtime::get_parameter_buffer(const thread_call &c)
{
    prepared_launch p{};
    p.config.grid = c.argument<dim>(1);
    p.config.block = c.argument<dim>(2);
    p.config.dynamic_shared = c.argument<std::uint32_t>(3);
    p.config.device = c.g.config->device;
    p.config.closed = c.g.config->closed;
    try {
        p.kernel = kernels_.find(c.argument<std::uint64_t>(0));
    } catch (const ptx::refused &e) {
        return stop(c, finding_kind::trap, cudaErrorLaunchFailure, e.what());
    } catch (const std::runtime_error &e) {
        return stop(c, finding_kind::unsupported, cudaErrorNotSupported, e.what());
    }
    if (const cudaError_t e = check_launch(c, p.kernel, p.config); e != cudaSuccess) {
        errors_[key_of(c)] = e;
        return c.return_value(address{0});
    }
    p.parameter_bytes = p.kernel->info.parameter_bytes;
    const address at = allocate_parameter_buffer(c, p.parameter_bytes);
    if (at == 0) return tree_.give_back();
    prepared_[at] = p;
    c.return_value(at);
}

void device_runtime::launch_device(const thread_call &c)
{
    const auto it = prepared_.find(c.argument<address>(0));
    if (it == prepared_.end()) return result(c, cudaErrorInvalidValue);
    const auto [at, p] = *it;
    prepared_.erase(it);
    memory &m = memory::instance();
    std::vector<std::byte> bytes(m.at(at), m.at(at) + p.parameter_bytes);
    m.mark(at, p.parameter_bytes, 0, addressable);
    for (std::size_t k = 0; k + 8 <= bytes.size(); k += 8) {
        std::uint64_t value = 0;
        std::memcpy(&value, &bytes[k], 8);
        if (auto f = shared_or_local(c, value)) {
            f->detail = "kernel " + p.kernel->display_name +
                        " is given a pointer to it, where it has " +
                        "memory of its own: copy to device memory what a child needs";
            c.g.ctx.halt();
            c.g.result = {cudaErrorIllegalAddress, f->kernel + ": " + f->where + ": " + f->detail};
            findings::instance().add(std::move(*f));
            return;
        }
    }
    auto run = [this, p = p, bytes = std::move(bytes)](launch_node &n) {
        launch config = p.config;
        config.parameters = bytes;
        return kernels_.run(*p.kernel, config, *this, n);
    };
    result(c, add_launch(c, c.argument<std::uint64_t>(1), std::move(run)));
}

cudaError_t device_runtime::add_launch(const thread_call &c, std::uint64_t stream,
                                       std::function<outcome(launch_node &)> run)
{
    launch_node &by = *c.g.self, *n = nullptr;
    if (stream != tail_stream && by.depth >= max_depth) {
        tree_.give_back();
        report_refused(c,
                       "Kernels that launch kernels go " + std::to_string(max_depth) +
                           " deep and no deeper; cudaStreamTailLaunch goes on at the same depth.");
        return cudaErrorLaunchMaxDepthExceeded;
    }
    if (stream == tail_stream)
        n = &tree_.launch_at_tail(by);
    else if (stream == fire_and_forget_stream)
        n = &tree_.launch_fire_and_forget(by);
    else
        n = tree_.launch(by, stream_of(c, stream));
    if (!n) {
        tree_.give_back();
        return cudaErrorInvalidResourceHandle;
    }
    n->run = std::move(run);
    n->history = std::make_unique<grid_history>();
    if (c.g.ctx.races) n->history->at_launch = c.g.ctx.races->clock_at_launch(c.g.ctx, c.i, c.lane);
    return cudaSuccess;
}

void device_runtime::last_error(const thread_call &c)
{
    const auto it = errors_.find(key_of(c));
    c.return_value(it == errors_.end() ? cudaSuccess : it->second);
    if (it != errors_.end() && c.name().ends_with("GetLastError")) errors_.erase(it);
}

void device_runtime::error_text(const thread_call &c)
{
    const auto e = c.argument<cudaError_t>(0);
    const char *text = c.name().ends_with("Name") ? cudaGetErrorName(e) : cudaGetErrorString(e);
    c.return_value(text_in_memory(c, text));
}

void device_runtime::create_stream(const thread_call &c)
{
    if (c.argument<unsigned>(1) != cudaStreamNonBlocking) return result(c, cudaErrorInvalidValue);
    result(c, 0, tree_.create_stream(*c.g.self));
}

void device_runtime::create_event(const thread_call &c)
{
    if (!(c.argument<unsigned>(1) & cudaEventDisableTiming))
        return result(c, cudaErrorInvalidValue);
    const auto made = tree_.create_event(*c.g.self);
    if (made == 0) return result(c, cudaErrorMemoryAllocation);
    result(c, 0, made);
}

void device_runtime::record_event(const thread_call &c)
{
    const auto event = c.argument<std::uint64_t>(0), handle = c.argument<std::uint64_t>(1);
    if (is_named_stream(handle) || c.argument<unsigned>(2) != 0)
        return result(c, cudaErrorInvalidValue);
    done(c, tree_.record(*c.g.self, event, stream_of(c, handle)));
}

void device_runtime::wait_event(const thread_call &c)
{
    const auto handle = c.argument<std::uint64_t>(0), event = c.argument<std::uint64_t>(1);
    if (is_named_stream(handle) || c.argument<unsigned>(2) != 0)
        return result(c, cudaErrorInvalidValue);
    done(c, tree_.wait(*c.g.self, stream_of(c, handle), event));
}

void device_runtime::allocate(const thread_call &c)
{
    const address at = heap_allocate(c.argument<std::uint64_t>(1), c.g.config->device);
    if (at == 0) return result(c, cudaErrorMemoryAllocation);
    result(c, 0, at);
}

// Records the accesses of a copy or fill for the race detector, by running a kernel that makes
// them. Memory and its shadow bits are restored afterwards.
outcome device_runtime::check_transfer_races(const transfer_range &range, launch_node &n)
{
    const bool fill = range.from == 0;
    const bool overlaps = !fill && range.to - range.from + range.bytes - 1 < 2 * range.bytes - 1;
    memory &m = memory::instance();
    const allocation *const of = m.find(range.to);
    if (!settings().check_races || overlaps || !of || !of->live) return {};
    const bool words = (range.to | range.from | range.bytes) % 4 == 0;
    const std::uint64_t units = words ? range.bytes / 4 : range.bytes;
    const std::uint64_t values[] = {range.to, range.from, units};
    launch config;
    config.grid = {static_cast<std::uint32_t>((units + 255) / 256), 1, 1};
    config.block = {256, 1, 1};
    config.parameters = std::as_bytes(std::span(values));
    config.device = range.device;
    config.closed = range.closed;
    const std::vector<std::byte> bytes(m.at(range.to), m.at(range.to) + range.bytes);
    const std::vector<std::uint8_t> shadow(m.shadow_at(range.to),
                                           m.shadow_at(range.to) + range.bytes);
    const options all = settings();
    settings().count = settings().check_initialised = false;
    const outcome end = kernels_.run(kernels_.transfer(fill, words), config, *this, n);
    settings() = all;
    std::copy(bytes.begin(), bytes.end(), m.at(range.to));
    std::copy(shadow.begin(), shadow.end(), m.shadow_at(range.to));
    return end;
}

void device_runtime::queue_transfer(const thread_call &c, std::uint64_t stream, cudaError_t checked,
                                    const runtime::task &t, const transfer_range &range)
{
    if (checked == cudaSuccess) checked = reserve_slot(c, shown_name(c));
    if (checked != cudaSuccess) return result(c, checked);
    result(c, add_launch(c, stream, [this, t, range](launch_node &n) {
               const outcome end = check_transfer_races(range, n);
               if (end.error == 0) runtime::run_task(t);
               return end;
           }));
}

void device_runtime::copy(const thread_call &c)
{
    runtime::task t;
    const auto bytes = c.argument<std::uint64_t>(2);
    if (bytes == 0) return result(c, cudaSuccess);
    void *const to = device_pointer(c, 0);
    const void *const from = device_pointer(c, 1);
    const cudaError_t e = to && from
                              ? runtime::copy_task(to, from, bytes, cudaMemcpyDeviceToDevice, t)
                              : cudaErrorInvalidValue;
    queue_transfer(c, c.argument<std::uint64_t>(4), e, t,
                   {c.argument<address>(0), c.argument<address>(1), bytes, c.g.config->device,
                    c.g.config->closed});
}

void device_runtime::fill(const thread_call &c)
{
    runtime::task t;
    cudaMemsetParams p{};
    p.dst = device_pointer(c, 0);
    p.value = c.argument<unsigned>(1) & 0xff;
    p.elementSize = p.height = 1;
    p.width = c.argument<std::uint64_t>(2);
    if (p.width == 0) return result(c, cudaSuccess);
    queue_transfer(c, c.argument<std::uint64_t>(3),
                   p.dst ? runtime::fill_task(p, t) : cudaErrorInvalidValue, t,
                   {c.argument<address>(0), 0, p.width, c.g.config->device, c.g.config->closed});
}

void device_runtime::attribute(const thread_call &c)
{
    int value = 0;
    const cudaError_t e =
        runtime::attribute_of(c.argument<int>(2), c.argument<cudaDeviceAttr>(1), value);
    if (e != cudaSuccess) return result(c, e);
    result(c, 0, value);
}

const std::map<std::string_view, device_runtime::function> &device_runtime::functions()
{
    using r = device_runtime;
    static const std::map<std::string_view, function> all = {
        {"__cudaCDP2GetParameterBufferV2", &r::get_parameter_buffer},
        {"__cudaCDP2LaunchDeviceV2", &r::launch_device},
        {"__cudaCDP2GetLastError", &r::last_error},
        {"__cudaCDP2PeekAtLastError", &r::last_error},
        {"__cudaCDP2GetErrorString", &r::error_text},
        {"__cudaCDP2GetErrorName", &r::error_text},
        {"__cudaCDP2StreamCreateWithFlags", &r::create_stream},
        {"__cudaCDP2StreamDestroy",
         [](r &of, const thread_call &c) {
             of.done(c, of.tree_.destroy_stream(*c.g.self, c.argument<std::uint64_t>(0)));
         }},
        {"__cudaCDP2StreamWaitEvent", &r::wait_event},
        {"__cudaCDP2EventCreateWithFlags", &r::create_event},
        {"__cudaCDP2EventDestroy",
         [](r &of, const thread_call &c) {
             of.done(c, of.tree_.destroy_event(*c.g.self, c.argument<std::uint64_t>(0)));
         }},
        {"__cudaCDP2EventRecord", &r::record_event},
        {"__cudaCDP2EventRecordWithFlags", &r::record_event},
        {"__cudaCDP2Malloc", &r::allocate},
        {"__cudaCDP2Free",
         [](r &of, const thread_call &c) {
             of.done(c, heap_free(c.argument<address>(0)), cudaErrorInvalidValue);
         }},
        {"__cudaCDP2MemcpyAsync", &r::copy},
        {"__cudaCDP2MemsetAsync", &r::fill},
        {"__cudaCDP2GetDevice",
         [](r &of, const thread_call &c) { of.result(c, 0, c.g.config->device); }},
        {"__cudaCDP2GetDeviceCount",
         [](r &of, const thread_call &c) { of.result(c, 0, runtime::device_count()); }},
        {"__cudaCDP2DeviceGetAttribute", &r::attribute},
        {"__cudaCDP2RuntimeGetVersion",
         [](r &of, const thread_call &c) { of.result(c, 0, int{CUDART_VERSION}); }},
    };
    return all;
}

bool device_runtime::implements(std::string_view name) { return functions().contains(name); }

void device_runtime::call(const thread_call &c) { functions().at(c.name())(*this, c); }

} // namespace simulator::core
