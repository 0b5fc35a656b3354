// The check command: the grader graded on implementations whose verdicts are known.
#include "check.hpp"

#include "check_tasks.hpp"
#include "edition.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "lab_names.hpp"
#include "pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr double most_core_seconds = 100; // a lab
constexpr std::size_t most_lines = 30;    // of differences from the table

struct tally {
    std::size_t passed = 0, failed = 0;
    std::string faults; // once more at the end, where the tail of a log has them
    void count(const std::string &lab, const check_finding &f)
    {
        terminal out = detect_terminal(1);
        if (!f.skipped.empty()) {
            fmt::print("skip  {}  {}\n      {}\n", lab, f.what, f.skipped);
            return;
        }
        (f.fault.empty() ? passed : failed) += 1;
        if (f.fault.empty())
            fmt::print("{}    {}  {}\n", good(out, "ok"), lab, f.what);
        else {
            std::string fault =
                fmt::format("{}  {}  {}\n      {}\n", bad(out, "FAIL"), lab, f.what, f.fault);
            fmt::print("{}", fault);
            faults += fault;
        }
    }
};

// What a student edition cannot show, once.
void note_edition(const toolchain &t)
{
    if (is_student_edition(t.source_root))
        fmt::print("skip  worked solutions, mistakes, filled stubs and the table of verdicts\n"
                   "      this is the student edition, which does not have them\n");
}

// The results of one lab against its table, or into it.
class table_of_lab {
public:
    table_of_lab(const toolchain &t, const std::string &lab, const std::string &backend)
        : path_(fmt::format("{}/{}/{}.csv", folder_of(t), backend, lab)),
          table_(read_table(path_, backend, lab)),
          changes_(read_changes(folder_of(t) + "/changes.csv"))
    {
    }
    verdict_comparison compared(const std::vector<check_task> &tasks) const
    {
        std::vector<graded_submission> all;
        for (const check_task &work : tasks)
            if (work.of->name == table_.lab) all.push_back(work.got);
        return compare(table_, all, changes_);
    }
    std::size_t size() const { return table_.rows.size(); }
    void write(const verdict_comparison &c) const
    {
        fs::create_directories(fs::path(path_).parent_path());
        write_atomically(path_, as_csv(c.recorded));
    }

private:
    static std::string folder_of(const toolchain &t)
    {
        return t.source_root + "/grader/tests/verdicts";
    }
    std::string path_;
    verdict_table table_;
    std::vector<verdict_change> changes_;
};

std::string indented(const std::string &text)
{
    std::string result;
    for (const std::string &line : lines(text)) result += (result.empty() ? "" : "\n      ") + line;
    return result;
}

// Says of each lab whether its verdicts are those of the table, or records them.
void compare_with_tables(const toolchain &t, const std::vector<std::string> &names,
                         const std::vector<check_task> &tasks, const check_options &wanted,
                         const std::string &backend, tally &result)
{
    std::size_t compared = 0, all = 0;
    std::string to_explain;
    bool differs = false;
    for (const std::string &name : names) {
        try {
            const table_of_lab table(t, name, backend);
            verdict_comparison c = table.compared(tasks);
            compared += c.compared, all += table.size();
            check_finding f{fmt::format("{} of {} rows of the table of verdicts are as they were",
                                        c.compared, table.size()),
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
                f.fault = indented(difference_words(c, most_lines));
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
        fmt::print("\nWhere a new verdict is right: ./workbook check LAB --seed 1 --record takes "
                   "over new rows, and changed ones with a reason.\n");
    fmt::print("table of verdicts: {} of {} rows compared\n", compared, all);
}

// By lab, the core-seconds that compiling took.
std::map<std::string, double> compile_all_wrong(const toolchain &t, std::vector<check_task> &tasks,
                                                const std::string &backend)
{
    std::vector<const lab *> labs;
    for (const check_task &work : tasks)
        if (!work.of->test && (labs.empty() || labs.back() != work.of)) labs.push_back(work.of);
    std::vector<double> compiling(labs.size());
    run_all(labs.size(), cores(),
            [&](std::size_t i) { compiling[i] = compile_wrong(t, *labs[i], tasks, backend); });
    std::map<std::string, double> core_seconds;
    for (std::size_t i = 0; i < labs.size(); ++i) core_seconds[labs[i]->name] = compiling[i];
    return core_seconds;
}

} // namespace

int check_command(const toolchain &t, const std::vector<std::string> &words, grade_options options,
                  const check_options &wanted)
{
    std::vector<check_task> tasks;
    std::vector<std::string> targets;
    progress_line progress;
    std::vector<std::string> names = find_labs(words, t.lab_names(true));
    if (names.empty()) throw usage_error("this workbook has no labs yet");
    options.seed = choose_seed(options.seed);
    options.backend = choose_backend(t, lab_called(t, names[0]), options, progress).backend;
    const bool has_table = options.seed == table_seed && options.backend == "sim" &&
                           !is_student_edition(t.source_root);
    if (wanted.record && !has_table)
        throw usage_error("--record needs --seed 1 and the simulator, and the whole workbook: the "
                          "table of verdicts is about these");
    for (const std::string &name : names)
        for (check_task &work : tasks_of(t, lab_called(t, name), options.backend)) {
            for (const std::string &target : grade_targets(t, *work.of, work.what, options.backend))
                targets.push_back(target);
            tasks.push_back(std::move(work));
        }
    if (!wanted.whole && !wanted.record) narrow_to_mistakes(t, tasks, options.backend, true);
    build_targets(t, targets, progress);

    tally result;
    // Two graders on one GPU would spoil each other's times.
    unsigned at_once = options.backend == "gpu" ? 1 : cores() + 1; // some only wait
    note_edition(t);
    progress.say("compiling what is wrong on purpose");
    std::map<std::string, double> core_seconds = compile_all_wrong(t, tasks, options.backend);
    progress.say(fmt::format("checking, seed {}", options.seed));
    auto report = [&](std::size_t i) {
        progress.clear();
        core_seconds[tasks[i].of->name] += tasks[i].cpu_seconds;
        for (const check_finding &f : tasks[i].findings) result.count(tasks[i].of->name, f);
        if (i + 1 < tasks.size())
            progress.say(fmt::format("{}: {} ({}/{})", tasks[i + 1].of->name,
                                     tasks[i + 1].what.name, i + 2, tasks.size()));
    };
    run_all(
        tasks.size(), at_once, [&](std::size_t i) { carry_out(t, tasks[i], options); }, report);
    progress.clear();
    // On a GPU the inputs are larger, and the budget is of GPU seconds.
    if (options.backend == "sim")
        for (const auto &[name, seconds] : core_seconds)
            result.count(name, {fmt::format("took {:.1f} core-seconds, at most {:.0f}", seconds,
                                            most_core_seconds),
                                seconds <= most_core_seconds ? "" : "make its cases smaller"});
    if (has_table) compare_with_tables(t, names, tasks, wanted, options.backend, result);
    if (!result.faults.empty()) fmt::print("\nWhat failed, once more:\n{}", result.faults);
    fmt::print("{} passed, {} failed\n", result.passed, result.failed);
    return result.failed == 0 ? passed : failed;
}

} // namespace cli
