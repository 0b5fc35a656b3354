// The convert command: reads a result, and writes it in the format of a course system.
#include "commands.hpp"

#include "cli/results/class_results.hpp"
#include "cli/results/formats/class_page.hpp"
#include "cli/results/formats/formats.hpp"
#include "cli/results/grade_columns.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Turns errors with a file that the user named into usage errors.
template <typename F> void as_usage(F use, const char *what_to_do)
{
    try {
        use();
    } catch (const machine_error &e) {
        throw usage_error(fmt::format("{}. {}", e.what(), what_to_do));
    }
}

void write_file(const std::string &path, const std::string &text)
{
    std::error_code none;
    if (fs::exists(path, none) && !fs::is_regular_file(path, none))
        throw usage_error(fmt::format("{} is no file; nothing was written. Name another, or leave "
                                      "--output out for standard output.",
                                      path));
    fs::path folder = fs::absolute(path).parent_path();
    if (!fs::is_directory(folder))
        throw usage_error(fmt::format("cannot write {}: there is no folder {}. Name a file that "
                                      "can be written.",
                                      path, folder.string()));
    write_atomically(path, text);
}

void print(const std::string &text)
{
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw machine_error(cannot_write("standard output", errno));
}

void convert_for_github(const json &document, const std::string &output)
{
    constexpr std::size_t max_bytes = 1 << 20; // per step
    const char *of_step = std::getenv("GITHUB_STEP_SUMMARY");
    std::string path = output.empty() && of_step ? of_step : output, before;
    std::error_code none;
    if (output.empty() && fs::is_regular_file(path, none))
        as_usage([&] { before = read_text(path); }, "Name a file with --output.");
    if (!path.empty())
        write_file(path,
                   before + as_summary(document, max_bytes - std::min(max_bytes, before.size())));
    else
        fmt::print(stderr, "No summary was written: name a file with --output, or run this in a "
                           "step of GitHub Actions.\n");
    print(as_annotations(document));
}

// A student's own result, out of a class's.
std::string as_one_result(const json &document)
{
    return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string class_page_of(const convert_options &options)
{
    if (!options.student.empty())
        throw usage_error("--to page shows a whole class: leave --student out, or write the "
                          "student's own result with --to text.");
    return as_class_page(read_class_results(options.file), {options.clock, options.published});
}

classroom50_submission submission_by_environment(const std::string &committed_at)
{
    std::string missing;
    auto variable = [&](const char *name) -> std::string {
        const char *value = std::getenv(name);
        if (!value || !*value) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
        return value ? value : "";
    };
    classroom50_submission of{variable("CLASSROOM"),
                              variable("ASSIGNMENT"),
                              variable("SUBMISSION_TAG"),
                              variable("COMMIT_URL"),
                              variable("RELEASE_URL"),
                              "",
                              committed_at};
    if (!missing.empty())
        throw usage_error(fmt::format("classroom50 needs what Classroom 50's runner sets in the "
                                      "environment of autograder.py, and these variables are not "
                                      "set: {}. Run it in there.",
                                      missing));
    if (committed_at.empty())
        throw usage_error("classroom50 needs --committed TIME, the graded commit's own, so that "
                          "grading again does not make a submission late. In the submission's "
                          "folder this prints it:\n  TZ=UTC git show -s --format=%cd "
                          "--date=format-local:%FT%TZ");
    const char *review = std::getenv("REVIEW_URL"); // older runners set none
    of.review = review && *review ? review : of.commit;
    return of;
}

void write_column(const convert_options &options)
{
    const json of_class = read_class_results(options.file);
    std::string roster;
    as_usage([&] { roster = read_text(options.roster); },
             "Give the file that the course system exported.");
    filled_column filled;
    as_usage(
        [&] {
            filled = fill_column(of_class, roster,
                                 {.lms = options.lms,
                                  .roster_name = options.roster,
                                  .lab = options.lab,
                                  .column = options.column,
                                  .clock = options.clock,
                                  .published = options.published});
        },
        "Download it again, and give it as it is: a spreadsheet may have changed it.");
    options.output.empty() ? print(filled.table) : write_file(options.output, filled.table);
    for (const std::string &note : filled.notes)
        fmt::print(stderr, "{}\n", wrapped(note, detect_terminal(2).width, 2));
}

// Throws usage_error for an option that only another form has.
void require_fitting(const convert_options &o)
{
    auto only_for = [](bool given, const char *option, const std::string &form, bool fits) {
        if (given && !fits)
            throw usage_error(fmt::format("{} is for {} only: leave it out.", option, form));
    };
    if (o.format.empty() == o.lms.empty())
        throw usage_error("Say one form with --to, or one course system with --lms.");
    const bool column = !o.lms.empty();
    if (column && o.roster.empty())
        throw usage_error(fmt::format("--lms needs --roster FILE: the {} whose column is to be "
                                      "filled in.",
                                      o.lms == "canvas"
                                          ? "gradebook that Canvas exports"
                                          : "grading worksheet or the grades that Moodle exports"));
    only_for(!o.roster.empty(), "--roster", "--lms", column);
    only_for(!o.lab.empty(), "--lab", "--lms", column);
    only_for(!o.column.empty(), "--column", "--lms", column);
    only_for(!o.student.empty(), "--student", "--to", !column);
    only_for(o.leaderboard, "--leaderboard", "--to gradescope", o.format == "gradescope");
    only_for(!o.committed_at.empty(), "--committed", "--to classroom50", o.format == "classroom50");
}

std::string in_form(const json &document, const convert_options &o)
{
    if (o.format == "json") return as_one_result(document);
    if (o.format == "junit") return as_junit(document);
    if (o.format == "gradescope") return as_gradescope(document, o.leaderboard);
    if (o.format == "prairielearn") return as_prairielearn(document);
    if (o.format == "autolab") return as_autolab(document);
    if (o.format == "coderunner") return as_coderunner(document);
    if (o.format == "classroom50")
        return as_classroom50(document, submission_by_environment(o.committed_at));
    return as_text(document);
}

} // namespace

int convert_command(const convert_options &options)
{
    require_fitting(options);
    if (!options.lms.empty()) {
        write_column(options);
        return passed;
    }
    auto write = [&](const std::string &text) {
        options.output.empty() ? print(text) : write_file(options.output, text);
        return passed;
    };
    if (options.format == "page") return write(class_page_of(options));
    json document = read_result(options.file, options.student);
    // Gradescope hides them itself until its grades are published.
    if (!options.published && options.format != "gradescope")
        document = without_held_back(std::move(document));
    if (options.published && options.format != "json")
        document = with_held_back_published(std::move(document));
    if (options.format != "json") document = as_counted(std::move(document), options.clock);
    if (options.format == "github") {
        convert_for_github(document, options.output);
        return passed;
    }
    return write(in_form(document, options));
}

} // namespace cli
