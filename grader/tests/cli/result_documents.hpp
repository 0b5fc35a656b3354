// Results that tests convert, and what reads the forms that come out.
#pragma once

#include "cli/commands/commands.hpp"
#include "cli/results/class_results.hpp"
#include "cli/results/formats/formats.hpp"
#include "cli/support/errors.hpp"
#include "cli/terminal/text.hpp"
#include "cli_project.hpp"
#include "tests/wrong_in_xml.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

inline json case_of(const char *name, const char *verdict, int points, int max_points,
                    const std::string &message, const std::string &hint = "")
{
    return {{"name", name},
            {"kind", "correctness"},
            {"verdict", verdict},
            {"points", points},
            {"max_points", max_points},
            {"open_points", verdict == std::string("SKIPPED") ? max_points : 0},
            {"message", message},
            {"duration_ms", 12.34},
            {"hint", hint}};
}

inline json result_with_cases(const char *status, std::vector<json> cases)
{
    int points = 0, max_points = 0, open = 0;
    for (const json &c : cases) {
        points += c["points"].get<int>();
        open += c["open_points"].get<int>();
        max_points += c["max_points"].get<int>();
    }
    return {{"schema", result_schema},
            {"seed", "1f"},
            {"backend", "sim"},
            {"labs",
             {{{"lab", "02_scaling"},
               {"submission", "stub"},
               {"status", status},
               {"points", points},
               {"max_points", max_points},
               {"open_points", open},
               {"cases", cases}}}}};
}

// One case each that passes, fails, fails in the same way, is fast and is skipped.
inline json failing()
{
    json wrong =
        case_of("scale: many", "WRONG_ANSWER", 0, 2, "Element 3 is 1 & not 2.", "Is it i < n?");
    wrong["line"] = 12;
    json again = wrong;
    again["name"] = "scale: more";
    json fast = case_of("scale: speed", "PASS", 2, 3, "");
    fast["kind"] = "speed";
    fast["speedup"] = {{"median", 5.8}, {"required", 3}};
    fast["counters"] = {{"bytes used", 1.0}, {"sectors per request", 4.0}};
    fast["counted_gates"] = {{"bytes used", {{"unit", "%"}}}};
    fast["naive_counters"] = {{"bytes used", 0.125}};
    fast["more_points"] = "The next step needs 8x.";
    json document =
        result_with_cases("fail", {case_of("scale: one", "PASS", 1, 1, ""), wrong, again, fast,
                                   case_of("scale: ranks", "SKIPPED", 0, 1, "There is no MPI.")});
    document["labs"][0]["warnings"] = {"stub.cu(7): n is never used"};
    return document;
}

inline json fault()
{
    return result_with_cases("error", {case_of("scale: one", "PASS", 1, 1, ""),
                                       case_of("scale: many", "INFRA_ERROR", 0, 2,
                                               "The GPU is gone.", "Run it again.")});
}

// Text that a submission can print and a message can quote.
inline const std::string hostile =
    "\x1b[31mred\x1b[0m ]]> </failure><a href=\"x\"> & 100%\r\n::error::no\n##[error]no\n\n"
    "| `@all` <script> \xe2\x80\xae \xef\xbf\xbe \xef\xbf\xbf \xff\xfe\xc0 \xed\xa0\x80 " +
    std::string(1, '\0') + "\x01 end";

inline json hostile_result(const std::string &text)
{
    json wrong = case_of("scale: one", "CRASH", 0, 2, text, text);
    for (const char *key : {"name", "printed", "output", "more_points"}) wrong[key] = text;
    json document = result_with_cases("fail", {wrong});
    document["labs"][0]["submission"] = text;
    document["labs"][0]["warnings"] = {text};
    return document;
}

struct environment_variable {
    environment_variable(const char *name, const std::string &value) : name_(name)
    {
        setenv(name, value.c_str(), 1);
    }
    ~environment_variable() { unsetenv(name_); }
    environment_variable(const environment_variable &) = delete;

private:
    const char *name_;
};

inline std::string refusal(const convert_options &options)
{
    try {
        convert_command(options);
    } catch (const usage_error &e) {
        return e.what();
    }
    return "none";
}

} // namespace cli
