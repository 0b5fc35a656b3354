// The demo command: grades each lab's worked versions and draws the ladder.
#include "commands.hpp"

#include "cli/grading/backend.hpp"
#include "cli/results/lab_names.hpp"
#include "cli/results/ladder.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"

#include <fmt/format.h>

#include <functional>
#include <future>
#include <optional>

namespace cli {

namespace {

std::vector<item> steps_of(const toolchain &t, const lab &l, const std::string &backend)
{
    std::vector<item> steps;
    auto add = [&](const std::string &name) {
        steps.push_back({&l, implementation_of(t, l, name)});
    };
    add("naive");
    if (l.solutions) {
        for (const std::string &name : l.rungs) add(name);
        add("solution");
    }
    if (l.has_library(backend)) add("library");
    return steps;
}

// One lab's ladder: it is built, then graded step by step.
struct ascent {
    std::vector<item> steps;
    ladder result;
    std::shared_future<void> built = {}; // runs in the first wait for it
};

void grade_step(const toolchain &t, ascent &a, std::size_t step, const grade_options &options)
{
    const auto &[l, what] = a.steps[step];
    grade_options of_step = options;
    if (options.backend != "sim") of_step.processes = processes_for_one();
    // The solution is graded whole. The steps to it are only timed, which also checks results.
    if (what.name != "solution") of_step.only = "speed";
    a.built.get();
    a.result.rungs[step] = {what.name, first_comment(read_text(what.source)),
                            grade_one(t, *l, what, of_step).document};
}

// Calls `climbed` with each ascent in order, as soon as all its steps are graded.
void climb(const toolchain &t, std::vector<ascent> &all, const grade_options &options,
           progress_line &progress, const std::function<void(const ascent &)> &climbed)
{
    struct task {
        ascent *of;
        std::optional<std::size_t> step; // empty: build the lab
    };
    std::vector<task> tasks;
    // Two graders on one GPU would spoil each other's times, and so would a compiler beside them.
    // In the simulator a lab is built while the previous one is graded.
    bool together = options.backend == "sim";
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (together && i + 1 < all.size()) tasks.push_back({&all[i + 1], {}});
        for (std::size_t step = 0; step < all[i].steps.size(); ++step)
            tasks.push_back({&all[i], step});
    }
    auto announce = [&](std::size_t i) {
        while (i < tasks.size() && !tasks[i].step) ++i;
        if (i == tasks.size()) return;
        const ascent &a = *tasks[i].of;
        progress.say(fmt::format("{}: {} {}, step {} of {}", a.result.lab,
                                 *tasks[i].step ? "grading" : "building and grading",
                                 a.steps[*tasks[i].step].what.name, *tasks[i].step + 1,
                                 a.steps.size()));
    };
    auto work = [&](std::size_t i) {
        if (tasks[i].step)
            grade_step(t, *tasks[i].of, *tasks[i].step, options);
        else
            tasks[i].of->built.get();
    };
    auto done = [&](std::size_t i) {
        const task &last = tasks[i];
        if (last.step && *last.step + 1 == last.of->steps.size()) {
            progress.clear();
            climbed(*last.of);
        }
        announce(i + 1);
    };
    announce(0);
    parallel_for(tasks.size(), together ? cores() + 1 : 1, work, done);
    progress.clear();
}

} // namespace

int demo_command(const toolchain &t, const std::vector<std::string> &words, grade_options options)
{
    std::vector<std::string> names = find_labs(words, t.lab_names(false));
    if (names.empty()) throw usage_error("this workbook has no labs yet");
    progress_line progress;
    const lab &first = lab_called(t, names[0]);
    const std::string no_gpu = choose_backend(t, first, options, progress);
    terminal out = detect_terminal(1);
    if (!no_gpu.empty())
        fmt::print("{}\n\n", wrapped(fmt::format("No GPU can be used ({}): the labs run in the "
                                                 "workbook's simulator, which counts what the "
                                                 "memory system does and measures no times.",
                                                 no_gpu),
                                     out.width, 0));
    std::vector<ascent> all;
    progress_line silent(false);
    for (const std::string &name : names) {
        const lab &l = lab_called(t, name);
        std::vector<item> steps = steps_of(t, l, options.backend);
        // While later labs are built, the progress line shows the grading.
        progress_line &line = all.empty() ? progress : silent;
        all.push_back({steps,
                       {name, options.backend, std::vector<rung>(steps.size()),
                        l.library && !l.has_library(options.backend)}});
        all.back().built = std::async(std::launch::deferred, [&t, &options, &line, steps] {
                               build_for_grading(t, steps, options.backend, line);
                           }).share();
    }
    all[0].built.get();
    bool right = true;
    climb(t, all, options, progress, [&](const ascent &a) {
        fmt::print("{}\n", draw(a.result, out));
        for (const std::string &fault : ladder_faults(a.result)) {
            fmt::print("{}\n\n",
                       bad(out, wrapped("A fault of the workbook: " + fault, out.width, 2)));
            right = false;
        }
    });
    if (!first.solutions)
        fmt::print("{}\n\n", wrapped("This is the student edition, without the worked solutions: "
                                     "each ladder ends at the naive version. Your instructor has "
                                     "the edition with all its steps.",
                                     out.width, 0));
    fmt::print("Your turn: open labs/{}/stub.cu in your editor, and beside it type\n  {}\n",
               names[0], bold(out, "./workbook watch " + number_of(names[0])));
    return right ? passed : failed;
}

} // namespace cli
