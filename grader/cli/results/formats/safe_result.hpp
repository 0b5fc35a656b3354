// A result as text that no format needs to clean again, and what several formats say of it.
#pragma once

#include "cli/results/result.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

enum class case_state { passed, failed, error, open };

// A case in text that is safe anywhere: valid UTF-8 without control characters except line ends.
struct safe_case {
    case_state state;
    std::string name, kind, verdict; // one line each
    std::string words;               // the reason, the hint, measurements and printed output
    double points, max_points, seconds;
    int line;
    double open_points = 0;
    bool held_back = false;             // a student must not see it before publication
    std::optional<double> speedup = {}; // over naive, of a passed case that was timed
    std::string judged_as() const;      // "SKIPPED, 2 of 2 points open"
};
struct safe_lab {
    std::string name, status, file;
    double points, max_points, seconds = 0;
    bool refused = false;                   // it did not build
    std::vector<std::string> warnings = {}; // the compiler's; none if nothing failed
    std::vector<safe_case> cases = {};
    bool judged = true;
    double open_points = 0;
    std::vector<std::string> open = {}; // why points are open, and what is disputed
    double held_back = 0;               // points reached in cases that are held back
    std::string held_back_words = {};   // that points are held back; empty: none are
    bool graded() const { return judged && count(case_state::error) == 0; }
    std::size_t count(case_state state) const;
};

constexpr std::size_t usual_length = 4000; // bytes per message and per printed output

// Reads a document; messages and printed outputs are cut to `max_bytes` each.
std::vector<safe_lab> safe_labs(const json &document, std::size_t max_bytes);

// Shortens each text until the whole is no longer than `max_bytes`. Throws usage_error if even the
// shortest form is longer.
std::string fitting(const json &document, std::size_t max_bytes,
                    const std::function<std::string(const std::vector<safe_lab> &)> &make);

bool graded_whole(const std::vector<safe_lab> &labs);
double total(const std::vector<safe_lab> &labs, double safe_lab::*what);
std::string points_words(const safe_lab &l); // "3 / 9 points, 1 open", "not graded"

// Returns a summary of a few lines.
std::string overview(const std::vector<safe_lab> &labs, const json &document);

// The whole report in lines of 80 columns.
std::string plain_text(const std::vector<safe_lab> &labs, const json &document);

// A case's name, with its lab's if there are several labs.
std::string name_among(const std::vector<safe_lab> &labs, const safe_lab &l, const safe_case &c);

template <typename F> void each_case(const std::vector<safe_lab> &labs, F of)
{
    for (const safe_lab &l : labs)
        for (const safe_case &c : l.cases) of(l, c);
}

// Cases of one lab that did not pass and have the same verdict, text and line.
struct case_group {
    const safe_lab *lab;
    const safe_case *first;
    std::size_t more = 0;
    std::string title; // "WRONG_ANSWER in scale: one, and 2 more"
};
std::vector<case_group> not_passed(const std::vector<safe_lab> &labs);

// Makes text one line of at most 200 bytes.
std::string short_line(const std::string &raw);
// Escapes safe text for elements and attributes of XML 1.0 and of HTML.
std::string xml_escaped(std::string_view safe);

} // namespace cli
