// A speed case: on a GPU a timed benchmark, on the simulator one call, or two equal ones, counted.
#include "speed.hpp"

#include "api/call_options.hpp"
#include "api/inputs.hpp"
#include "paired_benchmark.hpp"
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"

#include <algorithm>
#include <memory>
#include <random>

namespace grading {

namespace {

void counted_benchmark(const make_workload &make, const make_workload &make_for_naive,
                       const speed_gates &gates)
{
    counted_result counted = count_calls(make, make_for_naive, gates);
    record_speed(counted.result);
    if (gates.counted.empty()) end_case(verdict::SKIPPED, "Nothing is counted in this case.");
    if (!counted.missed.empty()) end_case(verdict::TOO_SLOW, counted.missed, counted.hint);
}

// Gates of time and points of the clock belong together.
void require_points_for_gates(const speed_gates &gates)
{
    const std::string &test = current_case().test;
    const bool has_points = std::ranges::any_of(
        records(), [&](const case_record &r) { return r.test == test && r.what == kind::clock; });
    if (has_points != gates_time(gates))
        end_case(verdict::INFRA_ERROR,
                 has_points ? "This case has points of the clock, but no gate of time."
                            : "This case has a gate of time, but no points of the clock.",
                 "SPEED_CASE(name, points, clock) and speed_gates in grade.cpp must agree.");
}

} // namespace

void right_in_any_order(const make_workload &make)
{
    if (!simulated()) return;
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

bool race(const make_workload &make, const speed_gates &gates, const make_workload &make_for_naive)
{
    require_points_for_gates(gates);
    if (!simulated()) return timed_benchmark(make, make_for_naive, gates, open_clock(gates));
    counted_benchmark(make, make_for_naive, gates);
    return true;
}

} // namespace grading
