// A class's results as one page: points, verdicts, common mistakes, slow cases, faults.
#include "class_page.hpp"

#include "cli/support/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

namespace {

// Holds no '<' and no '>', as the common style.
constexpr const char *class_style = R"(
h1, h2, li, td, dd { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; margin: 0.75rem 0; }
dt { color: var(--faint); }
dd { margin: 0; }
.wide { overflow-x: auto; margin: 0.5rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.9rem 0.25rem 0;
  border-bottom: 1px solid var(--rule); }
thead th { white-space: nowrap; vertical-align: bottom; }
td { min-width: 7rem; }
tbody th { color: var(--ink); min-width: 8.5rem; max-width: 16rem; overflow-wrap: anywhere; }
.grades tbody th { position: sticky; left: 0; background: var(--paper); }
.grades td { min-width: 11rem; }
td.number { min-width: 0; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td small { display: block; color: var(--faint); }
td small.hot { color: var(--hot); }
figure { margin: 0.5rem 0 1rem; padding: 0.75rem; background: var(--panel); border-radius: 6px; }
.bars, .ticks { display: grid; gap: 2px; }
.bars { height: 9rem; margin-top: 0.5rem; border-bottom: 1px solid var(--faint); }
.bin { display: flex; flex-direction: column; justify-content: flex-end; align-items: center;
  font-size: 0.7rem; line-height: 1.3rem; }
.bin i { display: block; width: 100%; background: var(--faint); }
.right i, .swatch.right { background: var(--orange); }
.understood i, .swatch.understood { background: var(--blue); }
.complete i, .swatch.complete { background: var(--cool); }
.swatch { display: inline-block; width: 0.7rem; height: 0.7rem; margin-right: 0.4rem;
  background: var(--faint); }
.ticks { font-size: 0.75rem; color: var(--faint); }
.ticks .end { text-align: right; }
ol { padding-left: 1.5rem; }
ol li { margin: 0.5rem 0; }
summary { cursor: pointer; color: var(--faint); }
details p { margin: 0.25rem 0; white-space: pre-wrap; }
)";

constexpr std::size_t max_message = 1500; // bytes of one message
constexpr std::size_t max_mistakes = 12, max_slow = 8;

std::string words_of(const std::string &text)
{
    return markup_escaped(sanitized(text, max_message));
}

std::string prose_of(const std::string &text) { return prose(sanitized(text, max_message)); }

std::string cell(const std::string &html) { return "<td>" + html + "</td>"; }
std::string number_cell(const std::string &text)
{
    return "<td class=\"number\">" + text + "</td>";
}
std::string row_head(const std::string &html) { return "<th scope=\"row\">" + html + "</th>"; }
std::string row_of(const std::string &cells) { return "<tr>" + cells + "</tr>\n"; }

// A heading that begins with '#' stands above numbers.
std::string table_of(const std::vector<std::string> &headings, const std::string &rows,
                     const char *css_class = "wide")
{
    std::string head;
    for (const std::string &h : headings)
        head += fmt::format("<th scope=\"col\"{}>{}</th>", h[0] == '#' ? " class=\"number\"" : "",
                            words_of(h.substr(h[0] == '#')));
    return fmt::format("<div class=\"{}\"><table>\n<thead><tr>{}</tr></thead>\n"
                       "<tbody>\n{}</tbody>\n</table></div>\n",
                       css_class, head, rows);
}

std::string backend_shown(const std::string &backend)
{
    return backend == "sim"    ? "the simulator: efficiency is counted, not timed"
           : backend == "gpu"  ? "a GPU alone, which counts nothing"
           : backend == "both" ? "the simulator and a GPU"
                               : words_of(backend);
}

// The points that a band begins with, as the handouts have them.
std::string band_limits(const std::string &band)
{
    return band == "complete and fast" ? "40, and 10 of the clock"
           : band == "complete"        ? "40"
           : band == "understood"      ? "30 to 39.5"
           : band == "right"           ? fmt::format("{:g} to 29.5", points_for_right_answers)
                                       : fmt::format("below {:g}", points_for_right_answers);
}

const char *band_class(double points)
{
    lab_view l;
    l.points = points;
    l.max_points = points_without_clock;
    const std::string band = band_of(l);
    return band == "complete"     ? "complete"
           : band == "understood" ? "understood"
           : band == "right"      ? "right"
                                  : "below";
}

std::string bands_table(const lab_overview &l)
{
    std::string rows;
    for (const auto &[band, students] : l.bands) {
        const char *css_class = band.starts_with("complete") ? "complete"
                                : band.empty()               ? "below"
                                                             : band.c_str();
        rows += row_of(row_head(fmt::format("<span class=\"swatch {}\"></span>{}", css_class,
                                            band.empty() ? "not yet right" : band)) +
                       cell(band_limits(band)) + number_cell(std::to_string(students)));
    }
    return table_of({"band", "points", "#students"}, rows);
}

// Bars over the points, in bins of 2 where a lab has 40 or 50, so that each band begins with a bin.
std::string histogram(const lab_overview &l)
{
    if (l.points.empty() || l.max_points <= 0) return "<p>Nothing was graded.</p>\n";
    const bool whole = std::fmod(l.max_points, 10) == 0;
    const double width = whole ? 2 : l.max_points / 20;
    const std::size_t bins = std::size_t(std::lround(l.max_points / width)) + 1;
    auto bin_of = [&](double points) {
        return std::size_t(std::clamp(points / width, 0.0, double(bins - 1)));
    };
    std::vector<std::size_t> counts(bins);
    for (double points : l.points) ++counts[bin_of(points)];
    const std::size_t highest = *std::ranges::max_element(counts);
    const std::string columns =
        fmt::format("style=\"grid-template-columns:repeat({},minmax(0,1fr))\"", bins);
    std::string bars, counted;
    for (std::size_t i = 0; i < bins; ++i) {
        const double from = double(i) * width;
        if (counts[i] > 0)
            counted +=
                fmt::format("{}from {:g} points: {}", counted.empty() ? "" : "; ", from, counts[i]);
        bars += fmt::format("<div class=\"bin {}\" title=\"{} from {:g} points\">{}<i "
                            "style=\"height:calc((100% - 1.3rem) * {:.3f})\"></i></div>\n",
                            l.max_points == points_without_clock ? band_class(from) : "below",
                            plural(counts[i], "student"), from,
                            counts[i] > 0 ? std::to_string(counts[i]) : std::string(),
                            double(counts[i]) / double(highest));
    }
    std::vector<double> ticks{0, l.max_points / 2, l.max_points};
    if (l.max_points == points_without_clock)
        ticks = {0, 10, points_for_right_answers, 30, points_without_clock};
    std::string axis;
    for (double tick : ticks)
        axis += fmt::format("<span style=\"grid-row:1;grid-column:{}\">{:g}</span>\n",
                            bin_of(tick) + 1, tick);
    const std::size_t at = bin_of(l.median) + 1;
    axis += at > bins / 2
                ? fmt::format("<span class=\"end\" style=\"grid-row:2;grid-column:1 / {}\">median "
                              "{:g} \u25b2</span>\n",
                              at + 1, l.median)
                : fmt::format("<span style=\"grid-row:2;grid-column:{} / -1\">\u25b2 median "
                              "{:g}</span>\n",
                              at, l.median);
    return fmt::format("<figure>\n<figcaption>Students by points, of {:g}</figcaption>\n"
                       "<div class=\"bars\" role=\"img\" aria-label=\"{}\" {}>\n{}</div>\n"
                       "<div class=\"ticks\" {}>\n{}</div>\n</figure>\n",
                       l.max_points, counted, columns, bars, columns, axis);
}

std::string verdicts_table(const lab_overview &l)
{
    std::string rows;
    for (const verdict_count &v : l.verdicts)
        rows +=
            row_of(row_head("<code>" + words_of(v.verdict) + "</code>") +
                   number_cell(std::to_string(v.students)) + number_cell(std::to_string(v.cases)));
    std::string text = table_of({"verdict", "#students", "#cases"}, rows), none;
    for (const verdict_count &f : l.not_written)
        none += fmt::format("{}<code>{}</code> {}", none.empty() ? "" : ", ", words_of(f.verdict),
                            f.students);
    if (!none.empty())
        text += "<p>Not written, by function, and by how many students: " + none + ".</p>\n";
    return text;
}

std::string mistakes_list(const lab_overview &l)
{
    if (l.mistakes.empty()) return "<p>None.</p>\n";
    std::string text = "<ol>\n";
    for (std::size_t i = 0; i < std::min(l.mistakes.size(), max_mistakes); ++i) {
        const common_mistake &m = l.mistakes[i];
        text += fmt::format(
            "<li><strong>{}</strong>, <code>{}</code>, <code>{}</code>: {}\n"
            "<details><summary>{}, in {}</summary>\n<p>{}</p>\n<p>{}</p></details></li>\n",
            plural(m.students, "student"), words_of(m.function), words_of(m.verdict),
            m.what.empty() ? "the grader recognised no cause." : prose_of(m.what),
            words_of(m.student), words_of(m.case_name), prose_of(m.message), prose_of(m.hint));
    }
    text += "</ol>\n";
    if (l.mistakes.size() > max_mistakes)
        text += fmt::format("<p class=\"faint\">And {} more kinds of mistake.</p>\n",
                            l.mistakes.size() - max_mistakes);
    return text;
}

std::string slow_table(const lab_overview &l)
{
    std::string rows;
    auto seconds = [](double ms) { return value_words(ms / 1000, "") + " s"; };
    for (std::size_t i = 0; i < std::min(l.slow.size(), max_slow); ++i) {
        const slow_case &c = l.slow[i];
        rows += row_of(row_head(words_of(c.name)) + number_cell(seconds(c.median_ms)) +
                       number_cell(seconds(c.max_ms)) + cell(words_of(c.slowest)));
    }
    return table_of({"case", "#median", "#maximum", "slowest for"}, rows);
}

std::string anchor(std::size_t lab) { return fmt::format("lab-{}", lab + 1); }

std::string lab_section(const lab_overview &l, std::size_t number)
{
    std::string text = fmt::format(
        "<h2 id=\"{}\">{}</h2>\n<p>{} graded, {} missing, {} not graded.</p>\n"
        "<h3>Points</h3>\n{}",
        anchor(number), words_of(l.lab), l.points.size(), l.missing, l.faults, histogram(l));
    // Bands are of labs with 40 points; where none has one, the table would say nothing.
    if (std::any_of(l.bands.begin(), l.bands.end(),
                    [](const auto &b) { return !b.first.empty() && b.second > 0; }))
        text += bands_table(l);
    if (l.verdicts.empty()) return text;
    return text + "<h3>Verdicts</h3>\n" + verdicts_table(l) + "<h3>The commonest mistakes</h3>\n" +
           mistakes_list(l) + "<h3>The slowest cases</h3>\n" + slow_table(l);
}

std::string labs_table(const class_overview &all)
{
    std::string rows;
    for (std::size_t i = 0; i < all.labs.size(); ++i) {
        const lab_overview &l = all.labs[i];
        rows +=
            row_of(row_head(fmt::format("<a href=\"#{}\">{}</a>", anchor(i), words_of(l.lab))) +
                   number_cell(std::to_string(l.points.size())) +
                   number_cell(std::to_string(l.missing)) + number_cell(std::to_string(l.faults)) +
                   number_cell(l.points.empty() ? std::string("none")
                                                : points_words(l.median, l.max_points)));
    }
    return table_of({"lab", "#graded", "#missing", "#not graded", "#median"}, rows);
}

std::string grade_cell(const class_grade &g)
{
    if (!g.graded())
        return cell(fmt::format("<small class=\"hot\">{}</small>",
                                g.status == "error" ? "not graded: a fault" : g.status));
    std::string clock = clock_shown(g.clock);
    if (!clock.empty()) clock = "<small>clock: " + clock + "</small>";
    if (g.late_days > 0)
        clock += fmt::format("<small class=\"hot\">{} late</small>",
                             plural(std::size_t(g.late_days), "day"));
    return cell(fmt::format(
        "{}{}{}", points_words(g.sums.points, g.sums.max_points, g.sums.open), clock,
        g.first_failure.empty() ? std::string()
                                : fmt::format("<small>{}</small>", words_of(g.first_failure))));
}

// A row per student and a column per lab. A second grade of a student in a lab, which only a file
// put together by hand holds, has a line of its own.
std::string grades_table(const class_overview &all)
{
    using line_key = std::pair<std::string, std::size_t>;
    std::map<line_key, std::map<std::string, const class_grade *>> lines_of;
    for (const class_grade &g : all.grades)
        for (std::size_t n = 0;; ++n)
            if (lines_of[{g.student, n}].try_emplace(g.lab, &g).second) break;
    std::vector<std::string> headings{"student"};
    for (const lab_overview &l : all.labs) headings.push_back(l.lab);
    if (all.labs.size() > 1) headings.push_back("#sum");
    std::string rows;
    for (const auto &[key, grades] : lines_of) {
        std::string cells = row_head(words_of(key.first));
        double sum = 0;
        bool faults = false;
        for (const lab_overview &l : all.labs) {
            const auto at = grades.find(l.lab);
            cells += at == grades.end() ? cell("") : grade_cell(*at->second);
            if (at == grades.end()) continue;
            sum += at->second->graded() ? at->second->sums.points : 0;
            faults = faults || at->second->fault();
        }
        if (all.labs.size() > 1)
            cells += number_cell(faults ? "not graded" : fmt::format("{:g}", sum));
        rows += row_of(cells);
    }
    return table_of(headings, rows, "wide grades");
}

// Remarks of one lab that say the same stand once, with everybody whom they concern.
std::string remarks_table(const std::vector<class_remark> &remarks)
{
    if (remarks.empty()) return "<p>None.</p>\n";
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> same;
    for (const class_remark &r : remarks) same[{r.lab, r.words}].push_back(r.student);
    std::string rows;
    for (const auto &[of, students] : same) {
        std::string names;
        for (const std::string &s : students) names += (names.empty() ? "" : "; ") + words_of(s);
        rows += row_of(row_head(words_of(of.first)) + cell(names) + cell(words_of(of.second)));
    }
    return table_of({"lab", "students", "reason"}, rows);
}

} // namespace

std::string as_class_page(const json &of_class, points_too counted)
{
    const class_overview all = overview_of(of_class, counted);
    std::vector<std::string> students;
    for (const class_grade &g : all.grades)
        if (students.empty() || students.back() != g.student) students.push_back(g.student);
    std::string labs;
    for (const lab_overview &l : all.labs) labs += (labs.empty() ? "" : ", ") + l.lab;
    std::string text = "<h1>Results of a class</h1>\n<dl>\n";
    auto fact = [&](const char *what, const std::string &html) {
        text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", what, html);
    };
    fact("labs", words_of(labs));
    fact("students", std::to_string(students.size()));
    fact("graded on", backend_shown(all.backend));
    fact("seed", "<code>" + words_of(all.seed) + "</code>");
    fact("workbook", words_of(all.tool));
    const bool held_back = of_class.is_object() && of_class.contains("held_back_seed");
    fact("points", fmt::format("{} those of the clock{}", counted.clock ? "with" : "without",
                               !held_back          ? ""
                               : counted.held_back ? " and with held-back cases"
                                                   : "; held-back cases are left out"));
    text += "</dl>\n" + labs_table(all);
    text += "<h2>Not graded</h2>\n<p class=\"faint\">After a fault of the machine or "
            "the workbook, or because what was handed in cannot be read.</p>\n" +
            remarks_table(all.faults);
    for (std::size_t i = 0; i < all.labs.size(); ++i) text += lab_section(all.labs[i], i);
    text += "<h2>Students</h2>\n" + grades_table(all);
    text += "<h2>Missing files</h2>\n" + remarks_table(all.missing);
    text += "<h2>Disputed</h2>\n<p class=\"faint\">The simulator and the GPU disagree, or the GPU "
            "judged alone: a person decides.</p>\n" +
            remarks_table(all.disputed);
    text +=
        "<h2>Open points</h2>\n<p class=\"faint\">Neither reached nor lost, because nothing "
        "here could judge them. Where the reason is in the submission, a person decides.</p>\n" +
        remarks_table(all.open);
    return html_page("Results of a class: " + labs, class_style, text);
}

} // namespace cli
