// The demo command: grades each lab's worked versions and draws the ladder.
#include "demo.hpp"

#include "errors.hpp"
#include "files.hpp"
#include "lab_names.hpp"
#include "ladder.hpp"
#include "pool.hpp"
#include "progress.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace cli {

namespace {

std::vector<subject> steps_of(const toolchain &t, const lab &l, const std::string &backend)
{
    std::vector<subject> steps = {implementation_of(t, l, "naive")};
    if (l.solutions) {
        for (const std::string &name : l.rungs) steps.push_back(implementation_of(t, l, name));
        steps.push_back(implementation_of(t, l, "solution"));
    }
    if (l.has_library(backend)) steps.push_back(implementation_of(t, l, "library"));
    return steps;
}

ladder climb(const toolchain &t, const lab &l, const grade_options &options,
             progress_line &progress)
{
    std::vector<subject> steps = steps_of(t, l, options.backend);
    ladder result{l.name, options.backend, std::vector<rung>(steps.size()),
                  l.library && !l.has_library(options.backend)};
    // The solution is graded whole. What leads to it is raced only, which also looks at its
    // results.
    auto grade = [&](std::size_t i) {
        grade_options of_step = options;
        if (steps[i].name != "solution") of_step.only = "speed";
        result.rungs[i] = {steps[i].name, first_comment(read_text(steps[i].source)),
                           grade_one(t, l, steps[i], of_step, false).document};
    };
    auto tell = [&](std::size_t done) {
        if (done < steps.size())
            progress.say(fmt::format("{}: grading {}, step {} of {}", l.name, steps[done].name,
                                     done + 1, steps.size()));
    };
    tell(0);
    // Two graders on one GPU would spoil each other's times.
    unsigned at_once = options.backend == "gpu" ? 1 : cores();
    run_all(steps.size(), at_once, grade, [&](std::size_t i) { tell(i + 1); });
    progress.clear();
    return result;
}

} // namespace

int demo_command(const toolchain &t, const std::vector<std::string> &words, grade_options options)
{
    std::vector<std::string> names = find_labs(words, t.lab_names(false));
    if (names.empty()) throw usage_error("this workbook has no labs yet");
    options.seed = choose_seed(options.seed);
    progress_line progress;
    const lab &first = lab_called(t, names[0]);
    backend_choice choice = choose_backend(t, first, options, progress);
    bool asked = options.backend == choice.backend;
    options.backend = choice.backend;
    terminal out = detect_terminal(1);
    if (choice.backend == "sim" && !asked)
        fmt::print("{}\n\n", wrapped(fmt::format("No GPU can be used ({}): the labs run in the "
                                                 "workbook's simulator, which counts what the "
                                                 "memory system does and measures no times.",
                                                 choice.why),
                                     out.width, 0));
    bool right = true;
    for (const std::string &name : names) {
        const lab &l = lab_called(t, name);
        std::vector<std::string> targets;
        for (const subject &s : steps_of(t, l, options.backend))
            for (const std::string &target : grade_targets(t, l, s, options.backend))
                targets.push_back(target);
        build_targets(t, targets, progress);
        ladder drawn = climb(t, l, options, progress);
        fmt::print("{}\n", draw(drawn, out));
        for (const std::string &fault : ladder_faults(drawn)) {
            fmt::print("{}\n\n",
                       bad(out, wrapped("A fault of the workbook: " + fault, out.width, 2)));
            right = false;
        }
    }
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
