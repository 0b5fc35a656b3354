// A result as the result.json that an autograder.py of Classroom 50 leaves.
//
// The form is "The result.json contract" of the wiki page Advanced-Autograding of
// foundation50/classroom50, schema classroom50/result/v1. Scores are whole numbers there, so they
// count half points: 80 a lab of 40 points. The runner adds who owns the repository.
#include "formats.hpp"
#include "safe_result.hpp"

#include "cli/support/errors.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <regex>

namespace cli {

namespace {

constexpr const char *ungraded =
    "The submission was not graded, by a fault of the machine or of the workbook, and Classroom 50 "
    "has no form for a result without a score: nothing was written.\n  what to do: let the "
    "autograder end with this exit status, which Classroom 50 shows as an error of the "
    "infrastructure; --to text says what was wrong";

std::int64_t half_points(double points, const safe_case &c)
{
    const double halves = 2 * points;
    if (halves < 0 || halves > 1e9 || halves != std::floor(halves))
        throw usage_error(fmt::format("\"{}\" has {} points, and the whole numbers of Classroom 50 "
                                      "hold half points only. Give the file that grade --json "
                                      "wrote.",
                                      c.name, points));
    return static_cast<std::int64_t>(halves);
}

json classroom50_of(const std::vector<safe_lab> &labs, const classroom50_submission &of)
{
    json tests = json::array();
    std::int64_t score = 0, max_score = 0;
    each_case(labs, [&](const safe_lab &l, const safe_case &c) {
        const std::int64_t points = half_points(c.points, c),
                           max_points = half_points(c.max_points, c);
        score += points;
        max_score += max_points;
        tests.push_back({{"test-name", name_among(labs, l, c)},
                         {"passed", c.state == case_state::passed},
                         {"score", points},
                         {"max-score", max_points},
                         {"verdict", c.judged_as()},
                         {"message", c.words}});
    });
    return {{"schema", "classroom50/result/v1"},
            {"classroom", of.classroom},
            {"assignment", of.assignment},
            {"submission", of.tag},
            {"commit", of.commit},
            {"release", of.release},
            {"review", of.review},
            {"datetime", of.committed_at},
            {"score", score},
            {"max-score", max_score},
            {"tests", std::move(tests)}};
}

} // namespace

std::string as_classroom50(const json &document, const classroom50_submission &of)
{
    static const std::regex utc(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)");
    if (!std::regex_match(of.committed_at, utc))
        throw usage_error(fmt::format("--committed \"{}\" is no time in UTC, as in "
                                      "2026-12-01T23:59:00Z. This prints the graded commit's:\n  "
                                      "TZ=UTC git show -s --format=%cd "
                                      "--date=format-local:%FT%TZ",
                                      short_line(of.committed_at)));
    return fitting(document, 10'000'000, [&](const auto &labs) {
        if (!graded_whole(labs)) throw machine_error(ungraded);
        return classroom50_of(labs, of).dump(1) + "\n";
    });
}

} // namespace cli
