// Reads the verdict that a wrong submission's first lines require, and checks that it was given.
#include "expectation.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"
#include "text/todo.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace cli {

namespace {

constexpr std::string_view fails = "// Fails: ", on_gpu = "// On gpu: ", passes = "// Passes: ";

std::vector<std::string> parts_of(const std::string &line)
{
    std::vector<std::string> parts;
    std::size_t from = 0;
    std::string ended = line + " "; // gives "CASE | VERDICT |" an empty third part
    for (std::size_t at; (at = ended.find(" | ", from)) != ended.npos && parts.size() < 2;
         from = at + 3)
        parts.push_back(trimmed(ended.substr(from, at - from)));
    parts.push_back(trimmed(ended.substr(from)));
    return parts;
}

// Returns the remainder of the first of the leading three lines that starts with `start`.
std::optional<std::string> find_line(const std::string &source, std::string_view start)
{
    std::vector<std::string> all = lines(source.substr(0, 4096));
    all.resize(std::min<std::size_t>(3, all.size()));
    for (const std::string &line : all)
        if (line.starts_with(start)) return trimmed(line.substr(start.size()));
    return {};
}

std::string list_of_failures(const lab_view &graded)
{
    std::string result;
    std::size_t shown = 0;
    for (const case_view &c : graded.cases) {
        if (c.passed() || ++shown > 4) continue;
        result += fmt::format("\n      {}  {}: {}", c.verdict, c.name, c.message);
        if (!c.hint.empty()) result += " / " + c.hint;
    }
    return result.empty() ? "\n      every case passed" : result;
}

} // namespace

bool states_expectation(const std::string &source) { return find_line(source, fails).has_value(); }

expectation read_expectation(const std::string &source, const std::string &file,
                             const std::string &backend)
{
    std::optional<std::string> stated;
    // In a grade on both, the simulator's part decides, except where only a GPU shows the mistake.
    const bool gpu_alone_shows = backend == "both" && find_line(source, passes).has_value();
    if (backend == "gpu" || gpu_alone_shows) stated = find_line(source, on_gpu);
    expectation e;
    if (stated) {
        e.passes = (*stated + " ").starts_with("passes ");
        e.may_pass = (*stated + " ").starts_with("may pass ");
    } else {
        e.passes = find_line(source, passes).has_value();
    }
    if (const auto failed = find_line(source, fails); e.passes && failed)
        e.case_name = parts_of(*failed)[0];
    if (e.passes || e.may_pass) return e;
    e.may_be_skipped = backend == "gpu" && !stated;
    if (!stated) stated = find_line(source, fails);
    if (!stated)
        throw machine_error(
            fmt::format("{}: the first line must be \"// Fails: CASE | VERDICT | WORDS\", or "
                        "\"// Passes: WHY\"",
                        file));
    std::vector<std::string> parts = parts_of(*stated);
    if (parts.size() != 3 || parts[0].empty())
        throw machine_error(fmt::format("{}: \"{}\" is not CASE | VERDICT | WORDS", file, *stated));
    e.verdicts = words_between_blanks(parts[1]);
    std::erase(e.verdicts, "or");
    if (e.verdicts.empty() || parts[1] != fmt::format("{}", fmt::join(e.verdicts, " or ")))
        throw machine_error(
            fmt::format("{}: \"{}\" is not VERDICT, or VERDICT or VERDICT", file, parts[1]));
    for (const std::string &name : e.verdicts) {
        grading::verdict v;
        if (!grading::parse(name, v))
            throw machine_error(fmt::format("{}: \"{}\" is no verdict; "
                                            "grader/text/verdict.hpp lists them",
                                            file, name));
    }
    e.case_name = parts[0], e.verdict = parts[1], e.words = parts[2];
    return e;
}

std::string unmet(const expectation &e, const lab_view &graded)
{
    for (const case_view &c : graded.cases)
        if (c.verdict == "INFRA_ERROR")
            return fmt::format("the grader itself failed in {}: {}", c.name, c.message);
    if (e.may_pass) return "";
    if (e.passes && e.case_name.empty())
        return graded.status == "pass" ? "" : "it must pass here, but" + list_of_failures(graded);
    auto at = std::ranges::find(graded.cases, e.case_name, &case_view::name);
    // A GPU judges a case that counts by its time.
    const bool elsewhere =
        at == graded.cases.end() || (at->kind == "speed" && at->verdict == "SKIPPED");
    if (elsewhere)
        if (auto timed = std::ranges::find(graded.cases, grading::timed_name_of(e.case_name),
                                           &case_view::name);
            timed != graded.cases.end())
            at = timed;
    if (at == graded.cases.end())
        return fmt::format("no case is called \"{}\"; got{}", e.case_name,
                           list_of_failures(graded));
    if (e.may_be_skipped && at->verdict == "SKIPPED") return "";
    if (e.passes)
        return at->passed() ? ""
                            : fmt::format("{} must pass here, but is {}: {}", e.case_name,
                                          at->verdict, at->message);
    if (std::ranges::find(e.verdicts, at->verdict) == e.verdicts.end())
        return fmt::format("{} must be {}, but is {}: {}; all failures:{}", e.case_name, e.verdict,
                           at->verdict, at->message, list_of_failures(graded));
    bool said = at->message.find(e.words) != std::string::npos ||
                at->hint.find(e.words) != std::string::npos;
    if (!said)
        return fmt::format("{} must say \"{}\", but says: {} / {}", e.case_name, e.words,
                           at->message, at->hint);
    // A case that cannot be judged here is no failure of the submission.
    return graded.status == "fail" || e.verdict == "SKIPPED"
               ? ""
               : fmt::format("the lab's status is {}", graded.status);
}

} // namespace cli
