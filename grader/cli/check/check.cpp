// The check command: tests the grader on implementations whose verdicts are known.
#include "check.hpp"

#include "check_report.hpp"
#include "cli/grading/backend.hpp"
#include "cli/results/lab_names.hpp"
#include "cli/results/student_edition.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "point_shape.hpp"
#include "todo_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace cli {

namespace {

// One lab's largest share of the core-seconds of all labs. A limit in seconds would judge the
// machine; the share is about 100 s on the machine for which it was set.
constexpr double max_share = 0.16;
constexpr std::size_t min_labs = 10;  // a share among fewer labs says little
constexpr std::size_t max_lines = 30; // differences from the table to show
constexpr const char *table_seed = "1";

// Prints once which checks a student edition skips.
void note_edition(const toolchain &t)
{
    if (is_student_edition(t.source_root))
        fmt::print("skip  worked solutions, mistakes, filled stubs and the table of verdicts\n"
                   "      this is the student edition, which does not have them\n");
}

// Carries out all tasks in parallel.
void grade_all(const toolchain &t, std::vector<check_task> &tasks, const grade_options &options,
               progress_line &progress, check_tally &result)
{
    auto report = [&](std::size_t i) {
        progress.clear();
        result.count(tasks[i]);
        if (i + 1 < tasks.size())
            progress.say(fmt::format("{}: {} ({}/{})", tasks[i + 1].of->name,
                                     tasks[i + 1].what.name, i + 2, tasks.size()));
    };
    // Two graders on one GPU would spoil each other's times.
    unsigned max_parallel = options.backend == "sim" ? cores() + 1 : 1; // some tasks only wait
    parallel_for(
        tasks.size(), max_parallel, [&](std::size_t i) { carry_out(t, tasks[i], options); },
        report);
    progress.clear();
}

// Compares each lab's verdicts with its table, or records them.
void compare_with_tables(const toolchain &t, const std::vector<std::string> &names,
                         const std::vector<check_task> &tasks, const check_options &wanted,
                         check_tally &result)
{
    std::size_t compared = 0, all = 0;
    std::string to_explain;
    bool differs = false;
    for (const std::string &name : names) {
        try {
            const table_of_lab table(t, tables_folder(t) + "/sim", "sim", name);
            verdict_comparison c = table.compared(tasks, false);
            compared += c.compared, all += table.table().rows.size();
            check_finding f{fmt::format("its verdicts are those of the table, of which {} of {} "
                                        "rows were compared",
                                        c.compared, table.table().rows.size()),
                            {}};
            if (wanted.record) {
                table.write(c);
                std::size_t changed = c.refused().size(), recorded = c.differences.size() - changed;
                f.what = fmt::format("the table of verdicts has {} rows, {} of them recorded or "
                                     "dropped now",
                                     c.recorded.rows.size(), recorded);
                if (changed > 0)
                    f.fault = fmt::format("{} changed and not listed in changes.csv", changed);
                for (const std::string &fault : c.faults) f.fault += "\n      " + fault;
                to_explain += lines_for_changes(c);
            } else if (!c.agrees()) {
                f.fault = indented(difference_words(c, max_lines));
                differs = true;
            }
            result.count(name, f);
        } catch (const machine_error &e) {
            result.count(name, {"its table of verdicts can be read", e.what()});
        }
    }
    if (!to_explain.empty())
        fmt::print("\nFor grader/tests/verdicts/changes.csv, each with its reason, then --record "
                   "once more:\n{}",
                   to_explain);
    if (differs)
        fmt::print("\nWhere a new verdict is right: ./workbook check LAB --backend sim --seed 1 "
                   "--record takes over new rows, and changed ones with a reason.\n");
    fmt::print("table of verdicts: {} of {} rows compared\n", compared, all);
}

// Only for the simulator: on a GPU inputs are larger, and GPU time is the scarce resource.
void judge_shares(const std::map<std::string, double> &core_seconds, check_tally &result)
{
    double all = 0;
    for (const auto &[name, seconds] : core_seconds) all += seconds;
    for (const auto &[name, seconds] : core_seconds) {
        const std::string took = fmt::format("took {:.1f} core-seconds", seconds);
        if (core_seconds.size() < min_labs)
            fmt::print("note  {}  {}\n", name, took);
        else
            result.count(name, {fmt::format("{}, {:.0f} % of all; at most {:.0f} %", took,
                                            100 * seconds / all, 100 * max_share),
                                seconds <= max_share * all ? "" : "make its cases smaller"});
    }
}

} // namespace

int check_command(const toolchain &t, const std::vector<std::string> &words, grade_options options,
                  const check_options &wanted)
{
    std::vector<check_task> tasks;
    std::vector<item> graded;
    progress_line progress;
    std::vector<std::string> names = find_labs(words, t.lab_names(true));
    if (names.empty()) throw usage_error("this workbook has no labs yet");
    if (options.backend == "auto" && (wanted.budget > 0 || !wanted.pairs_folder.empty()))
        options.backend = "gpu"; // these are about a GPU alone
    choose_backend(t, lab_called(t, names[0]), options, progress);
    options.every_gate = true; // the gates themselves are checked
    const scratch_folder naive_counters;
    options.naive_counters = naive_counters.path();
    if (wanted.todos) return todo_points_of(t, names, options);
    if (!wanted.pairs_folder.empty()) return record_pairs_of(t, names, options, wanted);
    const bool has_table = options.seed == table_seed && options.backend == "sim" &&
                           !is_student_edition(t.source_root);
    if (wanted.record && !has_table)
        throw usage_error("--record needs --seed 1 and the simulator, and the whole workbook: the "
                          "table of verdicts is about these");
    const bool is_of_gpu_table = options.seed == table_seed && options.backend == "gpu";
    if (wanted.budget > 0 && wanted.tables.empty() && !is_of_gpu_table)
        throw usage_error("--budget needs a GPU and --seed 1, which the project's tables of a GPU "
                          "are about; --tables FOLDER keeps others");
    for (const std::string &name : names)
        for (check_task &work : tasks_of(t, lab_called(t, name), options.backend)) {
            graded.push_back({work.of, work.what});
            tasks.push_back(std::move(work));
        }
    const bool whole = wanted.whole || wanted.record;
    if (!whole) narrow_mistakes(t, tasks, options.backend, !has_table);
    build_for_grading(t, graded, options.backend, progress);
    if (wanted.budget > 0) return check_within(t, names, options, wanted);

    options.held_back_seed = options.seed; // here nothing is secret
    check_tally result;
    note_edition(t);
    progress.say("compiling what is right in another way, and what is wrong on purpose");
    std::map<std::string, double> core_seconds = compile_all(t, tasks, options.backend);
    progress.say(fmt::format("checking, seed {}", options.seed));
    grade_all(t, tasks, options, progress, result);
    for (const check_task &work : tasks) core_seconds[work.of->name] += work.cpu_seconds;
    if (options.backend == "sim") judge_shares(core_seconds, result);
    for (const std::string &name : names) {
        const point_shape shape = shape_of(lab_called(t, name), tasks);
        if (shape.words.empty() || lab_called(t, name).test) continue;
        fmt::print("points {}: {}\n", name, shape.words);
        for (const check_finding &f : shape.findings) result.count(name, f);
    }
    if (has_table) compare_with_tables(t, names, tasks, wanted, result);
    return result.finish();
}

} // namespace cli
