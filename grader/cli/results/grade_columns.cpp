// Matches a class's students to the rows of a gradebook, and fills in their points.
#include "grade_columns.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"
#include "gradebook.hpp"
#include "lab_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace cli {

namespace {

// A student's points as the course counts them, or why there are none yet.
struct final_points {
    double points = 0, max_points = 0;
    std::string pending = {}; // empty: the points are final
};

final_points points_of(const json &row, const columns_wanted &wanted)
{
    auto sum = [&](const char *key) {
        return number_at(row, key) + (wanted.clock ? number_at(member(row, "clock"), key) : 0) +
               (wanted.published ? number_at(member(row, "held_back"), key) : 0);
    };
    final_points result{sum("points"), sum("max_points")};
    const std::string status = text_at(row, "status"), problem = text_at(row, "problem");
    if (status == "unreadable")
        result.pending = "nobody can read it: " + problem;
    else if (status == "missing")
        result.pending = "nothing to grade: " + problem;
    else if (status == "error" || !member(row, "points").is_number())
        result.pending = "not graded by a fault of ours: " + problem;
    else if (const double open = sum("open_points"); open > 0)
        result.pending = fmt::format("{:g} of {:g} points are open, {:g} reached", open,
                                     result.max_points, result.points);
    return result;
}

std::string lab_of(const json &rows, const std::string &word)
{
    std::vector<std::string> labs;
    for (const json &row : rows)
        if (const std::string lab = text_at(row, "lab"); !std::ranges::count(labs, lab))
            labs.push_back(lab);
    if (!word.empty()) return find_lab(word, labs);
    if (labs.size() == 1) return labs[0];
    throw usage_error(
        labs.empty() ? "The class has no rows. Give the file that autograde --json wrote."
                     : fmt::format("The class has several labs: {}. Name one with --lab.",
                                   on_one_line(fmt::format("{}", fmt::join(labs, ", ")), 400)));
}

// Returns the rows that may be a student's; more than one is an error.
std::vector<const gradebook_person *> rows_for(const json &row, const gradebook &book,
                                               const std::string &lms)
{
    const json &known_as = member(row, "known_as");
    const std::string system = text_at(known_as, "system"), id = text_at(known_as, "id");
    std::string name = lower(text_at(row, "student"));
    if (!id.empty() && name.ends_with("_" + id)) name.resize(name.size() - id.size() - 1);
    const bool by_id = system == lms && !id.empty() && book.has_ids();
    std::vector<const gradebook_person *> found;
    for (const gradebook_person &p : book.people())
        if (by_id ? p.id == id : std::ranges::count(p.names, name) > 0) found.push_back(&p);
    return found;
}

void require_maximum(const gradebook_person &p, const final_points &grade, const std::string &lab,
                     const columns_wanted &wanted)
{
    if (!p.maximum || *p.maximum == grade.max_points) return;
    throw usage_error(fmt::format(
        "{}: the column's maximum is {:g}, and {} has {:g} points {} the clock. Set it to {:g} in "
        "the course, and export the file again{}.",
        wanted.roster_name, *p.maximum, lab, grade.max_points, wanted.clock ? "with" : "without",
        grade.max_points, wanted.clock ? "" : "; a course that counts the clock takes --clock"));
}

} // namespace

filled_column fill_column(const json &of_class, const std::string &roster,
                          const columns_wanted &wanted)
{
    gradebook book(roster, wanted.roster_name, wanted.lms, wanted.column);
    const json &rows = member(of_class, "rows");
    const std::string lab = lab_of(rows, wanted.lab);
    std::map<const gradebook_person *, std::string> taken; // by which student
    filled_column result;
    std::size_t filled = 0;
    for (const json &row : rows) {
        if (text_at(row, "lab") != lab) continue;
        const std::string student = on_one_line(text_at(row, "student"), 200);
        const final_points grade = points_of(row, wanted);
        const auto found = rows_for(row, book, wanted.lms);
        if (found.size() > 1)
            throw usage_error(fmt::format(
                "{}: \"{}\" may be {} or {}. Rename the student's folder to what only one of them "
                "has, an e-mail address for instance, and grade again.",
                wanted.roster_name, student, found[0]->shown, found[1]->shown));
        if (found.empty()) {
            result.notes.push_back(fmt::format(
                "No row for {}: {}", student,
                grade.pending.empty() ? fmt::format("{:g} points", grade.points) : grade.pending));
            continue;
        }
        const gradebook_person &p = *found[0];
        if (const auto [other, is_new] = taken.emplace(&p, student); !is_new)
            throw usage_error(fmt::format("{}: both \"{}\" and \"{}\" may be {}. Keep one of their "
                                          "folders, and grade again.",
                                          wanted.roster_name, other->second, student, p.shown));
        std::string &cell = book.cell(p);
        const std::string left = trimmed(cell).empty()
                                     ? "stays empty"
                                     : fmt::format("stays \"{}\"", on_one_line(cell, 40, ' '));
        if (!grade.pending.empty()) {
            result.notes.push_back(fmt::format("{} {}: {}", p.shown, left, grade.pending));
        } else if (lower(trimmed(cell)) == "ex") {
            result.notes.push_back(fmt::format("{} {}: excused in the course, and has {:g} points",
                                               p.shown, left, grade.points));
        } else {
            require_maximum(p, grade, lab, wanted);
            cell = fmt::format("{:g}", grade.points);
            ++filled;
            if (const double days = number_at(row, "late_days"); days > 0)
                result.notes.push_back(fmt::format("{} is {} late, and has all of {:g} points",
                                                   p.shown, plural(std::size_t(days), "day"),
                                                   grade.points));
        }
    }
    if (taken.empty())
        throw usage_error(fmt::format("{}: none of its students is in the class that was graded. "
                                      "Give the export of the same course.",
                                      wanted.roster_name));
    for (const gradebook_person &p : book.people())
        if (!taken.contains(&p))
            result.notes.push_back(fmt::format("No submission of {}", p.shown));
    result.notes.push_back(fmt::format("Filled in {} of {} of \"{}\" with the points of {}.",
                                       filled, plural(book.people().size(), "cell"),
                                       on_one_line(book.column(), 100, ' '), lab));
    result.table = book.text();
    return result;
}

} // namespace cli
