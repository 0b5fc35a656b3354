// Probes by calls: sizes for which there is no memory, leaks, scratch sizes, and ranks.
#include "api/inputs.hpp"
#include "argument_images.hpp"
#include "call_counters.hpp"
#include "call_requests.hpp"
#include "case_record.hpp"
#include "case_run.hpp"
#include "simulator_findings.hpp"
#include "worker_verdict.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace grading {

namespace {

void require_simulator()
{
    if (!simulated()) end_case(verdict::SKIPPED, "Only the simulator can judge this.");
}

// Returns the scratch bytes that the function asks for. The function itself is not called.
std::uint64_t ask_for_scratch(const char *function, std::vector<argument> arguments)
{
    begin_call(function, arguments);
    argument_images images(arguments);
    images.fill(false);
    request ask = load_request(arguments, function);
    ask.what = command::scratch;
    ask.flags = of_any_size;
    const answer asked = ask_submission(ask, std::chrono::seconds(30), "");
    require_answer(asked, fmt::format("calling {}_scratch", function));
    return asked.value.bytes;
}

} // namespace

bool reads_on(const std::string &array, const std::function<void()> &call)
{
    require_simulator();
    bool in_every_order = true;
    current_case().may_read_on = array;
    for (bool random : {false, true}) {
        const scoped_block_order order(random);
        bool read_on = false;
        try {
            call();
        } catch (const read_past_end &) {
            read_on = true;
            restart_workers(); // after a fault every call to this worker's device fails
        }
        in_every_order = in_every_order && read_on;
    }
    current_case().may_read_on.clear();
    return in_every_order;
}

void expect_launches(const std::string &array, const std::function<void()> &call)
{
    current_case().only_launches = true;
    try {
        reads_on(array, call);
    } catch (const accepted_end &) {
        current_case().may_read_on.clear();
        restart_workers();
    }
    current_case().only_launches = false;
}

std::uint64_t leaks(const std::function<void()> &call)
{
    require_simulator();
    call(); // call twice: memory cached by the first call is not a leak
    return counts_of_last_call().kept_bytes;
}

std::uint64_t leaked_handles(const std::function<void()> &call)
{
    require_simulator();
    call();
    return counts_of_last_call().kept_handles;
}

void expect_nothing_kept(const char *function, const std::function<void()> &call,
                         const std::string &hint)
{
    if (!simulated()) return call();
    expect(leaks(call) == 0, verdict::RESOURCE_LIMIT,
           fmt::format("Device memory that {} allocated is still in use after it has returned, and "
                       "the next call takes more.",
                       function),
           hint);
}

void expect_handles_destroyed(const char *function, const std::function<void()> &call,
                              const std::string &hint)
{
    if (!simulated()) return call();
    const std::uint64_t more = leaked_handles(call);
    expect(more == 0, verdict::RESOURCE_LIMIT,
           fmt::format("After each call of {} there are {} streams and events more than before it, "
                       "which were never destroyed.",
                       function, more),
           hint);
}

std::uint64_t copied_to_devices()
{
    require_simulator();
    return counts_of_last_call().copied_in_bytes;
}

std::uint64_t copied_from_devices()
{
    require_simulator();
    return counts_of_last_call().copied_out_bytes;
}

void expect_scratch_for_many(const char *function,
                             const std::function<std::vector<argument>(int n)> &arguments)
{
    constexpr std::uint64_t any_device = std::uint64_t{1} << 42;
    std::uint64_t before = 0;
    int fewer = 0;
    for (int n : {1 << 28, 1 << 29, 1 << 30}) {
        const std::uint64_t bytes = ask_for_scratch(function, arguments(n));
        const std::string hint =
            "A product of ints holds no more than 2147483647, and comes out negative or small "
            "beyond: begin it with sizeof, or make one of its factors a size_t.";
        expect(bytes < any_device, verdict::WRONG_ANSWER,
               fmt::format("{}_scratch asks for {} bytes for {} elements, which no device has.",
                           function, bytes, n),
               hint);
        expect(bytes >= before, verdict::WRONG_ANSWER,
               fmt::format("{}_scratch asks for {} bytes for {} elements, and for only {} for {}.",
                           function, before, fewer, bytes, n),
               hint);
        before = bytes;
        fewer = n;
    }
}

void run_on_ranks(int ranks)
{
    current_case().lacking = options().mpirun.empty();
    if (current_case().lacking)
        end_case(verdict::SKIPPED,
                 "This needs several processes of Open MPI, which is not installed here (Debian, "
                 "Ubuntu: apt-get install libopenmpi-dev openmpi-bin, then ./workbook again).");
    // Open MPI starts processes and opens sockets, so only namespaces can confine it.
    if (options().require_sandbox && available_confinement(true) != confinement::namespaces) {
        current_case().lacking = true;
        end_case(verdict::SKIPPED,
                 "This needs several processes, which are shut off from the machine by namespaces "
                 "alone; they cannot be had here.");
    }
    current_case().ranks = ranks;
}

std::vector<counted> count_ranks(const std::function<void()> &call)
{
    require_simulator();
    call();
    return counters().of_ranks;
}

} // namespace grading
