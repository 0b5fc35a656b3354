// A lab's ladder drawn for a terminal.
#include "ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace cli {

namespace {

constexpr int margin = 4;

std::optional<double> number_within(const json &o, const char *outer, const std::string &inner)
{
    const json &value = member(member(o, outer), inner);
    return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

// A rung with its parsed grade.
struct rung_row {
    const rung *of;
    lab_view lab;
};

// A speed case as one rung was graded in it.
struct speed_run {
    const rung *of;
    const json *graded; // the case
};

std::vector<speed_run> runs_of(const std::vector<rung_row> &rows, const std::string &name)
{
    std::vector<speed_run> runs;
    for (const rung_row &r : rows)
        for (const case_view &c : r.lab.cases)
            if (c.name == name) runs.push_back({r.of, c.whole});
    return runs;
}

int name_width(const std::vector<rung_row> &rows)
{
    int width = 0;
    for (const rung_row &r : rows) width = std::max(width, columns(r.of->name));
    return std::min(width, 24);
}

std::string shown_name(const rung &r, int width)
{
    return padded(r.name.substr(0, static_cast<std::size_t>(width)), width);
}

std::string introduction(const std::vector<rung_row> &rows, const terminal &out)
{
    std::string text =
        "  " +
        wrapped(rows.size() > 1 ? "From the version to beat to the full solution; each step adds "
                                  "one idea to the functions it changes. (N of M right): "
                                  "correctness cases passed."
                                : "The version to beat.",
                out.width, 2) +
        "\n\n";
    int width = name_width(rows);
    for (const rung_row &r : rows) {
        std::size_t all = 0, right = 0;
        for (const case_view &c : r.lab.cases) {
            if (c.kind != "correctness" || c.verdict == "SKIPPED") continue;
            ++all;
            right += c.passed();
        }
        std::string start = fmt::format("  {}  ", shown_name(*r.of, width)), about = r.of->about;
        if (all > 0) about += fmt::format(" ({} of {} right)", right, all);
        if (r.lab.open_points > 0) about += fmt::format(" ({:g} points open)", r.lab.open_points);
        text += start + wrapped(about, out.width, columns(start)) + "\n";
    }
    return text;
}

std::string timed_case(const std::vector<speed_run> &runs, const std::string &name, int width,
                       const terminal &out)
{
    struct line {
        std::string head;
        double ratio;
    };
    std::vector<line> drawn;
    std::string of;
    double max_ratio = 0;
    for (const speed_run &r : runs) {
        auto ms = number_within(*r.graded, "measured", "ms");
        if (!ms) continue;
        auto ratio = number_within(*r.graded, "speedup", "median");
        auto share = number_within(*r.graded, "fraction", "value");
        if (share) of = text_at(member(*r.graded, "fraction"), "of");
        std::string head = fmt::format("{}{}  {:>9} ms {:>7} {:>6}  ", std::string(margin, ' '),
                                       shown_name(*r.of, width), fmt::format("{:.3f}", *ms),
                                       ratio ? fmt::format("{:.2f}x", *ratio) : "",
                                       share ? fmt::format("{:.0f} %", 100 * *share) : "");
        drawn.push_back({head, ratio.value_or(0)});
        max_ratio = std::max(max_ratio, ratio.value_or(0));
    }
    if (drawn.empty()) return {};
    std::string caption = "time (less is better), ratio to naive" +
                          (of.empty() ? "" : ", share of " + of) + " (more is better)";
    std::string text = fmt::format("\n  {}\n{}{}\n", bold(out, name), std::string(margin, ' '),
                                   wrapped(caption, out.width, margin));
    for (const line &l : drawn) {
        int room = std::max(8, out.width - columns(l.head));
        text += l.head + bar(out, max_ratio > 0 ? l.ratio / max_ratio : 0, room) + "\n";
    }
    return text;
}

// Returns the measures that at least one rung has, in order of appearance.
std::vector<std::string> measures_of(const std::vector<speed_run> &runs)
{
    std::vector<std::string> names;
    for (const speed_run &r : runs)
        for (const auto &[key, value] : member(*r.graded, "counters").items())
            if (value.is_number() && std::ranges::find(names, key) == names.end())
                names.push_back(key);
    return names;
}

struct measured_rung {
    const rung *of;
    double value;
};

// Returns a field of the grader's gate for a measure: its unit, or which direction is better.
std::string gate_word(const std::vector<speed_run> &runs, const std::string &measure,
                      const char *key)
{
    for (const speed_run &r : runs) {
        std::string word = text_at(member(member(*r.graded, "counted_gates"), measure), key);
        if (!word.empty()) return word;
    }
    return {};
}

std::string counted_bars(const std::vector<speed_run> &runs, const std::string &name, int width,
                         const terminal &out)
{
    std::string text, alike;
    for (const std::string &measure : measures_of(runs)) {
        std::vector<measured_rung> values;
        for (const speed_run &r : runs)
            if (auto value = number_within(*r.graded, "counters", measure))
                values.push_back({r.of, *value});
        const std::string unit = gate_word(runs, measure, "unit");
        const std::string better = gate_word(runs, measure, "better");
        double largest = 0;
        for (const measured_rung &v : values) largest = std::max(largest, v.value);
        // Bars show nothing if all values lie within 1 % of the largest.
        if (values.size() > 1 && std::ranges::all_of(values, [&](const measured_rung &v) {
                return std::abs(v.value - largest) <= 0.01 * std::abs(largest);
            })) {
            alike += fmt::format("{}{} {}", alike.empty() ? "" : ", ", measure,
                                 value_words(largest, unit));
            continue;
        }
        text += std::string(margin, ' ') + measure +
                (better.empty() ? "" : fmt::format(" ({} is better)", better)) + "\n";
        for (const measured_rung &v : values) {
            std::string head = fmt::format("{}{}  {:>9}  ", std::string(margin, ' '),
                                           shown_name(*v.of, width), value_words(v.value, unit));
            text += head +
                    bar(out, largest > 0 ? v.value / largest : 0, out.width - columns(head)) + "\n";
        }
    }
    if (!alike.empty())
        text += std::string(margin, ' ') +
                wrapped("the same in all: " + alike, out.width, margin + 2) + "\n";
    return text.empty() ? text : fmt::format("\n  {}\n{}", bold(out, name), text);
}

std::vector<std::string> drawn_cases(const ladder &l, const std::vector<rung_row> &rows)
{
    if (!l.drawn.empty()) return l.drawn;
    std::vector<std::string> names;
    for (const rung_row &r : rows)
        for (const case_view &c : r.lab.cases)
            if (c.kind != "correctness" && std::ranges::find(names, c.name) == names.end())
                names.push_back(c.name);
    return names;
}

std::vector<rung_row> rows_of(const ladder &l)
{
    std::vector<rung_row> rows;
    for (const rung &r : l.rungs)
        for (lab_view &view : labs_of(r.document)) rows.push_back({&r, std::move(view)});
    return rows;
}

std::string where(const ladder &l)
{
    if (l.backend == "sim") return "counted by the simulator, not timed";
    const std::string counted = l.backend == "both" ? "counted by the simulator, " : "";
    for (const rung &r : l.rungs)
        if (std::string gpu = text_at(member(r.document, "env"), "gpu"); !gpu.empty())
            return counted + "timed on " + gpu;
    return counted + "timed";
}

} // namespace

std::string first_comment(const std::string &source)
{
    std::string text;
    for (const std::string &line : lines(source)) {
        if (!line.starts_with("//")) break;
        std::size_t start = line.find_first_not_of("/ ");
        if (start == line.npos) break; // an empty comment line ends the paragraph
        text += (text.empty() ? "" : " ") + line.substr(start);
    }
    std::size_t end = text.find(". ");
    return sanitized(end == text.npos ? text : text.substr(0, end + 1), 400);
}

std::string draw(const ladder &l, const terminal &out)
{
    std::vector<rung_row> rows = rows_of(l);
    std::string text =
        bold(out, l.lab) + "   " + wrapped(where(l), out.width - columns(l.lab) - 3, 2) + "\n\n";
    text += introduction(rows, out);
    if (!l.library_elsewhere.empty())
        text += "  " +
                wrapped("library: the vendor's version, " + l.library_elsewhere, out.width - 2, 4) +
                "\n";
    for (const std::string &name : drawn_cases(l, rows))
        text += counted_bars(runs_of(rows, name), name, name_width(rows), out) +
                timed_case(runs_of(rows, name), name, name_width(rows), out);
    // Only the solution is graded completely, so its open points include those of all rungs.
    auto max_open =
        std::ranges::max_element(rows, {}, [](const rung_row &r) { return r.lab.open_points; });
    if (max_open != rows.end())
        for (const std::string &note : open_notes(max_open->lab))
            text += "\n  " + wrapped(note, out.width, 2) + "\n";
    return text;
}

std::vector<std::string> ladder_faults(const ladder &l)
{
    std::vector<std::string> faults;
    for (const rung_row &r : rows_of(l)) {
        bool all_must_pass = r.of->name == "solution";
        for (const case_view &c : r.lab.cases) {
            bool counts = c.kind == "correctness" || all_must_pass || c.verdict == "INFRA_ERROR" ||
                          c.verdict == "WRONG_ANSWER";
            if (counts && !c.passed() && c.verdict != "SKIPPED")
                faults.push_back(
                    fmt::format("{}: {}  {}: {}", r.of->name, c.verdict, c.name, c.message));
        }
    }
    return faults;
}

} // namespace cli
