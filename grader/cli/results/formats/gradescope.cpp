// A result as the results.json of Gradescope, by its "Autograder Specifications".
#include "formats.hpp"
#include "safe_result.hpp"

#include <cmath>

namespace cli {

namespace {

// Has one row per case that was timed and passed. Only the grader names cases, and a case that is
// held back must not appear.
json leaderboard_of(const std::vector<safe_lab> &labs)
{
    json rows = json::array();
    each_case(labs, [&](const safe_lab &l, const safe_case &c) {
        if (!c.speedup || !std::isfinite(*c.speedup) || c.held_back) return;
        rows.push_back({{"name", name_among(labs, l, c)},
                        {"value", std::round(*c.speedup * 100) / 100},
                        {"order", "desc"}});
    });
    return rows;
}

} // namespace

std::string as_gradescope(const json &document, bool with_leaderboard)
{
    const std::vector<safe_lab> labs = safe_labs(document, usual_length);
    const bool whole = graded_whole(labs);
    json tests = json::array();
    each_case(labs, [&](const safe_lab &l, const safe_case &c) {
        json test = {{"name", name_among(labs, l, c)},
                     {"output", c.judged_as() + (c.words.empty() ? "" : "\n" + c.words)}};
        if (whole && c.state != case_state::open) {
            test["score"] = c.points;
            test["max_score"] = c.max_points;
        }
        if (c.state == case_state::passed || c.state == case_state::failed)
            test["status"] = c.state == case_state::passed ? "passed" : "failed";
        if (c.held_back) test["visibility"] = "after_published";
        tests.push_back(std::move(test));
    });
    json result = {{"output", overview(labs, document)},
                   {"output_format", "text"},
                   {"test_output_format", "text"},
                   {"test_name_format", "text"},
                   {"execution_time", std::lround(total(labs, &safe_lab::seconds))},
                   {"tests", std::move(tests)}};
    if (whole) result["score"] = total(labs, &safe_lab::points) + total(labs, &safe_lab::held_back);
    if (json rows = leaderboard_of(labs); with_leaderboard && whole && !rows.empty())
        result["leaderboard"] = std::move(rows);
    return result.dump(1) + "\n";
}

} // namespace cli
