// Grades on the simulator, reads its counters, and shows them beside the source.
#include "commands.hpp"

#include "cli/explain/explanation.hpp"
#include "cli/grading/backend.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Grades the chosen cases; without a choice the speed cases, or all if the lab has none.
graded grade_counting(const toolchain &t, const item &i, grade_options &options)
{
    options.only = options.pattern.empty() ? "speed" : "";
    graded g = grade_one(t, *i.of, i.what, options);
    if (g.status != wrong_usage || !options.pattern.empty()) return g;
    options.only.clear();
    return grade_one(t, *i.of, i.what, options);
}

} // namespace

int explain_command(const toolchain &t, const std::string &word, grade_options options,
                    const std::string &page)
{
    require_writable("--html", page);
    item i = items(t, {word}, options.submission, options.solutions).at(0);
    options.backend = "sim";
    options.seed = choose_seed(options.seed);
    progress_line progress;
    build_for_grading(t, {i}, options.backend, progress);
    progress.say(fmt::format("counting {}", i.of->name));
    const scratch_folder scratch;
    options.counters_file = scratch.path() + "/counters.json";
    graded g = grade_counting(t, i, options);
    progress.clear();
    if (g.status == wrong_usage) { // no such case: the grader lists them
        fmt::print(stderr, "{}", g.said);
        return wrong_usage;
    }
    if (!fs::exists(options.counters_file)) {
        if (g.status != failed)
            throw machine_error(fmt::format(
                "{}: nothing was counted. ./workbook grade {} says why.", i.of->name, i.of->name));
        fmt::print("{}", report_of(t, i, g));
        return failed;
    }
    lab_view result = labs_of(g.document).at(0);
    explanation e = explain(i.of->name, t.shown(i.what.source), read_text(i.what.source), result,
                            read_text(options.counters_file));
    e.command = "./workbook explain " + number_of(i.of->name);
    if (options.solutions) e.command += " --solutions";
    if (!options.submission.empty()) e.command += " --submission " + shell_word(options.submission);
    fmt::print("{}", explanation_text(e, detect_terminal(1)));
    if (!page.empty()) {
        write_atomically(page, explanation_page(e));
        fmt::print("Pictures of the worst accesses: {}\n", page);
    }
    bool ran =
        std::ranges::any_of(e.cases, [](const auto &c) { return !c.counts.kernels.empty(); });
    return ran ? passed : failed;
}

} // namespace cli
