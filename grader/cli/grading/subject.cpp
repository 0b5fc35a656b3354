// Finds the subjects of a grade.
#include "subject.hpp"

#include "cli/results/lab_names.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/support/errors.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace cli {

namespace fs = std::filesystem;

subject stub_of(const toolchain &t, const lab &l) { return {"stub", t.stub(l), false}; }

subject implementation_of(const toolchain &t, const lab &l, const std::string &name)
{
    return {name, t.source(l, name), true};
}

subject file_of(const std::string &path)
{
    return {sanitized(fs::path(path).filename().string(), 200), path, false};
}

bool named_in_full(const toolchain &t, const std::vector<std::string> &words)
{
    const std::vector<std::string> all = t.lab_names(true);
    return !words.empty() && std::ranges::all_of(words, [&](const std::string &word) {
        return std::ranges::find(all, word) != all.end();
    });
}

std::vector<item> items(const toolchain &t, const std::vector<std::string> &words,
                        const std::string &submission, bool solutions)
{
    if (!submission.empty() && solutions)
        throw usage_error(
            "--submission and --solutions exclude each other: which one is to be graded?");
    if (!submission.empty() && words.size() != 1)
        throw usage_error(fmt::format("--submission needs exactly one lab: ./workbook grade LAB "
                                      "--submission {}",
                                      shell_word(submission)));
    if (!submission.empty() && !fs::exists(fs::symlink_status(submission)))
        throw usage_error(fmt::format("--submission {}: there is no such file here ({})",
                                      shell_word(sanitized(submission, 400)),
                                      fs::current_path().string()));
    std::vector<item> result;
    for (const std::string &name : find_labs(words, t.lab_names(named_in_full(t, words)))) {
        const lab &l = lab_called(t, name);
        if (solutions && !l.solutions)
            throw usage_error("this is the student edition, without the worked solutions, which "
                              "your instructor has; grade your own file: ./workbook grade");
        subject s = !submission.empty() ? file_of(submission)
                    : solutions         ? implementation_of(t, l, "solution")
                                        : stub_of(t, l);
        result.push_back({&l, s});
    }
    return result;
}

grading::todo_list todos_of(const toolchain &t, const lab &l, const subject &what)
{
    if (what.ours) return grading::todo_list("");
    return todos_of(t, l, what.source);
}

std::string grade_command_of(const toolchain &t, const lab &l, const subject &what)
{
    const std::string command = "./workbook grade " + number_of(l.name);
    if (what.name == "stub") return command;
    if (what.ours && what.name == "solution") return command + " --solutions";
    return command + " --submission " + shell_word(t.shown(what.source));
}

} // namespace cli
