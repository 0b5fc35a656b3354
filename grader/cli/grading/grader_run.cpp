// Runs a lab's grader on one implementation.
#include "grader_run.hpp"

#include "cli/results/student_edition.hpp"
#include "cli/submission/ninja.hpp"
#include "cli/submission/submission.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "cli/support/subprocess.hpp"
#include "cli/support/waitable_flag.hpp"
#include "cli/terminal/text.hpp"
#include "grade_on_both.hpp"
#include "speed/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <future>
#include <optional>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

// If the folder cannot be made, warns and returns nothing: the verdict does not need it.
std::string made_replay_folder(const toolchain &t, const subject &what, const std::string &backend)
{
    const std::string folder = replay_folder(t, what, backend);
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (!problem) return folder;
    fmt::print(stderr, "Failed calls are not kept to be repeated: {}\n",
               cannot_write(folder, problem.value()));
    return {};
}

// The grader's request; its fields are described in runner/grading_request.hpp.
json request_of(const toolchain &t, const lab &l, const subject &what, const std::string &worker,
                const grade_options &options, const std::string &result_file)
{
    json r = {{"backend", options.backend},
              {"worker", worker},
              {"naive", t.program(l, "naive", options.backend)},
              {"submission", what.name},
              {"source", t.shown(what.source)},
              {"seed", options.seed},
              {"result", result_file},
              {"work_percent", options.work_percent},
              {"processes", options.processes}};
    auto add = [&](const char *field, const std::string &value) {
        if (!value.empty()) r[field] = value;
    };
    // The vendor's version would take time between the pairs, which nobody asks about.
    if (options.backend == "gpu" && l.library && options.pairs_file.empty())
        r["library"] = t.program(l, "library", "gpu");
    add("pairs", options.pairs_file);
    if (options.record_pairs > 0) r["record_pairs"] = options.record_pairs;
    if (options.backend == "gpu" && !options.every_gate && !l.test) {
        r["gates"] = gates_folder;
        r["contract"] = contract_of(t, l);
    }
    if (options.backend == "gpu") add("clock_lock", options.clock_lock);
    if (options.backend == "gpu") add("simulator_lock", options.simulator_lock);
    add("held_back_seed", options.held_back_seed);
    add("mpirun", l.mpirun);
    if (options.replays) add("replays", made_replay_folder(t, what, options.backend));
    if (options.every_replay && options.backend == "gpu") r["keep_replays"] = true;
    add("pictures", options.picture_folder);
    add("case", options.pattern);
    add("schedule", options.schedule);
    add("kind", options.only);
    add("counters", options.counters_file);
    if (options.backend == "sim") add("naive_counters", options.naive_counters);
    // The vendor's libraries lie in folders that the sandbox does not show.
    if (what.ours && what.name == "library") r["sandbox"] = false;
    if (options.require_sandbox) r["require_sandbox"] = true;
    return r;
}

// Returns the result for a grader that ended unexpectedly or left no valid result.
graded fault(const lab &l, const subject &what, const exit_result &e, const std::string &why)
{
    graded g;
    g.status = infrastructure;
    std::string said = sanitized(e.text, 4000);
    if (e.what == exit_result::signalled && e.status == SIGXFSZ)
        said += "A file may not become as large here as the grader needs it: raise the limit "
                "(ulimit -f).";
    g.document = grader_fault(l.name, what.name,
                              fmt::format("the grader of {} {}{}", l.name, why,
                                          said.empty() ? "" : ". It said:\n" + said));
    return g;
}

// A value may be missing only because code for another TODO is not written yet: such a case asks
// for that code first.
void excuse_unwritten_steps(const toolchain &t, const lab &l, const subject &what, json &cases)
{
    std::optional<todo_list> todos; // read at need, since each reading runs git twice
    for (json &c : cases) {
        if (text_at(c, "verdict") != "UNINITIALISED") continue;
        if (!todos) todos = todos_of(t, l, what);
        if (!todos->waits_for_others(text_at(c, "name"), int(number_at(c, "line")))) continue;
        c.erase("line"); // the line itself is right
        c["hint"] = "What is read there must be written first, and that is not done yet.";
    }
}

graded read_result(const toolchain &t, const lab &l, const subject &what,
                   const std::vector<std::string> &warnings, const exit_result &e,
                   const std::string &path)
{
    graded g;
    g.said = sanitized(e.text, 64 << 10);
    g.status = e.status;
    const bool exited = e.what == exit_result::exited;
    if (exited && e.status == wrong_usage) return g; // --case names no case of this lab
    if (exited && e.status == nothing_graded && !fs::exists(path)) {
        g.document = skipped_lab(l.name, what.name, g.said, points_offered(t, l));
        return g;
    }
    const bool expected = exited && (e.status == passed || e.status == failed ||
                                     e.status == nothing_graded || e.status == infrastructure);
    if (!expected) return fault(l, what, e, e.words());
    if (!fs::exists(path))
        return fault(l, what, e, fmt::format("{} and wrote no result", e.words()));
    g.document = json::parse(read_text(path), nullptr, false);
    const std::string wrong = invalid(g.document);
    if (!wrong.empty()) return fault(l, what, e, fmt::format("wrote a result that {}", wrong));
    g.from_grader = true;
    json &lab = g.document["labs"][0];
    if (!warnings.empty()) lab["warnings"] = warnings;
    if (const double left_out = held_back_from_edition(t.source_root, l.name); left_out > 0)
        lab["held_back"] = {{"points", 0}, {"max_points", left_out}, {"open_points", left_out}};
    excuse_unwritten_steps(t, l, what, lab["cases"]);
    return g;
}

// Has the result name the file that was graded, so that an appeal can tell if it has the same.
void name_file(json &document, const std::string &sha256)
{
    if (sha256.empty() || !document.contains("labs")) return;
    for (json &l : document["labs"]) l["sha256"] = sha256;
}

// Starts the grader, and returns its messages as the text of its exit. It is ended as soon as
// `cancel_fd` is readable; -1: there is none. `on_result` is called with what it will return once
// the result is written: the grader then only ends its workers.
exit_result answer_to(const json &request, const toolchain &t, const lab &l,
                      std::chrono::seconds limit, const grade_progress &progress,
                      int cancel_fd = -1,
                      const std::function<void(const exit_result &)> &on_result = {})
{
    const auto start = std::chrono::steady_clock::now();
    child c;
    c.cancel_fd = cancel_fd;
    c.arguments = {t.grader(l)};
    c.input = request.dump();
    c.folder = t.source_root;
    c.wall = limit;
    c.keep = 0;
    // A grader writes {"cases":N}, then a line per finished case, then {"status":N}; its other
    // lines are messages.
    constexpr std::string_view count = "{\"cases\":", finished = "{\"case\":",
                               status = "{\"status\":";
    int done = 0, cases = 0;
    bool told = false; // then whoever waits for progress may be gone
    std::string messages;
    auto number = [](std::string_view line, std::string_view after, int &n) {
        std::from_chars(line.data() + after.size(), line.data() + line.size(), n);
    };
    c.each_line = [&](std::string_view line) {
        if (line.starts_with(count)) {
            number(line, count, cases);
            if (progress) progress(done, cases);
        } else if (line.starts_with(finished)) {
            if (progress && !told) progress(++done, cases);
        } else if (line.starts_with(status)) {
            if (!on_result || std::exchange(told, true)) return;
            exit_result e{.what = exit_result::exited, .text = messages};
            number(line, status, e.status);
            e.seconds =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            on_result(e);
        } else {
            messages += std::string(line) + "\n";
        }
    };
    exit_result e = run(c);
    if (e.what == exit_result::not_started)
        throw machine_error(fmt::format("{} {}", t.grader(l), e.words()));
    e.text = std::move(messages);
    return e;
}

// A grader on a GPU locks a file of its own for its clock, if it is given none.
void add_clock(grade_options &options, const scratch_folder &scratch)
{
    if (options.backend != "gpu" || !options.clock_lock.empty()) return;
    options.clock_lock = scratch.path() + "/clock";
    write_atomically(options.clock_lock, "");
}

constexpr std::chrono::seconds limit_of_grade{900};

std::string result_file(const scratch_folder &scratch) { return scratch.path() + "/result.json"; }

graded result_of(const toolchain &t, const lab &l, const subject &what,
                 const prepared_grade &prepared, const std::string &backend, const exit_result &e,
                 const scratch_folder &scratch)
{
    graded g = read_result(t, l, what, prepared.warnings, e, result_file(scratch));
    name_file(g.document, prepared.sha256);
    g.worker = prepared.workers.at(backend);
    g.seconds = e.seconds;
    g.cpu_seconds = e.cpu_seconds;
    return g;
}

} // namespace

int processes_for_one()
{
    constexpr unsigned max_processes = 12; // each starts workers and simulated devices of its own
    return static_cast<int>(std::min(cores(), max_processes));
}

std::string replay_folder(const toolchain &t, const subject &what, const std::string &backend)
{
    return fmt::format("{}/.workbook/replays/{}/{}", t.source_root, what.name, backend);
}

std::string contract_of(const toolchain &t, const lab &l)
{
    return grading::contract_hash(read_text(t.header(l)), read_text(t.source(l, "naive")));
}

offered_points points_offered(const toolchain &t, const lab &l)
{
    exit_result e = run_program({t.grader(l), "--list"}, std::chrono::seconds(60));
    std::vector<std::string> said = lines(e.text);
    offered_points offered;
    bool right = e.ok() && !said.empty() &&
                 std::sscanf(said.back().c_str(),
                             "%lf points, and %lf of the clock, in %*d cases; %lf points",
                             &offered.points, &offered.clock, &offered.held_back) >= 2;
    if (!right)
        throw machine_error(
            fmt::format("{} --list {}{}", t.grader(l), e.words(),
                        e.text.empty() ? "" : ". It said:\n" + sanitized(e.text, 2000)));
    offered.held_back += held_back_from_edition(t.source_root, l.name);
    return offered;
}

void build_for_grading(const toolchain &t, const std::vector<item> &all, const std::string &backend,
                       progress_line &progress)
{
    std::vector<std::string> targets;
    auto add = [&](const std::vector<std::string> &more) {
        targets.insert(targets.end(), more.begin(), more.end());
    };
    for (const auto &[l, what] : all) {
        add(grading_targets(t, *l, backend));
        if (!what.ours) add(submission_targets(t, *l));
        for (const std::string &with : linked_with(backend))
            if (what.ours && (what.name != "library" || l->has_library(with)))
                add({t.program(*l, what.name, with)});
    }
    build_targets(t, targets, progress);
}

prepared_grade prepare_grade(const toolchain &t, const lab &l, const subject &what,
                             const grade_options &options, const build_limits &limits)
{
    prepared_grade p;
    if (what.ours) {
        const bool choice = options.backend == "both"; // the library may run on one of them alone
        for (const std::string &with : linked_with(options.backend))
            if (!choice || what.name != "library" || l.has_library(with))
                p.workers[with] = t.program(l, what.name, with);
        return p;
    }
    const std::vector<std::string> backends = linked_with(options.backend);
    built_submission built = build_submission(
        t, {&l, what.source, backends, what.object, options.require_sandbox}, limits);
    p.cpu_seconds = built.cpu_seconds;
    p.sha256 = built.sha256;
    if (!built.built()) {
        p.refused = refused_build(l.name, what.name, built, points_offered(t, l));
        name_file(p.refused, built.sha256);
        return p;
    }
    for (std::size_t i = 0; i < backends.size(); ++i) p.workers[backends[i]] = built.workers[i];
    p.warnings = telling_warnings(built.diagnostics);
    return p;
}

graded grade_prepared(const toolchain &t, const lab &l, const subject &what,
                      const prepared_grade &prepared, const grade_options &options,
                      const grade_progress &progress)
{
    if (!prepared.refused.is_null()) {
        graded g;
        g.status = failed;
        g.document = prepared.refused;
        return g;
    }
    const scratch_folder scratch;
    grade_options with_clock = options;
    add_clock(with_clock, scratch);
    const json request = request_of(t, l, what, prepared.workers.at(options.backend), with_clock,
                                    result_file(scratch));
    // With a clock's lock it may wait for the simulator's grader, which has as long.
    const std::chrono::seconds limit = limit_of_grade * (options.clock_lock.empty() ? 1 : 2);
    const exit_result e = answer_to(request, t, l, limit, progress);
    return result_of(t, l, what, prepared, options.backend, e, scratch);
}

struct early_grade::state {
    const toolchain &tools;
    const lab &of;
    const subject what;
    const grade_options options;
    const grade_progress progress;
    const scratch_folder scratch = {};
    const std::string worker = scratch.path() + "/worker"; // a link to the program
    const waitable_flag given_up = {};
    std::promise<bool> lacks_device = {};
    std::promise<exit_result> answer = {};
    std::future<void> end = {}; // its destructor waits
    std::optional<file_lock> until_built = std::make_optional<file_lock>(worker + ".lock");
    std::optional<prepared_grade> prepared = {}; // from begin() on

    ~state()
    {
        // A driver that hangs shall keep nobody.
        constexpr std::chrono::seconds enough{30};
        if (end.valid() && end.wait_for(enough) != std::future_status::ready) given_up.set();
    }

    void run()
    {
        bool tried = false, answered = false;
        const auto know = [&](bool lacks) {
            if (!std::exchange(tried, true)) lacks_device.set_value(lacks);
        };
        // It tries its device before it says how many cases there are.
        const auto report = [&](int done, int cases) {
            know(false);
            if (progress) progress(done, cases);
        };
        const auto take = [&](const exit_result &e) {
            know(e.what == exit_result::exited && e.status == nothing_graded);
            if (!std::exchange(answered, true)) answer.set_value(e);
        };
        try {
            json request = request_of(tools, of, what, worker, options, result_file(scratch));
            request["worker_lock"] = worker + ".lock";
            // It waits for the compiler, and may wait for the simulator's grader.
            take(answer_to(request, tools, of, 3 * limit_of_grade, report, given_up.descriptor(),
                           take));
        } catch (...) { // once the result is there, nothing that happens to the grader counts
            know(false);
            if (!answered) answer.set_exception(std::current_exception());
        }
    }
};

early_grade::early_grade(const toolchain &t, const lab &l, const subject &what,
                         const grade_options &options, const grade_progress &progress)
    : state_(new state{t, l, what, options, progress})
{
    state_->end = std::async(std::launch::async, [&s = *state_] { s.run(); });
}

early_grade::~early_grade()
{
    if (state_) state_->given_up.set();
}

void early_grade::begin(const prepared_grade &prepared)
{
    state &s = *state_;
    s.prepared = prepared;
    fs::create_symlink(prepared.workers.at(s.options.backend), s.worker);
    s.until_built.reset();
}

bool early_grade::lacks_device() { return state_->lacks_device.get_future().get(); }

graded early_grade::result()
{
    state &s = *state_;
    graded g = result_of(s.tools, s.of, s.what, s.prepared.value(), s.options.backend,
                         s.answer.get_future().get(), s.scratch);
    g.ending = std::shared_ptr<const state>(std::move(state_));
    return g;
}

std::vector<json> grade_ladder(const toolchain &t, const std::vector<item> &versions,
                               const std::string &judged, const grade_options &options,
                               const grade_progress &progress)
{
    const lab &l = *versions[0].of;
    const scratch_folder scratch;
    grade_options with_clock = options;
    with_clock.backend = "gpu";
    with_clock.processes = processes_for_one();
    add_clock(with_clock, scratch);
    const auto solution =
        std::ranges::find(versions, "solution", [](const item &v) { return v.what.name; });
    const subject &whole = (solution != versions.end() ? *solution : versions[0]).what;
    json request =
        request_of(t, l, whole, t.program(l, whole.name, "gpu"), with_clock, result_file(scratch));
    request.erase("library"); // as a version it is timed as all others
    auto result_of = [&](const item &v) { return scratch.path() + "/" + v.what.name + ".json"; };
    for (const item &v : versions)
        request["steps"].push_back({{"worker", t.program(l, v.what.name, "gpu")},
                                    {"submission", v.what.name},
                                    {"result", result_of(v)},
                                    {"sandbox", v.what.name != "library"},
                                    {"judged", judged.empty() || v.what.name == judged}});
    const exit_result e = answer_to(request, t, l, limit_of_grade * 4, progress);
    std::vector<json> documents;
    for (const item &v : versions)
        documents.push_back(read_result(t, l, v.what, {}, e, result_of(v)).document);
    return documents;
}

graded grade_one(const toolchain &t, const lab &l, const subject &what,
                 const grade_options &options, const grade_progress &progress,
                 const when_simulated &simulated)
{
    if (options.backend == "both") return grade_on_both(t, l, what, options, progress, simulated);
    const prepared_grade prepared = prepare_grade(t, l, what, options);
    graded g = grade_prepared(t, l, what, prepared, options, progress);
    g.cpu_seconds += prepared.cpu_seconds;
    return g;
}

} // namespace cli
