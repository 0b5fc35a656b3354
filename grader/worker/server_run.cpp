// Calls a function on loaded arguments, and times or counts it.
#include "server.hpp"

#include "left_threads.hpp"
#include "signal_gate.hpp"
#include "yardstick.hpp"

#include "simulator/machine/thread_count.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace grading {

namespace {

using steady = std::chrono::steady_clock;

// The work of a call's kernels, in units of simulator::work_meter: 3 to 9 seconds of a quiet core.
// `check` proves that no version of ours needs half of it.
constexpr std::uint64_t max_work = 12'000'000'000;

using host_bytes = std::vector<std::vector<std::byte>>; // by argument

// Returns a copy of the arguments that lie in host memory.
host_bytes host_visible_bytes(const argument_set &s)
{
    host_bytes all(s.arguments.size());
    for (std::size_t i = 0; i < s.arguments.size(); ++i) {
        const argument_memory where = s.arguments[i].descriptor.where;
        // Kernels may write managed memory after the function has returned: the caller waits for
        // devices.
        if (where == argument_memory::value || where == argument_memory::device ||
            where == argument_memory::per_device || where == argument_memory::managed ||
            where == argument_memory::absent)
            continue;
        const auto *at = static_cast<const std::byte *>(s.pointers[i]);
        all[i].assign(at, at + s.arguments[i].descriptor.bytes);
    }
    return all;
}

// Sets cudaLimitDevRuntimePendingLaunchCount for its lifetime. A device that refuses keeps its
// default.
class pending_launch_limit {
public:
    explicit pending_launch_limit(std::size_t launches)
    {
        if (launches == 0) return;
        std::size_t previous = 0;
        bool set = cudaDeviceGetLimit(&previous, limit) == cudaSuccess &&
                   cudaDeviceSetLimit(limit, launches) == cudaSuccess;
        if (set) previous_ = previous;
        cudaGetLastError();
    }
    ~pending_launch_limit()
    {
        if (previous_ == 0) return;
        cudaDeviceSetLimit(limit, previous_);
        cudaGetLastError();
    }
    pending_launch_limit(const pending_launch_limit &) = delete;
    pending_launch_limit &operator=(const pending_launch_limit &) = delete;

private:
    static constexpr cudaLimit limit = cudaLimitDevRuntimePendingLaunchCount;
    std::size_t previous_ = 0;
};

// On destruction simulated streams again run work as it is queued, even after an error.
struct stream_mode_reset {
    ~stream_mode_reset() { simulator_streams(0); }
};

} // namespace

std::string counters_json()
{
    std::string counts(simulator_counters(nullptr, 0), 0);
    simulator_counters(counts.data(), counts.size() + 1);
    return counts;
}

void server::flush_l2()
{
    if (!flush_buffer_) {
        int device = 0, l2_bytes = 0;
        check(cudaGetDevice(&device));
        check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
        flush_bytes_ = std::max(2 * static_cast<std::size_t>(l2_bytes), std::size_t{64} << 20);
        check(cudaMalloc(&flush_buffer_, flush_bytes_));
    }
    check(cudaCtxResetPersistingL2Cache());
    yardstick_flush(flush_buffer_, flush_bytes_);
}

void server::begin(const request &r, reply &a)
{
    if (!gate_) return malformed(a, "only simulated devices are told of a run");
    copy_text(a.refused, gate_->take_refused().c_str());
    if (!find(r.sets[0], a)) return;
    check(synchronise_devices());
    simulator_close_peers(r.closed_peers);
    simulator_multiprocessors(r.multiprocessors);
    simulator_limit_work(max_work / 100 * r.work_percent);
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
        counters_ = counters_json();
        digests_at_end_ = digests(*s);
    }
    check(sync, run_step::synchronise);
}

void server::run(const request &r, reply &a)
{
    const entry *e = find_entry(r.function);
    if (!e) {
        a.status = reply_status::unknown_function;
        return;
    }
    std::vector<argument_set *> sets;
    for (std::uint32_t i = 0; i < r.calls; ++i) {
        sets.push_back(find(r.sets[i], a));
        if (!sets.back()) return;
    }
    check(cudaGetLastError()); // an error that an earlier call left
    if (r.flags & run_flags::flush_l2) flush_l2();
    check(synchronise_devices());
    // The simulator measures no time, and its timeline must not show events of the grader.
    const bool timed = role_ == role::all;
    if (timed && !start_event_) {
        check(cudaEventCreate(&start_event_));
        check(cudaEventCreate(&stop_event_));
    }
    pending_launch_limit launch_limit(r.max_pending_launches);
    a.returned_bytes = e->result_bytes;
    const int threads_before =
        timed ? left_threads(baseline_threads_) : simulator::process_threads();
    signals().open();
    auto start = steady::now();
    if (timed) check(cudaEventRecord(start_event_));
    try {
        for (argument_set *s : sets) e->run(s->pointers.data(), a.result);
        std::fflush(nullptr); // flushing a file can run the submission's code
    } catch (const std::exception &x) {
        report_exception(a, x.what());
    } catch (...) {
        report_exception(a);
    }
    signals().close();
    host_bytes at_return;
    if (r.flags & late_streams) at_return = host_visible_bytes(*sets[0]);
    cudaError_t launch = cudaGetLastError();
    check(cudaSetDevice(home_device()), run_step::last_error);
    if (timed) cudaEventRecord(stop_event_);
    cudaError_t sync = synchronise_devices();
    if (timed) a.host_ms = std::chrono::duration<double, std::milli>(steady::now() - start).count();
    signals().forget();
    // On a GPU a thread that an earlier call left running may have done the work of this one.
    a.threads_left = timed ? std::max(threads_before, left_threads(baseline_threads_))
                           : simulator::process_threads() - threads_before;
    if (a.status == reply_status::exception) return;
    if (r.flags & late_streams) {
        const host_bytes now = host_visible_bytes(*sets[0]);
        const auto changed = std::mismatch(now.begin(), now.end(), at_return.begin()).first;
        if (changed != now.end())
            a.changed_late = static_cast<std::uint32_t>(changed - now.begin()) + 1;
    }
    // cudaStreamQuery and cudaEventQuery leave this status, which is no error.
    if (launch == cudaErrorNotReady) launch = cudaSuccess;
    // The fault of a kernel is sticky: cudaGetLastError may return it too, if the kernel failed
    // early. A failed launch is not, so only cudaGetLastError returns that.
    check(sync, run_step::synchronise);
    check(launch, run_step::last_error);
    if (!timed) return;
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start_event_, stop_event_), run_step::synchronise);
    // An event records the work of one device only.
    a.event_ms = contract_devices > 1 ? a.host_ms : static_cast<double>(ms);
}

} // namespace grading
