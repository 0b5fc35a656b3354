// The tasks of `check`: lists, compiles and grades every submission of ours.
#include "check_tasks.hpp"

#include "cli/results/stub_original.hpp"
#include "cli/submission/batch_compile.hpp"
#include "cli/submission/ninja.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Compiles wrong submissions as C++14, which suffices for them: most of what nvcc compiles in
// these many small files is CUDA's own headers, which are half as long in C++14.
lab compiled_as(const lab &of, check_role as)
{
    lab l = of;
    if (as == check_role::wrong)
        std::ranges::replace(l.nvcc, std::string("-std=c++20"), std::string("-std=c++14"));
    return l;
}

} // namespace

std::string check_task::submission() const
{
    const std::string folder = as == check_role::wrong   ? "wrong/"
                               : as == check_role::right ? "right/"
                                                         : "";
    return folder + what.name + (schedule.empty() ? "" : ", schedule " + schedule);
}

expectation expectation_of(const toolchain &t, const check_task &work, const std::string &backend)
{
    return read_expectation(read_text(work.what.source), t.shown(work.what.source), backend);
}

namespace {

// Empty if the first lines cannot be read or are malformed, which the task's finding says.
std::optional<expectation> stated(const toolchain &t, const check_task &work,
                                  const std::string &backend)
{
    try {
        return expectation_of(t, work, backend);
    } catch (const machine_error &) {
        return {};
    }
}

} // namespace

bool must_hit_limit(const toolchain &t, const check_task &work, const std::string &backend)
{
    const std::optional<expectation> e = stated(t, work, backend);
    return e && std::ranges::any_of(e->verdicts, [](const auto &v) {
               return v == "TIMEOUT" || v == "RESOURCE_LIMIT";
           });
}

bool check_task::has_fault() const
{
    return std::ranges::any_of(findings, [](const check_finding &f) { return !f.fault.empty(); });
}

void narrow_mistakes(const toolchain &t, std::vector<check_task> &tasks, const std::string &backend,
                     bool all_labs)
{
    for (check_task &work : tasks) {
        if (work.as != check_role::wrong) continue;
        const bool stays = work.of->test ? !must_hit_limit(t, work, backend)
                                         : !all_labs && !work.of->slow_mistakes;
        if (stays) continue;
        if (const auto e = stated(t, work, backend)) work.case_name = e->case_name;
    }
}

namespace {

// Groups files into objects, but for those that the build must refuse, which it does only to files
// that are compiled alone, and those with a line "// Alone: WHY": a constructor, for instance, runs
// in each process that has its object. All __constant__ variables of an object share one bank of 64
// KiB, so that only max_with_constants of the files that have some fit together.
std::vector<std::vector<std::string>>
objects_of(const toolchain &t, const std::vector<check_task *> &tasks, const std::string &backend)
{
    constexpr int max_with_constants = 12;
    std::vector<std::vector<std::string>> objects(1);
    int with_constants = 0;
    for (const check_task *work : tasks) {
        if (work->lacks_mpi || !work->schedule.empty()) continue;
        if (work->as == check_role::wrong)
            if (const auto e = stated(t, *work, backend); e && e->case_name == "build") continue;
        const std::string &path = work->what.source, text = read_text(path);
        if (text.find("\n// Alone: ") != text.npos) continue;
        if (text.find("__constant__") != text.npos && ++with_constants > max_with_constants) {
            objects.emplace_back();
            with_constants = 1;
        }
        objects.back().push_back(path);
    }
    return objects;
}

} // namespace

double compile_batch(const toolchain &t, const lab &l, const std::vector<check_task *> &tasks,
                     const std::string &backend)
{
    double cpu_seconds = 0;
    for (const std::vector<std::string> &paths : objects_of(t, tasks, backend)) {
        if (paths.empty()) continue;
        auto objects = compile_together(t, compiled_as(l, tasks[0]->as), paths,
                                        linked_with(backend), cpu_seconds);
        for (check_task *work : tasks)
            if (auto at = objects.find(work->what.source); at != objects.end())
                work->what.object = at->second;
    }
    return cpu_seconds;
}

void build_ahead(const toolchain &t, const check_task &work, const std::string &backend)
{
    const lab l = compiled_as(*work.of, work.as);
    build_submission(t, {&l, work.what.source, linked_with(backend), work.what.object});
}

std::map<std::string, double> compile_all(const toolchain &t, std::vector<check_task> &tasks,
                                          const std::string &backend)
{
    std::vector<const lab *> labs;
    for (const check_task &work : tasks)
        if (work.of->compiled_together && (labs.empty() || labs.back() != work.of))
            labs.push_back(work.of);
    constexpr check_role roles[] = {check_role::right, check_role::wrong};
    std::vector<double> seconds(labs.size() * std::size(roles));
    parallel_for(seconds.size(), cores(), [&](std::size_t i) {
        const lab &l = *labs[i / std::size(roles)];
        std::vector<check_task *> chosen;
        for (check_task &work : tasks)
            if (work.of == &l && work.as == roles[i % std::size(roles)]) chosen.push_back(&work);
        seconds[i] = compile_batch(t, l, chosen, backend);
    });
    std::map<std::string, double> by_lab;
    for (std::size_t i = 0; i < seconds.size(); ++i)
        by_lab[labs[i / std::size(roles)]->name] += seconds[i];
    return by_lab;
}

namespace {

void replace(std::vector<verdict_row> &rows, const verdict_row &by)
{
    for (verdict_row &row : rows)
        if (row.case_name == by.case_name) row = by;
}

// Replaces a verdict that chance decides by the list of possible ones. Any other verdict stays, so
// that it differs from the row in the table.
void state_chance(verdict_row &row, const std::string &verdicts)
{
    if ((" " + verdicts + " ").find(" " + row.verdict + " ") == std::string::npos) return;
    row.verdict = "*" + verdicts;
    row.points.clear();
    row.why = "its file says that it may pass";
}

void grade_into(const toolchain &t, check_task &work, grade_options options)
{
    options.pattern = work.case_name;
    options.only = work.only;
    if (!work.schedule.empty()) options.schedule = work.schedule;
    // Versions of ours keep so far from the limit that a change of weights cannot reach them.
    if (work.as != check_role::wrong) options.work_percent = 50;
    graded g = grade_one(t, compiled_as(*work.of, work.as), work.what, options);
    work.seconds = g.seconds;
    work.cpu_seconds += g.cpu_seconds;
    for (const lab_view &l : labs_of(g.document)) {
        work.findings = judge(t, work, l, options.backend);
        work.got = rows_of(l, work.submission(), options.backend == "sim");
        work.graded = l;
        work.graded->cases.clear(); // they point into the document
    }
    for (verdict_row &row : work.got.rows) {
        row.key = work.key;
        if (!work.chance.empty()) state_chance(row, work.chance);
    }
    // A stub that may be a student's proves nothing about the grader; tables have one schedule.
    const bool skipped = std::ranges::any_of(
        work.findings, [](const check_finding &f) { return !f.skipped.empty(); });
    if (skipped || !work.schedule.empty()) work.got.how = graded_submission::not_at_all;
}

} // namespace

void carry_out(const toolchain &t, check_task &work, grade_options options)
{
    if (work.lacks_mpi) {
        work.findings = {{work.submission(), "", "it uses Open MPI, which is not here"}};
        return;
    }
    try {
        grade_into(t, work, options);
        // An earlier case, by never ending for instance, may decide the case that this is about.
        std::string about;
        if (work.as == check_role::wrong && work.whole() && work.has_fault())
            about = expectation_of(t, work, options.backend).case_name;
        if (!about.empty()) {
            check_task alone = work;
            alone.case_name = about;
            alone.cpu_seconds = 0; // counts this grading; `work` has the first one's
            grade_into(t, alone, options);
            work.findings = alone.findings;
            work.cpu_seconds += alone.cpu_seconds;
            for (const verdict_row &row : alone.got.rows) replace(work.got.rows, row);
        }
        if (work.findings.empty()) work.findings = {{work.what.name, "there is no result"}};
    } catch (const machine_error &e) {
        work.findings = {{work.what.name, e.what()}};
    }
}

namespace {

check_task stub_task(const toolchain &t, const lab &l)
{
    original_file stub = original_of(t, t.stub(l));
    check_task work{&l, check_role::stub, stub_of(t, l)};
    work.what.source = stub.path;
    work.edited = stub.edited;
    work.known = stub.known;
    return work;
}

std::vector<std::string> sources_in(const std::string &folder)
{
    std::vector<std::string> paths;
    if (fs::is_directory(folder))
        for (const fs::directory_entry &e : fs::directory_iterator(folder))
            if (e.path().extension() == ".cu") paths.push_back(e.path().string());
    std::ranges::sort(paths);
    return paths;
}

// Returns the schedules that a line of the first comment names, "// Schedules: late random", in a
// right submission whose streams, host threads or blocks wait for each other.
std::vector<std::string> schedules_in(const std::string &source)
{
    const std::string begin = "// Schedules: ";
    for (const std::string &line : lines(source)) {
        if (!line.starts_with("//")) break;
        if (line.starts_with(begin)) return words_between_blanks(line.substr(begin.size()));
    }
    return {};
}

} // namespace

std::vector<check_task> tasks_of(const toolchain &t, const lab &l, const std::string &backend)
{
    std::vector<check_task> tasks;
    auto add = [&](check_role as, subject what) { tasks.push_back({&l, as, std::move(what)}); };
    add(check_role::naive, implementation_of(t, l, "naive"));
    if (l.has_library(backend)) add(check_role::library, implementation_of(t, l, "library"));
    if (l.solutions) {
        for (const std::string &name : l.rungs)
            add(check_role::rung, implementation_of(t, l, name));
        add(check_role::solution, implementation_of(t, l, "solution"));
        if (!l.test) add(check_role::filled, file_of(t.source(l, "filled")));
    }
    if (fs::exists(t.stub(l))) tasks.push_back(stub_task(t, l));
    for (const auto &[as, folder] :
         {std::pair(check_role::right, "right"), std::pair(check_role::wrong, "wrong")})
        for (const std::string &path : sources_in(t.folder_of(l, folder))) {
            const std::string text = read_text(path);
            add(as, file_of(path));
            tasks.back().lacks_mpi = l.mpirun.empty() && text.find("#include <mpi.h>") != text.npos;
            if (as != check_role::right || backend != "sim") continue;
            const check_task usual = tasks.back();
            for (const std::string &schedule : schedules_in(text)) {
                tasks.push_back(usual);
                tasks.back().schedule = schedule;
            }
        }
    for (check_task &work : tasks) work.got.submission = work.submission();
    return tasks;
}

} // namespace cli
