// Grades on the simulator, reads its counters, and shows them beside the source.
#include "explain.hpp"

#include "cli/explain/explain_page.hpp"
#include "cli/grading/backend.hpp"
#include "cli/results/progress.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "grade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_remarks = 5; // per case, in the summary

std::string file_name(const std::string &path) { return fs::path(path).filename().string(); }

std::string cut(std::string text, int width)
{
    std::string shown = sanitized(text, 4000);
    if (columns(shown) <= width) return shown;
    while (!shown.empty() && (columns(shown) > width - 3 || (shown.back() & 0xc0) == 0x80))
        shown.pop_back();
    if (!shown.empty() && (shown.back() & 0x80) != 0) shown.pop_back(); // half a character
    return shown + "...";
}

std::string kernel_table(const explained_case &c)
{
    std::string text = fmt::format("  {:<21} {:>8} {:>11} {:>11} {:>11} {:>11}\n", "kernel",
                                   "launches", "sectors", "ideal", "wavefronts", "ideal");
    for (const counted_kernel &k : c.counts.kernels) {
        const access_counts &t = k.total;
        text +=
            fmt::format("  {} {:>8} {:>11} {:>11} {:>11} {:>11}\n", padded(cut(k.name, 21), 21),
                        thousands(k.launches), thousands(t.global_load.cost + t.global_store.cost),
                        thousands(t.global_load.ideal + t.global_store.ideal),
                        thousands(t.shared_load.cost + t.shared_store.cost),
                        thousands(t.shared_load.ideal + t.shared_store.ideal));
        if (t.atomic_requests)
            text += fmt::format("    and {} atomics in {} requests\n",
                                thousands(t.global_atomics + t.shared_atomics),
                                thousands(t.atomic_requests));
    }
    return text;
}

std::string summary(const explained_case &c, const terminal &out)
{
    std::vector<remark> all = remarks_of(c);
    if (all.empty()) return wrapped(nothing_off, out.width, 0) + "\n";
    std::string text = all.size() > 1 ? "Worst first:\n" : "";
    for (std::size_t i = 0; i < all.size() && i < max_remarks; ++i) {
        const remark &r = all[i];
        std::string place = r.what.empty() ? r.place : r.place + ", " + r.what;
        text += "  " + wrapped(fmt::format("{}: {}", place, r.sentence), out.width - 2, 4) + "\n";
    }
    if (all.size() > max_remarks)
        text += fmt::format("  and {} more below\n", all.size() - max_remarks);
    return text;
}

std::string note_text(const access_note &n, const terminal &out)
{
    std::string text = fmt::format("      > {:<12} {}\n", n.what, n.figures);
    if (!n.sentence.empty())
        text += "        " + bad(out, wrapped(n.sentence, out.width - 8, 8)) + "\n";
    return text;
}

std::string annotated_source(const explanation &e, const explained_case &c, const terminal &out)
{
    std::vector<std::string> source = lines(e.source);
    std::map<int, const explained_line *> noted;
    for (const explained_line &l : c.lines)
        if (l.file.empty()) noted[l.line] = &l;
    std::string text;
    int last = 0;
    for (const line_range &r : shown_lines(e, c)) {
        if (last > 0) text += "  ...\n";
        last = r.last;
        for (int l = r.first; l <= r.last && l <= static_cast<int>(source.size()); ++l) {
            text += fmt::format("{:>5}  {}\n", l,
                                cut(source[static_cast<std::size_t>(l - 1)], out.width - 7));
            if (auto at = noted.find(l); at != noted.end())
                for (const access_note &n : at->second->notes) text += note_text(n, out);
        }
    }
    for (const explained_line &l : c.lines) {
        if (l.file.empty()) continue;
        text += fmt::format("  {}:{}\n", l.file, l.line);
        for (const access_note &n : l.notes) text += note_text(n, out);
    }
    return text;
}

// Returns nothing if streams play no part in the case.
std::string streams_text(const explained_case &c, const terminal &out)
{
    const stream_timeline &t = c.counts.timeline;
    return t.worth_showing() ? timeline_text(t, out) + "\n" : "";
}

bool same_lines(const explained_case &x, const explained_case &y)
{
    return std::equal(x.lines.begin(), x.lines.end(), y.lines.begin(), y.lines.end(),
                      [](const explained_line &p, const explained_line &q) {
                          return p.file == q.file && p.line == q.line;
                      });
}

std::string case_command(const explanation &e, const explained_case &c)
{
    return fmt::format("{} --case {}", e.command, shell_word(c.name));
}

std::string case_text(const explanation &e, const explained_case &c, const terminal &out)
{
    const bool to_do = c.verdict == "NOT_WRITTEN", empty = to_do && c.lines.empty();
    const std::string verdict = c.verdict == "PASS" ? good(out, c.verdict)
                                : to_do             ? bold(out, c.verdict)
                                                    : bad(out, c.verdict);
    std::string text = fmt::format("{}: {}\n", bold(out, c.name), verdict);
    if (c.tells_more() && !empty) {
        text += "  " + wrapped(c.message, out.width - 2, 2) + "\n";
        if (!c.hint.empty()) text += "  " + wrapped(c.hint, out.width - 2, 2) + "\n";
    }
    if (c.counts.kernels.empty())
        return text + "  No kernel ran, so there is nothing to explain.\n\n" + streams_text(c, out);
    if (c.lines.empty()) {
        for (const counted_kernel &k : c.counts.kernels)
            text += fmt::format("  {} ran {} threads, which touched no memory.\n", cut(k.name, 30),
                                thousands(k.threads));
        return text + "\n" + streams_text(c, out);
    }
    text += c.was_written() ? "\n" : "\nWhat ran until then:\n\n";
    std::string accesses = summary(c, out) + "\n" + kernel_table(c) + "\n";
    std::string streams = streams_text(c, out);
    text += c.counts.timeline.comes_first() ? streams + accesses : accesses + streams;
    if (shown_before(e, c))
        return text + "  The lines are those shown above. With the figures of this case:\n  " +
               case_command(e, c) + "\n\n";
    return text + annotated_source(e, c, out) + "\n";
}

// Grades the chosen cases; without a choice the speed cases, or all if the lab has none.
graded grade_counting(const toolchain &t, const item &i, grade_options &options)
{
    options.only = options.pattern.empty() ? "speed" : "";
    graded g = grade_one(t, *i.of, i.what, options);
    if (g.status != wrong_usage || !options.pattern.empty()) return g;
    options.only.clear();
    return grade_one(t, *i.of, i.what, options);
}

} // namespace

double explained_line::waste() const
{
    double sum = 0;
    for (const access_note &n : notes) sum += n.waste;
    return sum;
}

bool shown_before(const explanation &e, const explained_case &c)
{
    for (const explained_case &o : e.cases) {
        if (&o == &c) return false;
        if (o.counts.function == c.counts.function && same_lines(o, c)) return true;
    }
    return false;
}

bool explained_case::tells_more() const
{
    return !was_written() || (verdict != "PASS" && remarks_of(*this).empty());
}

bool explained_case::was_written() const { return verdict == "PASS" || verdict == "TOO_SLOW"; }

std::vector<line_range> shown_lines(const explanation &e, const explained_case &c)
{
    std::set<int> noted;
    for (const explained_line &l : c.lines)
        if (l.file.empty()) noted.insert(l.line);
    return shown_lines(e.source, noted);
}

explanation explain(const std::string &lab, const std::string &path, const std::string &source,
                    const lab_view &result, const std::string &counters)
{
    explanation e{lab, path, source, {}, {}};
    std::map<std::string, counted_case> counted = read_counters(counters);
    for (const case_view &c : result.cases) {
        explained_case x{c.name, c.verdict, c.message, c.hint, std::move(counted[c.name]), {}};
        for (const auto &[place, counts] : x.counts.lines) {
            if (!counts.touches_memory()) continue;
            std::string name = file_name(place.first);
            bool own = name == file_name(path);
            x.lines.push_back({own ? "" : name, place.second, counts, notes_of(counts)});
        }
        std::stable_sort(x.lines.begin(), x.lines.end(), [](const auto &p, const auto &q) {
            return std::pair(p.file, p.line) < std::pair(q.file, q.line);
        });
        e.cases.push_back(std::move(x));
    }
    return e;
}

std::vector<remark> remarks_of(const explained_case &c)
{
    std::vector<remark> all;
    for (const explained_line &l : c.lines) {
        std::string place =
            l.file.empty() ? fmt::format("line {}", l.line) : fmt::format("{}:{}", l.file, l.line);
        for (const access_note &n : l.notes)
            if (!n.sentence.empty()) all.push_back({place, n.what, n.sentence, n.waste});
    }
    // Overlapping tiles load a byte two or three times; a case that passes gets no remark for it.
    for (const counted_kernel &k : c.counts.kernels) {
        access_note n = redundancy_of(k, c.verdict == "PASS" ? 3 : 1.5);
        if (!n.sentence.empty()) all.push_back({k.name, "", n.sentence, n.waste});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const remark &x, const remark &y) { return x.waste > y.waste; });
    return all;
}

std::string explanation_text(const explanation &e, const terminal &out)
{
    std::string text = fmt::format("{}: {}, counted by the simulator\n\n", e.lab, e.path);
    for (const explained_case &c : e.cases) text += case_text(e, c, out);
    return text;
}

int explain_command(const toolchain &t, const std::string &word, grade_options options,
                    const std::string &page)
{
    require_writable("--html", page);
    item i = items(t, {word}, options.submission, options.solutions).at(0);
    options.backend = "sim";
    options.seed = choose_seed(options.seed);
    progress_line progress;
    build_targets(t, grade_targets(t, *i.of, i.what, options.backend), progress);
    progress.say(fmt::format("counting {}", i.of->name));
    std::string folder = t.build_root + "/submissions";
    fs::create_directories(folder);
    temporary_name counters(folder);
    options.counters_file = counters.path();
    graded g = grade_counting(t, i, options);
    progress.clear();
    if (g.status == wrong_usage) { // no such case: the grader lists them
        fmt::print(stderr, "{}", g.said);
        return wrong_usage;
    }
    if (!fs::exists(counters.path())) {
        if (g.status != failed)
            throw machine_error(fmt::format(
                "{}: nothing was counted. ./workbook grade {} says why.", i.of->name, i.of->name));
        fmt::print("{}", report_of(t, i, g));
        return failed;
    }
    lab_view result = labs_of(g.document).at(0);
    explanation e = explain(i.of->name, t.shown(i.what.source), read_text(i.what.source), result,
                            read_text(counters.path()));
    e.command = "./workbook explain " + i.of->name.substr(0, i.of->name.find('_'));
    if (options.solutions) e.command += " --solutions";
    if (!options.submission.empty()) e.command += " --submission " + shell_word(options.submission);
    fmt::print("{}", explanation_text(e, detect_terminal(1)));
    if (!page.empty()) {
        write_atomically(page, explanation_page(e));
        fmt::print("Pictures of the worst accesses: {}\n", page);
    }
    bool ran = std::any_of(e.cases.begin(), e.cases.end(),
                           [](const auto &c) { return !c.counts.kernels.empty(); });
    return ran ? passed : failed;
}

} // namespace cli
