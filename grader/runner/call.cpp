// One call of a contract function in the student's worker, and the checks of what comes back.
//
// Images with poison and guards go in; the bytes that come back are judged, and so is what the
// simulator found and counted. A small call is made twice.
#include "argument_images.hpp"
#include "bytes.hpp"
#include "call_counters.hpp"
#include "call_requests.hpp"
#include "case_record.hpp"
#include "case_run.hpp"
#include "host_work.hpp"
#include "output_checks.hpp"
#include "replay.hpp"
#include "simulator_findings.hpp"
#include "unwritten_outputs.hpp"
#include "worker_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace grading {

namespace {

// Bytes of arguments, guards included, up to which a call is made twice.
std::uint64_t second_call_below() { return options().simulated ? 256 << 10 : 1 << 30; }
// Beyond so many bytes, what a call may not write is not read a second time.
constexpr std::uint64_t inputs_read_again_below = 64 << 20;

// Fetches the simulator's findings and counters, from every rank.
void check_findings(std::uint64_t report_at, const std::vector<argument> &arguments)
{
    request ask;
    ask.what = command::report;
    ask.offset = report_at;
    ask.bytes = report_bytes;
    answer a = ask_submission(ask, std::chrono::seconds(10), "");
    require_answer(a, "reading the simulator's report");
    const std::byte *from = submission_worker().output().data() + report_at;
    int ranks = current_case().ranks;
    if (ranks == 0) {
        keep_counters(from);
        return check_report(from, arguments, -1);
    }
    counters().of_ranks.clear();
    for (int k = 0; k < ranks; ++k, from += report_bytes) {
        check_report(from, arguments, k);
        counters().of_ranks.push_back(counters_of_rank(from));
    }
}

// Checks by the counters of the last call that the host did not do the kernels' work. A speed case
// checks this itself, after looking for more telling faults.
void check_done_by_kernels(const char *function, const std::vector<argument> &arguments)
{
    if (!counters_known() || current_case().ranks) return;
    if (current_case().what == kind::speed) return;
    check_host_stayed_out(function, argument_bytes_of(arguments), counts_of_last_call());
}

request run_request(const char *function)
{
    request r;
    r.what = command::run;
    r.flags = begin_counting;
    r.calls = 1;
    std::strncpy(r.function, function, sizeof r.function - 1);
    return r;
}

// Names what the worker does for a load request, for messages.
std::string load_description(const std::vector<argument> &arguments, const char *function)
{
    bool sized = std::any_of(arguments.begin(), arguments.end(),
                             [](const argument &a) { return a.wire.scratch; });
    return sized ? fmt::format("calling {}_scratch", function) : "handing over the arguments";
}

[[noreturn]] void end_for_late_write(const argument &a)
{
    end_case(verdict::LATE_WRITE,
             fmt::format("{} still changed after the call had returned and the device was idle.",
                         argument_name(a, 0)),
             "Finish the work before returning: no thread of yours may go on.");
}

// Ends the case if simulated devices refused work after the call.
void check_refused_late(const answer &stored, const std::string &function)
{
    if (!stored.value.refused[0]) return;
    end_case(verdict::LATE_WRITE,
             fmt::format("{} was called after {} had returned: one of its threads goes on.",
                         printable(stored.value.refused), function),
             "Finish the work before returning: no thread of yours may go on.");
}

// Copies the images of the last call back into the output memory, again if it was done before.
answer store_images(const std::string &function, const char *doing, std::uint32_t flags = 0)
{
    request store;
    store.what = command::store;
    store.flags = flags;
    answer stored = ask_submission(store, std::chrono::seconds(30), function);
    require_answer(stored, doing);
    check_refused_late(stored, function);
    return stored;
}

// Ends the case if simulated devices refused work before the call.
void check_refused_early(const answer &ran, const std::string &function)
{
    if (!ran.value.refused[0]) return;
    end_case(verdict::IMPLAUSIBLE,
             fmt::format("{} was called before {}: by a constructor, by a function that says how "
                         "much memory is needed, or by a thread of an earlier call. Devices refuse "
                         "work that nobody counts.",
                         printable(ran.value.refused), function),
             "All work belongs in the function that the case calls.");
}

// A submission may keep in static variables which peer access it enabled, or the number of
// multiprocessors. When these change, as only the simulator's do, it gets a fresh process.
void restart_if_devices_change(const case_record &c)
{
    static std::pair<std::uint64_t, int> previous;
    const std::pair devices(c.closed_peers, c.multiprocessors);
    if (options().simulated && std::exchange(previous, devices) != devices) restart_workers();
}

// Makes one call with fresh poison: load, run, report, store. Returns true if the call left
// threads behind. Under another schedule, results that depend on the order of blocks and warps
// show.
bool call_once(std::vector<argument> &arguments, argument_images &images, const char *function,
               void *result, std::size_t result_bytes, bool other_schedule)
{
    const case_record &c = current_case();
    counters().of_last_call.clear();
    images.fill(c.repeating);
    request load = load_request(arguments, function), run = run_request(function);
    if (other_schedule) run.flags |= another_order;
    if (options().simulated) {
        run.closed_peers = c.closed_peers;
        run.multiprocessors = c.multiprocessors;
        run.work_percent = static_cast<std::uint32_t>(options().work_percent);
    }
    if (streams_of_case() == stream_work::late) run.flags |= late_streams;
    if (streams_of_case() == stream_work::shuffled) run.flags |= shuffled_streams;
    if (options().simulated && c.any_blocks_first) run.flags |= another_order | any_blocks_first;
    run.max_pending_launches = static_cast<std::uint32_t>(c.pending_launches);
    if ((run.flags & another_order) != 0 && c.others_launch) run.flags |= others_launch;
    if (run.flags & (another_order | shuffled_streams))
        run.pattern = static_cast<std::uint32_t>(case_seed()) | 1;
    if (c.ranks)
        forget_call(); // a replay runs in one process
    else
        remember_call(load, run, image_start, images.end());
    answer loaded = ask_submission(load, std::chrono::seconds(30), "");
    if (lacks_device_memory(loaded)) {
        submission_worker() = worker();
        loaded = ask_submission(load, std::chrono::seconds(30), "");
        if (!lacks_device_memory(loaded)) end_for_leak(function);
        require_memory_in_naive({load});
    }
    require_answer(loaded, load_description(arguments, function));
    for (argument &a : arguments) a.scratch_bytes = loaded.value.bytes;
    if (options().simulated) { // devices report there if the host code crashes
        run.offset = images.report_at();
        run.bytes = report_bytes;
    }
    answer ran = ask_submission(run, std::chrono::seconds(10) * options().patience, function);
    if (ran.how == worker_exit::answered) check_refused_early(ran, function);
    if (options().simulated && ran.how == worker_exit::answered)
        check_findings(images.report_at(), arguments);
    keep_before_crash(ran, arguments);
    require_answer(ran, fmt::format("calling {}", function));
    for (int k = 0; k < c.ranks; ++k) {
        auto at = static_cast<std::size_t>(k);
        counters().results_of_ranks.push_back(ran.value.of_rank[at].result);
        if (at < counters().of_ranks.size())
            counters().of_ranks[at].message_bytes = ran.value.of_rank[at].sent_bytes;
    }
    if (std::uint32_t late = ran.value.changed_late; late && late <= arguments.size())
        end_case(
            verdict::LATE_WRITE,
            fmt::format("{} returned before {} was complete: work that it had put into streams "
                        "came later.",
                        function, argument_name(arguments[late - 1], 0)),
            "Wait for every stream that has a part in the result: cudaStreamSynchronize, "
            "cudaEventSynchronize or cudaDeviceSynchronize.");
    if (result && ran.value.returned_bytes != result_bytes) // benchmarks ignore the result
        end_case(verdict::PROTOCOL_ERROR, "The worker returned a result of another type.");
    if (result_bytes) std::memcpy(result, ran.value.result, result_bytes);
    const answer stored = store_images(function, "reading the results");
    if (std::uint32_t late = stored.value.changed_late; late && late <= arguments.size())
        end_for_late_write(arguments[late - 1]);
    return ran.value.threads_left > 0;
}

// Returns true if elements of one byte are among the unwritten.
bool any_of_one_byte(const std::vector<argument> &arguments, const unwritten_lists &unwritten)
{
    for (std::size_t j = 0; j < unwritten.size(); ++j)
        if (arguments[j].wire.element == 1 && !unwritten[j].empty()) return true;
    return false;
}

// Ends the case if an output still changes. Threads that the call left behind get half a second in
// which to write.
void check_late_writes(const std::vector<argument> &arguments, bool threads_left,
                       const std::string &function)
{
    std::uint64_t bytes = 0;
    for (const argument &a : arguments) bytes += a.wire.bytes;
    const bool outputs_only = bytes > inputs_read_again_below;
    std::vector<std::vector<std::byte>> first(arguments.size());
    for (std::size_t j = 0; j < arguments.size(); ++j)
        if (const argument &a = arguments[j]; !outputs_only || !a.wire.read_only)
            first[j].assign(payload_after(a), payload_after(a) + a.wire.bytes);
    auto until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(threads_left ? 500 : 0);
    do {
        store_images(function, "reading the results again",
                     outputs_only ? std::uint32_t{writable_only} : 0);
        for (std::size_t j = 0; j < arguments.size(); ++j) {
            const argument &a = arguments[j];
            if (a.wire.where == argument_memory::value || parts_of(a.wire) > 1) continue;
            if (!equal_bytes(first[j].data(), payload_after(a), first[j].size()))
                end_for_late_write(a);
        }
    } while (std::chrono::steady_clock::now() < until);
}

} // namespace

void make_call(const char *function, std::vector<argument> arguments, void *result,
               std::size_t result_bytes)
{
    begin_call(function, arguments);
    case_record &c = current_case();
    c.repeating = c.late_again = c.was_late = false;
    c.refused_launch.clear();
    c.failed = {};
    c.older_value.clear();
    c.outputs.clear();
    counters().results_of_ranks.clear();
    counters().of_each_call.clear();
    for (argument &a : arguments) a.wire.last = c.may_read_on == a.wire.name;
    restart_if_devices_change(c);
    argument_images images(arguments);

    const bool shuffled = options().random_schedule;
    bool threads_left = call_once(arguments, images, function, result, result_bytes, shuffled);
    check_guards(arguments);
    unwritten_lists unwritten = still_poisoned(arguments);
    bool any =
        std::any_of(unwritten.begin(), unwritten.end(), [](const auto &l) { return !l.empty(); });
    if (!any) {
        check_inputs_unchanged(arguments);
        check_untouched(arguments);
    }
    check_late_writes(arguments, threads_left, function);
    check_done_by_kernels(function, arguments);
    copy_back(arguments);
    // Call twice to catch nondeterminism. Large arguments get no second call, unless some output
    // still equals its poison: a right one may do so by chance, so that call changes the poison
    // alone. If it changed the schedule, too, chance would decide what is found.
    std::uint64_t bytes = images.end() - image_start;
    for (const argument &a : arguments) bytes += a.wire.buffer_bytes() - a.wire.bytes;
    const bool large = bytes > second_call_below();
    if (!any && large) return;
    take_submission_text(c);
    c.repeating = true;
    c.late_again = c.was_late = !large && counts_of_last_call().own_streams;
    const auto call_again = [&] {
        call_once(arguments, images, function, result, result_bytes, shuffled || !large);
        check_guards(arguments);
        unwritten = unwritten_in_both(unwritten, still_poisoned(arguments));
    };
    call_again();
    // Where the other schedule changes what is stored, a byte may equal both poisons by chance.
    // The same schedule stores the same again, which a third poison tells apart.
    if (any_of_one_byte(arguments, unwritten)) call_again();
    check_written(arguments, unwritten, function);
    check_inputs_unchanged(arguments);
    check_untouched(arguments);
    check_done_by_kernels(function, arguments);
    keep_differing(arguments);
    take_submission_text(c); // of the repetition: it is not the next call's
    c.late_again = false;
}

} // namespace grading
