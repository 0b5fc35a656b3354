// Sums up a class's results, lab by lab.
#include "class_overview.hpp"

#include "cli/support/strings.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace cli {

namespace {

// A row's result as the course counts it. case_view points into `document`.
struct class_row {
    class_grade grade;
    json document;
    std::vector<case_view> cases = {};
};

point_sums with(const point_sums &a, const point_sums &b)
{
    return {a.points + b.points, a.max_points + b.max_points, a.open + b.open};
}

point_sums sums_in(const json &o)
{
    return {number_at(o, "points"), number_at(o, "max_points"), number_at(o, "open_points")};
}

class_grade grade_of(const json &row, points_too counted)
{
    class_grade g{.student = text_at(row, "student"),
                  .lab = text_at(row, "lab"),
                  .status = text_at(row, "status"),
                  .problem = text_at(row, "problem"),
                  .first_failure = text_at(row, "first_failure"),
                  .sums = sums_in(row),
                  .clock = sums_in(member(row, "clock"))};
    g.late_days = int(std::clamp(number_at(row, "late_days"), 0.0, 9999.0));
    lab_view l;
    l.points = g.sums.points;
    l.max_points = g.sums.max_points;
    l.clock = g.clock;
    g.band = band_of(l);
    if (counted.clock) g.sums = with(g.sums, g.clock);
    if (counted.held_back) g.sums = with(g.sums, sums_in(member(row, "held_back")));
    return g;
}

// The remarks of open points and disputes, which labs_of() words.
void add_remarks(const class_row &row, class_overview &to)
{
    const class_grade &g = row.grade;
    auto add = [&](std::vector<class_remark> &list, const std::string &words) {
        list.push_back({g.student, g.lab, words});
    };
    if (g.fault()) return add(to.faults, g.problem);
    if (g.status == "missing") return add(to.missing, g.problem);
    for (const lab_view &l : labs_of(row.document)) {
        for (const std::string &note : open_notes(l)) add(to.open, note);
        for (const std::string &note : disputed_notes(l)) add(to.disputed, note);
    }
}

// Counts students and cases by a name.
class tally_by_name {
public:
    void add(const std::string &name, const std::string &student)
    {
        ++cases_[name];
        students_[name].insert(student);
    }
    std::vector<verdict_count> commonest_first() const
    {
        std::vector<verdict_count> all;
        for (const auto &[name, cases] : cases_)
            all.push_back({name, students_.at(name).size(), cases});
        std::ranges::stable_sort(all, std::greater{}, &verdict_count::students);
        return all;
    }

private:
    std::map<std::string, std::size_t> cases_;
    std::map<std::string, std::set<std::string>> students_;
};

std::vector<common_mistake> mistakes_of(const std::vector<const class_row *> &rows)
{
    using key = std::tuple<std::string, std::string, std::string>;
    std::map<key, std::pair<common_mistake, std::set<std::string>>> found;
    for (const class_row *row : rows)
        for (const case_view &c : row->cases) {
            if (!failed_in(*c.whole) || c.verdict == "NOT_WRITTEN") continue;
            const std::string function = function_of(c.name), what = mistake_in(c.message);
            auto &[mistake, students] = found[{function, c.verdict, what}];
            if (students.empty())
                mistake = {function,           c.verdict, what,      0,
                           row->grade.student, c.name,    c.message, c.hint};
            students.insert(row->grade.student);
        }
    std::vector<common_mistake> all;
    for (auto &[of, entry] : found) {
        entry.first.students = entry.second.size();
        all.push_back(std::move(entry.first));
    }
    std::ranges::stable_sort(all, [](const common_mistake &a, const common_mistake &b) {
        return std::pair(b.students, a.what.empty()) < std::pair(a.students, b.what.empty());
    });
    return all;
}

double median_of(std::vector<double> sorted)
{
    if (sorted.empty()) return 0;
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::vector<slow_case> slow_cases_of(const std::vector<const class_row *> &rows)
{
    std::map<std::string, std::vector<std::pair<double, std::string>>> times;
    for (const class_row *row : rows)
        for (const case_view &c : row->cases)
            if (was_judged(*c.whole))
                times[c.name].push_back({number_at(*c.whole, "duration_ms"), row->grade.student});
    std::vector<slow_case> all;
    for (auto &[name, of_case] : times) {
        std::ranges::sort(of_case);
        std::vector<double> sorted;
        for (const auto &[ms, student] : of_case) sorted.push_back(ms);
        all.push_back({name, median_of(sorted), sorted.back(), of_case.back().second});
    }
    std::ranges::stable_sort(all, std::greater{}, &slow_case::max_ms);
    return all;
}

lab_overview overview_of_lab(const std::string &lab, const std::vector<const class_row *> &rows)
{
    lab_overview l;
    l.lab = lab;
    tally_by_name verdicts, not_written;
    std::map<std::string, std::size_t> bands;
    bool timed = false;
    for (const class_row *row : rows) {
        const class_grade &g = row->grade;
        l.max_points = std::max(l.max_points, g.sums.max_points);
        timed = timed || g.clock.max_points > 0;
        l.missing += g.status == "missing";
        l.faults += g.fault();
        if (g.graded()) {
            l.points.push_back(g.sums.points);
            ++bands[g.band];
        }
        for (const case_view &c : row->cases) {
            verdicts.add(c.verdict, g.student);
            if (c.verdict == "NOT_WRITTEN") not_written.add(function_of(c.name), g.student);
        }
    }
    std::ranges::sort(l.points);
    l.median = median_of(l.points);
    for (const char *band : {"complete and fast", "complete", "understood", "right", ""})
        if (timed || bands[band] > 0 || band != std::string_view("complete and fast"))
            l.bands.push_back({band, bands[band]});
    l.verdicts = verdicts.commonest_first();
    l.not_written = not_written.commonest_first();
    l.mistakes = mistakes_of(rows);
    l.slow = slow_cases_of(rows);
    return l;
}

// Removes the part of a message before what the grader recognised.
std::string_view without_counts(std::string_view message)
{
    constexpr std::string_view again =
        "A first call was right and a second, with the same inputs, was not: ";
    if (message.starts_with(again)) message.remove_prefix(again.size());
    const std::size_t first = std::min(message.find(" wrong; the first is "), message.size());
    const std::size_t got = message.find(", got ", first);
    if (got == message.npos) return message;
    const std::size_t end = message.find(". ", got);
    return end == message.npos ? std::string_view{} : message.substr(end + 2);
}

// Replaces numbers by N, but not the digits in a name such as float4.
std::string without_numbers(std::string_view text)
{
    std::string result;
    auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t i = 0; i < text.size();) {
        const bool in_name = i > 0 && grading::is_name_char(text[i - 1]);
        const bool sign =
            text[i] == '-' && !in_name && i + 1 < text.size() && is_digit(text[i + 1]);
        if (in_name || !(sign || is_digit(text[i]))) {
            result += text[i++];
            continue;
        }
        i += sign;
        // A point or a sign belongs to the number if digits follow: 0.5, 1e-05.
        while (i < text.size() && (grading::is_name_char(text[i]) ||
                                   ((text[i] == '.' || (text[i] == '-' && text[i - 1] == 'e')) &&
                                    i + 1 < text.size() && is_digit(text[i + 1]))))
            ++i;
        result += 'N';
    }
    return result;
}

// Replaces "Kernel scale<int, 4>" by "A kernel", and drops the kernel of a refused launch.
std::string without_kernel(const std::string &text)
{
    constexpr std::string_view kernel = "Kernel ", refused = "A kernel launch was refused: ";
    if (text.starts_with(refused)) {
        const std::size_t why = text.find(": ", refused.size());
        return why == text.npos ? text : std::string(refused) + text.substr(why + 2);
    }
    if (!text.starts_with(kernel)) return text;
    int inside = 0;
    std::size_t end = kernel.size();
    for (; end < text.size() && (inside > 0 || text[end] != ' '); ++end)
        inside += (text[end] == '<') - (text[end] == '>');
    return "A kernel" + text.substr(end);
}

// Removes " at stub.cu:N".
std::string without_place(std::string text)
{
    for (std::size_t line = text.find(".cu:N"); line != text.npos; line = text.find(".cu:N")) {
        const std::size_t at = text.rfind(" at ", line);
        const std::size_t begin = at == text.npos ? line : at;
        text.erase(begin, line + 5 - begin);
    }
    return text;
}

// Returns what a compiler's message says behind its place, with "..." for each quoted name.
std::string compiler_error_in(std::string_view message)
{
    const std::size_t error = message.find("error: ");
    if (error == message.npos) return {};
    std::string result;
    bool quoted = false;
    for (char c : message.substr(error, message.find('\n', error) - error)) {
        if (c == '"') {
            quoted = !quoted;
            if (quoted) result += "\"...\"";
        } else if (!quoted) {
            result += c;
        }
    }
    return result;
}

} // namespace

std::string mistake_in(const std::string &message)
{
    constexpr std::size_t max_bytes = 2000;
    const std::string safe = sanitized(message, max_bytes);
    if (std::string error = compiler_error_in(safe); !error.empty()) return without_numbers(error);
    std::string_view rest = safe;
    rest = rest.substr(0, rest.rfind(" In the call with "));
    std::string text = without_numbers(without_counts(rest));
    if (text.starts_with("In the call with ")) return {};
    const std::size_t end = text.find(". ");
    if (end != text.npos) text.resize(end + 1);
    return without_place(without_kernel(text));
}

class_overview overview_of(const json &of_class, points_too counted)
{
    class_overview all{.seed = text_at(of_class, "seed"),
                       .backend = text_at(of_class, "backend"),
                       .tool = text_at(of_class, "tool")};
    std::vector<class_row> rows;
    for (const json &row : member(of_class, "rows")) {
        class_row r{grade_of(row, counted), member(row, "result")};
        if (r.grade.student.empty() || r.grade.lab.empty()) continue;
        if (invalid(r.document).empty())
            r.document =
                as_counted(counted.held_back ? with_held_back_published(std::move(r.document))
                                             : without_held_back(std::move(r.document)),
                           counted.clock);
        else
            r.document = {};
        rows.push_back(std::move(r));
    }
    std::ranges::stable_sort(
        rows, {}, [](const class_row &r) { return std::tie(r.grade.student, r.grade.lab); });
    std::map<std::string, std::vector<const class_row *>> by_lab;
    for (class_row &r : rows) {
        for (lab_view &l : labs_of(r.document))
            if (l.lab == r.grade.lab) r.cases = std::move(l.cases);
        by_lab[r.grade.lab].push_back(&r);
        all.grades.push_back(r.grade);
        add_remarks(r, all);
    }
    for (const auto &[lab, of_lab] : by_lab) all.labs.push_back(overview_of_lab(lab, of_lab));
    return all;
}

} // namespace cli
