// `check` in a bounded time, for a GPU that is lent for minutes: grades what is new or changed.
#include "check.hpp"

#include "check_report.hpp"
#include "cli/submission/object_cache.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "cli/support/subprocess.hpp"
#include "text/bare_code.hpp"
#include "text/todo.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace cli {

namespace fs = std::filesystem;

namespace {

using steady = std::chrono::steady_clock;

// Gradings in parallel: each has two processes with a CUDA context, which takes half a GB of the
// GPU's memory, and up to a tenth of the machine's memory.
constexpr unsigned max_parallel_gradings = 8;
constexpr std::size_t max_shown = 30; // differences per lab

// Hexadecimal digits of a key's two halves: the submission's sources, and the lab's grader.
constexpr std::size_t half_key = 6;

// Returns the files of a lab that decide a verdict: grader, oracle and naive version.
std::string files_of_lab(const toolchain &t, const lab &l)
{
    std::set<fs::path> files;
    for (const std::string &part : {t.header(l), t.source(l, "naive")})
        for (const fs::directory_entry &e : fs::directory_iterator(fs::path(part).parent_path())) {
            const std::string name = e.path().filename().string(), type = e.path().extension();
            if (type == ".hpp" || (type == ".cpp" && name != "oracle_test.cpp") ||
                name == "naive.cu")
                files.insert(e.path());
        }
    std::string text;
    for (const fs::path &file : files) text += read_text(file.string()) + "\n";
    return text;
}

// Returns the contract and the text of the submission's file, and before a rung's those of the
// rungs below it, from which it has functions, and the headers beside them; naive's is among the
// files of the lab. The functions of devices.hpp are a submission's own, as are those that it
// defines; check.hpp decides no verdict.
std::string sources_of(const toolchain &t, const lab &l, const check_task &work)
{
    std::string text = grading::bare_code(read_text(t.header(l)));
    if (work.as == check_role::rung) {
        std::set<fs::path> below;
        for (const auto &e : fs::directory_iterator(fs::path(work.what.source).parent_path()))
            if (e.path().extension() == ".hpp") below.insert(e.path());
        for (const std::string &name : l.rungs) {
            if (name == work.what.name) break;
            below.insert(t.source(l, name));
        }
        for (const fs::path &file : below) text += grading::bare_code(read_text(file.string()));
    }
    const std::string source = read_text(work.what.source);
    text += grading::bare_code(source);
    if (source.find("\"../devices.hpp\"") != source.npos)
        text += read_text(t.source_root + "/labs/devices.hpp");
    return text;
}

struct listed_case {
    std::string kind, name;
    double points;
};

// Reads a grader's list: "clock          10 points  scale_columns: speed, timed".
std::vector<listed_case> cases_of(const toolchain &t, const lab &l)
{
    exit_result e = run_program({t.grader(l), "--list"});
    if (!e.ok()) throw machine_error(fmt::format("{} --list {}", t.grader(l), e.words()));
    std::vector<listed_case> result;
    for (const std::string &line : lines(e.text)) {
        char kind[16] = {};
        double points = 0;
        int at = 0;
        if (std::sscanf(line.c_str(), "%15s %lf points %n", kind, &points, &at) == 2 && at > 0)
            result.push_back({kind, trimmed(line.substr(std::size_t(at))), points});
    }
    return result;
}

const listed_case *listed(const std::vector<listed_case> &cases, const std::string &name)
{
    auto at = std::ranges::find(cases, name, &listed_case::name);
    return at != cases.end() ? &*at : nullptr;
}

// Returns the case that a GPU judges: for one that counts, that of its clock; empty: the simulator
// alone judges it.
std::string judged_on_gpu(const std::string &name, const std::vector<listed_case> &cases)
{
    const listed_case *c = listed(cases, name);
    if (!c || c->kind != "speed") return name;
    const std::string clock = grading::timed_name_of(name);
    return listed(cases, clock) ? clock : "";
}

// Returns the case of a kind with the most points; empty: there is none.
std::string headline_of(const std::vector<listed_case> &cases, const std::string &kind)
{
    const listed_case *best = nullptr;
    for (const listed_case &c : cases)
        if (c.kind == kind && (!best || c.points > best->points)) best = &c;
    return best ? best->name : "";
}

// The verdicts that a wrong submission may get on a GPU if it can pass there by chance and gets
// `found` on the simulator. Of a race, for instance, a GPU shows only the wrong answer.
std::string verdicts_by_chance(const std::string &found)
{
    if (found == "TOO_SLOW") return "PASS TOO_SLOW";
    std::string verdicts = "PASS " + found;
    for (const char *other : {"NONDETERMINISTIC", "WRONG_ANSWER"}) // a second call shows them
        if (found != other) verdicts += std::string(" ") + other;
    return verdicts;
}

// Restricts a wrong submission to the case that it is about or may pass. If its first lines cannot
// be read, that becomes its finding, and it is not graded. Nothing: a GPU alone judges no such
// case.
std::optional<check_task> narrowed(const toolchain &t, check_task work,
                                   const std::vector<listed_case> &cases,
                                   const std::string &backend)
{
    expectation e;
    try {
        e = expectation_of(t, work, backend);
        if (e.may_pass) {
            e = expectation_of(t, work, "sim");
            work.chance = verdicts_by_chance(fmt::format("{}", fmt::join(e.verdicts, " ")));
        }
    } catch (const machine_error &unreadable) {
        work.findings = {{work.submission(), unreadable.what()}};
        return work;
    }
    work.case_name = backend == "gpu" ? judged_on_gpu(e.case_name, cases) : e.case_name;
    if (work.case_name.empty() && !e.case_name.empty()) return {};
    static const std::vector<std::string> by_clock = {"TIMEOUT", "RESOURCE_LIMIT", "LATE_WRITE"};
    const listed_case *judged = listed(cases, work.case_name);
    const bool timed = work.case_name.empty() || (judged && judged->kind == "clock");
    work.alone = timed || std::ranges::find_first_of(e.verdicts, by_clock) != e.verdicts.end();
    return work;
}

// Returns the speed cases to grade separately: the headline's gate must separate naive from the
// solution, and a filled stub must reach every gate of the clock, since its TODOs lead there.
std::vector<std::string> timed_cases(check_role as, const std::vector<listed_case> &cases,
                                     const std::string &headline, const std::string &backend)
{
    std::vector<std::string> names;
    if ((as == check_role::naive || as == check_role::solution) && !headline.empty())
        names.push_back(headline);
    if (as == check_role::filled && backend == "gpu")
        for (const listed_case &c : cases)
            if (c.kind == "clock") names.push_back(c.name);
    return names;
}

// Plans the gradings of each submission; those of timed cases are separate.
std::vector<check_task> planned(const toolchain &t, const lab &l, const std::string &backend)
{
    const std::vector<listed_case> cases = cases_of(t, l);
    const std::string files = files_of_lab(t, l), clock = l.test ? "" : headline_of(cases, "clock"),
                      headline = backend == "gpu" ? clock : grading::counted_name_of(clock);
    std::vector<check_task> tasks;
    for (check_task &work : tasks_of(t, l, backend)) {
        work.key =
            hashed(sources_of(t, l, work)).substr(0, half_key) + hashed(files).substr(0, half_key);
        if (work.as == check_role::wrong) {
            if (auto one = narrowed(t, work, cases, backend)) tasks.push_back(std::move(*one));
            continue;
        }
        work.only = "correctness";
        tasks.push_back(work);
        for (const std::string &name : timed_cases(work.as, cases, headline, backend)) {
            work.only = "speed";
            work.case_name = name;
            tasks.push_back(work);
        }
    }
    return tasks;
}

// Compares the key of a task with those of its rows. `earlier`: only the lab's grader has changed
// since.
enum class freshness { current, earlier, stale, missing };

freshness freshness_of(const verdict_table &table, const check_task &work)
{
    bool any = false;
    auto found = freshness::current;
    for (const verdict_row &row : table.rows) {
        if (row.submission != work.submission()) continue;
        if (!work.case_name.empty() && row.case_name != work.case_name) continue;
        any = true;
        const bool same_source = row.key.starts_with(work.key.substr(0, half_key));
        const freshness of_row = row.key == work.key ? freshness::current
                                 : same_source       ? freshness::earlier
                                                     : freshness::stale;
        found = std::max(found, of_row);
    }
    return any ? found : freshness::missing;
}

class bounded_check {
public:
    bounded_check(const toolchain &t, const std::vector<std::string> &names,
                  const grade_options &options, const check_options &wanted)
        : t_(t),
          options_(options),
          end_(steady::now() + std::chrono::seconds(wanted.budget)),
          only_due_(wanted.only_due),
          folder_(wanted.tables.empty() ? tables_folder(t) + "/gpu" : wanted.tables)
    {
        fs::create_directories(folder_);
        for (const std::string &name : names) {
            const lab &l = lab_called(t, name);
            tables_.emplace(name, table_of_lab(t, folder_, "gpu", name));
            for (check_task &work : planned(t, l, options.backend)) tasks_.push_back(work);
        }
    }
    int run()
    {
        for (const check_task &w : tasks_) result_.count(w); // tasks that cannot be graded
        grade("solutions", parallel_gradings(), pick([this](const check_task &w) {
                  return is_solution(w) && !is_timed(w) && is_wanted(w);
              }));
        grade("naive and solution, timed", 1, pick([this](const check_task &w) {
                  return is_timed(w) && is_mandatory(w) && is_wanted(w);
              }));
        grade_due("");
        earlier_is_due_ = true;
        grade_due(", again");
        return finish();
    }

private:
    // Grades what the runs before have left, as far as the time goes.
    void grade_due(const std::string &again)
    {
        grade_right("other right ones" + again);
        grade("filled stubs, timed" + again, 1, pick([this](const check_task &w) {
                  return is_timed(w) && !is_mandatory(w) && is_due(w);
              }));
        link_mistakes();
        grade("wrong submissions, side by side" + again, parallel_gradings(),
              pick([this](const check_task &w) { return is_due_mistake(w) && !w.alone; }));
        grade("wrong submissions, alone" + again, 1,
              pick([this](const check_task &w) { return is_due_mistake(w) && w.alone; }));
    }

    using choice = std::function<bool(const check_task &)>;

    std::vector<std::size_t> pick(const choice &chosen) const
    {
        std::vector<std::size_t> result;
        for (std::size_t i = 0; i < tasks_.size(); ++i)
            if (chosen(tasks_[i])) result.push_back(i);
        return result;
    }
    freshness freshness_of_task(const check_task &w) const
    {
        return freshness_of(tables_.at(w.of->name).table(), w);
    }
    static bool is_solution(const check_task &w)
    {
        return w.as == check_role::solution && !w.of->test;
    }
    // True for tasks that every run grades, even if the table has them, unless only_due is set.
    static bool is_mandatory(const check_task &w)
    {
        return is_solution(w) || (is_timed(w) && w.as != check_role::filled);
    }
    static bool is_timed(const check_task &w) { return w.only == "speed"; }
    bool is_over() const { return steady::now() >= end_; }
    unsigned parallel_gradings() const { return std::min(cores(), max_parallel_gradings); }
    // Rows by an earlier grader are due last: the simulator's table tells what that changed.
    bool is_due(const check_task &w) const
    {
        const freshness f = freshness_of_task(w);
        return earlier_is_due_ ? f == freshness::earlier : f > freshness::earlier;
    }
    bool is_wanted(const check_task &w) const
    {
        return !only_due_ || freshness_of_task(w) != freshness::current;
    }
    // True for a wrong submission that is due and not graded yet.
    bool is_due_mistake(const check_task &w) const
    {
        return w.as == check_role::wrong && !w.lacks_mpi && w.findings.empty() && is_due(w);
    }

    // Runs on any thread: the results stay in a copy of the task until report() takes them over.
    check_task carried_out_in_time(std::size_t at) const
    {
        check_task work = tasks_[at];
        if (!is_over()) carry_out(t_, work, options_);
        return work;
    }
    // Prints and saves the result of a grading immediately. Runs on the main thread only, since
    // the table is made from the results of all tasks. The task's other members stay as they are,
    // since workers read them meanwhile.
    void report(std::size_t at, check_task &done)
    {
        check_task &work = tasks_[at];
        work.findings = std::move(done.findings);
        work.got = std::move(done.got);
        result_.count(work);
        if (work.findings.empty()) return;
        const table_of_lab &table = tables_.at(work.of->name);
        table.write(table.compared(tasks_, true));
    }
    void grade(const std::string &what, unsigned max_parallel,
               const std::vector<std::size_t> &which)
    {
        const auto start = steady::now();
        std::vector<check_task> done(which.size());
        parallel_for(
            which.size(), max_parallel,
            [&](std::size_t i) { done[i] = carried_out_in_time(which[i]); },
            [&](std::size_t i) { report(which[i], done[i]); });
        say_time(what, which, start);
    }
    void say_time(const std::string &what, const std::vector<std::size_t> &which,
                  steady::time_point start)
    {
        if (earlier_is_due_ && which.empty()) return;
        auto done = std::ranges::count_if(
            which, [&](std::size_t i) { return !tasks_[i].findings.empty(); });
        fmt::print("-- {}: {} of {} graded in {:.1f} s\n", what, done, which.size(),
                   std::chrono::duration<double>(steady::now() - start).count());
    }

    // Grades the correctness of all other right tasks that are due. The wrong submissions are
    // compiled meanwhile, since grading keeps the GPU busy and compiling the cores.
    void grade_right(const std::string &name)
    {
        const auto start = steady::now();
        std::vector<std::size_t> right = pick([&](const check_task &w) {
            return w.as != check_role::wrong && !is_mandatory(w) && !is_timed(w) && is_due(w);
        });
        std::vector<const lab *> labs;
        for (const check_task &w : tasks_)
            if (!w.of->test && is_due_mistake(w) && (labs.empty() || labs.back() != w.of))
                labs.push_back(w.of);
        // Alternate the two kinds, so that neither waits for all of the other.
        struct job {
            const lab *compiled;     // null: a task is graded
            std::size_t graded = {}; // an index into `right`
        };
        std::vector<job> jobs;
        for (std::size_t i = 0; i < std::max(right.size(), labs.size()); ++i) {
            if (i < labs.size()) jobs.push_back({labs[i]});
            if (i < right.size()) jobs.push_back({nullptr, i});
        }
        std::vector<check_task> done(right.size());
        parallel_for(
            jobs.size(), parallel_gradings(),
            [&](std::size_t i) {
                const auto [compiled, graded] = jobs[i];
                if (!compiled)
                    done[graded] = carried_out_in_time(right[graded]);
                else if (!is_over())
                    compile_due(*compiled);
            },
            [&](std::size_t i) {
                const auto [compiled, graded] = jobs[i];
                if (!compiled) report(right[graded], done[graded]);
            });
        say_time(name, right, start);
    }
    void compile_due(const lab &l)
    {
        std::vector<check_task *> due;
        for (check_task &w : tasks_)
            if (w.of == &l && is_due_mistake(w)) due.push_back(&w);
        compile_batch(t_, l, due, options_.backend);
    }
    // Links each wrong submission to its program, on all cores, while nothing is timed.
    void link_mistakes()
    {
        const auto start = steady::now();
        const std::vector<std::size_t> due =
            pick([this](const check_task &w) { return is_due_mistake(w); });
        parallel_for(due.size(), cores(), [&](std::size_t i) {
            if (!is_over()) build_ahead(t_, tasks_[due[i]], options_.backend);
        });
        if (earlier_is_due_ && due.empty()) return;
        fmt::print("-- {} wrong submissions linked in {:.1f} s\n", due.size(),
                   std::chrono::duration<double>(steady::now() - start).count());
    }

    // A task that every run must grade fails if the time was over before its turn.
    void count_ungraded()
    {
        for (const check_task &w : tasks_)
            if (is_mandatory(w) && is_wanted(w) && w.findings.empty())
                result_.count(w.of->name,
                              {fmt::format("{} {}", w.what.name,
                                           w.case_name.empty() ? "is right" : w.case_name),
                               "not graded: the time was over"});
    }
    void compare_all(const std::string &name)
    {
        const table_of_lab &table = tables_.at(name);
        const verdict_comparison c = table.compared(tasks_, true);
        check_finding f{
            fmt::format("{} rows of the table of verdicts were graded again", c.compared), {}};
        verdict_comparison changed = c;
        changed.differences = c.refused();
        if (!changed.agrees()) f.fault = indented(difference_words(changed, max_shown));
        result_.count(name, f);
        to_explain_ += lines_for_changes(c);
        std::map<freshness, std::size_t> gradings;
        for (const check_task &w : tasks_)
            if (w.of->name == name) ++gradings[freshness_of(c.recorded, w)];
        std::size_t fresh = 0;
        for (const verdict_difference &d : c.differences) fresh += d.before.empty();
        freshness_table_ += fmt::format("{:<20}{:>8}{:>8}{:>10}{:>9}{:>8}{:>9}{:>9}\n", name,
                                        c.recorded.rows.size(), fresh, gradings[freshness::current],
                                        gradings[freshness::earlier], gradings[freshness::stale],
                                        gradings[freshness::missing], c.refused().size());
    }
    int finish()
    {
        count_ungraded();
        for (const auto &[name, table] : tables_) compare_all(name);
        if (!to_explain_.empty())
            fmt::print("\nFor grader/tests/verdicts/changes.csv, each with its reason:\n{}",
                       to_explain_);
        fmt::print("\n{:<20}{:>8}{:>8}{:>10}{:>9}{:>8}{:>9}{:>9}\n{}", "table of verdicts", "rows",
                   "new", "current", "earlier", "stale", "missing", "changed", freshness_table_);
        fmt::print("The tables are in {}\n", folder_);
        return result_.finish();
    }

    const toolchain &t_;
    grade_options options_;
    steady::time_point end_;
    bool only_due_, earlier_is_due_ = false;
    std::string folder_, freshness_table_, to_explain_;
    std::map<std::string, table_of_lab> tables_; // as read at the start
    std::vector<check_task> tasks_;              // for all labs
    check_tally result_;
};

} // namespace

headline headline_cases(const toolchain &t, const lab &l)
{
    const std::vector<listed_case> cases = cases_of(t, l);
    const std::string timed = headline_of(cases, "clock");
    for (const listed_case &c : cases)
        if (c.kind == "speed" && grading::timed_name_of(c.name) == timed) return {timed, c.name};
    return {timed, headline_of(cases, "speed")};
}

int check_within(const toolchain &t, const std::vector<std::string> &names,
                 const grade_options &options, const check_options &wanted)
{
    return bounded_check(t, names, options, wanted).run();
}

} // namespace cli
