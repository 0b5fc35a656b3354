// The check command: the grader graded on implementations whose verdicts are known.
#include "check.hpp"

#include "edition.hpp"
#include "errors.hpp"
#include "expectation.hpp"
#include "files.hpp"
#include "lab_names.hpp"
#include "original.hpp"
#include "pool.hpp"
#include "process.hpp"
#include "together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr double most_core_seconds = 100; // a lab

enum class role { naive, library, rung, solution, stub, filled, wrong };

struct finding {
    std::string what;         // "naive is right"
    std::string fault;        // empty: it holds
    std::string skipped = {}; // why nobody can tell whether it holds; empty: it was tried
};

struct task {
    const lab *of;
    role as;
    subject what;
    bool edited = false;    // a stub: the file in the tree is a student's, another one is graded
    bool known = true;      // whether git says so
    bool lacks_mpi = false; // it cannot be compiled here, and the lab can do without
    std::vector<finding> findings = {};
    double cpu_seconds = 0;
};

std::string failures(const lab_view &l, bool (*counts)(const case_view &))
{
    std::string result;
    for (const case_view &c : l.cases)
        if (counts(c) && !c.passed() && c.verdict != "SKIPPED")
            result += fmt::format("{}{}  {}: {}", result.empty() ? "" : "\n      ", c.verdict,
                                  c.name, c.message);
    return result;
}

bool any_case(const case_view &) { return true; }
bool correctness(const case_view &c)
{
    // A speed case whose answer is wrong is no question of speed.
    static const std::vector<std::string> about_speed = {"PASS", "TOO_SLOW", "INCONCLUSIVE"};
    return c.kind != "speed" ||
           std::find(about_speed.begin(), about_speed.end(), c.verdict) == about_speed.end();
}

std::string any_right(const lab_view &l)
{
    bool some = std::any_of(l.cases.begin(), l.cases.end(), [](const case_view &c) {
        return c.kind == "correctness" && c.passed();
    });
    return some ? "" : "no correctness case was graded";
}

double required_of(const json &c, const char *gate)
{
    auto at = c.find(gate);
    return at != c.end() && at->is_object() && at->contains("required") &&
                   at->at("required").is_number()
               ? at->at("required").get<double>()
               : 0;
}

bool has_gate(const case_view &c, const std::string &backend)
{
    if (c.kind != "speed" || c.verdict == "SKIPPED") return false;
    bool timed = required_of(*c.whole, "speedup") > 0 || required_of(*c.whole, "fraction") > 0;
    if (backend == "gpu" && timed) return true;
    return c.whole->contains("counters") && !c.whole->at("counters").empty();
}

// Such a gate holds back others than naive, and a file in wrong/ shows whom.
bool naive_may_pass(const case_view &c) { return c.whole->value("naive_may_pass", false); }

// Every other gate must hold naive back, or it gates nothing.
finding gates_separate(const lab_view &naive, const std::string &backend)
{
    finding f{"naive misses every speed gate that the solution must reach", {}};
    bool any = false;
    for (const case_view &c : naive.cases) {
        any = any || has_gate(c, backend);
        if (has_gate(c, backend) && c.passed() && !naive_may_pass(c))
            f.fault += fmt::format("{}{} passes", f.fault.empty() ? "" : "; ", c.name);
    }
    if (!any) f.fault = "no speed case has a gate";
    return f;
}

std::string stub_fault(const toolchain &t, const task &work, const lab_view &l,
                       const std::string &backend)
{
    std::string source = read_text(work.what.source);
    if (states_expectation(source))
        return unmet(read_expectation(source, t.shown(work.what.source), backend), l);
    if (l.status != "fail") return fmt::format("its status is {}", l.status);
    for (const case_view &c : l.cases)
        if (!c.passed() && c.verdict != "NOT_WRITTEN" && c.verdict != "SKIPPED")
            return fmt::format("{}  {}: {}", c.verdict, c.name, c.message);
    return {};
}

finding judge_stub(const toolchain &t, const task &work, const lab_view &l,
                   const std::string &backend)
{
    finding f{"stub compiles and is not written", stub_fault(t, work, l, backend)};
    std::string file = t.shown(t.stub(*work.of));
    if (work.edited) f.what += fmt::format(" (the one git has: {} was edited)", file);
    if (!work.known && !f.fault.empty()) {
        f.fault.clear();
        f.skipped = file + " was edited, and without git nobody has the original";
    }
    return f;
}

// A student who solves the stub adds lines to it and needs to change none.
finding judge_filled(const toolchain &t, const task &work, const std::string &wrong)
{
    std::string lost = line_not_kept(read_text(original_of(t, t.stub(*work.of)).path),
                                     read_text(work.what.source));
    if (!lost.empty()) lost = fmt::format("it does not keep the stub's line \"{}\"", lost);
    return {"filled only adds lines to the stub, and is right", lost.empty() ? wrong : lost};
}

std::vector<finding> judge(const toolchain &t, const task &work, const lab_view &l,
                           const std::string &backend)
{
    std::string right = wrong_answers(l);
    switch (work.as) {
    case role::naive:
        // Labs that prove the machinery need no race.
        if (work.of->test) return {{"naive is right", right}};
        return {{"naive is right", right}, gates_separate(l, backend)};
    case role::library:
    case role::rung:
        return {{work.what.name + " is right", right}};
    case role::solution: {
        std::string fault = failures(l, any_case);
        return {{"solution passes everything", fault.empty() ? any_right(l) : fault}};
    }
    case role::stub:
        return {judge_stub(t, work, l, backend)};
    case role::filled:
        return {judge_filled(t, work, right)};
    case role::wrong: {
        expectation e =
            read_expectation(read_text(work.what.source), t.shown(work.what.source), backend);
        std::string gets = e.passes     ? "passes here"
                           : e.may_pass ? "may pass here"
                                        : fmt::format("{} in {}", e.verdict, e.case_name);
        return {{fmt::format("wrong/{}: {}", work.what.name, gets), unmet(e, l)}};
    }
    }
    return {};
}

// The case that a wrong submission is about; empty: all are graded. The test labs' are graded
// whole, to see that the cases after a disaster still are, but for those where each runs into its
// deadline.
std::string only_case(const toolchain &t, const task &work, const std::string &backend)
{
    if (work.as != role::wrong) return {};
    expectation e =
        read_expectation(read_text(work.what.source), t.shown(work.what.source), backend);
    bool slow = e.verdict == "TIMEOUT" || e.verdict == "RESOURCE_LIMIT";
    return e.passes || (work.of->test && !slow) ? "" : e.case_name;
}

// Most of what nvcc compiles in the many small wrong submissions is what CUDA includes by itself:
// as C++14 that is half as much, and none of them needs more.
lab compiled_as(const lab &of, role as)
{
    lab l = of;
    if (as == role::wrong)
        std::replace(l.nvcc.begin(), l.nvcc.end(), std::string("-std=c++20"),
                     std::string("-std=c++14"));
    return l;
}

// A lab's wrong submissions, compiled at once. Those of the test labs do what no compiler, linker
// or process likes, each in its own way: they are compiled alone.
double compile_wrong(const toolchain &t, const lab &l, std::vector<task> &tasks,
                     const std::string &backend)
{
    std::vector<std::string> paths;
    for (const task &work : tasks)
        if (work.of == &l && work.as == role::wrong && !work.lacks_mpi)
            paths.push_back(work.what.source);
    double cpu_seconds = 0;
    auto objects =
        compile_together(t, compiled_as(l, role::wrong), paths, linked_with(backend), cpu_seconds);
    for (task &work : tasks)
        if (auto at = objects.find(work.what.source); work.of == &l && at != objects.end())
            work.what.object = at->second;
    return cpu_seconds;
}

void carry_out(const toolchain &t, task &work, grade_options options)
{
    if (work.lacks_mpi) {
        work.findings = {{"wrong/" + work.what.name, "", "it uses Open MPI, which is not here"}};
        return;
    }
    try {
        options.pattern = only_case(t, work, options.backend);
        graded g = grade_one(t, compiled_as(*work.of, work.as), work.what, options, false);
        work.cpu_seconds = g.cpu_seconds;
        for (const lab_view &l : labs_of(g.document))
            work.findings = judge(t, work, l, options.backend);
        if (work.findings.empty()) work.findings = {{work.what.name, "there is no result"}};
    } catch (const machine_error &e) {
        work.findings = {{work.what.name, e.what()}};
    }
}

task stub_task(const toolchain &t, const lab &l)
{
    original_file stub = original_of(t, t.stub(l));
    task work{&l, role::stub, stub_of(t, l)};
    work.what.source = stub.path;
    work.edited = stub.edited;
    work.known = stub.known;
    return work;
}

std::vector<task> tasks_of(const toolchain &t, const lab &l, const std::string &backend)
{
    std::vector<task> tasks;
    auto add = [&](role as, subject what) { tasks.push_back({&l, as, std::move(what)}); };
    add(role::naive, implementation_of(t, l, "naive"));
    if (l.has_library(backend)) add(role::library, implementation_of(t, l, "library"));
    if (l.solutions) {
        for (const std::string &name : l.rungs) add(role::rung, implementation_of(t, l, name));
        add(role::solution, implementation_of(t, l, "solution"));
        if (!l.test) add(role::filled, file_of(t.source(l, "filled")));
    }
    if (fs::exists(t.stub(l))) tasks.push_back(stub_task(t, l));
    std::vector<std::string> wrong;
    if (fs::is_directory(t.wrong_folder(l)))
        for (const fs::directory_entry &e : fs::directory_iterator(t.wrong_folder(l)))
            if (e.path().extension() == ".cu") wrong.push_back(e.path().string());
    std::sort(wrong.begin(), wrong.end());
    for (const std::string &path : wrong) {
        add(role::wrong, file_of(path));
        tasks.back().lacks_mpi =
            l.mpirun.empty() && read_text(path).find("#include <mpi.h>") != std::string::npos;
    }
    return tasks;
}

struct tally {
    std::size_t passed = 0, failed = 0;
    std::string faults; // once more at the end, where the tail of a log has them
    void count(const std::string &lab, const finding &f)
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
        fmt::print("skip  worked solutions, mistakes and filled stubs\n"
                   "      this is the student edition, which does not have them\n");
}

} // namespace

std::string wrong_answers(const lab_view &l)
{
    std::string wrong = failures(l, correctness);
    return wrong.empty() ? any_right(l) : wrong;
}

int check_command(const toolchain &t, const std::vector<std::string> &words, grade_options options)
{
    std::vector<task> tasks;
    std::vector<std::string> targets;
    progress_line progress;
    std::vector<std::string> names = find_labs(words, t.lab_names(true));
    if (names.empty()) throw usage_error("this workbook has no labs yet");
    options.seed = choose_seed(options.seed);
    options.backend = choose_backend(t, lab_called(t, names[0]), options, progress).backend;
    for (const std::string &name : names)
        for (task &work : tasks_of(t, lab_called(t, name), options.backend)) {
            for (const std::string &target : grade_targets(t, *work.of, work.what, options.backend))
                targets.push_back(target);
            tasks.push_back(std::move(work));
        }
    build_targets(t, targets, progress);

    tally result;
    std::map<std::string, double> core_seconds;
    // Two graders on one GPU would spoil each other's times.
    unsigned at_once = options.backend == "gpu" ? 1 : cores() + 1; // some only wait
    note_edition(t);
    progress.say("compiling what is wrong on purpose");
    std::vector<const lab *> labs;
    for (const task &work : tasks)
        if (!work.of->test && (labs.empty() || labs.back() != work.of)) labs.push_back(work.of);
    std::vector<double> compiling(labs.size());
    run_all(labs.size(), cores(), [&](std::size_t i) {
        compiling[i] = compile_wrong(t, *labs[i], tasks, options.backend);
    });
    for (std::size_t i = 0; i < labs.size(); ++i) core_seconds[labs[i]->name] = compiling[i];
    progress.say(fmt::format("checking, seed {}", options.seed));
    auto report = [&](std::size_t i) {
        progress.clear();
        core_seconds[tasks[i].of->name] += tasks[i].cpu_seconds;
        for (const finding &f : tasks[i].findings) result.count(tasks[i].of->name, f);
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
    if (!result.faults.empty()) fmt::print("\nWhat failed, once more:\n{}", result.faults);
    fmt::print("{} passed, {} failed\n", result.passed, result.failed);
    return result.failed == 0 ? passed : failed;
}

} // namespace cli
