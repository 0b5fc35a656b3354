// Describes how the work of streams overlapped.
#include "stream_timeline.hpp"

#include "access_words.hpp"
#include "timeline_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cli {

namespace {

std::string short_words(const timeline_step &s)
{
    static const char *const copies[] = {"copy on the host", "copy to the device",
                                         "copy to the host", "copy inside the device",
                                         "copy between devices"}; // by copy_direction
    static const char *const words[] = {
        "memory or graph",    "copy",     "fill", "kernel ", "host function", "event recorded",
        "waits for an event", "waits in "}; // by step_kind
    if (s.kind == step_kind::copy) return copies[static_cast<std::size_t>(s.direction)];
    const bool named = s.kind == step_kind::kernel || s.kind == step_kind::host_wait;
    return words[static_cast<std::size_t>(s.kind)] + (named ? s.name : "");
}

// The streams, and the host, in which a copy, a fill or a kernel runs.
std::set<std::string> working_streams(const stream_timeline &t)
{
    std::set<std::string> streams;
    for (const timeline_step &s : t.steps)
        if (works(s)) streams.insert(s.stream);
    return streams;
}

std::string drawn_rows(const stream_timeline &t, const terminal &out)
{
    std::vector<timeline_row> rows = rows_of(t);
    int name_width = 0;
    for (const timeline_row &r : rows) name_width = std::max(name_width, columns(r.name));
    int width = std::max(10, out.width - name_width - 4);
    auto column = [&](std::uint64_t at) {
        return static_cast<std::size_t>(static_cast<double>(at) / static_cast<double>(t.ticks) *
                                        width);
    };
    std::string text;
    for (const timeline_row &r : rows) {
        std::string drawn(static_cast<std::size_t>(width), ' ');
        std::vector<const timeline_step *> steps = r.steps; // instants last, to stay visible
        std::stable_partition(steps.begin(), steps.end(),
                              [](auto *s) { return s->end > s->start; });
        for (const timeline_step *s : steps) {
            std::size_t from = std::min(column(s->start), drawn.size() - 1);
            std::size_t to = std::clamp(column(s->end), from + 1, drawn.size());
            std::fill(drawn.begin() + static_cast<std::ptrdiff_t>(from),
                      drawn.begin() + static_cast<std::ptrdiff_t>(to), mark_of(*s).sign);
        }
        text +=
            fmt::format("  {}  {}\n", padded(r.name, name_width), trimmed("|" + drawn).substr(1));
    }
    std::string legend;
    for (mark m : marks_of(rows)) legend += fmt::format("  {} {}", m.sign, m.meaning);
    return text + "  " + wrapped(trimmed(legend), out.width - 2, 2) + "\n";
}

// "#3" (stream order), "#3, which had the copy engine", "the host's wait #3"; empty: no wait.
std::string waited_words(const timeline_step &s)
{
    if (s.waited_for == 0 || s.why == wait_reason::nothing) return {};
    if (s.why == wait_reason::host) return fmt::format("the host's wait #{}", s.waited_for);
    if (s.why == wait_reason::order) return fmt::format("#{}", s.waited_for);
    return fmt::format("#{}, which had the {}", s.waited_for,
                       s.kind == step_kind::kernel ? "multiprocessors" : "copy engine");
}

// Returns the 0-based indices of the steps that a table lists, by start: work, host functions,
// waits that took time, and instants (recorded events, waits without duration) that something
// waited for.
std::vector<std::size_t> listed_steps(const stream_timeline &t)
{
    std::set<std::size_t> waited;
    for (const timeline_step &s : t.steps)
        if (s.waited_for) waited.insert(s.waited_for - 1);
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
        const timeline_step &s = t.steps[i];
        bool instant = s.kind == step_kind::event_record || s.kind == step_kind::other;
        if (works(s) || s.kind == step_kind::host_function || (waits(s) && s.end > s.start) ||
            (waited.count(i) && (instant || waits(s))))
            all.push_back(i);
    }
    std::ranges::stable_sort(all, {}, [&](std::size_t i) { return t.steps[i].start; });
    return all;
}

// "copy to the device, kernel add (2 times), copy to the host"
std::string critical_words(const stream_timeline &t)
{
    std::vector<std::pair<std::string, int>> chain;
    std::vector<const timeline_step *> steps;
    for (const timeline_step &s : t.steps)
        if (s.critical && works(s)) steps.push_back(&s);
    std::ranges::stable_sort(steps, {}, &timeline_step::start);
    for (const timeline_step *s : steps) {
        std::string name = short_words(*s);
        if (chain.empty() || chain.back().first != name) chain.push_back({name, 0});
        ++chain.back().second;
    }
    std::string text;
    for (std::size_t i = 0; i < chain.size() && i < 6; ++i) {
        text += (i ? ", " : "") + chain[i].first;
        if (chain[i].second > 1) text += fmt::format(" ({} times)", chain[i].second);
    }
    return chain.size() > 6 ? fmt::format("{}, and {} more", text, chain.size() - 6) : text;
}

// Explains why no copy overlaps a kernel.
std::string why_alone(const stream_timeline &t)
{
    if (const std::set<std::string> streams = working_streams(t); streams.size() == 1)
        return fmt::format("All work is in one stream ({}), where each step waits for the one "
                           "before: pieces in several streams can overlap.",
                           *streams.begin());
    for (const timeline_step &s : t.steps) {
        if (!works(s) || s.why != wait_reason::host || s.waited_for == 0) continue;
        const std::string &call = t.steps[s.waited_for - 1].name;
        if (call.find("Async") != call.npos)
            return fmt::format("The host waits in {}: memory that is not pinned (cudaMallocHost) "
                               "is copied while the caller waits.",
                               call);
        return fmt::format(
            "The host waits in {} before it queues what comes next: queue all first, "
            "then wait.",
            call);
    }
    return "Each kernel waits for its copy, and nothing else is there to run meanwhile: does a "
           "stream wait for another without need, or for the NULL stream?";
}

} // namespace

bool stream_timeline::worth_showing() const
{
    return working_streams(*this).size() > 1 ||
           std::ranges::count(steps, step_kind::copy, &timeline_step::kind) > 1;
}

bool stream_timeline::comes_first() const
{
    return working_streams(*this).size() > 1 || (worth_showing() && 2 * copying >= ticks);
}

std::string words_of(const timeline_step &s)
{
    std::string text = short_words(s);
    if (s.kind == step_kind::kernel) text += ", " + quantity(s.blocks, "block");
    if (s.bytes) text += ", " + bytes_words(s.bytes);
    return text;
}

std::string steps_table(const stream_timeline &t, int width, std::size_t max_rows,
                        const char *others_are)
{
    std::vector<std::size_t> listed = listed_steps(t);
    std::string text = fmt::format("  {:>5} {:>11} {:>11}  {}\n", "step", "start", "end", "what");
    std::size_t shown = std::min(listed.size(), max_rows);
    for (std::size_t i = 0; i < shown; ++i) {
        const timeline_step &s = t.steps[listed[i]];
        std::string what = fmt::format("{}: {}", s.stream, words_of(s));
        if (std::string why = waited_words(s); !why.empty()) what += "; after " + why;
        text += fmt::format("  {:>5} {:>11} {:>11}  {}\n", fmt::format("#{}", listed[i] + 1),
                            thousands(s.start), thousands(s.end), wrapped(what, width, 33));
    }
    if (listed.size() > shown)
        text += fmt::format("  and {} more{}\n", listed.size() - shown, others_are);
    return text;
}

std::vector<std::string> sentences_of(const stream_timeline &t)
{
    if (t.left_out > 0)
        return {fmt::format("The call made {} more steps than the simulator keeps, so nothing is "
                            "said of when they run.",
                            thousands(t.left_out))};
    std::vector<std::string> all;
    if (t.ticks < t.serial)
        all.push_back(fmt::format(
            "It is over after {} ticks, {:.2f} of the {} that all would take one after another.",
            thousands(t.ticks), static_cast<double>(t.ticks) / static_cast<double>(t.serial),
            thousands(t.serial)));
    else
        all.push_back(fmt::format("It is over after {} ticks: nothing runs side by side.",
                                  thousands(t.ticks)));
    if (t.copying > 0)
        all.push_back(
            fmt::format("Copies to and from the device take {} ticks, {} of them beside "
                        "kernels ({:.0f} %).",
                        thousands(t.copying), t.hidden ? thousands(t.hidden) : "none",
                        100 * static_cast<double>(t.hidden) / static_cast<double>(t.copying)));
    const bool kernels = std::ranges::count(t.steps, step_kind::kernel, &timeline_step::kind) > 0;
    if (t.copying > 0 && t.hidden == 0 && kernels) all.push_back(why_alone(t));
    if (std::string chain = critical_words(t); !chain.empty())
        all.push_back(fmt::format("What decides the end: {}.", chain));
    return all;
}

std::string timeline_text(const stream_timeline &t, const terminal &out)
{
    std::string text = "Streams, in ticks of a simple model (for order and overlap, not speed):\n";
    if (t.left_out == 0 && t.ticks > 0) text += drawn_rows(t, out) + "\n";
    for (const std::string &s : sentences_of(t)) text += "  " + wrapped(s, out.width - 2, 2) + "\n";
    constexpr std::size_t max_rows = 16;
    if (t.left_out == 0)
        text += "\n" + steps_table(t, out.width, max_rows, ", which --html FILE shows");
    return text;
}

} // namespace cli
