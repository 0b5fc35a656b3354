// The appeal command: makes a grade again from its result, and says if it is the same.
#include "commands.hpp"

#include "cli/grading/backend.hpp"
#include "cli/results/class_results.hpp"
#include "cli/results/grade_comparison.hpp"
#include "cli/results/lab_names.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/sha256.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Returns the document with the one lab that the appeal is about.
json with_one_lab(json document, const std::string &file, const std::string &word)
{
    std::vector<std::string> names;
    for (const lab_view &l : labs_of(document)) names.push_back(on_one_line(l.lab, 100));
    if (word.empty() && names.size() > 1)
        throw usage_error(fmt::format("{} is of {} labs: name one with --lab ({})",
                                      shell_word(file), names.size(), fmt::join(names, ", ")));
    const std::string name = word.empty() ? names[0] : find_lab(word, names);
    const auto at = std::ranges::find(names, name) - names.begin();
    document["labs"] = json::array({json(document["labs"][std::size_t(at)])});
    return document;
}

const lab &lab_of(const toolchain &t, const json &document, const std::string &file)
{
    const std::string name = text_at(document["labs"][0], "lab");
    const std::vector<std::string> all = t.lab_names(true);
    if (std::ranges::find(all, name) == all.end())
        throw usage_error(fmt::format(
            "{} is of lab {}, which this workbook does not have (it has {}). Appeal in the edition "
            "that the lab came with.",
            shell_word(file), shell_word(on_one_line(name, 100)),
            fmt::join(t.lab_names(false), ", ")));
    return lab_called(t, name);
}

// Returns the file to grade: the one named, else the lab's stub if it is the one that was graded.
std::string file_to_grade(const toolchain &t, const lab &l, const json &document,
                          const appeal_options &wanted)
{
    if (!wanted.submission.empty()) {
        if (!fs::is_regular_file(wanted.submission))
            throw usage_error(fmt::format("{}: there is no such file here ({})",
                                          shell_word(sanitized(wanted.submission, 400)),
                                          fs::current_path().string()));
        return wanted.submission;
    }
    const std::string graded = text_at(document["labs"][0], "sha256"), stub = t.stub(l);
    const std::string to_do = fmt::format("Name the file that was graded: ./workbook appeal {} "
                                          "FILE.cu",
                                          shell_word(wanted.file));
    if (graded.empty())
        throw usage_error(fmt::format("{} does not say which file was graded. {}",
                                      shell_word(wanted.file), to_do));
    if (!fs::exists(stub) || sha256(read_text(stub)) != graded)
        throw usage_error(fmt::format("{} is not the file that was graded, by the SHA-256 in {}. "
                                      "{}",
                                      t.shown(stub), shell_word(wanted.file), to_do));
    return stub;
}

std::string seed_of(const json &document, const std::string &file)
{
    const std::string seed = text_at(document, "seed");
    const bool right = !seed.empty() && seed.size() <= 16 &&
                       std::ranges::all_of(seed, [](unsigned char c) { return std::isxdigit(c); });
    if (!right)
        throw usage_error(fmt::format("{} names no seed, so its inputs cannot be made again. A "
                                      "class may keep its seed until the grades are out: ask for "
                                      "the result that has it.",
                                      shell_word(file)));
    return seed;
}

// Sets what the grade depends on as the result has it. Throws no_device_error if the machine that
// is needed is not this one.
void take_over(const toolchain &t, const lab &l, const json &document, const std::string &file,
               grade_options &options, progress_line &progress)
{
    const std::string backend = text_at(document, "backend");
    options.seed = seed_of(document, file);
    options.backend = backend;
    // Only what the staff has, or has published, names it.
    if (const std::string held_back = text_at(document, "held_back_seed"); !held_back.empty())
        options.held_back_seed = choose_seed(held_back, "held_back_seed");
    if (backend != "sim" && backend != "gpu" && backend != "both")
        throw usage_error(fmt::format("{} was graded on the backend \"{}\", which this workbook "
                                      "does not know. Appeal in the version that graded it, {}.",
                                      shell_word(file), on_one_line(backend, 20),
                                      on_one_line(text_at(document, "tool"), 20)));
    std::string problem;
    try {
        problem = choose_backend(t, l, options, progress);
    } catch (const no_device_error &e) {
        problem = e.what();
        problem = problem.substr(0, problem.find('\n')); // what follows is about --backend
    }
    if (problem.empty()) return;
    if (!problem.ends_with('.')) problem += '.';
    throw no_device_error(fmt::format("{} was graded on a GPU, and here {} Appeal on a machine "
                                      "with a GPU.",
                                      shell_word(file), problem));
}

} // namespace

int appeal_command(const toolchain &t, const appeal_options &wanted)
{
    const json given =
        with_one_lab(read_result(wanted.file, wanted.student), wanted.file, wanted.lab);
    const lab &l = lab_of(t, given, wanted.file);
    const item graded_item{&l, file_of(file_to_grade(t, l, given, wanted))};
    require_writable("--json", wanted.json_file);
    grade_options options;
    progress_line progress;
    take_over(t, l, given, wanted.file, options, progress);
    build_for_grading(t, {graded_item}, options.backend, progress);
    progress.say("grading " + l.name);
    const graded g = grade_one(t, l, graded_item.what, options, [&](int done, int cases) {
        progress.say(fmt::format("grading {}: {}/{} cases", l.name, done, cases));
    });
    progress.clear();
    if (!wanted.json_file.empty()) write_atomically(wanted.json_file, g.document.dump(2) + "\n");
    if (g.status == infrastructure) {
        fmt::print("{}", report_of(t, graded_item, g));
        throw machine_error("So the grade could not be made again here, and nothing is said about "
                            "the one that was given. See ./workbook doctor");
    }
    const grade_comparison c = compare_grades(given, g.document, detect_terminal(1).width);
    fmt::print("{}", c.text);
    return c.same ? passed : failed;
}

} // namespace cli
