// The demo command: grades each lab's worked versions and draws the ladder.
#include "commands.hpp"

#include "cli/check/check.hpp"
#include "cli/grading/backend.hpp"
#include "cli/grading/both_backends.hpp"
#include "cli/results/lab_names.hpp"
#include "cli/results/ladder.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"

#include <fmt/format.h>

#include <functional>
#include <future>
#include <optional>
#include <utility>
#include <vector>

namespace cli {

namespace {

// With `overview` the simulator leaves the library out: it takes as long to compile as five rungs.
std::vector<item> steps_of(const toolchain &t, const lab &l, const std::string &backend,
                           bool overview)
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
    if (l.has_library(backend) && !(overview && backend == "sim")) add("library");
    return steps;
}

// Says how to see the vendor's version where it is not among the steps.
std::string library_elsewhere(const lab &l, const std::vector<item> &steps,
                              const std::string &backend)
{
    if (!l.library || steps.back().what.name == "library") return {};
    return l.has_library(backend) ? "counted by ./workbook demo " + number_of(l.name)
                                  : "on gpu only";
}

// One lab's ladder: it is built, then graded step by step.
struct ascent {
    std::vector<item> steps;
    ladder result;
    std::shared_future<void> built = {}; // runs in the first wait for it; then `only` is known
    headline only = {};                  // the speed cases that are graded; empty: all
};

// Restricts a lab to what an overview shows of it.
void choose_headline(const toolchain &t, ascent &a)
{
    a.only = headline_cases(t, *a.steps[0].of);
    for (const std::string &name : {a.only.counted, a.only.timed})
        if (!name.empty()) a.result.drawn.push_back(name);
}

// Grades one step on the simulator.
void grade_step(const toolchain &t, ascent &a, std::size_t step, grade_options options)
{
    const auto &[l, what] = a.steps[step];
    options.backend = "sim";
    // The solution is graded whole. The steps to it are only counted, which also checks results.
    if (what.name != "solution") {
        options.only = "speed";
        options.pattern = a.only.counted;
    }
    a.result.rungs[step].document = grade_one(t, *l, what, options).document;
}

// Called with each ascent in order, as soon as all its steps are graded.
using when_climbed = std::function<void(const ascent &)>;

// Builds each lab while the previous one is graded.
void climb_on_simulator(const toolchain &t, std::vector<ascent> &all, const grade_options &options,
                        progress_line &progress, const when_climbed &climbed)
{
    struct task {
        ascent *of;
        std::optional<std::size_t> step; // empty: build the lab
    };
    std::vector<task> tasks;
    all[0].built.get();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i + 1 < all.size()) tasks.push_back({&all[i + 1], {}});
        for (std::size_t step = 0; step < all[i].steps.size(); ++step)
            tasks.push_back({&all[i], step});
    }
    auto announce = [&](std::size_t i) {
        while (i < tasks.size() && !tasks[i].step) ++i;
        if (i == tasks.size()) return;
        const ascent &a = *tasks[i].of;
        progress.say(fmt::format("{}: grading {}, step {} of {}", a.result.lab,
                                 a.steps[*tasks[i].step].what.name, *tasks[i].step + 1,
                                 a.steps.size()));
    };
    auto work = [&](std::size_t i) {
        tasks[i].of->built.get();
        if (tasks[i].step) grade_step(t, *tasks[i].of, *tasks[i].step, options);
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
    parallel_for(tasks.size(), cores() + 1, work, done);
    progress.clear();
}

// Builds all labs and counts all steps first, on all cores: no compiler may run beside a clock.
// With `overview` only each lab's headline case is counted and timed.
void climb_on_gpu(const toolchain &t, std::vector<ascent> &all, const grade_options &options,
                  bool overview, progress_line &progress, const when_climbed &climbed)
{
    std::vector<item> every;
    for (const ascent &a : all) every.insert(every.end(), a.steps.begin(), a.steps.end());
    build_for_grading(t, every, options.backend, progress);
    if (overview)
        for (ascent &a : all) choose_headline(t, a);
    std::vector<std::pair<ascent *, std::size_t>> counted;
    for (ascent &a : all)
        for (std::size_t i = 0; i < a.steps.size(); ++i)
            if (options.backend == "both" && a.steps[i].what.name != "library")
                counted.push_back({&a, i});
    const std::string counting = "counting on the simulator";
    parallel_for(
        counted.size(), cores(),
        [&](std::size_t i) { grade_step(t, *counted[i].first, counted[i].second, options); },
        [&](std::size_t i) {
            progress.go_on(counting, fmt::format("{}/{}", i + 1, counted.size()));
        });
    for (ascent &a : all) {
        grade_options timing = options;
        if (!a.steps[0].of->solutions) timing.only = "speed";
        timing.pattern = a.only.timed;
        auto said = [&](int done, int cases) {
            progress.go_on(a.result.lab + ": timing", fmt::format("{}/{}", done, cases));
        };
        said(0, 0);
        std::vector<json> timed = grade_ladder(t, a.steps, "solution", timing, said);
        for (std::size_t i = 0; i < timed.size(); ++i) {
            json &document = a.result.rungs[i].document;
            document = document.is_null() ? timed[i] : merged_backends(document, timed[i], {});
        }
        progress.clear();
        climbed(a);
    }
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
    const bool overview = words.empty();
    std::vector<ascent> all;
    all.reserve(names.size()); // `built` refers to them
    progress_line silent(false);
    for (const std::string &name : names) {
        const lab &l = lab_called(t, name);
        std::vector<item> steps = steps_of(t, l, options.backend, overview);
        // While later labs are built, the progress line shows the grading.
        progress_line &line = all.empty() ? progress : silent;
        std::vector<rung> rungs;
        for (const auto &[of, what] : steps)
            rungs.push_back({what.name, first_comment(read_text(what.source)), {}});
        all.push_back({steps,
                       {name, options.backend, std::move(rungs),
                        library_elsewhere(l, steps, options.backend)}});
        ascent &a = all.back();
        a.built = std::async(std::launch::deferred, [&t, &options, &line, &a, overview] {
                      build_for_grading(t, a.steps, options.backend, line);
                      if (overview) choose_headline(t, a);
                  }).share();
    }
    bool right = true;
    const when_climbed show = [&](const ascent &a) {
        fmt::print("{}\n", draw(a.result, out));
        for (const std::string &fault : ladder_faults(a.result)) {
            fmt::print("{}\n\n",
                       bad(out, wrapped("A fault of the workbook: " + fault, out.width, 2)));
            right = false;
        }
    };
    if (options.backend == "sim")
        climb_on_simulator(t, all, options, progress, show);
    else
        climb_on_gpu(t, all, options, overview, progress, show);
    if (overview)
        fmt::print("{}\n\n", wrapped("Of each lab one speed case is drawn; with the name of a lab, "
                                     "demo draws all.",
                                     out.width, 0));
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
