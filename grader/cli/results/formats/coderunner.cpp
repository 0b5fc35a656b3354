// A result as what a combinator template grader of CodeRunner, a question type of Moodle, prints.
//
// CodeRunner's documentation, "Combinator-template grading": one JSON object with the fraction of
// the mark, HTML before and after a table of results, and that table, whose first row has the
// headings. The column "iscorrect" shows ticks and crosses. It escapes the table's cells. Without a
// fraction it counts no attempt and shows an error, which is right for a fault of ours.
#include "formats.hpp"
#include "safe_result.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

namespace {

double share(double points, double max_points)
{
    return max_points > 0 ? std::clamp(points / max_points, 0.0, 1.0) : 0;
}

json coderunner_of(const std::vector<safe_lab> &labs, const json &document)
{
    json table = json::array({{"iscorrect", "Case", "Verdict", "Points", "Details"}});
    each_case(labs, [&](const safe_lab &l, const safe_case &c) {
        const bool passed = c.state == case_state::passed;
        const bool whole = passed && c.points >= c.max_points; // a case may have no points at all
        table.push_back({whole ? 1.0 : share(c.points, c.max_points), name_among(labs, l, c),
                         c.judged_as(), points_words(c.points, c.max_points), c.words});
    });
    json result = {
        {"prologuehtml", fmt::format("<pre>{}</pre>", xml_escaped(overview(labs, document)))},
        {"testresults", std::move(table)}};
    if (graded_whole(labs))
        result["fraction"] =
            share(total(labs, &safe_lab::points), total(labs, &safe_lab::max_points));
    return result;
}

} // namespace

std::string as_coderunner(const json &document)
{
    // Jobe, which runs the grader, cuts a program's output at 2 MB.
    return fitting(document, 1'000'000,
                   [&](const auto &labs) { return coderunner_of(labs, document).dump() + "\n"; });
}

} // namespace cli
