// Runs a lab's grader on one implementation; the `grade` command.
#include "grade.hpp"

#include "cli/results/lab_names.hpp"
#include "cli/results/progress.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/subprocess.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Returns one folder per submission, so that graders side by side do not write the same files. If
// it cannot be made, warns and returns nothing: the verdict does not need it.
std::string replay_folder(const toolchain &t, const subject &what)
{
    std::string folder = t.source_root + "/.workbook/replays/" + what.name;
    std::error_code problem;
    fs::create_directories(folder, problem);
    if (!problem) return folder;
    fmt::print(stderr, "Failed calls are not kept to be repeated: {}\n",
               cannot_write(folder, problem.value()));
    return {};
}

// One implementation's programs: linked for the backend and, on gpu, also with the simulator,
// which does the counting. Empty: not linked.
struct workers_of {
    std::string graded, counted;
    std::vector<std::string> warnings = {}; // the compiler's, about the submission
};

std::vector<std::string> grader_command(const toolchain &t, const lab &l, const subject &what,
                                        const workers_of &worker, const grade_options &options,
                                        const std::string &json_file, const std::string &original,
                                        bool show)
{
    std::vector<std::string> c = {t.grader(l),
                                  "--backend",
                                  options.backend,
                                  "--worker",
                                  worker.graded,
                                  "--naive",
                                  t.program(l, "naive", options.backend)};
    auto add = [&](std::initializer_list<std::string> more) { c.insert(c.end(), more); };
    if (options.backend == "gpu") {
        if (!worker.counted.empty())
            add({"--counting-worker", worker.counted, "--counting-naive",
                 t.program(l, "naive", "sim")});
        if (l.library) add({"--library", t.program(l, "library", "gpu")});
    }
    add({"--submission", what.name, "--source", t.shown(what.source), "--seed", options.seed,
         "--json", json_file});
    for (const std::string &warning : worker.warnings) add({"--warning=" + warning});
    if (!original.empty()) add({"--original", original});
    if (!l.mpirun.empty()) add({"--mpirun", l.mpirun});
    if (std::string replays = options.replays ? replay_folder(t, what) : ""; !replays.empty())
        add({"--replay-dir", replays});
    if (!options.picture_folder.empty()) add({"--pictures", options.picture_folder});
    if (!options.pattern.empty()) add({"--case", options.pattern});
    if (!options.schedule.empty()) add({"--schedule", options.schedule});
    if (!options.only.empty()) add({"--only", options.only});
    if (!options.counters_file.empty()) add({"--counters", options.counters_file});
    if (options.patience > 1) add({"--patience", std::to_string(options.patience)});
    if (options.side_by_side > 1) add({"--side-by-side", std::to_string(options.side_by_side)});
    // The vendor's libraries lie in folders that the sandbox does not show.
    if (what.ours && what.name == "library") c.push_back("--no-sandbox");
    if (options.require_sandbox) c.push_back("--require-sandbox");
    if (!show) c.push_back("--quiet");
    if (!detect_terminal(1).colour) c.push_back("--no-color");
    return c;
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

graded read_result(const toolchain &t, const lab &l, const subject &what, const exit_result &e,
                   const std::string &path)
{
    graded g;
    g.report = sanitized(e.text, 64 << 10);
    g.status = e.status;
    bool exited = e.what == exit_result::exited;
    if (exited && e.status == wrong_usage) return g; // --case names no case of this lab
    if (exited && e.status == nothing_graded && !fs::exists(path)) {
        g.document = skipped_lab(l.name, what.name, g.report, points_offered(t, l));
        return g;
    }
    bool expected = exited && (e.status == passed || e.status == failed ||
                               e.status == nothing_graded || e.status == infrastructure);
    if (!expected) return fault(l, what, e, e.words());
    if (!fs::exists(path))
        return fault(l, what, e, fmt::format("{} and wrote no result", e.words()));
    g.document = json::parse(read_text(path), nullptr, false);
    std::string wrong = invalid(g.document);
    if (!wrong.empty()) return fault(l, what, e, fmt::format("wrote a result that {}", wrong));
    return g;
}

graded run_grader(const toolchain &t, const lab &l, const subject &what, const workers_of &worker,
                  const grade_options &options, bool show)
{
    std::string folder = t.build_root + "/submissions";
    fs::create_directories(folder);
    temporary_name result(folder), original(folder);
    std::string handed_out = show && !what.ours ? original_stub(t, l).text : "";
    if (!handed_out.empty()) write_atomically(original.path(), handed_out);
    child c;
    c.arguments = grader_command(t, l, what, worker, options, result.path(),
                                 handed_out.empty() ? "" : original.path(), show);
    c.show = show;
    c.folder = t.source_root;
    c.wall = std::chrono::seconds(900);
    c.keep = 256 << 10;
    exit_result e = run(c);
    if (e.what == exit_result::not_started)
        throw machine_error(fmt::format("{} {}", t.grader(l), e.words()));
    graded g = read_result(t, l, what, e, result.path());
    g.reported = show && e.what == exit_result::exited && g.status == e.status;
    g.seconds = e.seconds;
    g.cpu_seconds = e.cpu_seconds;
    return g;
}

std::string run_probe(const toolchain &t, const lab &any)
{
    child c;
    c.arguments = {t.program(any, "naive", "gpu"), "--probe"};
    c.wall = std::chrono::seconds(60);
    exit_result e = run(c);
    if (e.ok()) return {};
    std::string said = sanitized(e.text, 500);
    while (!said.empty() && said.back() == '\n') said.pop_back();
    return said.empty() ? "a trial kernel " + e.words() : said;
}

std::string retry_command(const lab &l, const subject &what, const std::string &case_name)
{
    std::string command = "./workbook grade " + l.name.substr(0, l.name.find('_'));
    if (what.name == "solution")
        command += " --solutions";
    else if (what.name != "stub")
        command += " --submission " + shell_word(what.source);
    return case_name.empty() ? command : command + " --case " + shell_word(case_name);
}

void print_case(const terminal &out, const case_view &c)
{
    fmt::print("{}  {}\n", bad(out, c.verdict), c.name);
    fmt::print("  {}\n", wrapped(c.message, out.width, 2));
    if (!c.hint.empty()) fmt::print("  {}\n", wrapped(c.hint, out.width, 2));
}

} // namespace

void print_refused_build(const toolchain &t, const item &i, const graded &g)
{
    const lab &l = *i.of;
    const subject &what = i.what;
    terminal out = detect_terminal(1);
    std::vector<lab_view> labs = labs_of(g.document);
    const case_view &c = labs.at(0).cases.at(0);
    fmt::print("{}: {}\n\n", bold(out, l.name), t.shown(what.source));
    std::string said = c.whole->value("output", std::string());
    fmt::print("{}\n", bad(out, c.verdict));
    if (said.find(c.message) == said.npos) // else the compiler's output has it
        fmt::print("  {}\n", wrapped(c.message, out.width, 2));
    fmt::print("{}", compiler_words(said, out.width));
    if (!c.hint.empty()) fmt::print("  Try: {}\n", wrapped(c.hint, out.width, 2));
    fmt::print("\nNext: mend it, then {}\n", bold(out, retry_command(l, what, {})));
}

namespace {

// Returns the case to fix first, in the order of the TODOs of the lab's stub.
const case_view *first_of(const toolchain &t, const lab_view &l)
{
    return first_to_mend(l, todos_of(t, lab_called(t, l.lab)));
}

void print_table(const toolchain &t, const std::vector<lab_view> &labs)
{
    terminal out = detect_terminal(1);
    std::size_t width = 3;
    for (const lab_view &l : labs) width = std::max(width, l.lab.size());
    int name = static_cast<int>(width) + 2, points = 12;
    auto shown = [](const lab_view &l) {
        return l.status == "error" ? "not graded" : points_words(l);
    };
    for (const lab_view &l : labs) points = std::max(points, columns(shown(l)) + 2);
    fmt::print("{}{}{}\n", padded("lab", name), padded("points", points), "first failure");
    for (const lab_view &l : labs) {
        const case_view *f = first_of(t, l);
        std::string what = f                   ? f->verdict + "  " + f->name
                           : l.open_points > 0 ? "none"
                                               : good(out, "passed");
        std::string row = padded(l.lab, name) + padded(shown(l), points);
        std::size_t room = static_cast<std::size_t>(out.width) - row.size();
        if (f && what.size() > room) what = what.substr(0, room - 3) + "...";
        fmt::print("{}{}\n", row, what);
    }
    for (const lab_view &l : labs)
        for (const std::string &note : open_notes(l))
            fmt::print("\n{}\n", wrapped(l.lab + ": " + note, out.width, 2));
}

} // namespace

std::vector<item> items(const toolchain &t, const std::vector<std::string> &words,
                        const grade_options &options)
{
    if (!options.submission.empty() && options.solutions)
        throw usage_error(
            "--submission and --solutions exclude each other: which one is to be graded?");
    if (!options.submission.empty() && words.size() != 1)
        throw usage_error(fmt::format("--submission needs exactly one lab: ./workbook grade LAB "
                                      "--submission {}",
                                      shell_word(options.submission)));
    if (!options.submission.empty() && !fs::exists(fs::symlink_status(options.submission)))
        throw usage_error(fmt::format("--submission {}: there is no such file here ({})",
                                      shell_word(sanitized(options.submission, 400)),
                                      fs::current_path().string()));
    std::vector<std::string> names = t.lab_names(false);
    // A test lab must be named in full.
    std::vector<std::string> all = t.lab_names(true);
    std::vector<item> result;
    bool whole_names = !words.empty() && std::all_of(words.begin(), words.end(), [&](auto &w) {
        return std::find(all.begin(), all.end(), w) != all.end();
    });
    for (const std::string &name : find_labs(words, whole_names ? all : names)) {
        const lab &l = lab_called(t, name);
        if (options.solutions && !l.solutions)
            throw usage_error("this is the student edition, without the worked solutions, which "
                              "your instructor has; grade your own file: ./workbook grade");
        subject s = !options.submission.empty() ? file_of(options.submission)
                    : options.solutions         ? implementation_of(t, l, "solution")
                                                : stub_of(t, l);
        result.push_back({&l, s});
    }
    return result;
}

namespace {

// Prints what a lone grader has not printed itself.
void print_unreported(const toolchain &t, const item &i, const graded &g)
{
    if (g.status == failed) return print_refused_build(t, i, g);
    for (const lab_view &l : labs_of(g.document))
        for (const case_view &c : l.cases) print_case(detect_terminal(1), c);
}

// Prints, after several labs, the table, the first failure, and what to type next.
void print_summary(const toolchain &t, const std::vector<item> &all, const json &document)
{
    terminal out = detect_terminal(1);
    std::vector<lab_view> labs = labs_of(document);
    print_table(t, labs);
    for (const lab_view &l : labs) {
        const case_view *f = first_of(t, l);
        if (!f) continue;
        auto graded = std::find_if(all.begin(), all.end(),
                                   [&](const item &i) { return i.of->name == l.lab; });
        fmt::print("\n{}: ", bold(out, l.lab));
        print_case(out, *f);
        fmt::print("\nNext: {}\n", bold(out, retry_command(*graded->of, graded->what, {})));
        return;
    }
}

// Makes the folder if need be, and returns its absolute path, since graders run in another folder.
std::string folder_for_pictures(const std::string &named)
{
    std::error_code problem;
    fs::create_directories(named, problem);
    const bool in_the_way = problem.value() == ENOTDIR || problem.value() == EEXIST;
    if (in_the_way || (fs::exists(named) && !fs::is_directory(named)))
        throw usage_error(
            fmt::format("--pictures {}: no folder can be made or written there", named));
    if (problem || access(named.c_str(), W_OK) != 0)
        throw machine_error("--pictures " + cannot_write(named, problem ? problem.value() : errno));
    return fs::absolute(named).string();
}

// Returns true if the student's stub is graded with all its cases.
bool is_own_full_grade(const grade_options &options)
{
    return !options.solutions && options.submission.empty() && options.pattern.empty();
}

// A grade stays valid if the points cannot be saved.
void save_progress(const toolchain &t, const json &document, const std::string &backend)
{
    try {
        keep_progress(t, labs_of(document).at(0), backend);
    } catch (const machine_error &e) {
        fmt::print(stderr, "These points are not kept: {}\n", e.what());
    }
}

std::string reason_no_gpu(const toolchain &t, const lab &any, progress_line &progress)
{
    if (!gpu_device_present()) return "no NVIDIA device is present";
    build_targets(t, {t.program(any, "naive", "gpu")}, progress);
    return run_probe(t, any);
}

// Warns about a file, perhaps somebody else's, that ran without a sandbox.
void note_missing_sandbox(const json &document)
{
    if (document.value("/env/sandbox"_json_pointer, std::string()) != "none") return;
    fmt::print("{}\n", wrapped("This file ran without a sandbox, so it could do all that you can; "
                               "./workbook doctor says what is missing.",
                               detect_terminal(1).width, 0));
}

} // namespace

double points_offered(const toolchain &t, const lab &l)
{
    child c;
    c.arguments = {t.grader(l), "--list"};
    c.wall = std::chrono::seconds(60);
    exit_result e = run(c);
    std::vector<std::string> said = lines(e.text);
    int points = 0, cases = 0;
    bool right = e.ok() && !said.empty() &&
                 std::sscanf(said.back().c_str(), "%d points in %d cases", &points, &cases) == 2;
    if (!right) throw machine_error(fmt::format("{} --list {}", t.grader(l), e.words()));
    return points;
}

void require_writable(const std::string &option, const std::string &path)
{
    if (path.empty()) return;
    fs::path folder = fs::absolute(path).parent_path();
    if (fs::is_directory(path) || !fs::is_directory(folder))
        throw usage_error(fmt::format("{} {}: no file can be written there", option, path));
    if (access(folder.c_str(), W_OK) != 0)
        throw machine_error(fmt::format("{} {}", option, cannot_write(path, errno)));
}

subject stub_of(const toolchain &t, const lab &l) { return {"stub", t.stub(l), false}; }

subject implementation_of(const toolchain &t, const lab &l, const std::string &name)
{
    return {name, t.source(l, name), true};
}

subject file_of(const std::string &path)
{
    return {sanitized(fs::path(path).filename().string(), 200), path, false};
}

std::vector<std::string> grade_targets(const toolchain &t, const lab &l, const subject &what,
                                       const std::string &backend)
{
    std::vector<std::string> targets = grading_targets(t, l, backend);
    if (what.ours)
        for (const std::string &with : linked_with(backend)) {
            if (what.name == "library" && !l.has_library(with)) continue;
            targets.push_back(t.program(l, what.name, with));
        }
    else
        for (const std::string &more : submission_targets(t, l)) targets.push_back(more);
    return targets;
}

graded grade_one(const toolchain &t, const lab &l, const subject &what,
                 const grade_options &options, bool show)
{
    if (what.ours)
        return run_grader(t, l, what,
                          {t.program(l, what.name, options.backend),
                           what.name == "library" && !l.has_library("sim")
                               ? std::string()
                               : t.program(l, what.name, "sim")},
                          options, show);
    built_submission built = build_submission(
        t, {&l, what.source, linked_with(options.backend), what.object, options.require_sandbox});
    if (!built.built()) {
        graded g;
        g.status = failed;
        g.document = refused_build(l.name, what.name, built, points_offered(t, l));
        g.cpu_seconds = built.cpu_seconds;
        return g;
    }
    workers_of workers{built.workers.front(), built.workers.back(),
                       telling_warnings(built.diagnostics)};
    graded g = run_grader(t, l, what, workers, options, show);
    g.cpu_seconds += built.cpu_seconds;
    return g;
}

bool gpu_device_present()
{
    for (const char *path : {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu", "/dev/nvgpu"})
        if (access(path, F_OK) == 0) return true;
    return false;
}

backend_choice choose_backend(const toolchain &t, const lab &any, const grade_options &options,
                              progress_line &progress)
{
    if (options.backend == "sim") {
        if (options.require_gpu)
            throw usage_error("--require-gpu and --backend sim exclude each other");
        return {"sim", "asked for"};
    }
    std::string reason = reason_no_gpu(t, any, progress);
    if (reason.empty()) return {"gpu", "a GPU is here"};
    std::string words =
        fmt::format("no GPU can be used: {}.\n  what to do: ./workbook doctor says what is "
                    "missing; --backend sim grades in the simulator",
                    reason);
    if (options.require_gpu) throw machine_error(words);
    if (options.backend == "gpu") throw no_device_error(words);
    return {"sim", reason};
}

std::string choose_seed(const std::string &wanted)
{
    if (wanted.empty()) {
        std::uint64_t seed = 0;
        if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
            throw machine_error("the system gives no random numbers");
        return fmt::format("{:016x}", seed);
    }
    std::string digits = wanted.rfind("0x", 0) == 0 ? wanted.substr(2) : wanted;
    bool right =
        !digits.empty() && digits.size() <= 16 &&
        std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isxdigit(c); });
    if (!right)
        throw usage_error(fmt::format(
            "--seed {}: give 1 to 16 hexadecimal digits, as a report prints them", wanted));
    return digits;
}

const lab &lab_called(const toolchain &t, const std::string &name)
{
    auto at =
        std::find_if(t.labs.begin(), t.labs.end(), [&](const lab &l) { return l.name == name; });
    if (at == t.labs.end()) throw usage_error(fmt::format("no lab is called {}", name));
    return *at;
}

int grade_command(const toolchain &t, const std::vector<std::string> &words, grade_options options)
{
    std::vector<item> all = items(t, words, options);
    if (all.empty()) throw usage_error("this workbook has no labs yet");
    require_writable("--json", options.json_file);
    if (!options.picture_folder.empty())
        options.picture_folder = folder_for_pictures(options.picture_folder);
    options.seed = choose_seed(options.seed);
    options.replays = true;
    constexpr unsigned max_side_by_side = 4; // the simulator has threads of its own
    options.side_by_side =
        static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, max_side_by_side));
    progress_line progress;
    backend_choice choice = choose_backend(t, *all[0].of, options, progress);
    options.backend = choice.backend;

    std::vector<std::string> targets;
    for (const item &i : all)
        for (const std::string &target : grade_targets(t, *i.of, i.what, options.backend))
            targets.push_back(target);
    build_targets(t, targets, progress);

    std::vector<json> documents;
    std::vector<int> statuses;
    std::string unmatched; // graders' messages about --case
    bool alone = all.size() == 1;
    for (const item &i : all) {
        progress.say(fmt::format("grading {}", i.of->name));
        if (alone) progress.clear();
        graded g = grade_one(t, *i.of, i.what, options, alone);
        if (g.status == wrong_usage) {
            unmatched += g.report;
            continue;
        }
        if (alone && !g.reported) print_unreported(t, i, g);
        if (!options.submission.empty()) note_missing_sandbox(g.document);
        if (is_own_full_grade(options)) save_progress(t, g.document, options.backend);
        documents.push_back(std::move(g.document));
        statuses.push_back(g.status);
    }
    progress.clear();
    if (documents.empty()) { // a lone grader has printed it itself
        if (!alone) fmt::print(stderr, "{}", unmatched);
        return wrong_usage;
    }
    json document = merged(documents, options.seed, options.backend);
    if (!alone) print_summary(t, all, document);
    if (!options.json_file.empty()) write_atomically(options.json_file, document.dump(2) + "\n");
    if (!options.picture_folder.empty())
        fmt::print("\nPictures, of the cases that draw some, are in {}\n", options.picture_folder);
    std::vector<lab_view> labs = labs_of(document);
    bool all_judged =
        std::all_of(labs.begin(), labs.end(), [](const lab_view &l) { return l.judged(); });
    // The required GPU went away. Cases that are open for other reasons may stay so.
    if (options.require_gpu && !all_judged) return infrastructure;
    return merged_status(statuses);
}

} // namespace cli
