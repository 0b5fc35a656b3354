// Shows an explanation on a terminal: remarks, kernels, streams, and the annotated source.
#include "explanation.hpp"

#include <fmt/format.h>

namespace cli {

namespace {

constexpr std::size_t max_remarks = 5; // per case, in the summary

std::string cut(const std::string &text, int width)
{
    std::string shown = sanitized(text, 4000);
    return columns(shown) <= width ? shown : no_wider(shown, width - 3) + "...";
}

std::string kernel_table(const explained_case &c)
{
    std::string text = fmt::format("  {:<21} {:>8} {:>11} {:>11} {:>11} {:>11}\n", "kernel",
                                   "launches", "sectors", "ideal", "wavefronts", "ideal");
    for (const kernel_counters &k : c.counts.kernels) {
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
    if (all.empty()) return wrapped(no_waste, out.width, 0) + "\n";
    std::string text = all.size() > 1 ? "Worst first:\n" : "";
    for (std::size_t i = 0; i < all.size() && i < max_remarks; ++i) {
        const remark &r = all[i];
        std::string head = r.what.empty() ? r.location : r.location + ", " + r.what;
        text += "  " + wrapped(fmt::format("{}: {}", head, r.sentence), out.width - 2, 4) + "\n";
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
    std::string text;
    auto line = [&](int number, const std::string &of_file, bool) {
        text += fmt::format("{:>5}  {}\n", number, cut(of_file, out.width - 7));
    };
    auto noted = [&](const access_note &n) { text += note_text(n, out); };
    auto heading = [&](const std::string &words) { text += fmt::format("  {}\n", words); };
    visit_source(e, c, {line, noted, heading});
    return text;
}

// Returns nothing if streams play no part in the case.
std::string streams_text(const explained_case &c, const terminal &out)
{
    const stream_timeline &t = c.counts.timeline;
    return t.worth_showing() ? timeline_text(t, out) + "\n" : "";
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
    if (c.message_adds() && !empty) {
        text += "  " + wrapped(c.message, out.width - 2, 2) + "\n";
        if (!c.hint.empty()) text += "  " + wrapped(c.hint, out.width - 2, 2) + "\n";
    }
    if (c.counts.kernels.empty())
        return text + "  No kernel ran, so there is nothing to explain.\n\n" + streams_text(c, out);
    if (c.lines.empty()) {
        for (const kernel_counters &k : c.counts.kernels)
            text += fmt::format("  {} ran {} threads, which touched no memory.\n", cut(k.name, 30),
                                thousands(k.threads));
        return text + "\n" + streams_text(c, out);
    }
    text += c.is_right() ? "\n" : "\nWhat ran until then:\n\n";
    std::string accesses = summary(c, out) + "\n" + kernel_table(c) + "\n";
    std::string streams = streams_text(c, out);
    text += c.counts.timeline.comes_first() ? streams + accesses : accesses + streams;
    if (shown_before(e, c))
        return text + "  The lines are those shown above. With the figures of this case:\n  " +
               case_command(e, c) + "\n\n";
    return text + annotated_source(e, c, out) + "\n";
}

} // namespace

std::string explanation_text(const explanation &e, const terminal &out)
{
    std::string text = fmt::format("{}: {}, counted by the simulator\n\n", e.lab, e.path);
    for (const explained_case &c : e.cases) text += case_text(e, c, out);
    return text;
}

} // namespace cli
