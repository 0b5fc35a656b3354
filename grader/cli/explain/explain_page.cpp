// Writes the page: for each case the remarks, the kernels, two pictures, and the annotated source.
#include "explanation.hpp"

#include "cli/support/html.hpp"
#include "pictures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

namespace {

constexpr const char *style = R"(
h1, code { overflow-wrap: anywhere; }
code, pre, .source, td, th { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
.verdict { font-weight: 600; color: var(--hot); }
.verdict.passed { color: var(--cool); }
ol { padding-left: 1.5rem; }
.wide { overflow-x: auto; font-size: 0.8rem; }
th, td { text-align: right; padding: 0.15rem 0.7rem; border-bottom: 1px solid var(--rule);
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
figure { margin: 0.5rem 0 1rem; padding: 0.4rem; background: var(--panel); border-radius: 6px;
  overflow-x: auto; }
figcaption { font-size: 0.9rem; }
svg { display: block; width: 100%; height: auto; min-width: 38rem; max-width: 54rem; margin: 0.5rem auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--ink); }
svg .mid { text-anchor: middle; }
svg .end { text-anchor: end; }
svg .tiny { font-size: 7px; }
svg .faint, svg .small { fill: var(--faint); }
svg .lane { fill: var(--cool-paper); stroke: var(--cool); stroke-width: 0.8; }
svg .idle, svg .untouched { fill: none; stroke: var(--rule); stroke-width: 0.8; }
svg .touched { fill: var(--orange); stroke: var(--faint); stroke-width: 0.5; }
svg .wanted { fill: var(--blue); }
svg .outline, svg .edge { fill: none; stroke: var(--ink); stroke-width: 1.2; }
svg .edge { stroke: var(--faint); stroke-width: 0.5; }
svg .kernel { fill: var(--cool-paper); stroke: var(--cool); stroke-width: 0.8; }
svg .to_device { fill: var(--blue); }
svg .to_host { fill: var(--orange); }
svg .between { fill: var(--hot); }
svg .host { fill: var(--ink); }
svg .inside { fill: var(--faint); }
svg .waits { fill: none; stroke: var(--faint); stroke-width: 0.8; stroke-dasharray: 3 2; }
svg .critical { fill: var(--hot); }
svg .grid { stroke: var(--rule); stroke-width: 0.8; }
svg .event { stroke: var(--hot); stroke-width: 1; stroke-dasharray: 2 2; }
svg .asks { stroke: var(--cool); stroke-width: 0.8; opacity: 0.8; }
.source { font-size: 0.8rem; line-height: 1.45; background: var(--panel); border-radius: 6px;
  padding: 0.5rem 0; }
.row { display: grid; grid-template-columns: 3.2rem 1fr; }
.row > :first-child { text-align: right; padding-right: 0.8rem; color: var(--faint); }
.row > :last-child { white-space: pre-wrap; overflow-wrap: anywhere; padding-right: 0.5rem; }
.row.off { background: var(--hot-paper); }
.note { margin: 0.1rem 0.5rem 0.3rem 3.2rem; padding-left: 0.6rem; border-left: 3px solid var(--cool);
  color: var(--faint); }
.note.off { border-color: var(--hot); }
.note p { margin: 0; font-family: system-ui, sans-serif; font-size: 0.9rem; color: var(--hot); }
summary { font-weight: 600; margin: 1.5rem 0 0.25rem; cursor: pointer; }
.skip { padding-left: 3.2rem; color: var(--faint); }
)";

std::string kernels(const explained_case &c)
{
    std::string text =
        "<h3>Kernels</h3>\n<div class=\"wide\"><table>\n<tr><th>kernel</th><th>launches</th>"
        "<th>threads</th><th>sectors</th><th>ideal</th><th>wavefronts</th><th>ideal</th>"
        "<th>atomics</th></tr>\n";
    for (const kernel_counters &k : c.counts.kernels) {
        const access_counts &t = k.total;
        text += fmt::format("<tr><td>{}</td>", escaped(k.name));
        for (std::uint64_t n :
             {k.launches, k.threads, t.global_load.cost + t.global_store.cost,
              t.global_load.ideal + t.global_store.ideal, t.shared_load.cost + t.shared_store.cost,
              t.shared_load.ideal + t.shared_store.ideal, t.global_atomics + t.shared_atomics})
            text += fmt::format("<td>{}</td>", thousands(n));
        text += "</tr>\n";
    }
    return text + "</table></div>\n";
}

// The access to one memory that wasted most in a case; if none did, the most frequent one.
struct pictured {
    const explained_line *line = nullptr;
    const access_sum *sum = nullptr;
    const char *what = "";
};

bool worse(const access_sum &x, const access_sum &y)
{
    auto waste = [](const access_sum &a) { return a.cost - std::min(a.cost, a.ideal); };
    return std::pair(waste(x), x.requests) > std::pair(waste(y), y.requests);
}

pictured worst_of(const explained_case &c, bool shared)
{
    pictured p;
    for (const explained_line &l : c.lines)
        for (bool store : {false, true}) {
            const access_counts &n = l.counts;
            const access_sum &a = shared  ? store ? n.shared_store : n.shared_load
                                  : store ? n.global_store
                                          : n.global_load;
            if (!a.worst || (p.sum && !worse(a, *p.sum))) continue;
            p = {&l, &a, store ? "store" : "load"};
        }
    return p;
}

std::string figure(const pictured &p, bool shared)
{
    if (!p.sum) return {};
    const worst_request &w = *p.sum->worst;
    std::string of =
        w.memory().empty() ? "" : fmt::format(" of <code>{}</code>", escaped(w.memory()));
    return fmt::format("<h3>{} memory: {}</h3>\n<figure>\n<figcaption>A {}{} at {}: {}, ideal "
                       "{}.</figcaption>\n{}</figure>\n",
                       shared ? "Shared" : "Global",
                       is_wasteful(*p.sum) ? "the worst access" : "no access wastes much", p.what,
                       of, escaped(p.line->location()),
                       plural(w.cost, shared ? "wavefront" : "sector"), w.ideal,
                       shared ? banks_picture(w) : sectors_picture(w));
}

std::string streams(const explained_case &c)
{
    const stream_timeline &t = c.counts.timeline;
    if (!t.worth_showing()) return {};
    std::string text = "<h3>Streams</h3>\n<p class=\"faint\">In ticks of a simple model, which is "
                       "for order and overlap, not for speed.</p>\n";
    if (std::string picture = timeline_picture(t); !picture.empty())
        text += "<figure>\n" + picture + "</figure>\n";
    text += "<ul>\n";
    for (const std::string &s : sentences_of(t)) text += "<li>" + prose(s) + "</li>\n";
    text += "</ul>\n";
    if (t.left_out > 0) return text;
    constexpr int width = 100;
    constexpr std::size_t max_rows = 400;
    return text + "<details><summary>Step by step</summary>\n<pre class=\"wide\">\n" +
           escaped(steps_table(t, width, max_rows, "")) + "</pre></details>\n";
}

std::string note(const access_note &n)
{
    std::string sentence = n.sentence.empty() ? "" : fmt::format("<p>{}</p>", prose(n.sentence));
    return fmt::format("<div class=\"note{}\">{}: {}{}</div>\n", sentence.empty() ? "" : " off",
                       n.what, prose(n.figures), sentence);
}

std::string source(const explanation &e, const explained_case &c)
{
    std::string text = fmt::format("<details{}><summary>Source, line by line</summary>\n"
                                   "<div class=\"source\">\n",
                                   shown_before(e, c) ? "" : " open");
    auto line = [&](int number, const std::string &of_file, bool off) {
        text += fmt::format("<div class=\"row{}\"><span>{}</span><span>{}</span></div>\n",
                            off ? " off" : "", number, escaped(of_file));
    };
    auto noted = [&](const access_note &n) { text += note(n); };
    auto heading = [&](const std::string &words) {
        text += fmt::format("<div class=\"skip\">{}</div>\n", escaped(words));
    };
    visit_source(e, c, {line, noted, heading});
    return text + "</div></details>\n";
}

std::string remarks(const explained_case &c)
{
    std::vector<remark> all = remarks_of(c);
    if (all.empty()) return fmt::format("<p>{}</p>\n", no_waste);
    std::string text = "<ol>\n";
    for (const remark &r : all)
        text += fmt::format("<li>{}{}: {}</li>\n", escaped(r.location),
                            r.what.empty() ? "" : ", " + escaped(r.what), prose(r.sentence));
    return text + "</ol>\n";
}

std::string section(const explanation &e, const explained_case &c)
{
    std::string text =
        fmt::format("<h2>{}</h2>\n<p><span class=\"verdict{}\">{}</span></p>\n", escaped(c.name),
                    c.verdict == "PASS" ? " passed" : "", escaped(c.verdict));
    if (c.message_adds())
        text += fmt::format("<p>{}</p>\n<p>{}</p>\n", prose(c.message), prose(c.hint));
    if (c.counts.kernels.empty())
        return text + "<p>No kernel ran, so there is nothing to explain.</p>\n" + streams(c);
    if (c.lines.empty())
        return text + "<p>The kernels touched no memory.</p>\n" + kernels(c) + streams(c);
    std::string accesses = remarks(c) + kernels(c);
    text += c.counts.timeline.comes_first() ? streams(c) + accesses : accesses + streams(c);
    return text + figure(worst_of(c, false), false) + figure(worst_of(c, true), true) +
           source(e, c);
}

} // namespace

std::string explanation_page(const explanation &e)
{
    std::string text = fmt::format(
        "<h1>{}</h1>\n<p class=\"faint\"><code>{}</code>, counted by the workbook's simulator. A "
        "request is one warp's memory instruction, a sector 32 bytes of global memory, a wavefront "
        "one pass over the 32 banks of shared memory.</p>\n",
        escaped(e.lab), escaped(e.path));
    std::string to_write;
    for (const explained_case &c : e.cases)
        if (c.verdict == "NOT_WRITTEN" && c.counts.kernels.empty())
            to_write += fmt::format("<li>{}</li>\n", escaped(c.name));
        else
            text += section(e, c);
    if (!to_write.empty())
        text += fmt::format("<h2>Not written yet</h2>\n<ul class=\"faint\">\n{}</ul>\n", to_write);
    return html_page(fmt::format("{}: {}", e.lab, e.path), style, text);
}

} // namespace cli
