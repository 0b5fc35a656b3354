// The convert command: reads a result once into safe text, and writes it in each system's format.
#include "convert.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>

namespace cli {

namespace fs = std::filesystem;

namespace {

enum class outcome { right, wrong, fault, open };

// A case in text that is safe anywhere: valid UTF-8 without control characters except line ends.
struct safe_case {
    outcome what;
    std::string name, kind, verdict; // one line each
    std::string words;               // the reason, the hint, measurements and printed output
    double points, max_points, seconds;
    int line;
    double open_points = 0;
    std::string judged_as() const // "SKIPPED, 2 of 2 points open"
    {
        return verdict + (open_points > 0
                              ? fmt::format(", {:g} of {:g} points open", open_points, max_points)
                              : "");
    }
};
struct safe_lab {
    std::string name, status, file;
    double points, max_points, seconds = 0;
    bool refused = false;              // it did not build
    std::vector<std::string> warnings; // the compiler's; none if nothing failed
    std::vector<safe_case> cases;
    bool judged = true;
    double open_points = 0;
    std::vector<std::string> open = {}; // why points are open
    bool graded() const { return judged && count(outcome::fault) == 0; }
    std::size_t count(outcome what) const
    {
        return static_cast<std::size_t>(std::count_if(
            cases.begin(), cases.end(), [&](const safe_case &c) { return c.what == what; }));
    }
};

constexpr std::size_t usual_length = 4000; // bytes per message and per printed output
constexpr const char *not_graded =
    "What was not graded is the fault of the machine or of the workbook, or they lack something; "
    "it is no fault of the submission, and no points are given.";

std::string word(const std::string &raw) { return on_one_line(raw, 200, ' '); }

// Returns a member of an object; null if it is missing.
const json &part(const json &o, const std::string &key)
{
    static const json none;
    auto at = o.is_object() ? o.find(key) : o.end();
    return at != o.end() ? *at : none;
}

// Returns the measurements of a passed case; a failure's message has them already.
std::string measures(const json &whole)
{
    std::vector<std::string> said;
    const json &speedup = part(whole, "speedup"), &counters = part(whole, "counters");
    const json &naive = part(whole, "naive_counters");
    if (part(speedup, "median").is_number()) { // null if nothing was timed
        said.push_back(fmt::format("{:.2f}x naive", number_at(speedup, "median")));
        if (double required = number_at(speedup, "required"); required > 0)
            said.back() += fmt::format(", needs {:g}x", required);
    }
    for (const auto &[what, value] : counters.items()) {
        if (!value.is_number() || !counters.is_object()) continue;
        std::string unit = text_at(part(part(whole, "counted_gates"), what), "unit");
        said.push_back(what + ": " + value_words(value.get<double>(), unit));
        if (part(naive, what).is_number())
            said.back() += " (naive " + value_words(number_at(naive, what.c_str()), unit) + ")";
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

outcome outcome_of(const case_view &c)
{
    if (c.passed()) return outcome::right;
    if (c.verdict == "INFRA_ERROR") return outcome::fault;
    return c.verdict == "SKIPPED" ? outcome::open : outcome::wrong;
}

// Returns the stub's path, or any other file's name, since a result does not have its path.
std::string shown_file(const lab_view &l)
{
    return l.submission == "stub" ? "labs/" + word(l.lab) + "/stub.cu" : word(l.submission);
}

std::vector<safe_lab> safe_labs(const json &document, std::size_t each)
{
    std::vector<safe_lab> result;
    for (const lab_view &l : labs_of(document)) {
        safe_lab lab{
            word(l.lab), word(l.status), shown_file(l), l.points, l.max_points, 0, false, {}, {}};
        lab.refused = l.cases.size() == 1 && l.cases[0].name == "build" && !l.cases[0].passed();
        for (const case_view &c : l.cases) {
            double max_points = lab.refused ? l.max_points : c.max_points;
            double seconds = std::clamp(number_at(*c.whole, "duration_ms") / 1000, 0.0, 1e9);
            lab.cases.push_back({outcome_of(c), word(c.name), word(c.kind), word(c.verdict),
                                 describe(c, each), c.points, max_points, seconds, c.line,
                                 c.open_points});
            lab.seconds += seconds;
        }
        lab.judged = l.judged();
        lab.open_points = l.open_points;
        for (const std::string &note : open_notes(l))
            lab.open.push_back(on_one_line(note, each, ' '));
        for (const std::string &warning : l.warnings)
            if (lab.count(outcome::wrong) > 0)
                lab.warnings.push_back("nvcc warned: " + sanitized(warning, each));
        result.push_back(std::move(lab));
    }
    return result;
}

bool graded_whole(const std::vector<safe_lab> &labs)
{
    return std::all_of(labs.begin(), labs.end(), [](const safe_lab &l) { return l.graded(); });
}

double sum(const std::vector<safe_lab> &labs, double safe_lab::*what)
{
    double result = 0;
    for (const safe_lab &l : labs) result += l.*what;
    return result;
}

std::string points_of(const safe_lab &l)
{
    return l.graded() ? points_words(l.points, l.max_points) + " points" + open_words(l.open_points)
                      : "not graded";
}

// Shortens each text until the whole is no longer than `max_bytes`.
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

// Escapes text for elements and attributes. XML 1.0 forbids two characters that sanitized() keeps.
std::string xml(std::string_view safe)
{
    std::string result;
    for (std::size_t i = 0; i < safe.size(); ++i) {
        std::string_view no_character = safe.substr(i, 3);
        if (no_character == "\xef\xbf\xbe" || no_character == "\xef\xbf\xbf") {
            result += '?';
            i += 2;
            continue;
        }
        switch (safe[i]) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        case '"':
            result += "&quot;";
            break;
        case '\n':
            result += "&#10;";
            break; // attributes lose line ends, and HTML blocks in Markdown end at empty lines
        default:
            result += safe[i];
        }
    }
    return result;
}

std::string first_line(const std::string &words) { return words.substr(0, words.find('\n')); }

std::string junit_case(const safe_lab &l, const safe_case &c)
{
    std::string text =
        fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.3f}\">\n", xml(l.name),
                    xml(c.kind), xml(c.name), c.seconds);
    std::string why = xml(c.verdict + ": " + first_line(c.words)), words = xml(c.words);
    if (c.what == outcome::right) {
        if (!words.empty()) text += fmt::format("      <system-out>{}</system-out>\n", words);
    } else if (c.what == outcome::open)
        text += fmt::format("      <skipped message=\"{}: {}\"/>\n", xml(c.judged_as()), words);
    else
        text +=
            fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n",
                        c.what == outcome::fault ? "error" : "failure", xml(c.verdict), why, words);
    return text + "    </testcase>\n";
}

std::string junit_of(const std::vector<safe_lab> &labs, const json &document)
{
    auto counts = [](std::size_t tests, std::size_t failures, std::size_t errors, double seconds) {
        return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\"", tests,
                           failures, errors, seconds);
    };
    std::string text;
    std::size_t tests = 0, failures = 0, errors = 0;
    for (const safe_lab &l : labs) {
        tests += l.cases.size();
        failures += l.count(outcome::wrong);
        errors += l.count(outcome::fault);
        text += fmt::format(
            "  <testsuite name=\"{}\" {} skipped=\"{}\" file=\"{}\">\n"
            "    <properties>\n",
            xml(l.name),
            counts(l.cases.size(), l.count(outcome::wrong), l.count(outcome::fault), l.seconds),
            l.count(outcome::open), xml(l.file));
        std::vector<std::pair<const char *, std::string>> properties = {
            {"status", l.status},
            {"backend", word(text_at(document, "backend"))},
            {"seed", word(text_at(document, "seed"))}};
        if (l.graded()) {
            properties.emplace_back("points", fmt::format("{:g}", l.points));
            properties.emplace_back("max_points", fmt::format("{:g}", l.max_points));
            properties.emplace_back("open_points", fmt::format("{:g}", l.open_points));
        }
        for (const auto &[name, value] : properties)
            text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml(value));
        text += "    </properties>\n";
        for (const safe_case &c : l.cases) text += junit_case(l, c);
        if (!l.warnings.empty())
            text += fmt::format("    <system-out>{}</system-out>\n",
                                xml(fmt::format("{}", fmt::join(l.warnings, "\n"))));
        text += "  </testsuite>\n";
    }
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n{}"
                       "</testsuites>\n",
                       counts(tests, failures, errors, sum(labs, &safe_lab::seconds)), text);
}

// Returns a summary of a few lines.
std::string overview(const std::vector<safe_lab> &labs, const json &document)
{
    std::string text;
    for (const safe_lab &l : labs) {
        text += fmt::format("{}: {}\n", l.name, points_of(l));
        for (const std::string &note : l.open) text += note + "\n";
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

template <typename F> void each_case(const std::vector<safe_lab> &labs, F of)
{
    for (const safe_lab &l : labs)
        for (const safe_case &c : l.cases) of(l, c);
}

json gradescope_of(const std::vector<safe_lab> &labs, const json &document)
{
    const bool whole = graded_whole(labs);
    json tests = json::array();
    each_case(labs, [&](const safe_lab &l, const safe_case &c) {
        json test = {{"name", name_among(labs, l, c)},
                     {"output", c.judged_as() + (c.words.empty() ? "" : "\n" + c.words)}};
        if (whole && c.what != outcome::open) {
            test["score"] = c.points;
            test["max_score"] = c.max_points;
        }
        if (c.what == outcome::right || c.what == outcome::wrong)
            test["status"] = c.what == outcome::right ? "passed" : "failed";
        tests.push_back(std::move(test));
    });
    json result = {{"output", overview(labs, document)},
                   {"output_format", "text"},
                   {"test_output_format", "text"},
                   {"test_name_format", "text"},
                   {"execution_time", std::lround(sum(labs, &safe_lab::seconds))},
                   {"tests", std::move(tests)}};
    if (whole) result["score"] = sum(labs, &safe_lab::points);
    return result;
}

json prairielearn_of(const std::vector<safe_lab> &labs, const json &document)
{
    json errors = json::array(), tests = json::array();
    each_case(labs, [&](const safe_lab &l, const safe_case &c) {
        if (l.refused || c.what == outcome::fault || c.what == outcome::open)
            errors.push_back(fmt::format("{}: {}: {}", name_among(labs, l, c), c.verdict, c.words));
        tests.push_back({{"name", name_among(labs, l, c)},
                         {"points", c.points},
                         {"max_points", c.max_points},
                         {"message", c.judged_as()},
                         {"output", c.words}});
    });
    json result = {{"gradable", graded_whole(labs)}, {"message", overview(labs, document)}};
    if (std::all_of(labs.begin(), labs.end(), [](const safe_lab &l) { return l.refused; }))
        result["gradable"] = false; // not counted as an attempt
    if (!result["gradable"]) {
        result["format_errors"] = std::move(errors);
        return result;
    }
    double max_points = sum(labs, &safe_lab::max_points);
    result["score"] =
        max_points > 0 ? std::clamp(sum(labs, &safe_lab::points) / max_points, 0.0, 1.0) : 0;
    result["tests"] = std::move(tests);
    return result;
}

// Cases of one lab that did not pass and have the same verdict, text and line.
struct case_group {
    const safe_lab *lab;
    const safe_case *first;
    std::size_t more = 0;
    std::string title; // "WRONG_ANSWER in scale: one, and 2 more"
};

std::vector<case_group> not_passed(const std::vector<safe_lab> &labs)
{
    std::vector<case_group> result;
    each_case(labs, [&](const safe_lab &l, const safe_case &c) {
        if (c.what == outcome::right) return;
        auto same = std::find_if(result.begin(), result.end(), [&](const case_group &other) {
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

std::string text_of(const std::vector<safe_lab> &labs, const json &document)
{
    constexpr int width = 80;
    std::string text;
    for (const std::string &line : lines(overview(labs, document)))
        text += wrapped(line, width, 2) + "\n";
    for (const case_group &t : not_passed(labs))
        text += fmt::format("\n{}\n    {}\n", wrapped(t.title, width, 4),
                            wrapped(t.first->words, width, 4));
    text += "\n";
    for (const safe_lab &l : labs) {
        text += fmt::format("{}: {} of {} passed", l.name, l.count(outcome::right),
                            plural(l.cases.size(), "case"));
        std::size_t open = l.count(outcome::open);
        text += open > 0 ? fmt::format(", {} open\n", open) : "\n";
    }
    return text;
}

// Puts everything into HTML blocks without empty lines, in which Markdown is not parsed, so that a
// submission's output cannot become a heading, link or mention.
std::string summary_of(const std::vector<safe_lab> &labs, const json &document)
{
    std::string text;
    for (const safe_lab &l : labs) {
        text += fmt::format("<h3><code>{}</code> {}, {}</h3>\n<table>\n", xml(l.name), points_of(l),
                            xml(l.status));
        for (const safe_case &c : l.cases) {
            text += fmt::format("<tr><td>{}</td><td><code>{}</code></td><td>{}</td></tr>\n",
                                xml(c.verdict), xml(c.name),
                                points_words(c.points, c.max_points, c.open_points));
            if (!c.words.empty())
                text +=
                    fmt::format("<tr><td colspan=\"3\"><pre>{}</pre></td></tr>\n", xml(c.words));
        }
        text += "</table>\n";
    }
    return fmt::format("<pre>{}</pre>\n{}\n", xml(overview(labs, document)), text);
}

// Escapes text for a workflow command of GitHub Actions: `which` and the percent sign become %XX.
std::string in_command(std::string_view safe, std::string_view which)
{
    std::string result;
    for (char c : safe)
        result += c == '%' || which.find(c) != which.npos
                      ? fmt::format("%{:02X}", static_cast<unsigned char>(c))
                      : std::string(1, c);
    return result;
}

std::string annotation(const std::string &where, const std::string &title, const std::string &words)
{
    return fmt::format("::error {}title={}::{}\n", where, in_command(title, "\n\r:,"),
                       in_command(words, "\n\r"));
}

std::string place(const safe_lab &l, const safe_case &c)
{
    std::string file = "file=" + in_command(l.file, "\n\r:,") + ",";
    return c.line > 0 ? file + fmt::format("line={},", c.line) : file;
}

// Turns errors with a file that the user named into usage errors.
template <typename F> void as_usage(F use, const char *what_to_do)
{
    try {
        use();
    } catch (const machine_error &e) {
        throw usage_error(fmt::format("{}. {}", e.what(), what_to_do));
    }
}

json parsed(const convert_options &options)
{
    const bool piped = options.file == "-";
    const std::string shown = piped ? "standard input" : options.file;
    std::string text;
    if (piped)
        text.assign(std::istreambuf_iterator<char>(std::cin), {});
    else
        as_usage([&] { text = read_text(options.file); }, "Give the file that --json wrote.");
    json document = json::parse(text, nullptr, false);
    const bool class_of = text_at(document, "schema") == class_schema;
    if (class_of && options.student.empty())
        throw usage_error(fmt::format("{} is of a class: say whose results with --student NAME, as "
                                      "the table names them.",
                                      shown));
    if (!class_of && !options.student.empty())
        throw usage_error(fmt::format("--student is for what autograde --json wrote, and {} is "
                                      "none: leave it out.",
                                      shown));
    if (class_of) document = result_of_student(document, options.student);
    std::string wrong = invalid(document);
    if (!wrong.empty())
        throw usage_error(
            fmt::format("{} {}. Give the file that grade --json wrote.", shown, wrong));
    return document;
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

} // namespace

std::string as_junit(const json &document)
{
    return fitting(document, 30'000'000,
                   [&](const auto &labs) { return junit_of(labs, document); });
}

std::string as_gradescope(const json &document)
{
    return gradescope_of(safe_labs(document, usual_length), document).dump(1) + "\n";
}

std::string as_prairielearn(const json &document)
{
    return fitting(document, 1'000'000, [&](const auto &labs) {
        return prairielearn_of(labs, document).dump(1) + "\n";
    });
}

std::string as_text(const json &document)
{
    return text_of(safe_labs(document, usual_length), document);
}

std::string as_summary(const json &document, std::size_t max_bytes)
{
    return fitting(document, max_bytes,
                   [&](const auto &labs) { return summary_of(labs, document); });
}

std::string as_annotations(const json &document)
{
    constexpr std::size_t max_annotations = 10; // per step; the runner silently drops more
    std::vector<std::string> all;
    std::vector<safe_lab> labs = safe_labs(document, 1000);
    for (const case_group &t : not_passed(labs))
        if (t.first->what != outcome::open)
            all.push_back(annotation(t.first->what == outcome::wrong ? place(*t.lab, *t.first)
                                                                     : std::string(),
                                     t.title, t.first->words));
    if (all.size() > max_annotations) {
        std::string rest = fmt::format("{} more failures", all.size() - max_annotations + 1);
        all.resize(max_annotations - 1);
        all.push_back(annotation("", rest, "They stand in the step's summary."));
    }
    for (const safe_lab &l : labs)
        if (l.open_points > 0)
            all.push_back(fmt::format(
                "::notice title={}::{}\n", in_command(l.name + ": " + points_of(l), "\n\r:,"),
                in_command(fmt::format("{}", fmt::join(l.open, "\n")), "\n\r")));
    return fmt::format("{}", fmt::join(all, ""));
}

json result_of_student(const json &of_class, const std::string &student)
{
    std::vector<json> documents;
    std::vector<std::string> names;
    auto rows = of_class.find("rows");
    for (const json &row : rows != of_class.end() && rows->is_array() ? *rows : json::array()) {
        if (!row.is_object()) continue;
        names.push_back(text_at(row, "student"));
        if (names.back() != student) continue;
        auto result = row.find("result");
        std::string lab = text_at(row, "lab"), problem = text_at(row, "problem");
        built_submission none;
        none.verdict = grading::verdict::SUBMISSION_INVALID;
        none.message = "Nothing was graded: " + problem;
        if (result != row.end() && invalid(*result).empty())
            documents.push_back(*result);
        else if (text_at(row, "status") == "missing")
            documents.push_back(refused_build(lab, "stub", none, number_at(row, "max_points")));
        else
            documents.push_back(grader_fault(lab, "stub", problem));
    }
    if (documents.empty()) {
        std::string near = nearest(student, names);
        throw usage_error(fmt::format("There is no student \"{}\" among the {} rows.{}",
                                      sanitized(student, 200), names.size(),
                                      near.empty() ? "" : " Did you mean " + near + "?"));
    }
    return merged(documents, text_at(of_class, "seed"), text_at(of_class, "backend"));
}

int convert_command(const convert_options &options)
{
    json document = parsed(options);
    if (options.format == "github") {
        convert_for_github(document, options.output);
        return passed;
    }
    std::string text = options.format == "junit"          ? as_junit(document)
                       : options.format == "gradescope"   ? as_gradescope(document)
                       : options.format == "prairielearn" ? as_prairielearn(document)
                                                          : as_text(document);
    options.output.empty() ? print(text) : write_file(options.output, text);
    return passed;
}

} // namespace cli
