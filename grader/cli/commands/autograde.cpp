// The autograde command: grades a class's files, each in the same sandbox as any submission.
#include "commands.hpp"

#include "cli/class/class_comparison.hpp"
#include "cli/class/class_list.hpp"
#include "cli/class/due_dates.hpp"
#include "cli/class/results_folder.hpp"
#include "cli/class/similarity.hpp"
#include "cli/grading/backend.hpp"
#include "cli/results/lab_names.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/submission/ninja.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "cli/support/sha256.hpp"
#include "doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

void require_sandbox(const toolchain &t, const lab &any, const std::string &backend)
{
    std::string problem;
    for (const std::string &with : linked_with(backend))
        if (problem.empty()) problem = find_sandbox(t, any, with).problem;
    if (problem.empty()) return;
    throw machine_error(fmt::format(
        "This machine cannot shut a submission off from its files and processes ({}), and "
        "strangers' code is not run without that; nothing was graded.\n  what to do: ./workbook "
        "doctor says, beside \"sandbox\", what to allow; in a machine that holds nothing else, "
        "and is thrown away afterwards, --without-sandbox grades",
        problem));
}

std::string skipped_words(const std::vector<std::string> &names)
{
    constexpr std::size_t max_shown = 5;
    std::string first;
    for (std::size_t i = 0; i < std::min(names.size(), max_shown); ++i)
        first += fmt::format("{}{}", i ? ", " : "", shell_word(on_one_line(names[i], 100)));
    if (names.size() > max_shown) first += fmt::format(" and {} more", names.size() - max_shown);
    return fmt::format("Skipped, being neither a folder nor a .cu file: {}. An archive must be "
                       "unpacked first.",
                       first);
}

int width_of(const std::vector<class_entry> &all, std::string grade_row::*word)
{
    int width = 7;
    constexpr int max_width = 32; // one student's long name is not to widen all rows
    for (const class_entry &e : all) width = std::max(width, columns(e.files[0].row.*word));
    return std::min(width, max_width);
}

constexpr int points_width = 20, clock_width = 9; // fit "39.5 / 40, 40 open" and "9.5 / 10"

// A file that a fault of ours left ungraded must not look like one with zero points.
std::string points_shown(const grade_row &row)
{
    return row.without_grade() ? "not graded"
                               : points_words(row.points, row.max_points, row.open_points);
}

void print_row(const grade_row &row, int student, int lab, const terminal &out)
{
    std::string what = row.first_failure.empty() ? row.status : row.first_failure;
    if (row.status == "pass") what = good(out, what);
    fmt::print("{}{}{}{}{}\n", padded(row.student, student), padded(row.lab, lab),
               padded(points_shown(row), points_width),
               padded(row.without_grade() ? "" : clock_shown(row.clock), clock_width), what);
    if (const std::string said = row.remarks(); !said.empty())
        fmt::print("    {}\n", wrapped(said, out.width, 4));
}

// Lists open points for review by an instructor: a submission can leave a case open by itself.
void print_open(const std::vector<grade_row> &rows, const terminal &out)
{
    auto open = [](const grade_row &row) { return row.open_points > 0 && !row.without_grade(); };
    if (std::ranges::none_of(rows, open)) return;
    fmt::print("\n{}\n",
               wrapped("Open points, neither reached nor lost. Where the reason is in the "
                       "submission, a person decides:",
                       out.width, 0));
    for (const grade_row &row : rows)
        if (open(row)) {
            fmt::print("  {}, {}: {:g} of {:g} points\n", row.student, row.lab, row.open_points,
                       row.max_points);
            for (const std::string &note : row.open)
                fmt::print("    {}\n", wrapped(note, out.width, 4));
        }
}

// A table that is written anew after each row, so that a stopped run keeps its rows. A full disk
// neither ends the grading nor damages the file.
struct kept_table {
    const char *option;
    std::string file;     // empty: none
    std::size_t rows = 0; // written
    std::string problem = {};
    std::chrono::steady_clock::time_point next = {}; // a class's whole table takes a while to write

    bool is_due() const { return !file.empty() && std::chrono::steady_clock::now() >= next; }
    void keep(std::size_t all, const std::string &text)
    {
        try {
            write_atomically(file, text);
            rows = all;
        } catch (const machine_error &e) {
            problem = e.what();
        }
        next = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    }
};

// Throws machine_error if the last rows could not be written.
void require_whole(std::initializer_list<kept_table> tables, std::size_t rows)
{
    std::string problems;
    for (const kept_table &t : tables)
        if (!t.file.empty() && t.rows < rows)
            problems += fmt::format("{}{} {} holds {} of {} rows: {}", problems.empty() ? "" : "\n",
                                    t.option, t.file, t.rows, rows, t.problem);
    if (!problems.empty()) throw machine_error(problems);
}

// Says how long the rest takes, by what has been graded in this process.
class time_left {
public:
    explicit time_left(std::size_t all) : all_(all) {}
    void one_done() { ++done_; }
    std::string words() const
    {
        if (done_ == 0 || done_ >= all_) return {};
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
        const double left =
            spent.count() / static_cast<double>(done_) * static_cast<double>(all_ - done_);
        return left < 90 ? fmt::format(", about {:.0f} s left", left)
                         : fmt::format(", about {:.0f} min left", left / 60);
    }

private:
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::size_t all_, done_ = 0;
};

// The folder for the results, "handed_in.results" beside "handed_in" by default.
std::string results_path(const autograde_options &wanted, const fs::path &handed_in)
{
    if (wanted.results.empty()) return handed_in.string() + ".results";
    std::error_code none;
    const fs::path path = fs::weakly_canonical(wanted.results, none);
    if (path == handed_in || path.string().starts_with(handed_in.string() + "/"))
        throw usage_error("--results lies in the folder of the submissions: name one outside");
    return path.string();
}

std::string digests_of(std::vector<std::string> files)
{
    std::ranges::sort(files);
    std::string digests;
    std::error_code none;
    for (const std::string &file : files)
        if (fs::is_regular_file(file, none)) digests += sha256(read_text(file));
    return digests;
}

// Returns, by lab, the SHA-256 of what its grades depend on. naive's program is not reproducible,
// so its source stands for it.
std::map<std::string, std::string>
grader_digests(const toolchain &t, const std::vector<std::string> &labs, const std::string &backend)
{
    std::vector<std::string> of_all = {t.simulated_device()};
    std::error_code none;
    if (backend != "sim")
        for (const auto &e : fs::directory_iterator(fs::path(t.source_root) / gates_folder, none))
            of_all.push_back(e.path().string());
    const std::string shared = digests_of(std::move(of_all));
    std::map<std::string, std::string> by_lab;
    for (const std::string &name : labs) {
        const lab &l = lab_called(t, name);
        by_lab[name] =
            sha256(shared + digests_of({t.grader(l), t.header(l), t.source(l, "naive")}));
    }
    return by_lab;
}

// Goes on with the run that the folder holds, with its seed, or begins one. `wanted_seed`: empty
// unless the user chose one.
void enter(results_folder &folder, const toolchain &t, const std::vector<std::string> &labs,
           const autograde_options &wanted, const std::string &wanted_seed, grade_options &options)
{
    class_run now{choose_seed({}),        options.seed, options.backend, options.held_back_seed,
                  wanted.without_sandbox, {},           tool_version};
    now.graders = grader_digests(t, labs, options.backend);
    if (const std::optional<class_run> kept = folder.run(); kept && !wanted.anew) {
        auto differs = [&](const std::string &what) {
            return usage_error(
                fmt::format("The results in {} were made {}. --anew grades all files "
                            "again; --results FOLDER keeps both, and --against says "
                            "whose points move",
                            shell_word(folder.path()), what));
        };
        if (kept->tool != now.tool) throw differs("by version " + kept->tool);
        if (wanted_seed.empty()) options.seed = kept->seed;
        const bool held_back = !kept->held_back_seed.empty(); // in a lab of the earlier calls
        if (held_back && wanted.held_back_seed.empty())
            options.held_back_seed = kept->held_back_seed;
        if (options.seed != kept->seed) throw differs("with seed " + kept->seed);
        if (held_back && options.held_back_seed != kept->held_back_seed)
            throw differs("with another --held-back-seed");
        if (options.backend != kept->backend) throw differs("on backend " + kept->backend);
        if (kept->without_sandbox != wanted.without_sandbox)
            throw differs(kept->without_sandbox ? "without a sandbox" : "in a sandbox");
        for (const auto &[lab, digest] : now.graders)
            if (const auto at = kept->graders.find(lab);
                at != kept->graders.end() && at->second != digest)
                throw differs(fmt::format("by another grader of {}", lab));
        now.id = kept->id, now.seed = kept->seed;
        now.held_back_seed = options.held_back_seed;
        now.graders.insert(kept->graders.begin(), kept->graders.end());
    }
    folder.begin(now);
}

// The machine that submits jobs need not have a GPU, nor a sandbox: each job looks for its own.
void choose_for_slurm(const autograde_options &wanted, grade_options &options)
{
    options.seed = choose_seed(options.seed);
    if (options.backend == "auto") options.backend = wanted.slurm.gpu.empty() ? "sim" : "both";
    if (options.backend != "sim" && wanted.slurm.gpu.empty())
        throw usage_error(fmt::format("--backend {} needs jobs with a GPU: say how they are "
                                      "submitted, --slurm-gpu=\"--gres=gpu:1\" for instance",
                                      options.backend));
}

// Chooses the seed of the held-back cases, if a lab has any.
void choose_held_back_seed(const std::vector<class_entry> &all, const std::string &wanted,
                           grade_options &options)
{
    if (std::ranges::any_of(
            all, [](const class_entry &e) { return e.files[0].row.held_back.max_points > 0; }))
        options.held_back_seed = choose_seed(wanted, "--held-back-seed");
    else if (!wanted.empty())
        throw usage_error("--held-back-seed: no lab that is graded has held-back cases, in "
                          "labs/LAB/held_back.cpp; leave it out");
}

json class_document(const std::vector<grade_row> &rows, const grade_options &options)
{
    json document = as_json(rows, options.backend, options.seed);
    if (!options.held_back_seed.empty()) document["held_back_seed"] = options.held_back_seed;
    return document;
}

std::vector<std::string> names_of(const std::vector<student_files> &students)
{
    std::vector<std::string> names;
    for (const student_files &s : students) names.push_back(s.shown);
    return names;
}

} // namespace

int autograde_command(const toolchain &t, const std::vector<std::string> &words,
                      grade_options options, const autograde_options &wanted)
{
    std::error_code unreadable; // read_class reports it
    const fs::path real = fs::canonical(wanted.folder, unreadable);
    const fs::path handed_in = unreadable ? fs::path(wanted.folder) : real;
    class_files handed = read_class(handed_in.string(), t.lab_names(false));
    std::vector<std::string> names = find_labs(words, t.lab_names(named_in_full(t, words)));
    if (names.empty()) throw usage_error("this workbook has no labs yet");
    require_writable("--csv", wanted.csv_file);
    require_writable("--json", wanted.json_file);
    if (!wanted.similarity.empty()) require_similarity_folder(wanted.similarity);
    const due_dates due(wanted.due, wanted.extensions, names_of(handed.students), names);
    const json before = wanted.against.empty() ? json() : read_class_results(wanted.against);
    progress_line progress;
    const std::string wanted_seed = options.seed;
    const bool by_slurm = wanted.engine == "slurm";
    // The one seed that this chooses gives every student the same inputs.
    if (by_slurm)
        choose_for_slurm(wanted, options);
    else
        choose_backend(t, lab_called(t, names[0]), options, progress);
    std::vector<item> items;
    for (const std::string &name : names)
        items.push_back({&lab_called(t, name), file_of("stub.cu")});
    build_for_grading(t, items, options.backend, progress);
    std::vector<class_entry> all = entries_of(t, handed.students, names, wanted.which);
    choose_held_back_seed(all, wanted.held_back_seed, options);
    options.require_sandbox = !wanted.without_sandbox;
    const scratch_folder naive_counters;
    if (options.require_sandbox && !by_slurm) {
        require_sandbox(t, lab_called(t, names[0]), options.backend);
        // Without a sandbox a file could change what others are compared to.
        options.naive_counters = naive_counters.path();
    }
    results_folder folder(results_path(wanted, handed_in), [&] {
        progress.say("waiting for another autograde with the same results");
    });
    enter(folder, t, names, wanted, wanted_seed, options);
    if (!by_slurm) folder.sweep();

    std::string unkept; // why a row is not in the results folder; empty: all are
    std::mutex keeping;
    auto keep = [&](const class_work &w) {
        try {
            folder.keep(w);
        } catch (const machine_error &e) { // its disk is full: the grade still gets its row
            const std::lock_guard lock(keeping);
            unkept = e.what();
        }
    };
    for (class_entry &e : all) {
        for (class_work &w : e.files) {
            if (w.finished) continue;
            folder.restore(w);
            // The times of all files decide which is the newest, also in a later run.
            if (e.files.size() > 1 && !w.finished) keep(w);
        }
        if (wanted.which == which_file::newest) e.choose_newest();
    }
    mark_copies(t, all);
    std::map<std::string, todo_list> todos;
    for (const std::string &name : names) todos.emplace(name, todos_of(t, lab_called(t, name)));
    std::vector<class_work *> files;
    std::vector<std::size_t> entry_of; // by file
    for (std::size_t i = 0; i < all.size(); ++i)
        for (class_work &w : all[i].files) files.push_back(&w), entry_of.push_back(i);

    terminal out = detect_terminal(1);
    if (!handed.skipped.empty())
        fmt::print("{}\n\n", wrapped(skipped_words(handed.skipped), out.width, 2));
    int student = width_of(all, &grade_row::student) + 2, lab = width_of(all, &grade_row::lab) + 2;
    fmt::print("{}{}{}{}{}\n", padded("student", student), padded("lab", lab),
               padded("points", points_width), padded("clock", clock_width), "first failure");
    std::vector<grade_row> rows;
    kept_table csv{"--csv", wanted.csv_file}, document{"--json", wanted.json_file};
    std::string unprinted; // why a row was not printed; empty: all rows were
    auto report = [&](std::size_t i) {
        if (i + 1 < files.size() && entry_of[i + 1] == entry_of[i]) return;
        progress.clear();
        rows.push_back(all[entry_of[i]].row());
        grade_row &row = rows.back();
        if (const auto at = time_in(row.handed_in); at && due.any())
            row.late_days = due.late_days(row.student, row.lab, *at);
        if (csv.is_due()) csv.keep(rows.size(), as_csv(rows, options.backend, options.seed));
        try {
            print_row(row, student, lab, out);
        } catch (const std::system_error &e) { // its disk is full: the tables still get their rows
            unprinted = e.what();
        }
    };
    if (by_slurm) {
        std::vector<class_work *> unfinished;
        for (class_work *w : files)
            if (!w->finished && !w->row.sha256.empty()) unfinished.push_back(w);
        grade_by_slurm(folder, unfinished, options, wanted.slurm, progress);
        for (class_work *w : files) w->by_simulator.reset();
    }
    // Compilers and simulators use all cores. Then the GPU has the machine for itself, one file at
    // a time, since two graders on it would spoil each other's times.
    const bool timed = options.backend != "sim";
    auto is_new = [](const class_work *w) { return !w->finished && !w->by_simulator; };
    time_left left(std::size_t(std::ranges::count_if(files, is_new)));
    std::vector<char> fresh;
    for (const class_work *w : files) fresh.push_back(is_new(w));
    parallel_for(
        files.size(), cores(),
        [&](std::size_t i) {
            class_work &w = *files[i];
            if (!fresh[i]) return;
            grade_without_gpu(t, w, options, todos.at(w.of->name));
            if (w.finished || w.by_simulator) keep(w); // else it is only compiled
        },
        [&](std::size_t i) {
            if (fresh[i]) left.one_done();
            if (!timed) report(i);
            progress.say(fmt::format("{} {}/{}: {}{}", timed ? "compiled and counted" : "graded",
                                     i + 1, files.size(), files[i]->row.student, left.words()));
        });
    time_left on_gpu(std::size_t(std::ranges::count(files, false, &class_work::finished)));
    for (std::size_t i = 0; timed && i < files.size(); ++i) {
        if (class_work &w = *files[i]; !w.finished) {
            progress.say(fmt::format("on the GPU {}/{}: {}{}", i + 1, files.size(), w.row.student,
                                     on_gpu.words()));
            complete_on_gpu(t, w, options, todos.at(w.of->name));
            keep(w);
            on_gpu.one_done();
        }
        report(i);
    }
    progress.clear();
    if (!csv.file.empty()) csv.keep(rows.size(), as_csv(rows, options.backend, options.seed));
    if (!document.file.empty())
        document.keep(rows.size(), class_document(rows, options).dump(1) + "\n");
    print_open(rows, out);
    auto count = [&](const std::string &status) {
        return std::ranges::count(rows, status, &grade_row::status);
    };
    auto refused = std::ranges::count_if(rows, [](const grade_row &row) {
        return row.status != "error" && row.verdicts.contains("SUBMISSION_INVALID");
    });
    auto missing = count("missing"), faults = count("error"), unreadable_rows = count("unreadable");
    std::string sums = fmt::format(
        "{} graded, {} refused, {} missing, {}{} not graded by a fault of ours "
        "(backend {}, seed {}); kept in {}",
        rows.size() - std::size_t(refused + missing + faults + unreadable_rows), refused, missing,
        unreadable_rows > 0 ? fmt::format("{} unreadable, ", unreadable_rows) : "", faults,
        options.backend, options.seed, shell_word(folder.path()));
    fmt::print("\n{}\n", wrapped(sums, out.width, 2));
    if (faults > 0)
        fmt::print("{}\n",
                   wrapped("The same command grades those that have no grade.", out.width, 2));
    if (!before.is_null())
        fmt::print("\n{}", compare_classes(before, rows, options.backend, options.seed, out.width));
    if (!unprinted.empty()) throw machine_error("Some rows could not be printed: " + unprinted);
    if (!unkept.empty())
        throw machine_error(fmt::format("Some rows are not in {}: {}", folder.path(), unkept));
    require_whole({csv, document}, rows.size());
    if (!wanted.similarity.empty())
        fmt::print("{}", compare_class(t, names, rows, wanted.similarity, out.width));
    return faults > 0 ? infrastructure : passed;
}

} // namespace cli
