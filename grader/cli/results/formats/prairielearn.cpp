// A result as the results.json of PrairieLearn.
#include "formats.hpp"
#include "safe_result.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

namespace {

json prairielearn_of(const std::vector<safe_lab> &labs, const json &document)
{
    json errors = json::array(), tests = json::array();
    each_case(labs, [&](const safe_lab &l, const safe_case &c) {
        if (l.refused || c.state == case_state::error || c.state == case_state::open)
            errors.push_back(fmt::format("{}: {}: {}", name_among(labs, l, c), c.verdict, c.words));
        tests.push_back({{"name", name_among(labs, l, c)},
                         {"points", c.points},
                         {"max_points", c.max_points},
                         {"message", c.judged_as()},
                         {"output", c.words}});
    });
    // A submission that did not build is not counted as an attempt.
    const bool gradable = graded_whole(labs) && !std::ranges::all_of(labs, &safe_lab::refused);
    json result = {{"gradable", gradable}, {"message", overview(labs, document)}};
    if (!gradable) {
        result["format_errors"] = std::move(errors);
        return result;
    }
    double max_points = total(labs, &safe_lab::max_points);
    result["score"] =
        max_points > 0 ? std::clamp(total(labs, &safe_lab::points) / max_points, 0.0, 1.0) : 0;
    result["tests"] = std::move(tests);
    return result;
}

} // namespace

std::string as_prairielearn(const json &document)
{
    return fitting(document, 1'000'000, [&](const auto &labs) {
        return prairielearn_of(labs, document).dump(1) + "\n";
    });
}

} // namespace cli
