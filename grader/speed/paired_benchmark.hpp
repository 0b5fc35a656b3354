// The paired benchmark: paired samples, reasons to discard one, and the verdict.
//
// It needs no GPU: a `benchmark_device` runs the implementations, and the tests have one with
// invented times.
#pragma once

#include "api/gates.hpp"
#include "api/workload.hpp"
#include "runner/speed_result.hpp"
#include "text/verdict.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace grading {

enum class implementation { naive, submission, library };

// One timed request, which makes `calls` calls back to back.
struct timed_run {
    double worker_ms = 0; // on the worker's clocks: CUDA events, or its host clock
    double parent_ms = 0; // on the parent's clock, less the cost of an empty run
    int calls = 1;
    bool threads_left = false; // the submission had threads of its own before or after it
    double worker_per_call() const { return worker_ms / calls; }
    double parent_per_call() const { return parent_ms / calls; }
};

// State of the device between two timed runs.
struct device_state {
    double sm_mhz = std::numeric_limits<double>::quiet_NaN(); // NaN: unknown
    bool throttled = false; // the driver reports a slowdown for heat or power
    double fma_rate = 0;    // multiply-adds per ms by yardstick_fma; proportional to the SM clock
};

// Thrown when a run of the submission exceeds its time limit and nothing else is known to be wrong
// with it.
struct run_timeout {
    double limit_ms; // limit of that one call
    double naive_ms; // time of naive's call
};

class benchmark_device {
public:
    virtual ~benchmark_device() = default;
    virtual bool has_library() const = 0;
    // Sends the inputs to fresh processes, warms them up, and chooses the number of calls per run.
    // For a later step of a ladder only the submission's process is fresh: the others stay.
    virtual void prepare() = 0;
    // Changes the inputs of every implementation for the next runs, and poisons their outputs.
    virtual void next_round() = 0;
    virtual timed_run run(implementation who) = 0; // throws run_timeout
    // Ends the case unless every output of the implementation's last run is right for its inputs:
    // now, or while it works on later runs, or in finish_checks() at the latest.
    virtual void verify(implementation who) = 0;
    virtual void finish_checks() = 0;
    virtual device_state read_state() = 0;
    virtual double copy_rate() = 0;           // bytes read and written per ms, by yardstick_copy
    virtual double bytes() const = 0;         // per call, the fewest any version must move
    virtual double multiply_adds() const = 0; // per call, the fewest any version must do
    virtual std::string function() const = 0;
};

// Counts the steps (pass, good, excellent) that several measures offer and reach. A step is reached
// when every measure that offers it reaches it and every lower one. Pass is always offered.
class step_tally {
public:
    // `needs` describes the requirement of a step with that value: "at least 65 % of copy
    // bandwidth".
    using words = std::function<std::string(double)>;
    void add(const steps &offered, double value, bool at_least, const words &needs);
    int offered() const;
    int reached() const;
    std::vector<std::string> needs() const; // of the steps offered, lowest first

private:
    bool offered_[3] = {true, false, false}, reached_[3] = {true, true, true};
    std::string needs_[3];
};

struct judgement {
    verdict what = verdict::PASS;
    std::string message, hint;
    speed_result result;
};

// True if any gate needs a clock. Otherwise the benchmark takes only `shown_pairs`, or fewer once
// the submission has taken `shown_ms` in them, and its times are shown but not graded.
bool gates_time(const speed_gates &gates);
bool offers(const steps &rate); // true if a step of this rate is asked for
constexpr int shown_pairs = 3;
constexpr double shown_ms = 500;

enum class scrutiny : std::uint8_t {
    usual,   // samples until the verdict is clear, and the outputs of each are checked
    in_full, // at least first_look samples, so that the result has the interval of the median
    trusted, // a version of ours: only the outputs of the first sample are checked
};

// Takes paired samples until the verdict is clear. Only `device` may end the case.
judgement judge(benchmark_device &device, const speed_gates &gates, scrutiny how = scrutiny::usual);

} // namespace grading
