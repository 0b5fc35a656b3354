// The worker: one implementation of a contract, called as the parent asks. Owns nothing that
// decides.
//
// Linked with the CUDA runtime it runs on a GPU, with the simulator on a CPU; it cannot tell but
// for the harness functions of the simulator, which are weak.
//
//   WORKER                 serves the parent on descriptor 3
//   WORKER --probe         runs a null kernel; says what is wrong and exits 1 where none can run
//   WORKER --peers         prints how fast devices send to each other
//   WORKER --replay FILE...   makes the call that each FILE holds, for cuda-gdb, ncu and
//   compute-sanitizer
//   WORKER --ranks N MPIRUN   serves as N ranks of Open MPI, for which it runs itself with --rank
#include "grader/call.hpp"
#include "grader/simulator/harness.h"
#include "grader/simulator/own_threads.hpp"
#include "grader/worker/escapes.hpp"
#include "grader/worker/peers.hpp"
#include "grader/worker/ranks.hpp"
#include "grader/worker/yardstick.hpp"

#include <cuda_runtime_api.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace grading {

extern const entry contract[]; // generated from lab.hpp
extern const int contract_size, contract_devices;
extern const entry yardstick[]; // from yardstick.hpp, the grader's own kernels
extern const int yardstick_size;

int rank_of_process()
{
    const char *rank = std::getenv("OMPI_COMM_WORLD_RANK");
    return rank ? std::atoi(rank) : 0;
}

constexpr const char *rank_here = "OMPI_COMM_WORLD_LOCAL_RANK"; // only ranks have it

int home_device()
{
    static const int device = [] {
        const char *local = std::getenv(rank_here);
        int devices = 0;
        bool choice = local && cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
        return choice ? std::atoi(local) % devices : 0;
    }();
    return device;
}

namespace {

using steady = std::chrono::steady_clock;

// Cuts what does not fit.
template <std::size_t n> void put(char (&to)[n], const char *text)
{
    std::size_t length = strnlen(text, n - 1);
    std::memcpy(to, text, length);
    to[length] = 0;
}

struct cuda_failure {
    cudaError_t error;
    run_step step;
};

struct acquire_failure {
    acquire_fault what;
};

void check(cudaError_t e, run_step step = run_step::none)
{
    if (e != cudaSuccess) throw cuda_failure{e, step};
}

// Calls f on each device that the lab may use, the first last: it is current from then on. A rank
// has one.
template <class F> void on_each_device(F f)
{
    int devices = 1;
    const bool alone = !std::getenv(rank_here);
    if (contract_devices > 1 && alone) check(cudaGetDeviceCount(&devices));
    for (int d = devices - 1; d >= 0; --d) {
        check(cudaSetDevice(alone ? d : home_device()));
        f();
    }
}

// The first thing that went wrong on any of them.
cudaError_t synchronise_devices()
{
    cudaError_t first = cudaSuccess;
    on_each_device([&] {
        if (cudaError_t e = cudaDeviceSynchronize(); first == cudaSuccess) first = e;
    });
    return first;
}

const entry *find_entry(std::string_view name)
{
    for (int i = 0; i < contract_size; ++i)
        if (name == contract[i].name) return &contract[i];
    for (int i = 0; i < yardstick_size; ++i)
        if (name == yardstick[i].name) return &yardstick[i];
    return nullptr;
}

// One buffer of one argument: guard zone, payload, guard zone, at the misalignment asked for.
class buffer {
public:
    buffer(const slot &s, std::uint64_t payload, int device)
        : where_(s.where),
          guard_(s.guard),
          bytes_(payload),
          shift_(std::uint64_t{s.misalign} * s.element),
          device_(device),
          scratch_(s.scratch)
    {
        std::uint64_t all = std::max<std::uint64_t>(shift_ + 2 * guard_ + bytes_, 1);
        switch (where_) {
        case place::host:
            base_ = static_cast<std::byte *>(std::aligned_alloc(256, (all + 255) / 256 * 256));
            if (!base_) throw cuda_failure{cudaErrorMemoryAllocation, run_step::none};
            break;
        case place::pinned:
            check(cudaMallocHost(address(), all));
            break;
        case place::mapped:
            check(cudaHostAlloc(address(), all, cudaHostAllocMapped));
            break;
        case place::managed:
            check(cudaMallocManaged(address(), all, cudaMemAttachGlobal));
            break;
        case place::acquired:
            acquire(all);
            break;
        default:
            check(cudaSetDevice(device_));
            check(cudaMalloc(address(), all));
        }
    }
    buffer(buffer &&o) noexcept
        : where_(o.where_),
          guard_(o.guard_),
          bytes_(o.bytes_),
          shift_(o.shift_),
          device_(o.device_),
          scratch_(o.scratch_),
          base_(std::exchange(o.base_, nullptr))
    {
    }
    buffer &operator=(buffer &&) = delete;
    ~buffer()
    {
        if (!base_) return;
        if (simulator_allow) simulator_allow(base_, shift_ + 2 * guard_ + bytes_);
        if (where_ == place::host)
            std::free(base_);
        else if (where_ == place::pinned || where_ == place::mapped)
            cudaFreeHost(base_);
        else if (where_ == place::acquired)
            release();
        else
            cudaFree(base_);
    }

    std::byte *payload() const { return base_ + shift_ + guard_; }
    std::uint64_t payload_bytes() const { return bytes_; }
    std::uint64_t image_bytes() const { return 2 * guard_ + (scratch_ ? 0 : bytes_); }

    void load(const std::byte *image)
    {
        if (!scratch_) return copy(base_ + shift_, image, image_bytes());
        copy(base_, image, guard_);
        copy(payload() + bytes_, image + guard_, guard_);
        // As unforeseeable as the guards are, and never 0.
        check(cudaMemset(payload(), std::to_integer<int>(image[0]) | 1, bytes_));
    }
    void store(std::byte *image) const
    {
        if (simulator_allow) simulator_allow(base_, shift_ + 2 * guard_ + bytes_);
        if (!scratch_) return copy(image, base_ + shift_, image_bytes());
        copy(image, base_, guard_);
        copy(image + guard_, payload() + bytes_, guard_);
    }
    void patch(std::uint64_t at, const std::byte *from, std::uint64_t bytes)
    {
        copy(payload() + at, from, bytes);
    }
    // Tells the simulator what is guard, what holds no value yet, and what messages call it.
    void watch(const slot &s) const
    {
        if (!simulator_forbid) return;
        simulator_forbid(base_, shift_ + guard_);
        simulator_forbid(payload() + bytes_, guard_);
        simulator_label(payload(), bytes_, s.name);
        if (s.output) simulator_forget(payload(), bytes_);
    }

private:
    void **address() { return reinterpret_cast<void **>(&base_); }
    // What a call of `acquire` gave goes to `release`, before the next one.
    void acquire(std::uint64_t bytes)
    {
        if (still_pinned_) throw acquire_failure{acquire_fault::not_released};
        std::size_t floats = (bytes + sizeof(float) - 1) / sizeof(float);
        void *n = &floats;
        find_entry("acquire")->run(&n, &base_);
        if (!base_) throw acquire_failure{acquire_fault::nothing};
        auto kind = [this](std::uint64_t at) {
            cudaPointerAttributes a{};
            check(cudaPointerGetAttributes(&a, base_ + at));
            return a.type;
        };
        if (kind(bytes - 1) != kind(0)) throw acquire_failure{acquire_fault::too_little};
    }
    void release()
    {
        void *memory = base_;
        try {
            find_entry("release")->run(&memory, nullptr);
        } catch (const std::exception &) { // that nothing was released is seen below, and said
        }
        cudaPointerAttributes a{};
        if (cudaPointerGetAttributes(&a, memory) == cudaSuccess)
            still_pinned_ |= a.type == cudaMemoryTypeHost;
        else
            cudaGetLastError(); // this question's, not the submission's
    }
    static inline bool still_pinned_ = false;

    void copy(void *to, const void *from, std::uint64_t bytes) const
    {
        if (!bytes) return;
        // Managed memory is written where host code would: on the host.
        if (where_ == place::host || where_ == place::managed)
            std::memcpy(to, from, bytes);
        else
            check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
    }

    place where_;
    std::uint64_t guard_, bytes_, shift_;
    int device_;
    bool scratch_;
    std::byte *base_ = nullptr;
};

struct argument_set {
    std::vector<slot> slots;
    std::vector<std::vector<buffer>> buffers;       // by slot, then by part
    std::vector<std::vector<void *>> part_pointers; // by slot
    std::vector<std::vector<std::byte>> values;     // by slot
    std::vector<void *> pointers;                   // what the entry takes
};

// What `function`_scratch, called with the values of the same names, asks for. Throws
// std::runtime_error where it cannot be called or asks for more than there can be.
std::uint64_t scratch_bytes(const argument_set &s, const std::string &function)
{
    std::string name = function + "_scratch";
    const entry *e = find_entry(name);
    if (!e || e->result_bytes != sizeof(std::size_t))
        throw std::runtime_error("lab.hpp declares no size_t " + name);
    std::vector<void *> arguments;
    std::istringstream parameters(e->parameters);
    for (std::string parameter; std::getline(parameters, parameter, ',');)
        for (std::size_t i = 0; i < s.slots.size(); ++i)
            if (s.slots[i].where == place::value && parameter == s.slots[i].name)
                arguments.push_back(const_cast<std::byte *>(s.values[i].data()));
    if (static_cast<std::ptrdiff_t>(arguments.size()) !=
        std::count(e->parameters, e->parameters + std::strlen(e->parameters), ',') + 1)
        throw std::runtime_error(name + " has parameters that " + function + " has not");
    std::size_t bytes = 0, free = 0, total = 0;
    e->run(arguments.data(), &bytes);
    check(cudaMemGetInfo(&free, &total));
    if (bytes > free)
        throw std::runtime_error(name + " asks for " + std::to_string(bytes) +
                                 " bytes, more than the device has free");
    return bytes;
}

using host_bytes = std::vector<std::vector<std::byte>>; // by slot

// What a submission leaves for later must not run between its calls, where nobody counts or times
// it: signals wait there, and with each call end its timers and what it had signals do.
class signal_gate {
public:
    // From now on; handlers that ran before main are gone.
    void close_for_good()
    {
        guarded_ = true;
        close();
        forget();
    }
    void open() { mask(SIG_UNBLOCK); }
    void close() { mask(SIG_BLOCK); }
    // What is pending goes with the handlers; those of before are back.
    void forget()
    {
        if (!guarded_) return;
        const itimerval never{};
        for (auto timer : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF})
            setitimer(timer, &never, nullptr);
        for (int n = 1; n < NSIG; ++n) {
            struct sigaction now {};
            if (sigaction(n, nullptr, &now) != 0 || now.sa_handler == SIG_DFL) continue;
            signal(n, SIG_IGN);
            if (now.sa_handler != SIG_IGN) signal(n, SIG_DFL);
        }
    }

private:
    void mask(int how) const
    {
        if (!guarded_) return;
        sigset_t all;
        sigfillset(&all);
        for (int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
            sigdelset(&all, own); // a thread's own faults
        pthread_sigmask(how, &all, nullptr);
    }
    bool guarded_ = false; // debuggers and profilers, which replay a call, may need theirs
};

signal_gate &signals()
{
    static signal_gate one;
    return one;
}

// This program's own standard output, whatever file a submission names `stdout`.
FILE *own_text = nullptr;
[[gnu::constructor(101)]] void keep_own_text() { own_text = stdout; }

// What the host sees of the arguments without a copy.
host_bytes seen_by_host(const argument_set &s)
{
    host_bytes all(s.slots.size());
    for (std::size_t i = 0; i < s.slots.size(); ++i) {
        const place where = s.slots[i].where;
        if (where == place::value || where == place::device || where == place::per_device) continue;
        for (const buffer &b : s.buffers[i])
            all[i].insert(all[i].end(), b.payload(), b.payload() + b.payload_bytes());
    }
    return all;
}

// While one lives, so many launches by kernels may wait to begin. Where a device does not let
// itself be told, as many as usual may.
class launch_pool {
public:
    explicit launch_pool(std::size_t places)
    {
        if (places == 0) return;
        std::size_t usual = 0;
        bool set = cudaDeviceGetLimit(&usual, limit) == cudaSuccess &&
                   cudaDeviceSetLimit(limit, places) == cudaSuccess;
        if (set) usual_ = usual;
        cudaGetLastError();
    }
    ~launch_pool()
    {
        if (usual_ == 0) return;
        cudaDeviceSetLimit(limit, usual_);
        cudaGetLastError();
    }
    launch_pool(const launch_pool &) = delete;
    launch_pool &operator=(const launch_pool &) = delete;

private:
    static constexpr cudaLimit limit = cudaLimitDevRuntimePendingLaunchCount;
    std::size_t usual_ = 0;
};

// While one lives, the simulator runs streams' work when the request says.
class stream_schedule {
public:
    explicit stream_schedule(std::uint32_t flags)
        : set_(simulator_streams && (flags & (late_streams | shuffled_streams)))
    {
        if (set_) simulator_streams(flags & late_streams ? 1 : 2);
    }
    ~stream_schedule()
    {
        if (set_) simulator_streams(0);
    }
    stream_schedule(const stream_schedule &) = delete;
    stream_schedule &operator=(const stream_schedule &) = delete;

private:
    bool set_;
};

// What the simulator has counted, as JSON.
std::string counts_so_far()
{
    std::string counts(simulator_counters(nullptr, 0), 0);
    simulator_counters(counts.data(), counts.size() + 1);
    return counts;
}

class server {
public:
    server(const std::byte *input, std::uint64_t input_bytes, std::byte *output,
           std::uint64_t output_bytes)
        : input_(input), input_bytes_(input_bytes), output_(output), output_bytes_(output_bytes)
    {
    }

    reply handle(const request &r)
    {
        reply a;
        a.what = r.what;
        std::copy(r.nonce, r.nonce + 2, a.nonce);
        try {
            perform(r, a);
        } catch (const cuda_failure &f) {
            a.status = reply_status::cuda_error;
            a.error = f.error;
            a.step = f.step;
            bool ours = f.error == cudaErrorMemoryAllocation && r.what == command::load;
            if (ours) a.status = reply_status::out_of_memory;
            put(a.error_name, cudaGetErrorName(f.error));
            put(a.text, cudaGetErrorString(f.error));
        } catch (const acquire_failure &f) {
            a.status = reply_status::misacquired;
            a.error = static_cast<std::int32_t>(f.what);
        } catch (const std::exception &x) { // of acquire, or of what says how much scratch
            say_thrown(a, x.what());
        } catch (...) {
            say_thrown(a, thrown_by_another);
        }
        // No other file: writing a submission's own could run its code.
        std::fflush(own_text);
        return a;
    }

private:
    void perform(const request &r, reply &a)
    {
        bool known = r.set < 4096 && r.slots <= max_slots && r.calls <= max_calls;
        if (!known) return malformed(a, "a count is out of range");
        switch (r.what) {
        case command::facts:
            return facts(r, a);
        case command::load:
            return load(r, a);
        case command::patch:
            return patch(r, a);
        case command::poison:
            return poison(r, a);
        case command::wake:
            on_each_device([] { yardstick_null(); });
            return check(synchronise_devices(), run_step::synchronise);
        case command::run:
            return run(r, a);
        case command::store:
            return store(r, a);
        case command::drop:
            sets_.erase(r.set);
            return;
        case command::try_sandbox:
            return try_sandbox(r, a);
        case command::report:
            return report(r, a);
        }
        malformed(a, "an unknown command");
    }

    static constexpr const char *thrown_by_another = "something that is no std::exception";
    static void say_thrown(reply &a, const char *what)
    {
        a.status = reply_status::exception;
        put(a.text, what);
    }

    static void malformed(reply &a, const char *why)
    {
        a.status = reply_status::malformed;
        put(a.text, why);
    }

    const std::byte *in(std::uint64_t at, std::uint64_t bytes) const
    {
        return at <= input_bytes_ && bytes <= input_bytes_ - at ? input_ + at : nullptr;
    }
    std::byte *out(std::uint64_t at, std::uint64_t bytes) const
    {
        return at <= output_bytes_ && bytes <= output_bytes_ - at ? output_ + at : nullptr;
    }

    void try_sandbox(const request &r, reply &a)
    {
        const std::byte *name = in(r.offset, r.bytes);
        if (!name) return malformed(a, "the file's name lies outside the input region");
        const std::string file(reinterpret_cast<const char *>(name), r.bytes);
        a.result[0] = find_escapes(file.c_str(), static_cast<int>(r.at));
    }

    void facts(const request &r, reply &a)
    {
        device_facts f;
        f.simulated = simulator_begin != nullptr;
        cudaError_t e = cudaGetDeviceCount(&f.devices);
        cudaDeviceProp p{};
        if (e == cudaSuccess) e = cudaGetDeviceProperties(&p, 0);
        if (e == cudaSuccess) e = cudaSetDevice(home_device());
        std::size_t free = 0, total = 0;
        if (e == cudaSuccess) e = cudaMemGetInfo(&free, &total);
        if (e == cudaSuccess) {
            yardstick_null();
            e = cudaDeviceSynchronize();
        }
        f.present = e == cudaSuccess;
        f.error = e;
        put(f.error_text, cudaGetErrorString(e));
        put(f.name, p.name);
        f.major = p.major;
        f.minor = p.minor;
        f.multiprocessors = p.multiProcessorCount;
        f.l2_bytes = static_cast<std::uint64_t>(p.l2CacheSize);
        f.memory_bytes = total;
        f.memory_free = free;
        cudaDriverGetVersion(&f.driver);
        cudaRuntimeGetVersion(&f.runtime);
        cudaDeviceGetAttribute(&f.clock_khz, cudaDevAttrClockRate, 0);
        f.threads_a_block = p.maxThreadsPerBlock;
        f.threads_a_multiprocessor = p.maxThreadsPerMultiProcessor;
        f.warp = p.warpSize;
        f.copy_engines = p.asyncEngineCount;
        f.pages_on_demand = p.concurrentManagedAccess;
        f.shared_a_block = p.sharedMemPerBlock;
        f.shared_a_multiprocessor = p.sharedMemPerMultiprocessor;
        f.constant_bytes = p.totalConstMem;
        for (int d = 0; d < std::min(f.devices, max_devices); ++d)
            for (int to = 0, can = 0; to < std::min(f.devices, max_devices); ++to)
                if (d != to && cudaDeviceCanAccessPeer(&can, d, to) == cudaSuccess && can)
                    f.peers[d] = static_cast<std::uint16_t>(f.peers[d] | 1u << to);
        std::byte *to = out(r.offset, sizeof f);
        if (!to) return malformed(a, "facts do not fit the output region");
        std::memcpy(to, &f, sizeof f);
        l2_bytes_ = f.l2_bytes;
    }

    void load(const request &r, reply &a)
    {
        sets_.erase(r.set);
        at_end_.clear();
        argument_set s;
        s.slots.assign(r.arguments, r.arguments + r.slots);
        s.buffers.resize(r.slots);
        s.part_pointers.resize(r.slots);
        s.values.resize(r.slots);
        for (bool last : {false, true})
            for (std::uint32_t i = 0; i < r.slots; ++i)
                if (bool(r.arguments[i].last) == last && !load_slot(s, i))
                    return malformed(a, "an argument lies outside the input region");
        for (std::uint32_t i = 0; i < r.slots; ++i) // which takes the values of the others
            if (r.arguments[i].scratch && !load_scratch(s, i, r, a)) return;
        check(synchronise_devices());
        check(cudaSetDevice(home_device()));
        for (std::size_t i = 0; i < s.slots.size(); ++i)
            for (buffer &b : s.buffers[i]) b.watch(s.slots[i]);
        // Pointers into vectors are taken once nothing moves any more.
        for (std::size_t i = 0; i < s.slots.size(); ++i) {
            place w = s.slots[i].where;
            if (w == place::value)
                s.pointers.push_back(s.values[i].data());
            else if (w == place::per_device)
                s.pointers.push_back(s.part_pointers[i].data());
            else if (w == place::absent)
                s.pointers.push_back(nullptr);
            else
                s.pointers.push_back(s.buffers[i][0].payload());
        }
        sets_.emplace(r.set, std::move(s));
    }

    bool load_scratch(argument_set &s, std::size_t i, const request &r, reply &a)
    {
        const slot &d = s.slots[i];
        a.bytes = scratch_bytes(s, std::string(r.function, strnlen(r.function, sizeof r.function)));
        buffer &b = s.buffers[i].emplace_back(d, a.bytes, 0);
        const std::byte *from = in(d.input, b.image_bytes());
        if (from) b.load(from);
        return from || (malformed(a, "scratch has no guards"), false);
    }

    bool load_slot(argument_set &s, std::size_t i)
    {
        slot &d = s.slots[i];
        d.name[sizeof d.name - 1] = 0;
        auto &buffers = s.buffers[i];
        auto &parts = s.part_pointers[i];
        auto &value = s.values[i];
        if (d.scratch || d.where == place::absent) return true; // later, or never
        if (d.where == place::value) {
            const std::byte *from = in(d.input, d.bytes);
            if (from) value.assign(from, from + d.bytes);
            return from != nullptr;
        }
        unsigned count = d.where == place::per_device ? d.parts : 1;
        if (count == 0 || d.bytes % count) return false;
        int devices = 1;
        check(cudaGetDeviceCount(&devices));
        for (unsigned k = 0; k < count; ++k) {
            buffer &b = buffers.emplace_back(d, d.bytes / count, static_cast<int>(k) % devices);
            const std::byte *from = in(d.input + k * b.image_bytes(), b.image_bytes());
            if (!from) return false;
            b.load(from);
            parts.push_back(b.payload());
        }
        return true;
    }

    argument_set *find(std::uint32_t set, reply &a)
    {
        auto at = sets_.find(set);
        if (at != sets_.end()) return &at->second;
        malformed(a, "no such set");
        return nullptr;
    }

    void patch(const request &r, reply &a)
    {
        argument_set *s = find(r.set, a);
        if (!s) return;
        const std::byte *from = in(r.offset, r.bytes);
        if (!from || r.index >= s->slots.size() || s->buffers[r.index].size() != 1)
            return malformed(a, "nothing to patch");
        buffer &b = s->buffers[r.index][0];
        if (r.at > b.payload_bytes() || r.bytes > b.payload_bytes() - r.at)
            return malformed(a, "a patch lies outside its argument");
        b.patch(r.at, from, r.bytes);
    }

    void poison(const request &r, reply &a)
    {
        argument_set *s = find(r.set, a);
        if (!s) return;
        for (std::size_t i = 0; i < s->slots.size(); ++i)
            for (buffer &b : s->buffers[i])
                if (s->slots[i].output && poisoned(s->slots[i].where))
                    yardstick_fill(reinterpret_cast<unsigned *>(b.payload()), b.payload_bytes() / 4,
                                   r.pattern);
        check(cudaDeviceSynchronize(), run_step::synchronise);
    }

    void flush_l2()
    {
        std::size_t bytes = std::max<std::size_t>(2 * l2_bytes_, std::size_t{64} << 20);
        if (!flush_) check(cudaMalloc(&flush_, bytes));
        check(cudaCtxResetPersistingL2Cache());
        yardstick_flush(flush_, bytes);
    }

    void run(const request &r, reply &a)
    {
        const entry *e =
            find_entry(std::string_view(r.function, strnlen(r.function, sizeof r.function)));
        if (!e) {
            a.status = reply_status::unknown_function;
            return;
        }
        std::vector<argument_set *> sets;
        for (std::uint32_t i = 0; i < r.calls; ++i) {
            sets.push_back(find(r.sets[i], a));
            if (!sets.back()) return;
        }
        check(cudaGetLastError(), run_step::before);
        if (r.flags & run_flags::flush_l2) flush_l2();
        check(synchronise_devices(), run_step::before);
        if (simulator_close_peers) simulator_close_peers(r.closed_peers);
        if ((r.flags & begin_counting) && simulator_begin) simulator_begin();
        if (simulator_schedule) simulator_schedule((r.flags & another_order) != 0, r.pattern);
        // The simulator measures no time, and its timeline is the submission's alone.
        const bool timed = !simulator_begin;
        if (timed && !begin_) {
            check(cudaEventCreate(&begin_));
            check(cudaEventCreate(&end_));
        }
        stream_schedule streams(r.flags);
        launch_pool pool(r.launch_places);
        a.returned_bytes = e->result_bytes;
        int threads = simulator::own_threads();
        signals().open();
        auto start = steady::now();
        if (timed) check(cudaEventRecord(begin_));
        try {
            for (argument_set *s : sets) e->run(s->pointers.data(), a.result);
            std::fflush(nullptr); // a file may be of a kind whose writing is the submission's code
        } catch (const std::exception &x) {
            say_thrown(a, x.what());
        } catch (...) {
            say_thrown(a, thrown_by_another);
        }
        signals().close();
        host_bytes at_return;
        if (r.flags & late_streams) at_return = seen_by_host(*sets[0]);
        cudaError_t launch = cudaGetLastError();
        check(cudaSetDevice(home_device()), run_step::last_error);
        if (timed) cudaEventRecord(end_);
        cudaError_t sync = synchronise_devices();
        a.host_ms = std::chrono::duration<double, std::milli>(steady::now() - start).count();
        if ((r.flags & begin_counting) && simulator_counters) counts_ = counts_so_far();
        signals().forget();
        a.threads_left = simulator::own_threads() - threads;
        if (r.flags & begin_counting) at_end_ = digests(*sets[0]);
        if (a.status == reply_status::exception) return;
        if (r.flags & late_streams) {
            const host_bytes now = seen_by_host(*sets[0]);
            const auto changed = std::mismatch(now.begin(), now.end(), at_return.begin()).first;
            if (changed != now.end())
                a.changed_late = static_cast<std::uint32_t>(changed - now.begin()) + 1;
        }
        // A kernel that failed while running shows up in either call; a sticky error is not a bad
        // launch.
        if (launch != cudaSuccess && sync == cudaSuccess) check(launch, run_step::last_error);
        check(sync, run_step::synchronise);
        check(launch, run_step::last_error);
        float ms = 0;
        if (timed) check(cudaEventElapsedTime(&ms, begin_, end_), run_step::synchronise);
        // Events see one device only.
        a.event_ms = contract_devices > 1 ? a.host_ms : static_cast<double>(ms);
        if (!timed) a.host_ms = 0;
    }

    // Of what a call may write, by slot; nothing without the simulator.
    static std::vector<std::uint64_t> digests(const argument_set &s)
    {
        std::vector<std::uint64_t> all;
        if (!simulator_digest) return all;
        for (std::size_t i = 0; i < s.slots.size(); ++i) {
            std::uint64_t of_slot = 0;
            for (const buffer &b : s.buffers[i])
                if (!s.slots[i].read_only)
                    of_slot = of_slot * 3 + simulator_digest(b.payload(), b.payload_bytes());
            all.push_back(of_slot);
        }
        return all;
    }

    // Of all sets, so that the region is pinned once: that takes longer than a copy into it.
    std::uint64_t end_of_stores(std::uint32_t flags) const
    {
        std::uint64_t end = 0;
        for (const auto &[number, s] : sets_)
            for (std::size_t i = 0; i < s.slots.size(); ++i) {
                if ((flags & writable_only) && s.slots[i].read_only) continue;
                std::uint64_t bytes = 0;
                for (const buffer &b : s.buffers[i]) bytes += b.image_bytes();
                end = std::max(end, s.slots[i].output_at + bytes);
            }
        return end;
    }

    // Large results come back faster into pinned memory. In one piece: no copy may cross from one
    // pinned range to another. Where it cannot be had, results come back slower.
    void pin_output(std::uint64_t end)
    {
        constexpr std::uint64_t step = 64 << 20;
        if (simulator_begin || end <= (pinned_ ? pinned_ : step / 4)) return;
        if (pinned_ > 0) cudaHostUnregister(output_);
        pinned_ = std::min((end + step - 1) / step * step, output_bytes_);
        if (cudaHostRegister(output_, pinned_, cudaHostRegisterDefault) == cudaSuccess) return;
        cudaGetLastError();
        pinned_ = output_bytes_; // not tried again
    }

    void store(const request &r, reply &a)
    {
        argument_set *s = find(r.set, a);
        if (!s) return;
        if (!at_end_.empty()) {
            const auto now = digests(*s);
            const auto changed =
                std::mismatch(at_end_.begin(), at_end_.end(), now.begin(), now.end());
            if (changed.second != now.end())
                a.changed_late = static_cast<std::uint32_t>(changed.second - now.begin()) + 1;
            at_end_.clear();
        }
        pin_output(end_of_stores(r.flags));
        for (std::size_t i = 0; i < s->slots.size(); ++i) {
            if ((r.flags & writable_only) && s->slots[i].read_only) continue;
            std::uint64_t at = s->slots[i].output_at;
            for (buffer &b : s->buffers[i]) {
                std::byte *to = out(at, b.image_bytes());
                if (!to) return malformed(a, "an argument does not fit the output region");
                try {
                    b.store(to);
                } catch (cuda_failure &f) {
                    f.step = run_step::copy_out;
                    throw;
                }
                at += b.image_bytes();
            }
        }
    }

    // u64 count, that many simulator_finding, u64 length, counters of the last run as JSON.
    void report(const request &r, reply &a)
    {
        if (!simulator_findings) return malformed(a, "only the simulator reports");
        std::byte *to = out(r.offset, r.bytes);
        if (!to) return malformed(a, "the report does not fit the output region");
        std::vector<simulator_finding> found(64);
        std::uint64_t count =
            std::min(simulator_findings(found.data(), found.size()), found.size());
        std::uint64_t length = counts_.size(), list = count * sizeof(simulator_finding);
        a.bytes = 8 + list + 8 + length;
        if (a.bytes > r.bytes) return malformed(a, "the report is larger than its place");
        std::memcpy(to, &count, 8);
        std::memcpy(to + 8, found.data(), list);
        std::memcpy(to + 8 + list, &length, 8);
        std::memcpy(to + 16 + list, counts_.data(), length);
    }

    std::string counts_; // of the last run that counted, and of nothing that came after
    std::vector<std::uint64_t> at_end_; // and what its first set held then, until that is stored
    const std::byte *input_;
    std::uint64_t input_bytes_;
    std::byte *output_;
    std::uint64_t output_bytes_, pinned_ = 0;
    std::map<std::uint32_t, argument_set> sets_;
    std::uint64_t l2_bytes_ = 0;
    void *flush_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

const std::byte *map_region(int fd, int protection, std::uint64_t &bytes)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0) return nullptr;
    bytes = static_cast<std::uint64_t>(facts.st_size);
    void *at = mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? nullptr : static_cast<const std::byte *>(at);
}

int serve()
{
    std::uint64_t input_bytes = 0, output_bytes = 0;
    const std::byte *input = map_region(input_fd, PROT_READ, input_bytes);
    const std::byte *output = map_region(output_fd, PROT_READ | PROT_WRITE, output_bytes);
    if (!input || !output) {
        std::fprintf(stderr,
                     "A worker is started by the grader, or with --probe or --replay FILE.\n");
        return 2;
    }
    signals().close_for_good();
    auto s =
        std::make_unique<server>(input, input_bytes, const_cast<std::byte *>(output), output_bytes);
    request r;
    while (true) {
        ssize_t got = recv(socket_fd, &r, sizeof r, 0);
        if (got != sizeof r || r.magic != protocol_magic) break;
        reply a = s->handle(r);
        if (take_sent_bytes) a.of_rank[0].sent_bytes = take_sent_bytes();
        if (send(socket_fd, &a, sizeof a, MSG_NOSIGNAL) != sizeof a) break;
    }
    return 0;
}

int probe()
{
    int devices = 0;
    cudaError_t e = cudaGetDeviceCount(&devices);
    cudaDeviceProp p{};
    if (e == cudaSuccess) e = cudaGetDeviceProperties(&p, 0);
    if (e == cudaSuccess) {
        yardstick_null();
        e = cudaDeviceSynchronize();
    }
    if (e != cudaSuccess) {
        std::printf("%s: %s\n", cudaGetErrorName(e), cudaGetErrorString(e));
        return 1;
    }
    std::printf("%s, compute capability %d.%d, %d device%s\n", p.name, p.major, p.minor, devices,
                devices == 1 ? "" : "s");
    return 0;
}

// A replay file: the load request, the run request, then the input images at the offsets the slots
// name.
int replay(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    request load, run;
    if (!file.read(reinterpret_cast<char *>(&load), sizeof load) ||
        !file.read(reinterpret_cast<char *>(&run), sizeof run) || load.magic != protocol_magic) {
        std::fprintf(stderr,
                     "%s is no replay file of this version. Grade the case again to make one.\n",
                     path);
        return 2;
    }
    std::string image((std::istreambuf_iterator<char>(file)), {});
    server s(reinterpret_cast<const std::byte *>(image.data()), image.size(), nullptr, 0);
    for (const request *r : {&load, &run}) {
        reply a = s.handle(*r);
        if (a.status == reply_status::done) continue;
        std::printf("%s: %s %s\n", r == &load ? "loading" : run.function, a.error_name, a.text);
        return 1;
    }
    std::printf("%s was called once and returned without a CUDA error.\n", run.function);
    if (simulator_counters) std::printf("%s\n", counts_so_far().c_str());
    return 0;
}

} // namespace
} // namespace grading

// The only system call of a submission's own: compile.sh names this one in place of `syscall`.
extern "C" long wait_or_wake(long number, ...)
{
    if (number != SYS_futex) {
        std::fprintf(stderr, "syscall(%ld) is refused: no lab needs it.\n", number);
        errno = ENOSYS;
        return -1;
    }
    va_list list;
    va_start(list, number);
    long a[6];
    for (long &one : a) one = va_arg(list, long);
    va_end(list);
    return syscall(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int main(int count, char **arguments)
{
    std::string_view first = count > 1 ? arguments[1] : "";
    using namespace grading;
    if (contract_devices > 1) // read by the simulator alone, at the first call of CUDA
        setenv("SIMULATOR_DEVICES", std::to_string(contract_devices).c_str(), 0);
    if (count == 1) return serve();
    if (first == "--ranks" && count == 4 && lead_ranks)
        return lead_ranks(std::atoi(arguments[2]), arguments[3]);
    if (first == "--rank" && count == 3 && keep_rank) return keep_rank(arguments[2]);
    if (first == "--rank" && count == 2 && be_rank)
        return be_rank([] { return serve(), without_leader; });
    if (first == "--probe" && count == 2) return probe();
    if (first == "--peers" && count == 2) return print_peers();
    if (first == "--replay" && count > 2) {
        int worst = 0;
        for (char *path : std::span(arguments + 2, count - 2))
            worst = std::max(worst, replay(path));
        return worst;
    }
    std::fprintf(stderr, "usage: %s [--probe | --peers | --replay FILE...]\n", arguments[0]);
    return 2;
}
