// Compares two grades of one lab, and says what may explain a difference.
#include "grade_comparison.hpp"

#include "cli/terminal/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cli {

namespace {

struct difference {
    std::string name;
    const case_view *given, *here; // null: this grade has no such case
};

const case_view *case_called(const lab_view &l, const std::string &name)
{
    const auto at = std::ranges::find(l.cases, name, &case_view::name);
    return at == l.cases.end() ? nullptr : &*at;
}

// True if --case left the case out of the grade.
bool left_out(const json &lab, const std::string &name)
{
    const json &names = member(lab, "not_chosen");
    return names.is_array() && std::ranges::find(names, json(name)) != names.end();
}

std::vector<difference> differences_of(const lab_view &given, const json &given_lab,
                                       const lab_view &here)
{
    std::vector<difference> result;
    for (const case_view &c : given.cases) {
        const case_view *other = case_called(here, c.name);
        if (!other && c.held_back) continue; // this workbook does not have it
        if (!other || c.verdict != other->verdict || c.points != other->points)
            result.push_back({c.name, &c, other});
    }
    for (const case_view &c : here.cases)
        if (!case_called(given, c.name) && !left_out(given_lab, c.name))
            result.push_back({c.name, nullptr, &c});
    return result;
}

std::string words_of(const case_view *c)
{
    return c ? fmt::format("{} {:g} / {:g}", c->verdict, c->points, c->max_points) : "no such case";
}

std::string points_of(const lab_view &l)
{
    return l.status == "error" ? "not graded" : points_words(l);
}

bool timed(const difference &d)
{
    return (d.given && d.given->whole->contains("speedup")) ||
           (d.here && d.here->whole->contains("speedup"));
}

bool hit_limit(const difference &d)
{
    auto did = [](const case_view *c) {
        return c && (c->verdict == "TIMEOUT" || c->verdict == "RESOURCE_LIMIT");
    };
    return did(d.given) || did(d.here);
}

// Reads a field of the result's environment.
std::string of_env(const json &document, const char *field)
{
    return on_one_line(text_at(member(document, "env"), field), 100);
}

// Names the conditions that the two grades do not share, apart from their cases; one sentence each.
std::vector<std::string> conditions_that_differ(const json &given, const json &here)
{
    std::vector<std::string> result;
    auto compare = [&](const std::string &what, const std::string &there, const std::string &now) {
        if (there != now)
            result.push_back(fmt::format("{}: {} there, {} here.", what,
                                         there.empty() ? "unknown" : there,
                                         now.empty() ? "unknown" : now));
    };
    const std::string graded = text_at(given["labs"][0], "sha256"),
                      now = text_at(here["labs"][0], "sha256");
    constexpr std::size_t shown = 16; // digits, which are enough to tell files apart
    if (graded.empty())
        result.push_back("Perhaps another file: the result does not say which one was graded.");
    else if (graded != now)
        compare("Another file, by the first digits of its SHA-256",
                on_one_line(graded.substr(0, shown), 100), now.substr(0, shown));
    const json &there_held = member(given["labs"][0], "held_back"),
               &here_held = member(here["labs"][0], "held_back");
    const double points = number_at(there_held, "max_points");
    if (points > 0 && number_at(here_held, "max_points") <= number_at(here_held, "open_points"))
        result.push_back(
            fmt::format("{:g} points are held back: their cases are not compared here.", points));
    compare("Another version of the workbook", on_one_line(text_at(given, "tool"), 100),
            text_at(here, "tool"));
    compare("Another GPU", of_env(given, "gpu"), of_env(here, "gpu"));
    compare("Another driver", of_env(given, "driver"), of_env(here, "driver"));
    compare("Another sandbox", of_env(given, "sandbox"), of_env(here, "sandbox"));
    return result;
}

std::vector<std::string> explanations(const json &given, const json &here,
                                      const std::vector<difference> &all)
{
    std::vector<std::string> result = conditions_that_differ(given, here);
    if (text_at(given["labs"][0], "status") == "error")
        result.insert(result.begin(), "A fault of the machine or the workbook left the lab without "
                                      "a grade there, which is not zero points.");
    const auto clock = std::ranges::count_if(all, timed);
    const auto limit = std::ranges::count_if(all, hit_limit);
    if (clock > 0)
        result.push_back(fmt::format("The clock: {} of the cases that differ {} timed, and a speed "
                                     "close to what is required, or a GPU that others use, may "
                                     "fall on either side.",
                                     clock, clock == 1 ? "is" : "are"));
    if (limit > 0)
        result.push_back(fmt::format("A limit: {} of the cases that differ ran into one of time or "
                                     "memory, which a busy machine reaches sooner.",
                                     limit));
    if (text_at(given, "backend") != "sim" && clock + limit < std::ssize(all))
        result.push_back("A race: on a GPU a missing synchronisation shows by chance. The "
                         "simulator finds it: ./workbook grade with --backend sim.");
    return result;
}

// A row per case that differs, and the sums.
std::string table_of(const lab_view &given, const lab_view &here,
                     const std::vector<difference> &all)
{
    int name = columns("points"), there = columns("there");
    auto shown = [](const difference &d) { return on_one_line(d.name, 200); };
    for (const difference &d : all) {
        name = std::max(name, columns(shown(d)));
        there = std::max(there, columns(words_of(d.given)));
    }
    there = std::max(there, columns(points_of(given)));
    auto row = [&](const std::string &a, const std::string &b, const std::string &c) {
        return padded(a, name + 2) + padded(b, there + 2) + c + "\n";
    };
    std::string text = row("case", "there", "here");
    for (const difference &d : all) text += row(shown(d), words_of(d.given), words_of(d.here));
    return text + row("points", points_of(given), points_of(here));
}

} // namespace

std::vector<std::string> cases_that_differ(const json &given, const json &here)
{
    const std::vector<lab_view> given_labs = labs_of(given), here_labs = labs_of(here);
    std::vector<std::string> result;
    for (const difference &d : differences_of(given_labs.at(0), given["labs"][0], here_labs.at(0)))
        result.push_back(fmt::format("{}: {}, now {}", on_one_line(d.name, 200), words_of(d.given),
                                     words_of(d.here)));
    return result;
}

grade_comparison compare_grades(const json &given, const json &here, int width)
{
    const std::vector<lab_view> given_labs = labs_of(given), here_labs = labs_of(here);
    const lab_view &theirs = given_labs.at(0), &ours = here_labs.at(0);
    const std::vector<difference> all = differences_of(theirs, given["labs"][0], ours);
    grade_comparison result{all.empty(), {}};
    auto add = [&](const std::string &words, int indent = 0) {
        result.text += wrapped(words, width, indent, 0) + "\n";
    };
    const std::string head = fmt::format("{}, backend {}, seed {}: ", ours.lab,
                                         on_one_line(text_at(given, "backend"), 20),
                                         on_one_line(text_at(given, "seed"), 20));
    if (result.same) {
        const std::size_t count = theirs.cases.size();
        add(head + fmt::format("the same verdict in {}, {:g} of {:g} points{}",
                               count == 1 ? "its only case" : "all " + plural(count, "case"),
                               theirs.points, theirs.max_points, open_words(theirs.open_points)));
        for (const std::string &note : conditions_that_differ(given, here)) add("  " + note, 2);
        return result;
    }
    add(head + fmt::format("{} of {} differ{}", all.size(), plural(theirs.cases.size(), "case"),
                           all.size() == 1 ? "s" : ""));
    result.text += "\n" + table_of(theirs, ours, all) + "\n";
    const std::vector<std::string> why = explanations(given, here, all);
    add(why.empty() ? "Nothing in the two results explains it: file, workbook and inputs are the "
                      "same. Show both to your instructor; --json FILE writes the one made here."
                    : "What may explain it:");
    for (const std::string &reason : why) add("- " + reason, 2);
    return result;
}

} // namespace cli
