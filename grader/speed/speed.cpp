// A speed case: on a GPU a timed benchmark, on the simulator one call, or two equal ones, counted.
#include "speed.hpp"

#include "api/call_options.hpp"
#include "api/inputs.hpp"
#include "paired_benchmark.hpp"
#include "runner/case_run.hpp"

#include <memory>
#include <optional>
#include <random>

namespace grading {

namespace {

void counted_benchmark(const make_workload &make, const make_workload &make_for_naive,
                       const speed_gates &gates)
{
    counted_result counted = count_calls(make, make_for_naive, gates);
    record_speed(counted.result);
    if (gates.counted.empty())
        end_case(verdict::SKIPPED, "This case is graded by its time, which only a GPU can tell.",
                 "On a machine with a GPU, --backend gpu can judge it.");
    if (!counted.missed.empty()) end_case(verdict::TOO_SLOW, counted.missed, counted.hint);
}

// If time no longer shows the lesson, the counters are graded on any backend, and the time is only
// shown.
void counted_then_shown(const make_workload &make, const make_workload &make_for_naive,
                        const speed_gates &gates)
{
    if (!can_count())
        end_case(verdict::SKIPPED, "This case is graded by counting, and no simulator was given.");
    counted_result counted = [&] {
        on_simulator scope;
        return count_calls(make, make_for_naive, gates);
    }();
    timed_benchmark(make, make_for_naive, gates, &counted.result);
    if (!counted.missed.empty()) end_case(verdict::TOO_SLOW, counted.missed, counted.hint);
}

} // namespace

void right_in_any_order(const make_workload &make)
{
    std::optional<on_simulator> scope;
    if (!simulated() && !can_count()) return;
    if (!simulated()) scope.emplace();
    // Each call has new inputs, so that results kept from one cannot answer the next, or the
    // counted one.
    std::mt19937_64 seeds(case_seed());
    for (stream_work when : {stream_work::late, stream_work::shuffled}) {
        run_streams(when);
        std::mt19937_64 random(seeds());
        std::unique_ptr<workload> work = make(random);
        make_call(work->function(), work->arguments(), nullptr, 0);
        work->check();
    }
    run_streams(stream_work::as_queued);
}

void race(const make_workload &make, const speed_gates &gates, const make_workload &make_for_naive)
{
    if (simulated())
        counted_benchmark(make, make_for_naive, gates);
    else if (!gates_time(gates) && !gates.counted.empty())
        counted_then_shown(make, make_for_naive, gates);
    else if (const std::string open = open_clock(gates); !open.empty())
        show_open_clock(make, make_for_naive, gates, open);
    else
        timed_benchmark(make, make_for_naive, gates, nullptr);
}

} // namespace grading
