// Readers of each form that take no more than its system's documents allow. Each returns the first
// error, or nothing.
#pragma once

#include "cli/results/formats/formats.hpp"
#include "cli/support/strings.hpp"
#include "cli/terminal/text.hpp"
#include "result_documents.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

inline const classroom50_submission one_submission = {
    "cuda",
    "02-scaling",
    "submit/2026-12-01T14-32-05Z-a1b2c3d",
    "https://github.com/course/cuda-02-scaling-ada/commit/a1b2c3d",
    "https://github.com/course/cuda-02-scaling-ada/releases/tag/submit%2F2026-12-01",
    "https://github.com/course/cuda-02-scaling-ada/compare/0000000...a1b2c3d",
    "2026-12-01T14:32:01Z"};

// Returns what is unsafe in a text: a control character except line ends, bytes that are not UTF-8,
// or a mark of the writing direction.
inline std::string unsafe_in(std::string_view text)
{
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t n = rest[0] == '\n' ? 1 : grading::safe_character(rest);
        if (n == 0) return "unsafe: " + sanitized(rest, 60);
        rest.remove_prefix(n);
    }
    return {};
}

inline bool is_of(const json &value, const std::string &type)
{
    if (type == "text") return value.is_string() && unsafe_in(value.get<std::string>()).empty();
    if (type == "number") return value.is_number() && std::isfinite(value.get<double>());
    if (type == "count") return value.is_number_integer() && value.get<std::int64_t>() >= 0;
    if (type == "bool") return value.is_boolean();
    return type == "list" ? value.is_array() : value.is_object();
}

using members = std::map<std::string, std::string>; // the type by the name

// The object has each required member, perhaps some others that are known, and nothing else.
inline std::string wrong_members(const json &object, const members &required,
                                 const members &others = {})
{
    if (!object.is_object()) return "no object: " + object.dump().substr(0, 60);
    for (const auto &[name, type] : required)
        if (!object.contains(name)) return "without " + name;
    for (const auto &[name, value] : object.items()) {
        const auto of = required.contains(name) ? required.find(name) : others.find(name);
        if (of == required.end() || of == others.end()) return "unknown: " + name;
        if (!is_of(value, of->second)) return name + " is no " + of->second;
    }
    return {};
}

inline std::string wrong_in_gradescope(const std::string &text)
{
    const json document = json::parse(text, nullptr, false);
    std::string wrong = wrong_members(document,
                                      {{"output", "text"},
                                       {"output_format", "text"},
                                       {"test_output_format", "text"},
                                       {"test_name_format", "text"},
                                       {"execution_time", "count"},
                                       {"tests", "list"}},
                                      {{"score", "number"}, {"leaderboard", "list"}});
    if (!wrong.empty()) return wrong;
    for (const json &test : document["tests"]) {
        wrong = wrong_members(test, {{"name", "text"}, {"output", "text"}},
                              {{"score", "number"},
                               {"max_score", "number"},
                               {"status", "text"},
                               {"visibility", "text"}});
        if (!wrong.empty()) return wrong;
        if (test.contains("score") != test.contains("max_score")) return "a score without limit";
        if (test.contains("status") && test["status"] != "passed" && test["status"] != "failed")
            return "status";
        static const std::set<std::string> visible = {"hidden", "after_due_date", "after_published",
                                                      "visible"};
        if (test.contains("visibility") && !visible.contains(test["visibility"]))
            return "visibility";
    }
    for (const json &row : document.value("leaderboard", json::array())) {
        wrong = wrong_members(row, {{"name", "text"}, {"value", "number"}, {"order", "text"}});
        if (!wrong.empty()) return wrong;
    }
    return {};
}

inline std::string wrong_in_prairielearn(const std::string &text)
{
    if (text.size() > 1'000'000) return "too long";
    const json document = json::parse(text, nullptr, false);
    if (member(document, "gradable") != true) {
        const std::string wrong = wrong_members(
            document, {{"gradable", "bool"}, {"message", "text"}, {"format_errors", "list"}});
        if (!wrong.empty()) return wrong;
        for (const json &error : document["format_errors"])
            if (!is_of(error, "text")) return "an error that is no text";
        return {};
    }
    std::string wrong = wrong_members(
        document,
        {{"gradable", "bool"}, {"message", "text"}, {"score", "number"}, {"tests", "list"}});
    if (!wrong.empty()) return wrong;
    if (document["score"] < 0 || document["score"] > 1) return "score";
    for (const json &test : document["tests"])
        if (wrong = wrong_members(test, {{"name", "text"},
                                         {"points", "number"},
                                         {"max_points", "number"},
                                         {"message", "text"},
                                         {"output", "text"}});
            !wrong.empty())
            return wrong;
    return {};
}

// As validate_result() of Classroom 50's runner.py checks it, apart from what the runner adds.
inline std::string wrong_in_classroom50(const std::string &text)
{
    if (text.size() > 10 * 1024 * 1024) return "too long";
    const json document = json::parse(text, nullptr, false);
    std::string wrong = wrong_members(document, {{"schema", "text"},
                                                 {"classroom", "text"},
                                                 {"assignment", "text"},
                                                 {"submission", "text"},
                                                 {"commit", "text"},
                                                 {"release", "text"},
                                                 {"review", "text"},
                                                 {"datetime", "text"},
                                                 {"score", "count"},
                                                 {"max-score", "count"},
                                                 {"tests", "list"}});
    if (!wrong.empty()) return wrong;
    for (const char *name : {"classroom", "assignment", "commit", "release", "review", "datetime"})
        if (document[name] == "") return std::string(name) + " is empty";
    if (document["schema"] != "classroom50/result/v1") return "schema";
    if (!document["submission"].get<std::string>().starts_with("submit/")) return "submission";
    std::int64_t score = 0, max_score = 0;
    for (const json &test : document["tests"]) {
        wrong = wrong_members(
            test,
            {{"test-name", "text"}, {"passed", "bool"}, {"score", "count"}, {"max-score", "count"}},
            {{"verdict", "text"}, {"message", "text"}});
        if (!wrong.empty()) return wrong;
        if (test["test-name"] == "") return "a test without a name";
        if (test["score"] > test["max-score"]) return "a score above its limit";
        score += test["score"].get<std::int64_t>();
        max_score += test["max-score"].get<std::int64_t>();
    }
    if (document["score"] != score || document["max-score"] != max_score) return "sums";
    return {};
}

// As saveAutograde() and parseAutoresult() of Autolab read it: the last line, in which each word
// before a colon is put in quotes first.
inline std::string wrong_in_autolab(const std::string &text)
{
    if (!text.ends_with("\n")) return "no line end";
    const std::vector<std::string> all = lines(text);
    if (all.size() < 2) return "no text for the student";
    if (const std::string wrong = unsafe_in(text); !wrong.empty()) return wrong;
    static const std::regex word("([a-zA-Z0-9]+):");
    const json document =
        json::parse(std::regex_replace(all.back(), word, "\"$1\":"), nullptr, false);
    const std::string wrong = wrong_members(document, {{"scores", "object"}});
    if (!wrong.empty()) return wrong;
    if (document["scores"].empty()) return "no scores";
    for (const json &score : document["scores"])
        if (!score.is_null() && !is_of(score, "number")) return "a score that is no number";
    return {};
}

inline std::string wrong_in_coderunner(const std::string &text)
{
    if (lines(text).size() != 1) return "several lines";
    if (text.size() > 1'000'000) return "too long";
    const json document = json::parse(text, nullptr, false);
    std::string wrong = wrong_members(document, {{"prologuehtml", "text"}, {"testresults", "list"}},
                                      {{"fraction", "number"}});
    if (!wrong.empty()) return wrong;
    if (document.contains("fraction") && (document["fraction"] < 0 || document["fraction"] > 1))
        return "fraction";
    const json &table = document["testresults"];
    if (table[0] != json({"iscorrect", "Case", "Verdict", "Points", "Details"})) return "headings";
    for (std::size_t i = 1; i < table.size(); ++i) {
        if (!table[i].is_array() || table[i].size() != 5) return "a row of another length";
        if (!is_of(table[i][0], "number") || table[i][0] < 0 || table[i][0] > 1) return "iscorrect";
        for (std::size_t cell = 1; cell < 5; ++cell)
            if (!is_of(table[i][cell], "text")) return "a cell that is no text";
    }
    return wrong_in_xml("?>" + document["prologuehtml"].get<std::string>());
}

// Ten commands at most, whose properties hold no command of their own.
inline std::string wrong_in_annotations(const std::string &text)
{
    if (const std::string wrong = unsafe_in(text); !wrong.empty()) return wrong;
    std::size_t errors = 0;
    for (const std::string &line : lines(text)) {
        const bool error = line.starts_with("::error ");
        if (!error && !line.starts_with("::notice ")) return "no command: " + line.substr(0, 60);
        const std::size_t end = line.find("::", 2);
        if (end == line.npos) return "without text";
        const std::string properties = line.substr(0, end);
        if (std::count(properties.begin() + 2, properties.end(), ':') > 0) return "a colon";
        if (std::count(properties.begin(), properties.end(), ',') > 2) return "a comma";
        errors += error;
    }
    return errors > 10 ? "too many" : "";
}

inline std::string wrong_in_text(const std::string &text)
{
    for (const std::string &line : lines(text))
        if (columns(line) > 80) return "long: " + line;
    return unsafe_in(text);
}

// JUnit with unlike names, as GitLab wants it.
inline std::string wrong_in_junit(const std::string &text)
{
    if (text.size() >= 30'000'000) return "too long";
    if (std::string wrong = unsafe_in(text); !wrong.empty()) return wrong;
    if (std::string wrong = wrong_in_xml(text); !wrong.empty()) return wrong;
    std::set<std::string> names;
    for (const std::string &line : lines(text))
        if (const std::size_t at = line.find("<testcase "); at != line.npos)
            if (!names.insert(line.substr(at, line.find(" time=\"", at) - at)).second)
                return "twice: " + line;
    return {};
}

} // namespace cli
