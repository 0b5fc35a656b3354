// A timed case: of one submission, or of each step of a ladder by one benchmark.
#include "gpu_benchmark.hpp"
#include "recorded_pairs.hpp"
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"
#include "runner/inputs_in_advance.hpp"
#include "runner/ladder_steps.hpp"
#include "runner/run_options.hpp"
#include "runner/workers.hpp"
#include "speed.hpp"
#include "text/verdict.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace grading {

namespace {

// The gates of a case whose time is only shown.
speed_gates without_time(speed_gates gates)
{
    gates.speedup = gates.max_speedup = 0;
    gates.copy = gates.fma = {};
    return gates;
}

// A calibration asks how far a median stands above its gate, and so for its interval.
scrutiny usual_or_in_full()
{
    return options().gates_folder.empty() ? scrutiny::in_full : scrutiny::usual;
}

void judge_submission(gpu_benchmark &benchmark, const speed_gates &gates, scrutiny how)
{
    if (options().record_pairs > 0) record_case(benchmark, gates);
    judgement j = judge(benchmark, gates, how);
    benchmark.add_costs(j.result);
    record_speed(j.result);
    if (j.what != verdict::PASS) end_case(j.what, j.message, j.hint);
}

// The benchmark of a ladder's case, from its first step to its last.
std::unique_ptr<gpu_benchmark> of_steps;

void leave_steps()
{
    if (of_steps) of_steps->leave(); // none, if the last step could not make one
    of_steps.reset();
}

gpu_benchmark &benchmark_for_step(const make_workload &make, const make_workload &make_for_naive,
                                  const speed_gates &gates)
{
    if (of_steps && of_steps->gates().form != gates.form) leave_steps();
    if (of_steps) {
        of_steps->change_submission();
        return *of_steps;
    }
    of_steps = make_gpu_benchmark(make, make_for_naive, gates);
    at_end_of_steps(leave_steps);
    return *of_steps;
}

void judge_step(const make_workload &make, const make_workload &make_for_naive,
                const speed_gates &gates, bool judged)
{
    gpu_benchmark &benchmark = benchmark_for_step(make, make_for_naive, gates);
    try {
        if (judged)
            judge_submission(benchmark, gates, usual_or_in_full());
        else
            judge_submission(benchmark, without_time(gates), scrutiny::trusted);
    } catch (...) {
        benchmark.drop_submission();
        throw;
    }
    benchmark.drop_submission();
    if (!judged) end_case(verdict::SKIPPED, "The time is shown, not judged.");
}

void judge_alone(const make_workload &make, const make_workload &make_for_naive,
                 const speed_gates &gates)
{
    const std::unique_ptr<gpu_benchmark> benchmark =
        make_gpu_benchmark(make, make_for_naive, gates);
    try {
        judge_submission(*benchmark, gates, usual_or_in_full());
    } catch (...) {
        benchmark->leave();
        throw;
    }
    benchmark->leave();
}

} // namespace

bool timed_benchmark(const make_workload &make, const make_workload &make_for_naive,
                     const speed_gates &wanted, const std::string &open)
{
    const speed_gates gates = open.empty() ? wanted : without_time(wanted);
    end_rehearsal({make, make_for_naive, gates.form, min_sets(gates),
                   offers(gates.copy) ? min_run_ms : 0, enough_for_more});
    try {
        if (const std::optional<std::size_t> step = step_taken())
            judge_step(make, make_for_naive, gates, options().steps[*step].judged);
        else
            judge_alone(make, make_for_naive, gates);
    } catch (const other_form &) {
        leave_steps();
        return false;
    }
    if (!open.empty()) end_case(verdict::SKIPPED, "The clock is open, not lost; " + open + ".");
    return true;
}

} // namespace grading
