// Reads a result into text that is safe in every format, and words what several formats say of it.
#include "safe_result.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cli {

namespace {

constexpr const char *not_graded =
    "What was not graded is the fault of the machine or of the workbook, or they lack something; "
    "it is no fault of the submission, and no points are given.";

// Returns the measurements of a passed case; a failure's message has them already.
std::string measures(const json &whole)
{
    std::vector<std::string> said;
    const json &speedup = member(whole, "speedup"), &counters = member(whole, "counters");
    const json &naive = member(whole, "naive_counters");
    if (member(speedup, "median").is_number()) { // null if nothing was timed
        said.push_back(fmt::format("{:.2f}x naive", number_at(speedup, "median")));
        if (double required = number_at(speedup, "required"); required > 0)
            said.back() += fmt::format(", needs {:g}x", required);
    }
    for (const auto &[what, value] : counters.items()) {
        if (!value.is_number() || !counters.is_object()) continue;
        std::string unit = text_at(member(member(whole, "counted_gates"), what), "unit");
        said.push_back(what + ": " + value_words(value.get<double>(), unit));
        if (member(naive, what).is_number())
            said.back() += " (naive " + value_words(number_at(naive, what), unit) + ")";
    }
    return fmt::format("{}", fmt::join(said, "; "));
}

std::string describe(const case_view &c, std::size_t each)
{
    std::string result, printed = text_at(*c.whole, "printed");
    auto add = [&](const std::string &raw) {
        if (!raw.empty() && !result.empty()) result += '\n';
        result += sanitized(raw, each);
        result.erase(result.find_last_not_of(" \n") + 1);
    };
    add(c.message);
    add(c.hint);
    if (c.passed()) add(measures(*c.whole));
    add(text_at(*c.whole, "more_points"));
    add(text_at(*c.whole, "output"));
    if (!printed.empty()) add("It printed:\n" + printed);
    return result;
}

case_state state_of(const case_view &c)
{
    if (c.passed()) return case_state::passed;
    if (c.verdict == "INFRA_ERROR") return case_state::error;
    return c.verdict == "SKIPPED" ? case_state::open : case_state::failed;
}

// Returns the stub's path, or any other file's name, since a result does not have its path.
std::string shown_file(const lab_view &l)
{
    return l.submission == "stub" ? "labs/" + short_line(l.lab) + "/stub.cu"
                                  : short_line(l.submission);
}

} // namespace

std::string safe_case::judged_as() const
{
    return verdict + (open_points > 0
                          ? fmt::format(", {:g} of {:g} points open", open_points, max_points)
                          : "");
}

std::size_t safe_lab::count(case_state state) const
{
    return static_cast<std::size_t>(std::ranges::count(cases, state, &safe_case::state));
}

std::string short_line(const std::string &raw) { return on_one_line(raw, 200, ' '); }

std::vector<safe_lab> safe_labs(const json &document, std::size_t max_bytes)
{
    std::vector<safe_lab> result;
    for (const lab_view &l : labs_of(document)) {
        safe_lab lab{.name = short_line(l.lab),
                     .status = short_line(l.status),
                     .file = shown_file(l),
                     .points = l.points,
                     .max_points = l.max_points,
                     .refused =
                         l.cases.size() == 1 && l.cases[0].name == "build" && !l.cases[0].passed(),
                     .judged = l.judged(),
                     .open_points = l.open_points,
                     .held_back = l.held_back.points,
                     .held_back_words = held_back_words(l)};
        for (const case_view &c : l.cases) {
            double max_points = lab.refused ? l.max_points : c.max_points;
            double seconds = std::clamp(number_at(*c.whole, "duration_ms") / 1000, 0.0, 1e9);
            lab.cases.push_back({state_of(c), short_line(c.name), short_line(c.kind),
                                 short_line(c.verdict), describe(c, max_bytes), c.points,
                                 max_points, seconds, c.line, c.open_points, c.held_back});
            const json &median = member(member(*c.whole, "speedup"), "median");
            if (c.passed() && median.is_number()) lab.cases.back().speedup = median.get<double>();
            lab.seconds += seconds;
        }
        for (const auto &notes : {open_notes(l), disputed_notes(l)})
            for (const std::string &note : notes)
                lab.open.push_back(on_one_line(note, max_bytes, ' '));
        const bool some_failed = std::ranges::any_of(lab.cases, [](const safe_case &c) {
            return c.state == case_state::failed && !c.held_back;
        });
        for (const std::string &warning : l.warnings)
            if (some_failed)
                lab.warnings.push_back("nvcc warned: " + sanitized(warning, max_bytes));
        result.push_back(std::move(lab));
    }
    return result;
}

bool graded_whole(const std::vector<safe_lab> &labs)
{
    return std::ranges::all_of(labs, &safe_lab::graded);
}

double total(const std::vector<safe_lab> &labs, double safe_lab::*what)
{
    double result = 0;
    for (const safe_lab &l : labs) result += l.*what;
    return result;
}

std::string points_words(const safe_lab &l)
{
    return l.graded() ? points_words(l.points, l.max_points) + " points" + open_words(l.open_points)
                      : "not graded";
}

std::string fitting(const json &document, std::size_t max_bytes,
                    const std::function<std::string(const std::vector<safe_lab> &)> &make)
{
    for (std::size_t each = usual_length; each > 0; each /= 2)
        if (std::string text = make(safe_labs(document, each)); text.size() <= max_bytes)
            return text;
    throw usage_error(fmt::format("What would be written is longer than the {} bytes that this "
                                  "format may have: convert one lab's result at a time.",
                                  max_bytes));
}

// XML 1.0 forbids two characters that sanitized() keeps. Attributes lose line ends, and HTML blocks
// in Markdown end at empty lines.
std::string xml_escaped(std::string_view safe)
{
    std::string result = markup_escaped(safe);
    for (const char *no_character : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
        replace_all(result, no_character, "?");
    replace_all(result, "\n", "&#10;");
    return result;
}

std::string overview(const std::vector<safe_lab> &labs, const json &document)
{
    std::string text;
    for (const safe_lab &l : labs) {
        text += fmt::format("{}: {}\n", l.name, points_words(l));
        for (const std::string &note : l.open) text += note + "\n";
        if (!l.held_back_words.empty()) text += l.held_back_words + "\n";
        for (const std::string &warning : l.warnings) text += warning + "\n";
    }
    if (!graded_whole(labs)) text += std::string(not_graded) + "\n";
    if (text_at(document, "backend") == "sim")
        text += "Graded in the simulator: efficiency is counted, not timed.\n";
    return text;
}

std::string name_among(const std::vector<safe_lab> &labs, const safe_lab &l, const safe_case &c)
{
    return labs.size() == 1 ? c.name : l.name + ": " + c.name;
}

std::vector<case_group> not_passed(const std::vector<safe_lab> &labs)
{
    std::vector<case_group> result;
    each_case(labs, [&](const safe_lab &l, const safe_case &c) {
        if (c.state == case_state::passed) return;
        auto same = std::ranges::find_if(result, [&](const case_group &other) {
            return other.lab == &l && other.first->verdict == c.verdict &&
                   other.first->words == c.words && other.first->line == c.line;
        });
        if (same == result.end())
            result.push_back({&l, &c, 0, c.verdict + " in " + name_among(labs, l, c)});
        else
            ++same->more;
    });
    for (case_group &t : result)
        if (t.more > 0) t.title += fmt::format(", and {} more", t.more);
    return result;
}

} // namespace cli
