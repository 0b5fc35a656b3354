// Describes points that cannot be judged here.
#include "open_points.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace grading {

std::string open_words(double open) { return open > 0 ? fmt::format(", {:g} open", open) : ""; }

std::vector<std::string> open_notes(const std::vector<open_case> &cases)
{
    std::vector<open_case> by_reason;
    for (const open_case &c : cases) {
        auto same = std::find_if(by_reason.begin(), by_reason.end(),
                                 [&](const open_case &other) { return other.why == c.why; });
        if (same == by_reason.end()) {
            by_reason.push_back(c);
            continue;
        }
        same->name += "; " + c.name;
        same->points += c.points;
    }
    std::vector<std::string> notes;
    for (const open_case &c : by_reason)
        notes.push_back(fmt::format("{:g} point{} open: {}. {}", c.points,
                                    c.points == 1 ? " is" : "s are", c.name, c.why));
    return notes;
}

} // namespace grading
