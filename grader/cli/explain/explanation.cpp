// Combines the grader's result with the simulator's counters, and finds the remarks worth making.
#include "explanation.hpp"

#include "text/source_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace cli {

namespace {

std::string file_name(const std::string &path)
{
    return std::filesystem::path(path).filename().string();
}

bool same_lines(const explained_case &x, const explained_case &y)
{
    return std::ranges::equal(x.lines, y.lines, {}, &explained_line::location,
                              &explained_line::location);
}

} // namespace

double explained_line::waste() const
{
    double sum = 0;
    for (const access_note &n : notes) sum += n.waste;
    return sum;
}

std::string explained_line::location() const
{
    return file.empty() ? fmt::format("line {}", line) : fmt::format("{}:{}", file, line);
}

bool shown_before(const explanation &e, const explained_case &c)
{
    for (const explained_case &o : e.cases) {
        if (&o == &c) return false;
        if (o.counts.function == c.counts.function && same_lines(o, c)) return true;
    }
    return false;
}

bool explained_case::message_adds() const
{
    return !is_right() || (verdict != "PASS" && remarks_of(*this).empty());
}

bool explained_case::is_right() const { return verdict == "PASS" || verdict == "TOO_SLOW"; }

void visit_source(const explanation &e, const explained_case &c, const source_visitor &to)
{
    const std::vector<std::string> source = lines(e.source);
    std::map<int, const explained_line *> own; // by number
    std::set<int> noted;
    for (const explained_line &l : c.lines)
        if (l.file.empty()) own[l.line] = &l, noted.insert(l.line);
    bool first = true;
    for (const grading::line_range &r : grading::shown_lines(e.source, noted)) {
        if (!std::exchange(first, false)) to.heading("...");
        for (int n = r.first; n <= std::min(r.last, static_cast<int>(source.size())); ++n) {
            const explained_line *at = own[n]; // null: the line has no notes
            to.line(n, source[static_cast<std::size_t>(n - 1)], at && at->waste() > 0);
            if (at) std::ranges::for_each(at->notes, to.note);
        }
    }
    for (const explained_line &l : c.lines) {
        if (l.file.empty()) continue;
        to.heading(l.location());
        std::ranges::for_each(l.notes, to.note);
    }
}

explanation explain(const std::string &lab, const std::string &path, const std::string &source,
                    const lab_view &result, const std::string &counters)
{
    explanation e{lab, path, source, {}, {}};
    std::map<std::string, case_counters> counted = read_counters(counters);
    for (const case_view &c : result.cases) {
        explained_case x{c.name, c.verdict, c.message, c.hint, std::move(counted[c.name]), {}};
        for (const auto &[file_and_line, counts] : x.counts.lines) {
            if (!counts.touches_memory()) continue;
            std::string name = file_name(file_and_line.first);
            bool own = name == file_name(path);
            x.lines.push_back({own ? "" : name, file_and_line.second, counts, notes_of(counts)});
        }
        std::ranges::stable_sort(x.lines, {},
                                 [](const explained_line &l) { return std::pair(l.file, l.line); });
        e.cases.push_back(std::move(x));
    }
    return e;
}

std::vector<remark> remarks_of(const explained_case &c)
{
    std::vector<remark> all;
    for (const explained_line &l : c.lines) {
        for (const access_note &n : l.notes)
            if (!n.sentence.empty()) all.push_back({l.location(), n.what, n.sentence, n.waste});
    }
    // Tiles with halos load some bytes again; a case that passes may load each byte almost three
    // times on average without a remark.
    for (const kernel_counters &k : c.counts.kernels) {
        access_note n = redundancy_of(k, c.verdict == "PASS" ? 3 : 1.5);
        if (!n.sentence.empty()) all.push_back({k.name, "", n.sentence, n.waste});
    }
    std::ranges::stable_sort(all, std::greater(), &remark::waste);
    return all;
}

} // namespace cli
