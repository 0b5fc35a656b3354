// Runs the parts of a grade on both backends, and merges them.
#include "grade_on_both.hpp"

#include "both_backends.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "process/cores.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace cli {

namespace {

grade_options on(const char *backend, grade_options options, const char *only = "")
{
    options.backend = backend;
    if (options.only.empty()) options.only = only;
    return options;
}

// Adds up the progress of parts that run beside each other. Must outlive them.
class common_progress {
public:
    explicit common_progress(const grade_progress &progress) : progress_(progress) {}

    grade_progress part()
    {
        if (!progress_) return {};
        auto mine = std::make_shared<counts>();
        return [this, mine](int done, int all) {
            const std::lock_guard lock(mutex_);
            sum_.done += done - std::exchange(mine->done, done);
            sum_.all += all - std::exchange(mine->all, all);
            progress_(sum_.done, sum_.all);
        };
    }

private:
    struct counts {
        int done = 0, all = 0;
    };
    const grade_progress &progress_;
    std::mutex mutex_;
    counts sum_;
};

std::string messages_of(const graded &run)
{
    std::string text;
    for (const lab_view &l : labs_of(run.document))
        for (const case_view &c : l.cases) text += c.message + "\n";
    return text;
}

// A GPU's run that came to nothing is told, and costs the submission nothing.
void tell_fault(graded &g, const graded &run)
{
    if (run.from_grader) return;
    if (run.status == infrastructure) g.said += messages_of(run);
    if (run.status == wrong_usage) g.said += run.said; // the simulator's took the same request
}

bool any_disagreement(const graded &a, const graded &b)
{
    for (const json &one : member(a.document["labs"][0], "cases"))
        for (const json &other : member(b.document["labs"][0], "cases"))
            if (one["name"] == other["name"] && disagree(one, other)) return true;
    return false;
}

// Adds what the GPU's run found. If it disagrees with the simulator, the GPU repeats the
// correctness cases in fresh processes.
graded with_gpu(const toolchain &t, const lab &l, const subject &what,
                const prepared_grade &prepared, graded by_simulator, graded gpu,
                const grade_options &options)
{
    graded g = std::move(by_simulator);
    tell_fault(g, gpu);
    auto add = [&](const graded &run) {
        g.seconds += run.seconds;
        g.cpu_seconds += run.cpu_seconds;
    };
    add(gpu);
    if (!gpu.from_grader) return g;
    json again;
    if (any_disagreement(g, gpu)) {
        gpu.ending.reset(); // its workers hold memory of the device
        const graded repeated =
            grade_prepared(t, l, what, prepared, on("gpu", options, "correctness"));
        again = repeated.document;
        add(repeated);
    }
    g.said += gpu.said;
    g.worker = gpu.worker;
    g.ending = gpu.ending;
    g.document = merged_backends(g.document, gpu.document, again);
    g.status = status_of(g.document["labs"][0]);
    return g;
}

} // namespace

graded add_gpu(const toolchain &t, const lab &l, const subject &what,
               const prepared_grade &prepared, std::optional<graded> by_simulator,
               const grade_options &options)
{
    if (by_simulator && (!prepared.workers.contains("gpu") || !by_simulator->from_grader))
        return *by_simulator;
    graded gpu = grade_prepared(t, l, what, prepared, on("gpu", options));
    if (!gpu.from_grader && prepared.refused.is_null())
        throw machine_error("on the GPU nothing was graded: " + messages_of(gpu));
    if (!by_simulator) return gpu;
    return with_gpu(t, l, what, prepared, std::move(*by_simulator), std::move(gpu), options);
}

graded grade_on_both(const toolchain &t, const lab &l, const subject &what,
                     const grade_options &options, const grade_progress &progress,
                     const when_simulated &simulated)
{
    prepared_grade prepared;
    if (what.ours) {
        prepared = prepare_grade(t, l, what, options);
        if (prepared.workers.size() == 1) // a library may run on one of them alone
            return grade_prepared(t, l, what, prepared,
                                  on(prepared.workers.begin()->first.c_str(), options), progress);
    }
    common_progress both(progress);
    const scratch_folder scratch;
    grade_options on_gpu = on("gpu", options);
    on_gpu.clock_lock = scratch.path() + "/clock";
    on_gpu.simulator_lock = scratch.path() + "/simulator";
    std::optional<early_grade> gpu; // its destructor waits, so the locks must be released before
    std::optional<file_lock> clock(std::in_place, on_gpu.clock_lock, nullptr, true);
    std::optional<file_lock> simulator(on_gpu.simulator_lock);
    gpu.emplace(t, l, what, on_gpu, both.part());
    // The compiler shares the machine with that grader, which makes inputs on all cores.
    if (!what.ours)
        prepared = prepare_grade(t, l, what, options, {.wall = std::chrono::seconds(180)});
    if (prepared.refused.is_null()) {
        if (gpu->lacks_device()) {
            graded g = grade_prepared(t, l, what, prepared, on("sim", options), progress);
            g.without_gpu = true;
            return g;
        }
        gpu->begin(prepared);
    }
    grade_options on_simulator = on("sim", options);
    if (const auto beside = static_cast<int>(grading::cores_beside_clock(cores())); beside > 0) {
        on_simulator.processes = std::min(options.processes, beside);
        clock.reset();
    }
    graded by_simulator = grade_prepared(t, l, what, prepared, on_simulator, both.part());
    by_simulator.cpu_seconds += prepared.cpu_seconds;
    clock.reset();
    simulator.reset();
    if (!by_simulator.from_grader) return by_simulator;
    if (simulated) simulated(by_simulator.document);
    return with_gpu(t, l, what, prepared, std::move(by_simulator), gpu->result(), options);
}

} // namespace cli
