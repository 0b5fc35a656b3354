// The `grade` command.
#include "commands.hpp"

#include "cli/grading/backend.hpp"
#include "cli/results/moved_functions.hpp"
#include "cli/results/progress.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/results/text_report.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>

namespace cli {

namespace fs = std::filesystem;

std::string report_of(const toolchain &t, const item &i, const graded &g)
{
    report_context context{t.shown(i.what.source), grade_command_of(t, *i.of, i.what), g.worker,
                           todos_of(t, *i.of, i.what), detect_terminal(1)};
    if (g.from_grader && fs::is_regular_file(i.what.source))
        context.moved = moved_words(t, *i.of, read_text(i.what.source));
    if (g.from_grader) return text_report(g.document, context);
    if (g.status == failed) return refused_build_report(g.document, context);
    std::string text;
    for (const lab_view &l : labs_of(g.document))
        for (const case_view &c : l.cases) text += case_report(c, context.out);
    return text;
}

namespace {

// Returns the case to fix first, in the order of the TODOs of the lab's stub.
const case_view *first_of(const toolchain &t, const lab_view &l)
{
    return first_to_mend(l, todos_of(t, lab_called(t, l.lab)));
}

// "38 / 40 points", or what to mend first: "RACE in scan_inclusive: many blocks".
std::string result_words(const toolchain &t, const lab_view &l)
{
    const case_view *first = first_of(t, l);
    return first ? first->verdict + " in " + first->name : points_words(l) + " points";
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
    constexpr int clock = 9; // fits "9.5 / 10"
    fmt::print("{}{}{}{}\n", padded("lab", name), padded("points", points), padded("clock", clock),
               "first failure");
    for (const lab_view &l : labs) {
        const case_view *f = first_of(t, l);
        std::string what = f                   ? f->verdict + "  " + f->name
                           : l.open_points > 0 ? "none"
                                               : good(out, "passed");
        std::string row =
            padded(l.lab, name) + padded(shown(l), points) + padded(clock_shown(l.clock), clock);
        std::size_t room = static_cast<std::size_t>(out.width) - row.size();
        if (f && what.size() > room) what = what.substr(0, room - 3) + "...";
        fmt::print("{}{}\n", row, what);
    }
    for (const lab_view &l : labs)
        for (const std::string &note : open_notes(l))
            fmt::print("\n{}\n", wrapped(l.lab + ": " + note, out.width, 2));
    for (const lab_view &l : labs)
        if (const std::string words = held_back_words(l); !words.empty())
            fmt::print("\n{}\n", wrapped(l.lab + ": " + words, out.width, 2));
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
        auto graded = std::ranges::find_if(all, [&](const item &i) { return i.of->name == l.lab; });
        fmt::print("\n{}: {}\nNext: {}\n", bold(out, l.lab), case_report(*f, out),
                   bold(out, grade_command_of(t, *graded->of, graded->what)));
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

// Returns the files of calls that a GPU's graders of this submission kept, by name.
std::set<std::string> kept_calls(const toolchain &t, const item &i)
{
    std::set<std::string> calls;
    std::error_code unreadable; // its making has told it
    for (fs::directory_iterator e(replay_folder(t, i.what, "gpu"), unreadable), end; e != end;
         e.increment(unreadable))
        if (e->path().filename().string().starts_with(i.of->name + ".")) calls.insert(e->path());
    return calls;
}

// Says where the calls are that --keep-calls kept, and how to repeat the first of them.
void print_kept_calls(const std::set<std::string> &calls, const std::string &worker)
{
    if (calls.empty()) return;
    fmt::print("\nThe last call of each case that is not timed is kept, {}:\n{}",
               calls.size() == 1 ? "here" : "the others beside this one",
               replay_words(worker, *calls.begin()));
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

// The simulator's part is only an early view: the grade goes on without it.
void keep(const json &by_simulator, const std::string &file)
{
    try {
        write_atomically(file, by_simulator.dump() + "\n");
    } catch (const machine_error &e) {
        fmt::print(stderr, "The simulator's part is not shown early: {}\n", e.what());
    }
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

int grade_command(const toolchain &t, const std::vector<std::string> &words, grade_options options)
{
    std::vector<item> all = items(t, words, options.submission, options.solutions);
    if (all.empty()) throw usage_error("this workbook has no labs yet");
    require_writable("--json", options.json_file);
    require_writable("--simulator-json", options.simulator_json_file);
    if (!options.picture_folder.empty())
        options.picture_folder = folder_for_pictures(options.picture_folder);
    options.replays = true;
    options.processes = processes_for_one();
    progress_line progress;
    if (options.every_replay) {
        const std::string no_gpu = choose_backend(t, *all[0].of, options, progress);
        if (options.backend == "sim")
            throw usage_error("--keep-calls is for the tools of a GPU, and this grade runs on the "
                              "simulator" +
                              (no_gpu.empty() ? "" : ": " + no_gpu));
    } else {
        choose_backend_early(t, *all[0].of, options, progress);
    }
    build_for_grading(t, all, options.backend, progress);

    std::vector<json> documents;
    std::vector<int> statuses;
    bool gpu_went_away = false;
    std::string unmatched; // graders' messages about --case
    bool alone = all.size() == 1;
    std::shared_ptr<const void> ending; // the last grader has told all; it ends while that is shown
    for (const item &i : all) {
        ending.reset();
        std::string grading = "grading " + i.of->name;
        progress.say(grading);
        std::mutex changing; // the GPU's progress comes from a thread of its own
        auto said = [&](int done, int cases) {
            const std::lock_guard lock(changing);
            progress.say(fmt::format("{}: {}/{} cases", grading, done, cases));
        };
        auto simulated = [&](const json &document) {
            if (!options.simulator_json_file.empty()) keep(document, options.simulator_json_file);
            const std::string result = result_words(t, labs_of(document).at(0));
            const std::lock_guard lock(changing);
            grading = fmt::format("{}, {} on the simulator", i.of->name, result);
            progress.say(grading);
        };
        if (options.every_replay) // of an earlier grade
            for (const std::string &call : kept_calls(t, i)) fs::remove(call);
        graded g = grade_one(t, *i.of, i.what, options, said, simulated);
        gpu_went_away |= g.without_gpu;
        if (g.without_gpu && documents.empty()) options.backend = "sim"; // none is there at all
        if (g.status == wrong_usage) {
            unmatched += g.said;
            continue;
        }
        if (alone) {
            progress.clear();
            fmt::print(stderr, "{}", g.from_grader ? g.said : "");
            fmt::print("{}", report_of(t, i, g));
            std::fflush(stdout);
        }
        if (!options.submission.empty()) note_missing_sandbox(g.document);
        if (options.every_replay && g.from_grader) print_kept_calls(kept_calls(t, i), g.worker);
        if (is_own_full_grade(options))
            save_progress(t, g.document, g.without_gpu ? "sim" : options.backend);
        documents.push_back(std::move(g.document));
        statuses.push_back(g.status);
        ending = std::move(g.ending);
    }
    progress.clear();
    if (documents.empty()) {
        fmt::print(stderr, "{}", unmatched);
        return wrong_usage;
    }
    json document = merged(documents, options.seed, options.backend);
    if (!alone) print_summary(t, all, document);
    if (!options.json_file.empty()) write_atomically(options.json_file, document.dump(2) + "\n");
    if (!options.picture_folder.empty())
        fmt::print("\nPictures, of the cases that draw some, are in {}\n", options.picture_folder);
    std::vector<lab_view> labs = labs_of(document);
    bool all_judged = std::ranges::all_of(labs, [](const lab_view &l) { return l.judged(); });
    // The required GPU went away. Cases that are open for other reasons may stay so.
    if (options.require_gpu && (gpu_went_away || !all_judged)) return infrastructure;
    return merged_status(statuses);
}

} // namespace cli
