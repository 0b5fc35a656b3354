// Runs the parts of a grade on both backends, and merges them.
#include "grade_on_both.hpp"

#include "both_backends.hpp"
#include "cli/support/errors.hpp"

#include <algorithm>
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
    if (!to.from_grader || !more.from_grader) {
        if (!to.from_grader) std::swap(to, more); // a run that found no case, or a fault
        if (more.status == infrastructure) to = std::move(more);
        return;
    }
    json &cases = to.document["labs"][0]["cases"];
    for (json &c : more.document["labs"][0]["cases"]) cases.push_back(std::move(c));
}

bool any_disagreement(const graded &a, const graded &b)
{
    const json none = json::array();
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
    const bool counted = by_simulator.from_grader;
    if (!prepared.workers.contains("gpu") || (!counted && by_simulator.status != wrong_usage))
        return by_simulator;
    graded gpu;
    auto run = [&](const char *kind) {
        return grade_prepared(t, l, what, prepared, on("gpu", kind, options));
    };
    if (correctness_on_gpu)
        gpu = std::move(*correctness_on_gpu);
    else if (wants(options, "correctness"))
        gpu = run("correctness");
    json again;
    if (counted && gpu.from_grader && any_disagreement(by_simulator, gpu))
        again = run("correctness").document;
    if (wants(options, "speed")) add_cases(gpu, run("speed"));
    if (!gpu.from_grader) return gpu.status == infrastructure ? gpu : by_simulator;
    gpu.cpu_seconds += by_simulator.cpu_seconds;
    gpu.seconds += by_simulator.seconds;
    if (counted) gpu.document = merged_backends(by_simulator.document, gpu.document, again);
    gpu.document["backend"] = "both";
    gpu.said = by_simulator.said + gpu.said;
    gpu.status = status_of(gpu.document);
    return gpu;
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
    graded by_simulator =
        grade_prepared(t, l, what, prepared, on("sim", "", options), progress);
    std::optional<graded> right;
    if (correctness.valid()) right = correctness.get();
    return add_gpu(t, l, what, prepared, std::move(by_simulator), options, std::move(right));
}

} // namespace cli
