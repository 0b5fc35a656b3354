// The autograde command: grades a class's files, each in the same sandbox as any submission.
#include "commands.hpp"

#include "cli/grading/backend.hpp"
#include "cli/grading/grade_on_both.hpp"
#include "cli/results/class_results.hpp"
#include "cli/results/lab_names.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/results/submission_folder.hpp"
#include "cli/submission/ninja.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

struct work {
    const lab *of;
    grade_row row;
    prepared_grade prepared = {};
    std::optional<graded> by_simulator = {}; // of a grade that a GPU has still to complete
};

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

void fill_row(grade_row &row, graded g, const todo_list &todos)
{
    // The row's words may be passed on to the student; only row.document has the held-back cases.
    const json shown = without_held_back(g.document);
    const std::vector<lab_view> labs = labs_of(shown), all = labs_of(g.document);
    const lab_view &l = labs.at(0);
    row.status = all.at(0).status;
    row.points = l.points;
    if (l.max_points > 0) row.max_points = l.max_points; // a broken grader reports none
    row.open_points = l.open_points;
    if (l.clock.max_points > 0) row.clock = l.clock;
    if (l.held_back.max_points > 0) row.held_back = all.at(0).held_back;
    for (const std::string &note : open_notes(l)) row.open.push_back(on_one_line(note, 4000, ' '));
    for (const std::string &note : disputed_notes(l)) row.add_problem(note);
    for (const case_view &c : l.cases)
        if (member(*c.whole, "fault") == true) row.add_problem(c.name + ": " + c.message);
    for (const case_view &c : l.cases) ++row.verdicts[c.verdict];
    const case_view *f = first_to_mend(l, todos); // as watch orders them
    if (f) row.first_failure = fmt::format("{} in {}", f->verdict, f->name);
    if (f) row.add_problem(f->message.empty() ? f->hint : f->message);
    if (row.status != l.status)
        row.add_problem("a held-back case could not be graded; --json has why");
    row.document = std::move(g.document);
}

// An error with one student's file, the student's or ours, ends only that row.
template <typename F> void in_row(work &w, F part)
{
    if (w.row.file.empty()) return;
    try {
        part(file_of(w.row.file));
    } catch (const stop_requested &) {
        throw;
    } catch (const std::exception &e) {
        w.row.status = "error";
        w.row.add_problem(e.what());
    }
}

// Compiles the file, and grades it on the simulator if that has a part.
void begin(const toolchain &t, work &w, grade_options options, const todo_list &todos)
{
    in_row(w, [&](const subject &what) {
        w.prepared = prepare_grade(t, *w.of, what, options);
        if (options.backend == "gpu" && w.prepared.refused.is_null()) return;
        const bool whole = options.backend == "sim" || !w.prepared.refused.is_null();
        options.backend = "sim";
        graded g = grade_prepared(t, *w.of, what, w.prepared, options);
        if (whole)
            fill_row(w.row, std::move(g), todos);
        else
            w.by_simulator = std::move(g);
    });
}

// Does what needs the GPU.
void complete(const toolchain &t, work &w, const grade_options &options, const todo_list &todos)
{
    if (!w.prepared.refused.is_null() || !w.prepared.workers.contains("gpu")) return;
    in_row(w, [&](const subject &what) {
        if (w.row.status == "error") return;
        fill_row(w.row,
                 w.by_simulator
                     ? add_gpu(t, *w.of, what, w.prepared, std::move(*w.by_simulator), options)
                     : grade_prepared(t, *w.of, what, w.prepared, options),
                 todos);
    });
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

// Returns a student's file, or nothing if it would not be graded.
std::string text_of(const std::string &path)
{
    constexpr std::uintmax_t max_bytes = 1 << 20;
    std::error_code unreadable;
    if (!fs::is_regular_file(fs::symlink_status(path, unreadable))) return {};
    std::uintmax_t size = fs::file_size(path, unreadable);
    if (unreadable || size > max_bytes) return {};
    try {
        return read_text(path);
    } catch (const machine_error &) { // its row will report it
        return {};
    }
}

// Marks files that equal naive or another student's, byte for byte, unless they are the stub.
void mark_copies(const toolchain &t, std::vector<work> &all)
{
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> same; // by lab and text
    for (std::size_t i = 0; i < all.size(); ++i)
        if (std::string text = text_of(all[i].row.file); !text.empty())
            same[{all[i].row.lab, std::move(text)}].push_back(i);
    for (const auto &[of, whose] : same) {
        const lab &l = *all[whose[0]].of;
        bool naive = of.second == text_of(t.source(l, "naive"));
        if (of.second == original_stub(t, l).text || of.second == text_of(t.stub(l))) continue;
        for (std::size_t i : whose) {
            grade_row &row = all[i].row;
            if (naive)
                row.add_problem(
                    fmt::format("the file is {}, byte for byte", t.shown(t.source(l, "naive"))));
            if (naive || whose.size() < 2) continue;
            const std::string &other = all[whose[i == whose[0]]].row.student;
            row.add_problem(fmt::format("the file is the same as {}'s{}, byte for byte", other,
                                        whose.size() > 2 ? " and others'" : ""));
        }
    }
}

int width_of(const std::vector<work> &all, std::string grade_row::*word)
{
    int width = 7;
    for (const work &w : all) width = std::max(width, columns(w.row.*word));
    return width;
}

// Builds what the graders need, and returns the work: one item per student and lab.
std::vector<work> work_of(const toolchain &t, const std::vector<student_files> &students,
                          const std::vector<std::string> &names, const grade_options &options,
                          progress_line &progress)
{
    std::vector<item> items;
    for (const std::string &name : names)
        items.push_back({&lab_called(t, name), file_of("stub.cu")});
    build_for_grading(t, items, options.backend, progress);
    std::map<std::string, offered_points> offered;
    for (const std::string &name : names) offered[name] = points_offered(t, lab_called(t, name));
    std::vector<work> all;
    for (const student_files &student : students)
        for (const std::string &name : names) {
            handed_in h = find_file(student, name, names.size() == 1, t.lab_names(false));
            work w{&lab_called(t, name), {}};
            w.row.student = on_one_line(student.name, 200);
            w.row.lab = name;
            w.row.file = h.file;
            w.row.status = h.unreadable ? "error" : "missing";
            w.row.problem = h.problem;
            w.row.max_points = offered[name].points;
            w.row.clock.max_points = offered[name].clock;
            w.row.held_back.max_points = offered[name].held_back;
            all.push_back(std::move(w));
        }
    return all;
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
    if (!row.problem.empty()) fmt::print("    {}\n", wrapped(row.problem, out.width, 4));
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

    void keep(std::size_t all, const std::string &text)
    {
        try {
            write_atomically(file, text);
            rows = all;
        } catch (const machine_error &e) {
            problem = e.what();
        }
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

bool holds_back(const std::vector<work> &all)
{
    return std::ranges::any_of(all, [](const work &w) { return w.row.held_back.max_points > 0; });
}

json class_document(const std::vector<grade_row> &rows, const grade_options &options)
{
    json document = as_json(rows, options.backend, options.seed);
    if (!options.held_back_seed.empty()) document["held_back_seed"] = options.held_back_seed;
    return document;
}

} // namespace

int autograde_command(const toolchain &t, const std::vector<std::string> &words,
                      grade_options options, const autograde_options &wanted)
{
    std::error_code unreadable; // read_class reports it
    fs::path folder = fs::canonical(wanted.folder, unreadable);
    class_files handed =
        read_class(unreadable ? wanted.folder : folder.string(), t.lab_names(false));
    std::vector<std::string> names = find_labs(words, t.lab_names(named_in_full(t, words)));
    if (names.empty()) throw usage_error("this workbook has no labs yet");
    require_writable("--csv", wanted.csv_file);
    require_writable("--json", wanted.json_file);
    progress_line progress;
    // The one seed that this chooses gives every student the same inputs.
    choose_backend(t, lab_called(t, names[0]), options, progress);
    std::vector<work> all = work_of(t, handed.students, names, options, progress);
    if (holds_back(all))
        options.held_back_seed = choose_seed(wanted.held_back_seed, "--held-back-seed");
    else if (!wanted.held_back_seed.empty())
        throw usage_error("--held-back-seed: no lab that is graded has held-back cases, in "
                          "labs/LAB/held_back.cpp; leave it out");
    options.require_sandbox = !wanted.without_sandbox;
    if (options.require_sandbox) require_sandbox(t, lab_called(t, names[0]), options.backend);

    mark_copies(t, all);
    std::map<std::string, todo_list> todos;
    for (const std::string &name : names) todos.emplace(name, todos_of(t, lab_called(t, name)));

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
        progress.clear();
        rows.push_back(std::move(all[i].row));
        if (!csv.file.empty()) csv.keep(rows.size(), as_csv(rows, options.backend, options.seed));
        if (!document.file.empty())
            document.keep(rows.size(), class_document(rows, options).dump(1) + "\n");
        try {
            print_row(rows.back(), student, lab, out);
        } catch (const std::system_error &e) { // its disk is full: the tables still get their rows
            unprinted = e.what();
        }
        if (i + 1 < all.size())
            progress.say(
                fmt::format("grading {}/{}: {}", i + 2, all.size(), all[i + 1].row.student));
    };
    // Compilers and simulators use all cores. Then the GPU has the machine for itself, one file at
    // a time, since two graders on it would spoil each other's times.
    const bool timed = options.backend != "sim";
    auto note = [&](std::size_t i) {
        progress.say(fmt::format("compiled{} {}/{}",
                                 options.backend == "both" ? " and counted" : "", i + 1,
                                 all.size()));
    };
    const std::function<void(std::size_t)> done = timed ? note : std::function(report);
    parallel_for(
        all.size(), cores(),
        [&](std::size_t i) { begin(t, all[i], options, todos.at(all[i].of->name)); }, done);
    for (std::size_t i = 0; timed && i < all.size(); ++i) {
        complete(t, all[i], options, todos.at(all[i].of->name));
        report(i);
    }
    print_open(rows, out);
    auto count = [&](const std::string &status) {
        return std::ranges::count(rows, status, &grade_row::status);
    };
    auto refused = std::ranges::count_if(rows, [](const grade_row &row) {
        return row.status != "error" && row.verdicts.contains("SUBMISSION_INVALID");
    });
    auto missing = count("missing"), faults = count("error");
    std::string sums =
        fmt::format("{} graded, {} refused, {} missing, {} not graded by a fault of ours (backend "
                    "{}, seed {})",
                    rows.size() - std::size_t(refused + missing + faults), refused, missing, faults,
                    options.backend, options.seed);
    fmt::print("\n{}\n", wrapped(sums, out.width, 2));
    if (!unprinted.empty()) throw machine_error("Some rows could not be printed: " + unprinted);
    require_whole({csv, document}, rows.size());
    return faults > 0 ? infrastructure : passed;
}

} // namespace cli
