// Answers each request of the parent; arguments and runs have files of their own.
#include "server.hpp"

#include "left_threads.hpp"
#include "yardstick.hpp"

#include "simulator/machine/host.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace grading {

namespace {

// The worker's own standard output, even if a submission assigns to `stdout`.
FILE *original_stdout = nullptr;
[[gnu::constructor(101)]] void keep_original_stdout() { original_stdout = stdout; }

} // namespace

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

void server::malformed(reply &a, const char *why)
{
    a.status = reply_status::malformed;
    copy_text(a.text, why);
}

void server::report_exception(reply &a, const char *what)
{
    a.status = reply_status::exception;
    copy_text(a.text, what);
}

reply server::handle(const request &r)
{
    reply a;
    a.what = r.what;
    std::copy(r.nonce, r.nonce + 2, a.nonce);
    if (role_ == role::all && baseline_threads_ < 0) baseline_threads_ = left_threads();
    try {
        perform(r, a);
    } catch (const cuda_failure &f) {
        a.status = reply_status::cuda_error;
        a.error = f.error;
        a.step = f.step;
        bool ours = f.error == cudaErrorMemoryAllocation && r.what == command::load;
        if (ours) a.status = reply_status::out_of_memory;
        copy_text(a.error_name, cudaGetErrorName(f.error));
        copy_text(a.text, cudaGetErrorString(f.error));
    } catch (const acquire_failure &f) {
        a.status = reply_status::acquire_failed;
        a.error = static_cast<std::int32_t>(f.what);
    } catch (const simulator::host_is_away &) {
        a.status = reply_status::left_work;
    } catch (const std::exception &x) { // thrown by acquire or by a _scratch function
        report_exception(a, x.what());
    } catch (...) {
        report_exception(a);
    }
    // Flush no other file: flushing one of the submission's could run its code.
    std::fflush(original_stdout);
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

void server::facts(const request &r, reply &a)
{
    device_facts f;
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
    copy_text(f.error_text, cudaGetErrorString(e));
    copy_text(f.name, p.name);
    f.major = p.major;
    f.minor = p.minor;
    f.multiprocessors = p.multiProcessorCount;
    f.l2_bytes = static_cast<std::uint64_t>(p.l2CacheSize);
    int khz = 0;
    if (cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, home_device()) == cudaSuccess)
        f.peak_bytes_per_s = 2000 * static_cast<std::uint64_t>(khz) *
                             static_cast<std::uint64_t>(p.memoryBusWidth / 8);
    f.memory_bytes = total;
    f.memory_free = free;
    cudaDriverGetVersion(&f.driver);
    cudaRuntimeGetVersion(&f.runtime);
    f.max_threads_per_block = p.maxThreadsPerBlock;
    f.max_threads_per_multiprocessor = p.maxThreadsPerMultiProcessor;
    f.warp = p.warpSize;
    f.copy_engines = p.asyncEngineCount;
    f.pages_on_demand = p.concurrentManagedAccess;
    f.shared_per_block = p.sharedMemPerBlock;
    f.shared_per_multiprocessor = p.sharedMemPerMultiprocessor;
    f.constant_bytes = p.totalConstMem;
    for (int d = 0; d < std::min(f.devices, max_devices); ++d)
        for (int to = 0, can = 0; to < std::min(f.devices, max_devices); ++to)
            if (d != to && cudaDeviceCanAccessPeer(&can, d, to) == cudaSuccess && can)
                f.peers[d] = static_cast<std::uint16_t>(f.peers[d] | 1u << to);
    std::byte *to = out(r.offset, sizeof f);
    if (!to) return malformed(a, "facts do not fit the output region");
    std::memcpy(to, &f, sizeof f);
}

// Writes u64 count, count times simulator_finding, u64 length, the last run's counters as JSON.
void server::report(const request &r, reply &a)
{
    if (!simulator_findings) return malformed(a, "only the simulator reports");
    std::byte *to = out(r.offset, r.bytes);
    if (!to) return malformed(a, "the report does not fit the output region");
    std::vector<simulator_finding> found(64);
    std::uint64_t count = std::min(simulator_findings(found.data(), found.size()), found.size());
    std::uint64_t length = counters_.size(), list = count * sizeof(simulator_finding);
    a.bytes = 8 + list + 8 + length;
    if (a.bytes > r.bytes) {
        a.status = reply_status::counters_too_large;
        return;
    }
    std::memcpy(to, &count, 8);
    std::memcpy(to + 8, found.data(), list);
    std::memcpy(to + 8 + list, &length, 8);
    std::memcpy(to + 16 + list, counters_.data(), length);
}

} // namespace grading
