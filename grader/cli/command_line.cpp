// Describes the commands and options, and explains words that none of them takes.
#include "command_line.hpp"
#include "help_format.hpp"
#include "help_texts.hpp"

#include "cli/results/student_edition.hpp"
#include "cli/submission/toolchain.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>

namespace cli {

namespace {

constexpr const char *about = "CUDA labs, graded by the workbook's simulator, and on your GPU.";

// The labs installed beside the program decide what the help shows: a student edition has no
// solutions, and may have only one lab.
struct installed_labs {
    std::string lab = "02_coalescing"; // the first one, for examples
    bool solutions = true;
    std::string source_root = {};
};

installed_labs find_installed_labs()
{
    try {
        toolchain t = read_toolchain(toolchain_path());
        for (const lab &l : t.labs)
            if (!l.test) return {l.name, l.solutions, t.source_root};
    } catch (const machine_error &) { // a broken build folder: commands report it, help need not
    }
    return {};
}

// The answer to --version: "CUDA workbook 0.2.0, the student edition of commit 0123456789ab".
std::string version_words(const installed_labs &here)
{
    std::string words = fmt::format("CUDA workbook {}", tool_version);
    if (here.source_root.empty() || !is_student_edition(here.source_root)) return words;
    try {
        const edition e = read_edition(here.source_root);
        return words + fmt::format(", the student edition of commit {}", e.commit.substr(0, 12));
    } catch (const machine_error &) { // a damaged file: the version is known without it
        return words;
    }
}

std::string examples(const installed_labs &here)
{
    std::string number = number_of(here.lab), part = here.lab.substr(number.size() + 1, 4);
    std::string text = fmt::format(
        "\nLAB is a number ({}, {}) or any part of one lab's name ({}). No LAB: all of\nthem. "
        "Without a command: where am I, and what next.\n\nExamples:\n",
        std::stoi(number), number, part);
    auto example = [&](const std::string &command, const std::string &does) {
        text += fmt::format("  ./workbook {:<22} {}\n", command, does);
    };
    if (here.solutions) example("demo", "every lab's ladder, naive to full solution");
    example("watch " + number, "grade after every save of the file you edit");
    example("grade " + number, fmt::format("grade labs/{}_*/stub.cu, the file you edit", number));
    example("grade " + number + " --case speed", "only cases with \"speed\" in their name");
    example("explain " + number, "your source, with what the memory system did");
    return text + fmt::format("  ./workbook grade {} --submission ~/mine.cu --json result.json\n\n"
                              "Exit status: 0 passed, 1 the submission failed, 2 wrong usage, 77 "
                              "nothing\nfailed, but cases could not be judged that have to be, "
                              "or --backend gpu or both\nhas no GPU, 99 a fault of the machine or "
                              "the workbook. Points of the clock that\nare open change no status.",
                              number);
}

// Adds an option that rejects an empty argument, which usually is an unset shell variable.
template <typename T>
CLI::Option *add_option(CLI::App &command, const char *name, T &to, const char *help)
{
    static const CLI::Validator not_empty(
        [](const std::string &word) {
            return word.empty() ? std::string("it was given an empty word") : std::string();
        },
        "");
    return command.add_option(name, to, help)->check(not_empty);
}

void add_labs(CLI::App &command, command_line &o)
{
    add_option(command, "LAB", o.labs, "number or part of a name; none: all labs");
}

void add_one_lab(CLI::App &command, command_line &o)
{
    add_option(command, "LAB", o.one_lab, "number or part of a name")->required();
}

void add_seed(CLI::App &command, command_line &o)
{
    add_option(command, "--seed", o.grade.seed, "hexadecimal: repeat the inputs of an earlier run");
}

void add_backend_and_seed(CLI::App &command, command_line &o)
{
    command
        .add_option("--backend", o.grade.backend,
                    "sim: the simulator alone; gpu: a GPU alone, which counts nothing; auto "
                    "(default): both where there is a GPU, else sim; both: as auto, but without "
                    "a GPU the exit status is 77")
        ->check(CLI::IsMember({"auto", "both", "gpu", "sim"}));
    add_seed(command, o);
}

void describe_grade(CLI::App &grade, command_line &o)
{
    add_labs(grade, o);
    add_option(grade, "--case", o.grade.pattern,
               "the case of this name, or all whose name contains it");
    add_option(grade, "--submission", o.grade.submission, "grade this .cu file instead");
    grade.add_flag("--solutions", o.grade.solutions, "grade the worked solutions instead");
    add_backend_and_seed(grade, o);
    grade
        .add_option("--schedule", o.grade.schedule,
                    "simulator: the order of warps and blocks; late: streams' work as late "
                    "as waits allow")
        ->check(CLI::IsMember({"index", "random", "late"}));
    add_option(grade, "--json", o.grade.json_file, "also write the results to this file");
    add_option(grade, "--simulator-json", o.grade.simulator_json_file,
               "where there is a GPU: the simulator's part, seconds before the clock's");
    add_option(grade, "--pictures", o.grade.picture_folder,
               "folder for the pictures that some cases draw");
    grade.add_flag("--keep-calls", o.grade.every_replay,
                   "keep the last call on the GPU of each case that is not timed");
    grade.add_flag("--require-gpu", o.grade.require_gpu,
                   "without a GPU grade nothing: exit status 99");
}

void describe_explain(CLI::App &explain, command_line &o)
{
    explain.footer(about_explain);
    add_one_lab(explain, o);
    add_option(explain, "--case", o.grade.pattern,
               "cases whose name contains it; none: those of speed");
    add_option(explain, "--submission", o.grade.submission, "explain this .cu file instead");
    explain.add_flag("--solutions", o.grade.solutions, "explain the worked solutions instead");
    add_seed(explain, o);
    add_option(explain, "--html", o.page, "also write a page that pictures the worst accesses");
}

void describe_check(CLI::App &check, command_line &o)
{
    add_labs(check, o);
    add_backend_and_seed(check, o);
    CLI::Option *whole =
        check.add_flag("--whole", o.check.whole, "all cases of the wrong submissions, too");
    check.add_flag("--todos", o.check.todos,
                   "only print the points after each TODO of the filled stubs");
    CLI::Option *record = check.add_flag("--record", o.check.record,
                                         "keep new verdicts, and changed ones that have a reason");
    CLI::Option *budget =
        check
            .add_option("--budget", o.check.budget,
                        "in so many seconds: solutions, headline speeds, then what is new or "
                        "changed")
            ->check(CLI::Range(1, 86400))
            ->excludes(whole)
            ->excludes(record);
    add_option(check, "--tables", o.check.tables, "with --budget: the folder of its tables")
        ->needs(budget);
    CLI::Option *pairs =
        add_option(check, "--record-pairs", o.check.pairs_folder,
                   "only record the timed pairs of each lab's headline case to this folder")
            ->excludes(whole)
            ->excludes(record)
            ->excludes(budget);
    check.add_option("--pairs", o.check.pairs, "with --record-pairs: how many; 300 by default")
        ->check(CLI::Range(1, 100000))
        ->needs(pairs);
    check.add_flag("--due", o.check.only_due, "with --budget: only what is new or changed")
        ->needs(budget);
}

void describe_autograde(CLI::App &autograde, command_line &o)
{
    autograde.footer(about_autograde);
    add_option(autograde, "FOLDER", o.autograde.folder, "holds a folder per student")->required();
    add_labs(autograde, o);
    add_option(autograde, "--csv", o.autograde.csv_file, "write a row per student and lab");
    add_option(autograde, "--json", o.autograde.json_file, "the same with every case");
    add_option(autograde, "--results", o.autograde.results,
               "folder that keeps each grade; none: FOLDER.results");
    autograde.add_flag("--anew", o.autograde.anew, "grade also what that folder has");
    CLI::Option *newest = autograde.add_flag_callback(
        "--newest", [&o] { o.autograde.which = which_file::newest; },
        "of several files of a student, the newest counts");
    autograde
        .add_flag_callback(
            "--best", [&o] { o.autograde.which = which_file::best; }, "... the best counts")
        ->excludes(newest);
    add_option(autograde, "--due", o.autograde.due, "count late days from 2026-12-01T23:59 on");
    add_option(autograde, "--extensions", o.autograde.extensions,
               "a CSV file: student,lab,due; +3 is three days more");
    add_option(autograde, "--against", o.autograde.against,
               "an earlier --json: whose points move, and why");
    autograde
        .add_option("--engine", o.autograde.engine, "local (default); slurm: jobs of a cluster")
        ->check(CLI::IsMember({"local", "slurm"}));
    add_option(autograde, "--slurm-cpu", o.autograde.slurm.cpu,
               "arguments for sbatch of jobs without a GPU");
    add_option(autograde, "--slurm-gpu", o.autograde.slurm.gpu,
               "... of jobs with one; none: no clock");
    add_option(autograde, "--held-back-seed", o.autograde.held_back_seed,
               "hexadecimal: for held-back cases; none: a random one, kept in --json");
    add_option(autograde, "--similarity", o.autograde.similarity,
               "new folder: the files without the stub's lines, for JPlag and Dolos; and print "
               "which are alike");
    autograde.add_flag("--without-sandbox", o.autograde.without_sandbox,
                       "run strangers' code also where it cannot be shut off from the machine");
    add_backend_and_seed(autograde, o);
}

void describe_convert(CLI::App &convert, command_line &o)
{
    convert.footer(about_convert);
    add_option(convert, "RESULT", o.convert.file, "what --json wrote; -: standard input")
        ->required();
    convert.add_option("--to", o.convert.format, "the form to write")
        ->check(CLI::IsMember({"autolab", "classroom50", "coderunner", "github", "gradescope",
                               "json", "junit", "page", "prairielearn", "text"}));
    add_option(convert, "--output", o.convert.output, "file to write; none: standard output");
    add_option(convert, "--student", o.convert.student, "of a class: whose results");
    convert.add_flag("--clock", o.convert.clock,
                     "count the points of the clock, too: 50 a lab, not 40, where it has any");
    convert.add_flag("--published", o.convert.published,
                     "show held-back cases, and count their points on top");
    convert.add_flag("--leaderboard", o.convert.leaderboard,
                     "gradescope, with --clock: also rank the measured speedups before the class");
    add_option(convert, "--committed", o.convert.committed_at,
               "classroom50: the graded commit's time, in UTC");
    convert.add_option("--lms", o.convert.lms, "instead of --to: fill in a class's grades")
        ->check(CLI::IsMember({"moodle", "canvas"}));
    add_option(convert, "--roster", o.convert.roster, "--lms: the file that it exported");
    add_option(convert, "--lab", o.convert.lab, "--lms: of several labs, which one");
    add_option(convert, "--column", o.convert.column,
               "--lms: of several columns, which one (part of its name)");
}

void describe_appeal(CLI::App &appeal, command_line &o)
{
    appeal.footer(about_appeal);
    add_option(appeal, "RESULT", o.appeal.file, "what --json wrote; -: standard input")->required();
    add_option(appeal, "FILE", o.appeal.submission, "the .cu file that was graded");
    add_option(appeal, "--student", o.appeal.student, "of a class: whose results");
    add_option(appeal, "--lab", o.appeal.lab, "of a result of several labs: which one");
    add_option(appeal, "--json", o.appeal.json_file, "also write the result made here");
}

void describe(CLI::App &app, command_line &o, const installed_labs &here)
{
    app.formatter(help_format()); // commands that are added later inherit it
    app.footer(examples(here));
    app.require_subcommand(0, 1);
    app.set_help_flag("-h,--help", "print this help and exit");
    app.set_version_flag(
        "--version", [&here] { return version_words(here); }, "print the version and exit");
    auto add = [&](const char *name, const char *does) -> CLI::App & {
        return *app.add_subcommand(name, does);
    };
    CLI::App &demo = add("demo", "grade the worked solutions and draw the ladders");
    demo.footer("With a GPU, the demo of all labs times one case of each, the one with the\n"
                "most points; the demo of a lab times all of its cases.");
    add_labs(demo, o);
    add_backend_and_seed(demo, o);

    CLI::App &watch = add("watch", "grade your stub after every save, until q");
    watch.footer(about_watch);
    add_one_lab(watch, o);
    add_backend_and_seed(watch, o);

    describe_grade(add("grade", "grade your labs/LAB/stub.cu"), o);
    describe_explain(add("explain", "your source, with what the memory system did"), o);

    CLI::App &hint = add("hint", "one more hint for the TODO you are at");
    hint.footer(about_one_lab);
    add_one_lab(hint, o);
    hint.add_option("--todo", o.hint.todo, "for this TODO instead")->check(CLI::Range(1, 9999));
    hint.add_flag("--again", o.hint.again, "those shown before, and no other");

    CLI::App &start = add("start", "begin a lab again, as handed out or from nothing");
    start.footer(about_start);
    add_one_lab(start, o);
    start.add_flag("--open", o.open, "only empty functions: no given code, no TODOs");
    start.add_flag("--yes", o.agreed, "do not ask");

    CLI::App &reset = add("reset", "put a stub back to how it was; keeps your file");
    reset.footer(about_one_lab);
    add_one_lab(reset, o);
    reset.add_flag("--yes", o.agreed, "do not ask");

    CLI::App &update = add("update", "carry your work over from an older edition");
    update.footer(about_update);
    add_option(update, "OLD", o.older, "the folder of the older edition")->required();

    describe_appeal(add("appeal", "make a grade that you were given again"), o);

    // The launcher runs the tests itself; this program only prints the help.
    CLI::App &test = add("test", "run the project's own tests");
    test.footer(about_tests);
    test.add_option("NAME", o.labs, "only these tests; none: all");

    add("doctor", "what this machine has, and what that enables").footer(about_doctor);

    describe_check(add("check", "maintainers: prove that each grader grades rightly"), o);

    CLI::App &calibrate = add("calibrate", "instructors: which timed gates hold on this GPU");
    calibrate.footer(about_calibrate);
    add_labs(calibrate, o);
    add_seed(calibrate, o);

    CLI::App &release = add("release", "instructors: write the student edition");
    release.footer(about_release);
    add_option(release, "DIR", o.release.folder, "folder to make")->required();
    add_option(release, "LAB", o.release.words, "the labs in it; none: all");
    release.add_flag_callback(
        "--without-proof", [&o] { o.release.proof = false; }, "only write it, in a second");

    describe_autograde(add("autograde", "instructors: grade a class's files"), o);
    CLI::App &task = add("class-task", "what a job of autograde --engine slurm runs");
    task.group("");
    add_option(task, "FOLDER", o.task.folder, "of the results")->required();
    add_option(task, "LIST", o.task.list, "of the tasks")->required();
    task.add_option("INDEX", o.task.index, "in that list")->required();
    describe_convert(add("convert", "instructors: a result for your course system"), o);

    // A student's help leaves out what is for instructors, and what shows worked solutions.
    if (here.solutions) return;
    for (const char *name : {"demo", "check", "calibrate", "release", "autograde", "convert"})
        app.get_subcommand(name)->group("");
    for (const char *name : {"grade", "explain"})
        app.get_subcommand(name)->get_option("--solutions")->group("");
}

// Suggests the option or command that was probably meant by a word that CLI11 did not expect.
std::string near_miss(const CLI::App &command, const std::string &word)
{
    std::vector<std::string> known;
    if (word.starts_with("-")) {
        for (const CLI::Option *option : command.get_options())
            if (!option->get_lnames().empty()) known.push_back("--" + option->get_lnames()[0]);
    } else {
        for (const CLI::App *sub : command.get_subcommands({})) known.push_back(sub->get_name());
    }
    std::string near = nearest(word.substr(0, word.find('=')), known);
    return near.empty() ? "" : fmt::format(" Did you mean {}?", near);
}

// The message for an argument after those that a command takes.
std::string one_too_many(const CLI::App &command, const std::string &word)
{
    const bool takes_lab = command.get_option_no_throw("LAB") != nullptr;
    std::string what = fmt::format("{} takes {}; \"{}\" is one too many.", command.get_name(),
                                   takes_lab ? "one lab" : "no further word", sanitized(word, 100));
    const bool number = word.size() <= 4 && word.find_first_not_of("0123456789") == word.npos;
    if (command.get_name() == "hint" && number && std::stoi(word) > 0)
        what += fmt::format(" Did you mean --todo {}?", std::stoi(word));
    return what;
}

// The message for a word that no command or option takes.
std::string unexpected(const CLI::App &app, const CLI::App &command, const std::string &word)
{
    const bool option = word.starts_with("-");
    if (&command != &app && !option) return one_too_many(command, word);
    return fmt::format("there is no {} \"{}\".{}", option ? "option" : "command",
                       sanitized(word, 100), near_miss(command, word));
}

int refuse(const CLI::App &app, const CLI::ParseError &e)
{
    const CLI::App *command = &app;
    if (!app.get_subcommands().empty()) command = app.get_subcommands()[0];
    std::string help = command == &app ? "" : command->get_name() + " ";
    std::vector<std::string> extra = command->remaining();
    if (extra.empty()) extra = app.remaining();
    std::string what = e.what();
    if (!extra.empty()) what = unexpected(app, *command, extra[0]);
    fmt::print(stderr, "{}\nSee: ./workbook {}--help\n", what, help);
    return wrong_usage;
}

} // namespace

std::optional<int> parse_command_line(int count, char **words, command_line &to)
{
    CLI::App app(about, "./workbook");
    const installed_labs here = find_installed_labs();
    describe(app, to, here);
    try {
        app.parse(count, words);
    } catch (const CLI::Success &e) { // the help or the version is to be printed
        return app.exit(e);
    } catch (const CLI::ParseError &e) {
        return refuse(app, e);
    }
    if (!app.get_subcommands().empty()) to.command = app.get_subcommands()[0]->get_name();
    return {};
}

} // namespace cli
