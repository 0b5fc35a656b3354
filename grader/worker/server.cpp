// Carries out each request of the parent.
#include "server.hpp"

#include "escapes.hpp"
#include "left_threads.hpp"
#include "signal_gate.hpp"
#include "yardstick.hpp"

#include "process/thread_count.hpp"
#include "simulator/runtime/host.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace grading {

extern const entry contract[]; // generated from lab.hpp
extern const int contract_size;
extern const entry yardstick[]; // generated from yardstick.hpp, the grader's own kernels
extern const int yardstick_size;

namespace {

// Shorter than the limit of a call, so that a message can name the kernel that does not end.
constexpr double max_grid_seconds = 6;

using steady = std::chrono::steady_clock;

// This program's own standard output, even if a submission assigns `stdout`.
FILE *own_text = nullptr;
[[gnu::constructor(101)]] void keep_own_text() { own_text = stdout; }

// Returns the arguments' bytes that the host can read without a copy.
host_bytes host_visible_bytes(const argument_set &s)
{
    host_bytes all(s.descriptors.size());
    for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
        const argument_memory where = s.descriptors[i].where;
        // Managed memory may be written after a function returned: the caller waits for devices.
        if (where == argument_memory::value || where == argument_memory::device ||
            where == argument_memory::per_device || where == argument_memory::managed ||
            where == argument_memory::absent)
            continue;
        const auto *at = static_cast<const std::byte *>(s.pointers[i]);
        all[i].assign(at, at + s.descriptors[i].bytes);
    }
    return all;
}

// Sets the limit of pending device-side launches for its lifetime. A device that refuses keeps its
// default.
class pending_launch_limit {
public:
    explicit pending_launch_limit(std::size_t places)
    {
        if (places == 0) return;
        std::size_t usual = 0;
        bool set = cudaDeviceGetLimit(&usual, limit) == cudaSuccess &&
                   cudaDeviceSetLimit(limit, places) == cudaSuccess;
        if (set) usual_ = usual;
        cudaGetLastError();
    }
    ~pending_launch_limit()
    {
        if (usual_ == 0) return;
        cudaDeviceSetLimit(limit, usual_);
        cudaGetLastError();
    }
    pending_launch_limit(const pending_launch_limit &) = delete;
    pending_launch_limit &operator=(const pending_launch_limit &) = delete;

private:
    static constexpr cudaLimit limit = cudaLimitDevRuntimePendingLaunchCount;
    std::size_t usual_ = 0;
};

// Resets simulated streams on destruction, so that they run work as it is queued even after errors.
struct stream_mode_reset {
    ~stream_mode_reset() { simulator_streams(0); }
};

constexpr const char *not_std_exception = "something that is no std::exception";
void say_thrown(reply &a, const char *what)
{
    a.status = reply_status::exception;
    put(a.text, what);
}

void malformed(reply &a, const char *why)
{
    a.status = reply_status::malformed;
    put(a.text, why);
}

// Returns one digest per argument of the memory that a call may write.
std::vector<std::uint64_t> digests(const argument_set &s)
{
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
        std::uint64_t digest = 0;
        for (const buffer &b : s.buffers[i])
            if (!s.descriptors[i].read_only)
                digest = digest * 3 + simulator_digest(b.payload(), b.payload_bytes());
        all.push_back(digest);
    }
    return all;
}

std::string name_of(const request &r)
{
    return std::string(r.function, strnlen(r.function, sizeof r.function));
}

unsigned parts_of(const argument_descriptor &s)
{
    return s.where == argument_memory::per_device ? s.parts : 1;
}

} // namespace

const entry *find_entry(std::string_view name)
{
    for (int i = 0; i < contract_size; ++i)
        if (name == contract[i].name) return &contract[i];
    for (int i = 0; i < yardstick_size; ++i)
        if (name == yardstick[i].name) return &yardstick[i];
    return nullptr;
}

std::string counts_so_far()
{
    std::string counts(simulator_counters(nullptr, 0), 0);
    simulator_counters(counts.data(), counts.size() + 1);
    return counts;
}

std::span<std::byte> map_region(int fd, int protection)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0) return {};
    const auto bytes = static_cast<std::size_t>(facts.st_size);
    void *at = mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) return {};
    return {static_cast<std::byte *>(at), bytes};
}

reply server::handle(const request &r)
{
    reply a;
    a.what = r.what;
    std::copy(r.nonce, r.nonce + 2, a.nonce);
    if (is_ == part::all && usual_threads_ < 0) usual_threads_ = left_threads();
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
    } catch (const simulator::host_is_away &) {
        a.status = reply_status::left_work;
    } catch (const std::exception &x) { // thrown by acquire or by a _scratch function
        say_thrown(a, x.what());
    } catch (...) {
        say_thrown(a, not_std_exception);
    }
    // Flush no other file: flushing one of the submission's could run its code.
    std::fflush(own_text);
    return a;
}

void server::perform(const request &r, reply &a)
{
    bool known = r.set < 4096 && r.argument_count <= max_arguments && r.calls <= max_calls;
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
    case command::scratch:
        return scratch(r, a);
    case command::begin:
        return begin(r, a);
    case command::end:
        return end(r, a);
    case command::report:
        return report(r, a);
    }
    malformed(a, "an unknown command");
}

const std::byte *server::in(std::uint64_t at, std::uint64_t bytes) const
{
    return at <= input_.size() && bytes <= input_.size() - at ? input_.data() + at : nullptr;
}
std::byte *server::out(std::uint64_t at, std::uint64_t bytes) const
{
    return at <= output_.size() && bytes <= output_.size() - at ? output_.data() + at : nullptr;
}

void server::try_sandbox(const request &r, reply &a)
{
    const std::byte *name = in(r.offset, r.bytes);
    if (!name) return malformed(a, "the file's name lies outside the input region");
    const std::string file(reinterpret_cast<const char *>(name), r.bytes);
    a.result[0] = find_escapes(file.c_str(), static_cast<int>(r.at));
}

void server::facts(const request &r, reply &a)
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

void server::scratch(const request &r, reply &a)
{
    argument_set s({r.arguments, r.argument_count});
    for (std::uint32_t i = 0; i < r.argument_count; ++i)
        if (r.arguments[i].where == argument_memory::value && !load_argument(s, i))
            return malformed(a, "a value lies outside the input region");
    a.bytes = scratch_bytes(s, name_of(r), (r.flags & of_any_size) != 0);
}

bool server::is_mine(argument_memory where) const
{
    return is_ == part::all || with_host_code(where) == (is_ == part::host);
}

// Takes the addresses of the buffers in the device process from the request.
bool server::take_buffers(argument_set &s, const request &r)
{
    std::size_t next = 0;
    for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
        if (is_mine(s.descriptors[i].where)) continue;
        for (unsigned k = 0; k < parts_of(s.descriptors[i]); ++k) {
            if (next == max_buffers) return false;
            s.part_pointers[i].push_back(reinterpret_cast<void *>(r.buffers[next++]));
        }
    }
    return true;
}

bool server::give_buffers(const argument_set &s, reply &a) const
{
    std::size_t next = 0;
    for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
        if (!is_mine(s.descriptors[i].where)) continue;
        for (void *p : s.part_pointers[i]) {
            if (next == max_buffers) return false;
            a.buffers[next++] = reinterpret_cast<std::uint64_t>(p);
        }
    }
    return true;
}

void server::load(const request &r, reply &a)
{
    sets_.erase(r.set);
    at_end_.clear();
    argument_set s({r.arguments, r.argument_count});
    if (gate_) gate_->seal_code();
    for (bool last : {false, true})
        for (std::uint32_t i = 0; i < r.argument_count; ++i)
            if (bool(r.arguments[i].last) == last && is_mine(r.arguments[i].where) &&
                !load_argument(s, i))
                return malformed(a, "an argument lies outside the input region");
    for (std::uint32_t i = 0; i < r.argument_count;
         ++i) // scratch sizes depend on the other arguments' values
        if (r.arguments[i].scratch && is_ != part::host && !load_scratch(s, i, r, a)) return;
    if (is_ == part::host && !take_buffers(s, r))
        return malformed(a, "there are more buffers than can be told of");
    check(synchronise_devices());
    check(cudaSetDevice(home_device()));
    for (std::size_t i = 0; i < s.descriptors.size(); ++i)
        for (buffer &b : s.buffers[i]) b.watch(s.descriptors[i]);
    // Take pointers into the vectors only now that these grow no more.
    for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
        argument_memory w = s.descriptors[i].where;
        if (w == argument_memory::value)
            s.pointers.push_back(s.values[i].data());
        else if (w == argument_memory::per_device)
            s.pointers.push_back(s.part_pointers[i].data());
        else if (w == argument_memory::absent || (is_ == part::devices && with_host_code(w)))
            s.pointers.push_back(nullptr);
        else
            s.pointers.push_back(s.part_pointers[i][0]);
    }
    if (is_ == part::devices && !give_buffers(s, a))
        return malformed(a, "there are more buffers than can be told of");
    sets_.emplace(r.set, std::move(s));
}

bool server::load_scratch(argument_set &s, std::size_t i, const request &r, reply &a)
{
    const argument_descriptor &d = s.descriptors[i];
    a.bytes = is_ == part::devices ? r.scratch_bytes : scratch_bytes(s, name_of(r));
    buffer &b = s.buffers[i].emplace_back(d, a.bytes, 0);
    const std::byte *from = in(d.input, b.image_bytes());
    if (from) b.load(from);
    s.part_pointers[i] = {b.payload()};
    return from || (malformed(a, "scratch has no guards"), false);
}

bool server::load_argument(argument_set &s, std::size_t i)
{
    argument_descriptor &d = s.descriptors[i];
    d.name[sizeof d.name - 1] = 0;
    auto &buffers = s.buffers[i];
    auto &parts = s.part_pointers[i];
    auto &value = s.values[i];
    if (d.scratch || d.where == argument_memory::absent)
        return true; // load_scratch loads scratch later
    if (d.where == argument_memory::value) {
        const std::byte *from = in(d.input, d.bytes);
        if (from) value.assign(from, from + d.bytes);
        return from != nullptr;
    }
    const unsigned count = parts_of(d);
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

argument_set *server::find(std::uint32_t set, reply &a)
{
    auto at = sets_.find(set);
    if (at != sets_.end()) return &at->second;
    malformed(a, "no such set");
    return nullptr;
}

void server::patch(const request &r, reply &a)
{
    argument_set *s = find(r.set, a);
    if (!s) return;
    const std::byte *from = in(r.offset, r.bytes);
    if (!from || r.index >= s->descriptors.size() || s->buffers[r.index].size() != 1)
        return malformed(a, "nothing to patch");
    buffer &b = s->buffers[r.index][0];
    if (r.at > b.payload_bytes() || r.bytes > b.payload_bytes() - r.at)
        return malformed(a, "a patch lies outside its argument");
    b.patch(r.at, from, r.bytes);
}

void server::poison(const request &r, reply &a)
{
    argument_set *s = find(r.set, a);
    if (!s) return;
    for (std::size_t i = 0; i < s->descriptors.size(); ++i)
        for (buffer &b : s->buffers[i])
            if (s->descriptors[i].output && poisoned(s->descriptors[i].where))
                yardstick_fill(reinterpret_cast<unsigned *>(b.payload()), b.payload_bytes() / 4,
                               r.pattern);
    if (is_ == part::devices) check(cudaGetLastError(), run_step::synchronise);
    check(cudaDeviceSynchronize(), run_step::synchronise);
}

void server::flush_l2()
{
    std::size_t bytes = std::max<std::size_t>(2 * l2_bytes_, std::size_t{64} << 20);
    if (!flush_) check(cudaMalloc(&flush_, bytes));
    check(cudaCtxResetPersistingL2Cache());
    yardstick_flush(flush_, bytes);
}

void server::begin(const request &r, reply &a)
{
    if (!gate_) return malformed(a, "only simulated devices are told of a run");
    put(a.refused, gate_->take_refused().c_str());
    if (!find(r.sets[0], a)) return;
    check(synchronise_devices(), run_step::before);
    simulator_close_peers(r.closed_peers);
    simulator_multiprocessors(r.multiprocessors);
    simulator_grid_seconds(max_grid_seconds);
    if (r.flags & begin_counting) simulator_begin();
    simulator_schedule((r.flags & another_order ? schedule_random : 0) |
                           (r.flags & any_blocks_first ? schedule_any_blocks_first : 0) |
                           (r.flags & others_launch ? schedule_others_launch : 0),
                       r.pattern);
    simulator_streams(r.flags & late_streams ? 1 : r.flags & shuffled_streams ? 2 : 0);
    gate_->let_work(true);
}

void server::end(const request &r, reply &a)
{
    argument_set *s = gate_ ? find(r.sets[0], a) : nullptr;
    if (!s) return malformed(a, "no run has begun");
    gate_->let_work(false);
    const stream_mode_reset reset;
    const cudaError_t sync = synchronise_devices();
    if (r.flags & begin_counting) {
        counts_ = counts_so_far();
        at_end_ = digests(*s);
    }
    check(sync, run_step::synchronise);
}

void server::run(const request &r, reply &a)
{
    const entry *e = find_entry(name_of(r));
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
    // The simulator measures no time, and its timeline must show only the submission's work.
    const bool timed = is_ == part::all;
    if (timed && !begin_) {
        check(cudaEventCreate(&begin_));
        check(cudaEventCreate(&end_));
    }
    pending_launch_limit launch_limit(r.launch_places);
    a.returned_bytes = e->result_bytes;
    const int threads_before = timed ? left_threads(usual_threads_) : simulator::own_threads();
    signals().open();
    auto start = steady::now();
    if (timed) check(cudaEventRecord(begin_));
    try {
        for (argument_set *s : sets) e->run(s->pointers.data(), a.result);
        std::fflush(nullptr); // flushing a file can run the submission's code
    } catch (const std::exception &x) {
        say_thrown(a, x.what());
    } catch (...) {
        say_thrown(a, not_std_exception);
    }
    signals().close();
    host_bytes at_return;
    if (r.flags & late_streams) at_return = host_visible_bytes(*sets[0]);
    cudaError_t launch = cudaGetLastError();
    check(cudaSetDevice(home_device()), run_step::last_error);
    if (timed) cudaEventRecord(end_);
    cudaError_t sync = synchronise_devices();
    a.host_ms = std::chrono::duration<double, std::milli>(steady::now() - start).count();
    signals().forget();
    // On a GPU, a thread that an earlier call left can have done the work, too.
    a.threads_left = timed ? std::max(threads_before, left_threads(usual_threads_))
                           : simulator::own_threads() - threads_before;
    if (a.status == reply_status::exception) return;
    if (r.flags & late_streams) {
        const host_bytes now = host_visible_bytes(*sets[0]);
        const auto changed = std::mismatch(now.begin(), now.end(), at_return.begin()).first;
        if (changed != now.end())
            a.changed_late = static_cast<std::uint32_t>(changed - now.begin()) + 1;
    }
    if (launch == cudaErrorNotReady) launch = cudaSuccess; // a status that a query left, no error
    // A kernel that failed while running shows up in either call; a sticky error is not a bad
    // launch.
    if (launch != cudaSuccess && sync == cudaSuccess) check(launch, run_step::last_error);
    check(sync, run_step::synchronise);
    check(launch, run_step::last_error);
    float ms = 0;
    if (timed) check(cudaEventElapsedTime(&ms, begin_, end_), run_step::synchronise);
    // Events measure one device only.
    a.event_ms = contract_devices > 1 ? a.host_ms : static_cast<double>(ms);
    if (!timed) a.host_ms = 0;
}

// The end over all sets, so that the region is pinned once: pinning takes longer than a copy.
std::uint64_t server::end_of_stores(std::uint32_t flags) const
{
    std::uint64_t end = 0;
    for (const auto &[number, s] : sets_)
        for (std::size_t i = 0; i < s.descriptors.size(); ++i) {
            if ((flags & writable_only) && s.descriptors[i].read_only) continue;
            std::uint64_t bytes = 0;
            for (const buffer &b : s.buffers[i]) bytes += b.image_bytes();
            end = std::max(end, s.descriptors[i].output_at + bytes);
        }
    return end;
}

// Pins the output region, so that large results are copied back faster; if that fails, they come
// back slower. The range is one piece, because no copy may cross two pinned ranges.
void server::pin_output(std::uint64_t end)
{
    constexpr std::uint64_t step = 64 << 20;
    if (is_ != part::all || end <= (pinned_ ? pinned_ : step / 4)) return;
    if (pinned_ > 0) cudaHostUnregister(output_.data());
    pinned_ = std::min((end + step - 1) / step * step, output_.size());
    if (cudaHostRegister(output_.data(), pinned_, cudaHostRegisterDefault) == cudaSuccess) return;
    cudaGetLastError();
    pinned_ = output_.size(); // do not try again
}

void server::store(const request &r, reply &a)
{
    if (gate_) put(a.refused, gate_->take_refused().c_str());
    argument_set *s = find(r.set, a);
    if (!s) return;
    if (!at_end_.empty()) {
        const auto now = digests(*s);
        const auto changed = std::mismatch(at_end_.begin(), at_end_.end(), now.begin(), now.end());
        if (changed.second != now.end())
            a.changed_late = static_cast<std::uint32_t>(changed.second - now.begin()) + 1;
        at_end_.clear();
    }
    pin_output(end_of_stores(r.flags));
    for (std::size_t i = 0; i < s->descriptors.size(); ++i) {
        if ((r.flags & writable_only) && s->descriptors[i].read_only) continue;
        std::uint64_t at = s->descriptors[i].output_at;
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

// Writes u64 count, count times simulator_finding, u64 length, the last run's counters as JSON.
void server::report(const request &r, reply &a)
{
    if (!simulator_findings) return malformed(a, "only the simulator reports");
    std::byte *to = out(r.offset, r.bytes);
    if (!to) return malformed(a, "the report does not fit the output region");
    std::vector<simulator_finding> found(64);
    std::uint64_t count = std::min(simulator_findings(found.data(), found.size()), found.size());
    std::uint64_t length = counts_.size(), list = count * sizeof(simulator_finding);
    a.bytes = 8 + list + 8 + length;
    if (a.bytes > r.bytes) {
        a.status = reply_status::overcounted;
        return;
    }
    std::memcpy(to, &count, 8);
    std::memcpy(to + 8, found.data(), list);
    std::memcpy(to + 8 + list, &length, 8);
    std::memcpy(to + 16 + list, counts_.data(), length);
}

} // namespace grading
