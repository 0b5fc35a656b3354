// The tasks of `check`: grades every submission of ours, and judges the verdicts it gets.
#include "check_tasks.hpp"

#include "check.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/results/student_edition.hpp"
#include "cli/submission/batch_compile.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "cli/support/subprocess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

namespace cli {

namespace fs = std::filesystem;

namespace {

std::string failures(const lab_view &l, const std::function<bool(const case_view &)> &counts)
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
    // A speed case with a wrong answer counts as incorrect, not as slow.
    static const std::vector<std::string> about_speed = {"PASS", "TOO_SLOW", "INCONCLUSIVE"};
    return c.kind != "speed" ||
           std::find(about_speed.begin(), about_speed.end(), c.verdict) == about_speed.end();
}

// Returns the functions that are not written at all: all their cases, except skipped ones, say so.
std::set<std::string> not_begun(const lab_view &l)
{
    std::set<std::string> functions;
    for (const case_view &c : l.cases)
        if (c.verdict == "NOT_WRITTEN") functions.insert(function_of(c.name));
    for (const case_view &c : l.cases)
        if (c.verdict != "NOT_WRITTEN" && c.verdict != "SKIPPED")
            functions.erase(function_of(c.name));
    return functions;
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

// True for a gate that is meant to fail other code than naive; a file in wrong/ is an example.
bool naive_may_pass(const case_view &c) { return c.whole->value("naive_may_pass", false); }

// Naive must fail every other gate, or the gate is useless.
check_finding gates_separate(const lab_view &naive, const std::string &backend)
{
    check_finding f{"naive misses every speed gate that the solution must reach", {}};
    bool any = false;
    for (const case_view &c : naive.cases) {
        any = any || has_gate(c, backend);
        if (has_gate(c, backend) && c.passed() && !naive_may_pass(c))
            f.fault += fmt::format("{}{} passes", f.fault.empty() ? "" : "; ", c.name);
    }
    if (!any) f.fault = "no speed case has a gate";
    return f;
}

std::string stub_fault(const toolchain &t, const check_task &work, const lab_view &l,
                       const std::string &backend)
{
    if (states_expectation(read_text(work.what.source)))
        return unmet(expectation_of(t, work, backend), l);
    if (l.status != "fail") return fmt::format("its status is {}", l.status);
    for (const case_view &c : l.cases)
        if (!c.passed() && c.verdict != "NOT_WRITTEN" && c.verdict != "SKIPPED")
            return fmt::format("{}  {}: {}", c.verdict, c.name, c.message);
    return {};
}

check_finding judge_stub(const toolchain &t, const check_task &work, const lab_view &l,
                         const std::string &backend)
{
    check_finding f{"stub compiles and is not written", stub_fault(t, work, l, backend)};
    std::string file = t.shown(t.stub(*work.of));
    if (work.edited) f.what += fmt::format(" (the one git has: {} was edited)", file);
    if (!work.known && !f.fault.empty()) {
        f.fault.clear();
        f.skipped = file + " was edited, and without git nobody has the original";
    }
    return f;
}

// The vendor's version may rely on more than the contract promises. Its first lines then name the
// case in which that shows; it must be right in all others.
check_finding judge_library(const toolchain &t, const check_task &work, const lab_view &l,
                            const std::string &backend)
{
    if (states_expectation(read_text(work.what.source))) {
        const expectation e = expectation_of(t, work, backend);
        if (!e.passes && !e.may_pass) {
            std::string fault = failures(
                l, [&](const case_view &c) { return correctness(c) && c.name != e.case_name; });
            if (fault.empty()) fault = any_right(l);
            return {fmt::format("{} is right, but for {} in {}", work.what.name, e.verdict,
                                e.case_name),
                    fault.empty() ? unmet(e, l) : fault};
        }
    }
    return {work.what.name + " is right", wrong_answers(l)};
}

// A student who solves the stub adds lines to it and needs to change none.
check_finding judge_filled(const toolchain &t, const check_task &work, const std::string &wrong)
{
    std::string lost = line_not_kept(read_text(original_of(t, t.stub(*work.of)).path),
                                     read_text(work.what.source));
    if (!lost.empty()) lost = fmt::format("it does not keep the stub's line \"{}\"", lost);
    return {"filled only adds lines to the stub, and is right", lost.empty() ? wrong : lost};
}

// Judges one speed case that was graded alone: naive must fail it, other implementations pass.
check_finding judge_speed(const check_task &work, const lab_view &l)
{
    const bool slow = work.as == check_role::naive;
    check_finding f{
        fmt::format("{} {} {}", work.what.name, slow ? "misses" : "reaches", work.case_name), {}};
    for (const case_view &c : l.cases) {
        if (c.verdict == "SKIPPED") f.skipped = c.message;
        const bool lacks_speed =
            c.verdict == "TOO_SLOW" || c.verdict == "INCONCLUSIVE" || c.verdict == "TIMEOUT";
        const bool holds = slow ? lacks_speed || naive_may_pass(c) : c.passed();
        if (holds || c.verdict == "SKIPPED") continue;
        f.fault = fmt::format("{}  {}: {}", c.verdict, c.name, c.message);
    }
    if (l.cases.empty()) f.fault = "it was not graded";
    return f;
}

std::vector<check_finding> judge(const toolchain &t, const check_task &work, const lab_view &l,
                                 const std::string &backend)
{
    std::string right = wrong_answers(l);
    if (work.only == "speed") return {judge_speed(work, l)};
    switch (work.as) {
    case check_role::naive:
        // Test labs need no gates that naive fails.
        if (work.of->test || !work.whole()) return {{"naive is right", right}};
        return {{"naive is right", right}, gates_separate(l, backend)};
    case check_role::library:
        return {judge_library(t, work, l, backend)};
    case check_role::rung:
        return {{work.what.name + " is right", right}};
    case check_role::solution: {
        std::string fault = failures(l, any_case);
        return {{"solution passes everything", fault.empty() ? any_right(l) : fault}};
    }
    case check_role::stub:
        return {judge_stub(t, work, l, backend)};
    case check_role::filled:
        return {judge_filled(t, work, right)};
    case check_role::right: {
        const std::set<std::string> left_out = not_begun(l);
        std::string fault = failures(l, [&](const case_view &c) {
            return !left_out.count(function_of(c.name)) && (work.only.empty() || correctness(c));
        });
        if (fault.empty()) fault = any_right(l);
        return {{work.submission() + ": passes everything", fault}};
    }
    case check_role::wrong: {
        expectation e = expectation_of(t, work, backend);
        std::string gets = e.passes     ? "passes here"
                           : e.may_pass ? "may pass here"
                                        : fmt::format("{} in {}", e.verdict, e.case_name);
        return {{fmt::format("wrong/{}: {}", work.what.name, gets), unmet(e, l)}};
    }
    }
    return {};
}

// Compiles wrong submissions as C++14, which suffices for them: most of what nvcc compiles in
// these many small files is CUDA's own headers, which are half as long in C++14.
lab compiled_as(const lab &of, check_role as)
{
    lab l = of;
    if (as == check_role::wrong)
        std::replace(l.nvcc.begin(), l.nvcc.end(), std::string("-std=c++20"),
                     std::string("-std=c++14"));
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

bool must_hit_limit(const toolchain &t, const check_task &work, const std::string &backend)
{
    try {
        const std::string verdict = expectation_of(t, work, backend).verdict;
        return verdict == "TIMEOUT" || verdict == "RESOURCE_LIMIT";
    } catch (const machine_error &) { // its finding says so
        return false;
    }
}

bool check_task::has_fault() const
{
    return std::any_of(findings.begin(), findings.end(),
                       [](const check_finding &f) { return !f.fault.empty(); });
}

void narrow_mistakes(const toolchain &t, std::vector<check_task> &tasks, const std::string &backend,
                     bool all_labs)
{
    for (check_task &work : tasks) {
        if (work.as != check_role::wrong) continue;
        const bool stays = work.of->test ? !must_hit_limit(t, work, backend)
                                         : !all_labs && !work.of->slow_mistakes;
        if (stays) continue;
        try {
            work.case_name = expectation_of(t, work, backend).case_name;
        } catch (const machine_error &) { // its finding says so
        }
    }
}

namespace {

// Groups files into objects. The files of an object share 64 KiB of constant memory, so that only
// max_with_constants of those that use it fit together.
std::vector<std::vector<std::string>> objects_of(const std::vector<check_task *> &tasks)
{
    constexpr int max_with_constants = 12;
    std::vector<std::vector<std::string>> objects(1);
    int with_constants = 0;
    for (const check_task *work : tasks) {
        if (work->lacks_mpi || !work->schedule.empty()) continue;
        const std::string &path = work->what.source;
        if (read_text(path).find("__constant__") != std::string::npos &&
            ++with_constants > max_with_constants) {
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
    for (const std::vector<std::string> &paths : objects_of(tasks)) {
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
        if (!work.of->test && (labs.empty() || labs.back() != work.of)) labs.push_back(work.of);
    constexpr check_role roles[] = {check_role::right, check_role::wrong};
    std::vector<double> seconds(labs.size() * std::size(roles));
    run_all(seconds.size(), cores(), [&](std::size_t i) {
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

std::string case_of_mistake(const toolchain &t, const check_task &work, const std::string &backend)
{
    if (work.as != check_role::wrong) return {};
    return expectation_of(t, work, backend).case_name;
}

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
    graded g = grade_one(t, compiled_as(*work.of, work.as), work.what, options);
    work.seconds = g.seconds;
    work.cpu_seconds += g.cpu_seconds;
    for (const lab_view &l : labs_of(g.document)) {
        work.findings = judge(t, work, l, options.backend);
        work.got = rows_of(l, work.submission(), options.backend == "gpu");
    }
    for (verdict_row &row : work.got.rows) {
        row.key = work.key;
        if (!work.chance.empty()) state_chance(row, work.chance);
    }
    // A stub that may be a student's proves nothing about the grader; tables have one schedule.
    const bool skipped = std::any_of(work.findings.begin(), work.findings.end(),
                                     [](const check_finding &f) { return !f.skipped.empty(); });
    if (skipped || !work.schedule.empty())
        work.got = {work.submission(), graded_submission::not_at_all, {}};
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
        std::string about = work.whole() ? case_of_mistake(t, work, options.backend) : "";
        if (!about.empty() && work.has_fault()) {
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
    std::sort(paths.begin(), paths.end());
    return paths;
}

bool uses_mpi(const std::string &path)
{
    return read_text(path).find("#include <mpi.h>") != std::string::npos;
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
            add(as, file_of(path));
            tasks.back().lacks_mpi = l.mpirun.empty() && uses_mpi(path);
            if (as != check_role::right || backend != "sim") continue;
            const check_task usual = tasks.back();
            for (const std::string &schedule : schedules_in(read_text(path))) {
                tasks.push_back(usual);
                tasks.back().schedule = schedule;
            }
        }
    for (check_task &work : tasks) work.got.submission = work.submission();
    return tasks;
}

std::string wrong_answers(const lab_view &l)
{
    std::string wrong = failures(l, correctness);
    return wrong.empty() ? any_right(l) : wrong;
}

} // namespace cli
