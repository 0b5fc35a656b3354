// Counts the calls of a speed case and applies its gates.
#include "speed.hpp"

#include "api/call.hpp"
#include "api/counters.hpp"
#include "api/gates.hpp"
#include "api/workload.hpp"
#include "counter_gates.hpp"
#include "paired_benchmark.hpp"
#include "runner/call_counters.hpp"
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"
#include "runner/host_work.hpp"
#include "runner/parse_counters.hpp"
#include "text/verdict.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace grading {

namespace {

constexpr double min_moved_share = 0.9; // fraction of the required bytes that kernels must move
constexpr std::uint64_t max_carried_bytes = 16 << 10;  // bytes by parameters and memset, in total
constexpr std::uint64_t max_read_back_bytes = 1 << 10; // counts on which launches depend
constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max() / 2;

// Returns the counters of each call made for the last CALL. All of them are judged, because one
// call may leave results that spare another with the same arguments its work.
std::vector<counted> counters_of_submission()
{
    std::vector<counted> all;
    try {
        for (const std::string &text : counters().of_each_call) all.push_back(parse_counters(text));
    } catch (const std::exception &e) {
        end_case(verdict::PROTOCOL_ERROR,
                 fmt::format("The simulator's counters cannot be read: {}.", printable(e.what())),
                 "A submission must leave the memory that it was not given alone.");
    }
    return all;
}

// Returns the same for blocks that take turns of varying lengths in another order. The default
// order runs each block as far as it gets, so that the first one takes all the work of a queue
// that an atomic counter distributes.
std::vector<counted> counters_in_another_order(const make_workload &make)
{
    const scoped_block_order scope(true);
    std::mt19937_64 random(case_seed());
    const std::unique_ptr<workload> work = make(random); // inputs of the first may be its outputs
    make_call(work->function(), work->arguments(), nullptr, 0);
    work->check();
    return counters_of_submission();
}

bool misses_a_step(const counted_gate &gate, double value)
{
    return !reaches(gate, gate.required.good, value) ||
           !reaches(gate, gate.required.excellent, value);
}

const counted &worst_by(const counted_gate &gate, const std::vector<counted> &calls)
{
    auto worse = [&](const counted &a, const counted &b) {
        return gate.at_least ? gate.value(a) < gate.value(b) : gate.value(a) > gate.value(b);
    };
    return *std::min_element(calls.begin(), calls.end(), worse);
}

// Useless but coalesced traffic raises the efficiency ratio. So also require no more than twice
// naive's sectors.
void check_useful_traffic(const workload &work, const counted &submission, const counted &naive)
{
    constexpr std::uint64_t slack = 2; // an array may be read twice
    const std::uint64_t moved = submission.load_sectors + submission.store_sectors,
                        by_naive = naive.load_sectors + naive.store_sectors;
    if (moved > slack * by_naive)
        end_case(verdict::IMPLAUSIBLE,
                 fmt::format("The loads and stores of {} moved {} sectors, and naive's {}: most "
                             "were moved for nothing.",
                             work.function(), moved, by_naive),
                 "Load each input and store each output as seldom as can be.");
}

// Efficiency counters only see loads and stores of kernels, so these must have moved the data.
// `from_host`: bytes that may come from the host, unbounded if kernels can reach arguments there.
void check_where_work_was_done(const workload &work, std::uint64_t from_host,
                               const counted &submission)
{
    if (!work.in_kernels()) return;
    constexpr const char *in_kernels =
        "Do the work in kernels: what this lab counts is how they use the memory.";
    auto end = [&](const char *did, std::uint64_t bytes, const char *how, const char *next,
                   const char *verb = "moved") {
        end_case(verdict::IMPLAUSIBLE,
                 fmt::format("{} of {} {} {} bytes, and any version must move {:.0f}: {}.", did,
                             work.function(), verb, bytes, work.bytes(), how),
                 next);
    };
    double required = min_moved_share * work.bytes();
    std::uint64_t moved = submission.load_bytes + submission.texture_bytes + submission.store_bytes;
    if (submission.launches == 0)
        end_case(verdict::IMPLAUSIBLE,
                 fmt::format("No kernel of {} ran: the work was done elsewhere.", work.function()),
                 in_kernels);
    if (static_cast<double>(submission.compulsory_bytes) < required)
        end("The kernels", submission.compulsory_bytes, "the work was done elsewhere", in_kernels,
            "touched");
    if (static_cast<double>(moved) < required)
        end("The loads and stores", moved, "atomics, which are not counted here, did the rest",
            "Read with plain loads and write with plain stores.");
    if (static_cast<double>(submission.host_link_bytes) >
        static_cast<double>(from_host + max_read_back_bytes) + required)
        end("The link to the host", submission.host_link_bytes, "the host worked on them",
            "Let kernels do all of the work, on the device.");
    if (static_cast<double>(submission.brought_bytes) > work.bytes() - required && work.bytes() > 0)
        end("The copies", submission.brought_bytes, "what cudaMemcpy brought, no kernel computed",
            "Let kernels read the inputs and write the outputs where they are.");
    const std::uint64_t passed = submission.brought_bytes + submission.carried_bytes;
    if (submission.carried_bytes > max_carried_bytes && work.bytes() > 0 &&
        static_cast<double>(passed - max_carried_bytes) > work.bytes() - required)
        end("Copies, memset and the parameters of launches", passed,
            "what they brought, no kernel computed",
            "Pass pointers and sizes, and let kernels read the inputs where they are.");
    // Arguments that the host reaches without a copy have no bound here.
    const std::uint64_t seen = bytes_seen_by_host(submission);
    if (from_host < unbounded && work.bytes() > 0 &&
        static_cast<double>(seen) >
            static_cast<double>(from_host + max_read_back_bytes) + work.bytes() - required)
        end("Copies to the host, memory that it shares, and printf", seen,
            "the host may work on them",
            "Let kernels do all of the work, and bring no more to the host than a few counts.");
}

} // namespace

counted_result count_calls(const make_workload &make, const make_workload &make_for_naive,
                           const speed_gates &gates)
{
    // Naive runs first, because the submission's call must be the one that a replay repeats.
    const counted naive = count_naive(make_for_naive ? make_for_naive : make);
    const scoped_block_order scope(options().random_schedule && !gates.default_block_order);
    std::mt19937_64 random(case_seed());
    std::unique_ptr<workload> work = make(random);
    std::vector<argument> arguments = work->arguments();
    const argument_bytes sizes = argument_bytes_of(arguments);
    const std::uint64_t from_host = sizes.shared_with_host ? unbounded : sizes.on_host;
    make_call(work->function(), std::move(arguments), nullptr, 0);
    work->check();
    std::vector<counted> calls = counters_of_submission();
    for (counted &c : calls) {
        c.naive_serial_ticks = naive.naive_serial_ticks;
        check_where_work_was_done(*work, from_host, c);
        check_host_stayed_out(work->function(), sizes, c);
    }
    speed_result result;
    result.required = gates.speedup;
    result.naive_may_pass = gates.naive_may_pass;
    step_tally tally;
    std::string missed, hint;
    std::vector<counted> in_another_order;
    for (const counted_gate &gate : gates.counted) {
        const counted &submission = worst_by(gate, calls);
        double value = gate.value(submission);
        if (gate.best_of_schedules && !passes(gate, value)) {
            if (in_another_order.empty()) in_another_order = counters_in_another_order(make);
            value = std::max(value, gate.value(worst_by(gate, in_another_order)));
        }
        result.counters[gate.name] = value;
        if (gate.shows_naive) result.naive_counters[gate.name] = gate.value(naive);
        result.units[gate.name] = gate.unit;
        result.more_is_better[gate.name] = gate.at_least;
        tally.add(gate.required, value, gate.at_least, [&](double required) {
            return fmt::format("{} {} {}", gate.name, gate.at_least ? "at least" : "at most",
                               show_counted(required, gate.unit));
        });
        const bool missed_step = !passes(gate, value) || misses_a_step(gate, value);
        const std::string cause = gate.cause && missed_step ? gate.cause(submission) : "";
        if (result.cause.empty()) result.cause = cause;
        if (passes(gate, value)) continue;
        missed += (missed.empty() ? "" : " ") + missed_message(gate, submission, naive);
        if (!hint.empty()) continue;
        current_case().about = gate.about;
        if (hint = cause; !hint.empty()) continue;
        hint = gate.meaning;
        if ((gate.general || hint.empty()) && !gates.too_slow.empty())
            hint += (hint.empty() ? "" : " ") + gates.too_slow;
    }
    if (!missed.empty()) result.cause.clear(); // the hint says it
    result.offered = tally.offered();
    result.needs = tally.needs();
    if (missed.empty() && std::any_of(gates.counted.begin(), gates.counted.end(),
                                      [](const counted_gate &g) { return g.is_efficiency; }))
        for (const counted &c : calls) check_useful_traffic(*work, c, naive);
    result.reached = missed.empty() ? tally.reached() : 0;
    return {result, missed, hint};
}

} // namespace grading
