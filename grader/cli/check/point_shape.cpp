// Judges the points of a lab's versions by their order on the ladder.
#include "point_shape.hpp"

#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

namespace {

// Returns what follows `start` in a line of the file's first comment; empty: it has no such line.
std::string stated(const std::string &source, const std::string &start)
{
    for (const std::string &line : lines(source)) {
        if (!line.starts_with("//")) break;
        if (line.starts_with(start)) return trimmed(line.substr(start.size()));
    }
    return {};
}

bool on_ladder(check_role as)
{
    using enum check_role;
    return as == naive || as == rung || as == solution;
}

std::string shown(const lab_view &l)
{
    return fmt::format(
        "{:g}{}{}", l.points,
        l.clock.open >= l.clock.max_points ? "" : fmt::format(" + {:g}", l.clock.points),
        l.held_back.max_points > 0 ? fmt::format(" (held back: {:g})", l.held_back.points) : "");
}

// `clock` is 0 without timed cases.
std::string fault_of_sums(double points, double clock)
{
    const bool right = points == points_without_clock && (clock == 0 || clock == points_of_clock);
    return right ? "" : fmt::format("its cases have {:g} and {:g} of the clock", points, clock);
}

} // namespace

point_shape shape_of(const lab &l, const std::vector<check_task> &tasks)
{
    point_shape shape;
    const check_task *below = nullptr;
    for (const check_task &work : tasks) {
        const bool is_stub = work.as == check_role::stub;
        const bool counts = on_ladder(work.as) || work.as == check_role::filled || is_stub;
        if (work.of != &l || !counts || !work.whole() || !work.graded) continue;
        const lab_view &graded = *work.graded;
        if (!graded.judged() || graded.open_points > 0) return {}; // not judged whole here
        if (is_stub) {
            if (!work.known) continue; // it may be a student's
            shape.findings.push_back({"the stub has no points",
                                      graded.points > 0 ? fmt::format("{:g} points: a case "
                                                                      "passes without any work",
                                                                      graded.points)
                                                        : ""});
            continue;
        }
        shape.words +=
            fmt::format("{}{} {}", shape.words.empty() ? "" : ", ", work.what.name, shown(graded));
        const std::string source = read_text(work.what.source);
        if (work.as == check_role::filled) {
            shape.findings.push_back(
                {"the filled stub has all points",
                 graded.points < graded.max_points
                     ? fmt::format("{:g} points: the TODOs must lead to all", graded.points)
                     : ""});
            continue;
        }
        if (work.as == check_role::naive && graded.points > points_for_right_answers)
            shape.findings.push_back({"naive has the points for right answers alone",
                                      fmt::format("{:g} points; at most {:g}", graded.points,
                                                  points_for_right_answers)});
        if (work.as == check_role::solution) {
            shape.findings.push_back(
                {fmt::format("the lab has {:g} points, and {:g} or none of the clock",
                             points_without_clock, points_of_clock),
                 fault_of_sums(graded.max_points, graded.clock.max_points)});
            shape.findings.push_back(
                {"the solution has all points", graded.points < graded.max_points
                                                    ? fmt::format("{:g} points", graded.points)
                                                    : ""});
        }
        if (below && graded.points < below->graded->points &&
            stated(source, "// Fewer points: ").empty())
            shape.findings.push_back(
                {fmt::format("{} has at least the points of {}", work.what.name, below->what.name),
                 fmt::format("{:g}, and {:g} there", graded.points, below->graded->points)});
        if (below && work.as == check_role::rung &&
            (graded.points == below->graded->points) == stated(source, "// Same points: ").empty())
            shape.findings.push_back(
                {fmt::format("{} has more points than {}, or a line \"// Same points: WHY\"",
                             work.what.name, below->what.name),
                 fmt::format("{:g}, and {:g} there", graded.points, below->graded->points)});
        below = &work;
    }
    return shape;
}

} // namespace cli
