// Runs the parts of a grade on both backends, and merges them.
#include "grade_on_both.hpp"

#include "both_backends.hpp"
#include "cli/support/errors.hpp"

#include <future>
#include <utility>

namespace cli {

namespace {

grade_options on(const char *backend, const char *only, grade_options options)
{
    options.backend = backend;
    if (options.only.empty()) options.only = only;
    return options;
}

bool wants(const grade_options &options, const char *kind)
{
    return options.only.empty() || options.only == kind;
}

// Adds the cases of a later run of the same lab.
void add_cases(graded &to, graded more)
{
    to.seconds += more.seconds;
    to.cpu_seconds += more.cpu_seconds;
    to.said += more.said;
    if (more.document.is_null() || !more.from_grader) return;
    if (!to.from_grader) {
        to.document = std::move(more.document), to.from_grader = true;
        to.worker = more.worker;
        return;
    }
    json &cases = to.document["labs"][0]["cases"];
    for (json &c : more.document["labs"][0]["cases"]) cases.push_back(std::move(c));
}

// A GPU's run that came to nothing is told, and costs the submission nothing.
void tell_fault(graded &g, const graded &run)
{
    if (run.from_grader || run.status != infrastructure) return;
    for (const lab_view &l : labs_of(run.document))
        for (const case_view &c : l.cases) g.said += c.message + "\n";
}

bool any_disagreement(const graded &a, const graded &b)
{
    for (const json &one : member(a.document["labs"][0], "cases"))
        for (const json &other : member(b.document["labs"][0], "cases"))
            if (one["name"] == other["name"] && disagree(one, other)) return true;
    return false;
}

} // namespace

graded add_gpu(const toolchain &t, const lab &l, const subject &what,
               const prepared_grade &prepared, graded by_simulator, const grade_options &options,
               std::optional<graded> correctness_on_gpu)
{
    if (!prepared.workers.contains("gpu") || !by_simulator.from_grader) return by_simulator;
    graded gpu;
    auto add = [&](graded run) {
        tell_fault(by_simulator, run);
        add_cases(gpu, std::move(run));
    };
    auto run = [&](const char *kind) {
        return grade_prepared(t, l, what, prepared, on("gpu", kind, options));
    };
    if (correctness_on_gpu)
        add(std::move(*correctness_on_gpu));
    else if (wants(options, "correctness"))
        add(run("correctness"));
    json again;
    if (gpu.from_grader && any_disagreement(by_simulator, gpu)) {
        graded repeated = run("correctness");
        again = repeated.document;
        gpu.seconds += repeated.seconds;
        gpu.cpu_seconds += repeated.cpu_seconds;
    }
    if (wants(options, "speed")) add(run("speed"));
    graded g = std::move(by_simulator);
    g.seconds += gpu.seconds;
    g.cpu_seconds += gpu.cpu_seconds;
    g.said += gpu.said;
    if (gpu.from_grader) g.worker = gpu.worker;
    g.document = merged_backends(g.document, gpu.document, again);
    g.status = status_of(g.document["labs"][0]);
    return g;
}

graded grade_on_both(const toolchain &t, const lab &l, const subject &what,
                     const prepared_grade &prepared, const grade_options &options,
                     const grade_progress &progress)
{
    if (!prepared.workers.contains("sim")) // a library that only a GPU runs
        return grade_prepared(t, l, what, prepared, on("gpu", "", options), progress);
    std::future<graded> correctness;
    if (wants(options, "correctness") && prepared.workers.contains("gpu"))
        correctness = std::async(std::launch::async, [&] {
            return grade_prepared(t, l, what, prepared, on("gpu", "correctness", options));
        });
    graded by_simulator = grade_prepared(t, l, what, prepared, on("sim", "", options), progress);
    std::optional<graded> right;
    if (correctness.valid()) right = correctness.get();
    return add_gpu(t, l, what, prepared, std::move(by_simulator), options, std::move(right));
}

} // namespace cli
