// Compares two gradings of a class.
#include "class_comparison.hpp"

#include "cli/results/grade_comparison.hpp"
#include "cli/support/strings.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace cli {

namespace {

struct row_key {
    std::string student, lab;
    auto operator<=>(const row_key &) const = default;
};

// Points with those of the clock behind them; a row without a grade has none, not zero.
std::string sums_shown(const grade_row &row)
{
    if (row.status == "missing") return "no file";
    if (row.without_grade()) return "not graded";
    std::string words = points_words(row.points, row.max_points, row.open_points);
    if (row.clock.max_points > 0 && row.clock.open < row.clock.max_points)
        words += fmt::format(", clock {:g}", row.clock.points);
    return words;
}

// Says why the two rows differ, in at most a few cases.
std::vector<std::string> reasons(const grade_row &then, const grade_row &now)
{
    constexpr std::size_t max_cases = 4;
    std::vector<std::string> why;
    if (!then.sha256.empty() && !now.sha256.empty() && then.sha256 != now.sha256)
        why.push_back("another file was handed in");
    if (!invalid(then.document).empty() || !invalid(now.document).empty()) return why;
    std::vector<std::string> cases = cases_that_differ(then.document, now.document);
    if (cases.size() > max_cases) {
        const std::string more =
            fmt::format("and {} more", plural(cases.size() - max_cases, "case"));
        cases.resize(max_cases);
        cases.push_back(more);
    }
    why.insert(why.end(), cases.begin(), cases.end());
    return why;
}

// Names what both runs should have in common and have not.
std::string conditions(const json &before, const std::string &backend, const std::string &seed)
{
    std::string words;
    auto compare = [&](const char *what, const std::string &then, const std::string &now) {
        if (then != now)
            words += fmt::format("{}{} {}, now {}", words.empty() ? "" : "; ", what,
                                 then.empty() ? "unknown" : on_one_line(then, 100), now);
    };
    compare("version", text_at(before, "tool"), tool_version);
    compare("backend", text_at(before, "backend"), backend);
    compare("seed", text_at(before, "seed"), seed);
    return words;
}

} // namespace

std::string compare_classes(const json &before, const std::vector<grade_row> &now,
                            const std::string &backend, const std::string &seed, int width)
{
    std::map<row_key, grade_row> then;
    for (const json &row : before["rows"]) {
        grade_row r = row_in(row);
        row_key key{r.student, r.lab};
        then.emplace(std::move(key), std::move(r));
    }
    std::string text;
    auto add = [&](const std::string &words, int indent) {
        text += wrapped(words, width, indent, 0) + "\n";
    };
    std::size_t moved = 0, same = 0, added = 0;
    for (const grade_row &row : now) {
        const auto at = then.find({row.student, row.lab});
        if (at == then.end()) {
            ++added;
            add(fmt::format("  {}, {}: no row before, now {}", row.student, row.lab,
                            sums_shown(row)),
                4);
            continue;
        }
        const grade_row &old = at->second;
        const std::string was = sums_shown(old), is = sums_shown(row);
        if (was != is) {
            ++moved;
            add(fmt::format("  {}, {}: {}, now {}", row.student, row.lab, was, is), 4);
            for (const std::string &why : reasons(old, row)) add("    " + why, 6);
        } else {
            ++same;
        }
        then.erase(at);
    }
    for (const auto &[key, row] : then)
        add(fmt::format("  {}, {}: {}, now no row", on_one_line(key.student, 200),
                        on_one_line(key.lab, 100), sums_shown(row)),
            4);
    std::string head = fmt::format("Against the earlier grading: {} with other points, {} with the "
                                   "same, {} new, {} gone.",
                                   plural(moved, "row"), same, added, then.size());
    const std::string other = conditions(before, backend, seed);
    if (!other.empty()) head += " The two differ in: " + other + ".";
    return wrapped(head, width, 0) + "\n" + text;
}

} // namespace cli
