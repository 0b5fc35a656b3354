// Describes and draws how the work of streams overlapped.
#include "stream_timeline.hpp"

#include "access_words.hpp"
#include "explain_page.hpp"
#include "svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cli {

namespace {

constexpr std::size_t max_rows_in_text = 16, max_bars = 1000;

bool works(const timeline_step &s)
{
    return s.kind == step_kind::copy || s.kind == step_kind::fill || s.kind == step_kind::kernel;
}

bool waits(const timeline_step &s)
{
    return s.kind == step_kind::event_wait || s.kind == step_kind::host_wait;
}

// True if the step is drawn. A host function takes no ticks but is drawn all the same.
bool has_bar(const timeline_step &s)
{
    return s.kind == step_kind::host_function || ((works(s) || waits(s)) && s.end > s.start);
}

// One row of a lane. A stream's steps follow each other, but a graph's may overlap: a row for each.
struct lane_row {
    std::string name; // empty: continues the lane above
    std::vector<const timeline_step *> steps;
};

void place(std::vector<lane_row> &rows, const timeline_step &s)
{
    bool is_new = rows.empty();
    for (lane_row &r : rows)
        if (r.steps.back()->end <= s.start) return r.steps.push_back(&s);
    rows.push_back({is_new ? s.lane : "", {&s}});
}

// Streams in order of appearance, then the host.
std::vector<lane_row> rows_of(const stream_timeline &t)
{
    std::vector<std::string> names, hosts;
    for (const timeline_step &s : t.steps) {
        auto &in = s.kind == step_kind::host_wait ? hosts : names;
        if (has_bar(s) && std::find(in.begin(), in.end(), s.lane) == in.end()) in.push_back(s.lane);
    }
    names.insert(names.end(), hosts.begin(), hosts.end());
    std::vector<lane_row> all;
    for (const std::string &name : names) {
        std::vector<const timeline_step *> steps;
        for (const timeline_step &s : t.steps)
            if (has_bar(s) && s.lane == name) steps.push_back(&s);
        std::stable_sort(steps.begin(), steps.end(),
                         [](auto *x, auto *y) { return x->start < y->start; });
        std::vector<lane_row> rows;
        for (const timeline_step *s : steps) place(rows, *s);
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

const char *copy_words(copy_way way)
{
    switch (way) {
    case copy_way::on_host:
        return "copy on the host";
    case copy_way::to_device:
        return "copy to the device";
    case copy_way::to_host:
        return "copy to the host";
    case copy_way::inside_device:
        return "copy inside the device";
    case copy_way::between_devices:
        return "copy between devices";
    }
    return "copy";
}

std::string short_words(const timeline_step &s)
{
    switch (s.kind) {
    case step_kind::copy:
        return copy_words(s.way);
    case step_kind::fill:
        return "fill";
    case step_kind::kernel:
        return "kernel " + s.name;
    case step_kind::host_function:
        return "host function";
    case step_kind::event_record:
        return "event recorded";
    case step_kind::event_wait:
        return "waits for an event";
    case step_kind::host_wait:
        return "waits in " + s.name;
    case step_kind::other:
        break;
    }
    return "memory or graph";
}

struct mark {
    char sign;
    const char *style, *meaning;
};

mark mark_of(const timeline_step &s)
{
    if (s.kind == step_kind::kernel) return {'#', "kernel", "kernel"};
    if (s.kind == step_kind::fill) return {'=', "inside", "copy inside a device, fill"};
    if (s.kind == step_kind::host_function) return {'h', "host", "host function"};
    if (waits(s)) return {'.', "waits", "waits"};
    if (s.way == copy_way::to_device) return {'>', "to_device", "copy to the device"};
    if (s.way == copy_way::to_host) return {'<', "to_host", "copy to the host"};
    if (s.way == copy_way::between_devices) return {'*', "between", "copy between devices"};
    return {'=', "inside", "copy inside a device, fill"};
}

std::vector<mark> marks_of(const std::vector<lane_row> &rows)
{
    std::vector<mark> all;
    for (const lane_row &r : rows)
        for (const timeline_step *s : r.steps) {
            mark m = mark_of(*s);
            if (std::none_of(all.begin(), all.end(), [&](mark o) { return o.sign == m.sign; }))
                all.push_back(m);
        }
    std::sort(all.begin(), all.end(), [](mark x, mark y) { return x.sign > y.sign; });
    return all;
}

std::string stream_lanes(const stream_timeline &t, const terminal &out)
{
    std::vector<lane_row> rows = rows_of(t);
    int name_width = 0;
    for (const lane_row &r : rows) name_width = std::max(name_width, columns(r.name));
    int width = std::max(10, out.width - name_width - 4);
    auto column = [&](std::uint64_t at) {
        return static_cast<std::size_t>(static_cast<double>(at) / static_cast<double>(t.ticks) *
                                        width);
    };
    std::string text;
    for (const lane_row &r : rows) {
        std::string lane(static_cast<std::size_t>(width), ' ');
        std::vector<const timeline_step *> steps = r.steps; // instants last, to stay visible
        std::stable_partition(steps.begin(), steps.end(),
                              [](auto *s) { return s->end > s->start; });
        for (const timeline_step *s : steps) {
            std::size_t from = std::min(column(s->start), lane.size() - 1);
            std::size_t to = std::clamp(column(s->end), from + 1, lane.size());
            std::fill(lane.begin() + static_cast<std::ptrdiff_t>(from),
                      lane.begin() + static_cast<std::ptrdiff_t>(to), mark_of(*s).sign);
        }
        text +=
            fmt::format("  {}  {}\n", padded(r.name, name_width), trimmed("|" + lane).substr(1));
    }
    std::string legend;
    for (mark m : marks_of(rows)) legend += fmt::format("  {} {}", m.sign, m.meaning);
    return text + "  " + wrapped(trimmed(legend), out.width - 2, 2) + "\n";
}

std::string listed_text(const stream_timeline &t, const terminal &out)
{
    std::vector<std::size_t> listed = listed_steps(t);
    std::string text = fmt::format("  {:>5} {:>11} {:>11}  {}\n", "step", "start", "end", "what");
    std::size_t shown = std::min(listed.size(), max_rows_in_text);
    for (std::size_t i = 0; i < shown; ++i) {
        const timeline_step &s = t.steps[listed[i]];
        std::string what = fmt::format("{}: {}", s.lane, words_of(s));
        if (std::string why = waited_words(s); !why.empty()) what += "; after " + why;
        text += fmt::format("  {:>5} {:>11} {:>11}  {}\n", fmt::format("#{}", listed[i] + 1),
                            thousands(s.start), thousands(s.end), wrapped(what, out.width, 33));
    }
    if (listed.size() > shown)
        text += fmt::format("  and {} more, which --html FILE shows\n", listed.size() - shown);
    return text;
}

// "kernel add (stream 1), kernel add (stream 2), 3 times copy to the host (stream 1)"
std::string critical_words(const stream_timeline &t)
{
    std::vector<std::pair<std::string, int>> chain;
    std::vector<const timeline_step *> steps;
    for (const timeline_step &s : t.steps)
        if (s.critical && works(s)) steps.push_back(&s);
    std::stable_sort(steps.begin(), steps.end(),
                     [](auto *x, auto *y) { return x->start < y->start; });
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
    std::set<std::string> lanes;
    for (const timeline_step &s : t.steps)
        if (works(s)) lanes.insert(s.lane);
    if (lanes.size() == 1)
        return fmt::format("All work is in one stream ({}), where each step waits for the one "
                           "before: pieces in several streams can overlap.",
                           *lanes.begin());
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

std::string share(std::uint64_t part, std::uint64_t whole)
{
    return fmt::format("{:.0f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

// Dimensions of the drawing.
constexpr double names_width = 104, right_margin = 6, axis_height = 26, lane_height = 30;
constexpr double bar_height = 18, picture_width = 652;
constexpr double time_width = picture_width - names_width - right_margin;

double x_of(const stream_timeline &t, std::uint64_t at)
{
    return names_width + time_width * static_cast<double>(at) / static_cast<double>(t.ticks);
}

std::string axis(const stream_timeline &t, double bottom)
{
    std::string text;
    const std::uint64_t parts =
        std::clamp<std::uint64_t>(t.ticks, 1, 4); // so that no label repeats
    for (std::uint64_t i = 0; i <= parts; ++i) {
        std::uint64_t at = t.ticks * i / parts;
        double x = x_of(t, at);
        text += svg_segment(x, axis_height - 4, x, bottom, "grid");
        text += svg_words(x, axis_height - 10,
                          i == parts ? "end faint"
                          : i        ? "mid faint"
                                     : "faint",
                          thousands(at) + (i == parts ? " ticks" : ""));
    }
    return text;
}

std::string bar_of(const stream_timeline &t, const timeline_step &s, double y)
{
    double x = x_of(t, s.start), w = std::max(x_of(t, s.end) - x, s.end > s.start ? 0.8 : 2.5);
    std::string title = escaped(
        fmt::format("{}: {}, {} to {}", s.lane, words_of(s), thousands(s.start), thousands(s.end)));
    std::string text = svg_box(x, y, w, bar_height, mark_of(s).style, title);
    std::string label = s.kind == step_kind::kernel || s.kind == step_kind::host_wait ? s.name : "";
    if (!label.empty() && 6.2 * columns(label) < w)
        text += svg_words(x + w / 2, y + 13, waits(s) ? "mid faint" : "mid", escaped(label));
    if (s.critical && works(s)) text += svg_box(x, y + bar_height + 1, w, 2, "critical");
    return text;
}

std::string legend(const std::vector<lane_row> &rows, double y)
{
    double x = names_width;
    std::string text;
    for (mark m : marks_of(rows)) {
        text += svg_box(x, y - 9, 14, 11, m.style) + svg_words(x + 18, y, "small", m.meaning);
        x += 30 + 6 * columns(m.meaning);
    }
    return text + svg_box(x, y - 2, 14, 2, "critical") +
           svg_words(x + 18, y, "small", "decides the end");
}

} // namespace

std::size_t stream_timeline::lanes_at_work() const
{
    std::set<std::string> lanes;
    for (const timeline_step &s : steps)
        if (works(s)) lanes.insert(s.lane);
    return lanes.size();
}

bool stream_timeline::worth_showing() const
{
    return lanes_at_work() > 1 || std::count_if(steps.begin(), steps.end(), [](const auto &s) {
                                      return s.kind == step_kind::copy;
                                  }) > 1;
}

bool stream_timeline::comes_first() const
{
    return lanes_at_work() > 1 || (worth_showing() && 2 * copying >= ticks);
}

std::string words_of(const timeline_step &s)
{
    std::string text = short_words(s);
    if (s.kind == step_kind::kernel)
        text += fmt::format(", {} block{}", thousands(s.blocks), s.blocks == 1 ? "" : "s");
    if (s.bytes) text += ", " + bytes_words(s.bytes);
    return text;
}

std::string waited_words(const timeline_step &s)
{
    if (s.waited_for == 0) return {};
    switch (s.why) {
    case wait_reason::nothing:
        return {};
    case wait_reason::order:
        return fmt::format("#{}", s.waited_for);
    case wait_reason::engine:
        return fmt::format("#{}, which had the {}", s.waited_for,
                           s.kind == step_kind::kernel ? "multiprocessors" : "copy engine");
    case wait_reason::host:
        return fmt::format("the host's wait #{}", s.waited_for);
    }
    return {};
}

std::vector<std::size_t> listed_steps(const stream_timeline &t)
{
    std::set<std::size_t> waited;
    for (const timeline_step &s : t.steps)
        if (s.waited_for) waited.insert(s.waited_for - 1);
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
        const timeline_step &s = t.steps[i];
        bool point = s.kind == step_kind::event_record || s.kind == step_kind::other;
        if (works(s) || s.kind == step_kind::host_function || (waits(s) && s.end > s.start) ||
            (waited.count(i) && (point || waits(s))))
            all.push_back(i);
    }
    std::stable_sort(all.begin(), all.end(), [&](std::size_t x, std::size_t y) {
        return t.steps[x].start < t.steps[y].start;
    });
    return all;
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
        all.push_back(fmt::format("Copies to and from the device take {} ticks, {} of them beside "
                                  "kernels ({}).",
                                  thousands(t.copying), t.hidden ? thousands(t.hidden) : "none",
                                  share(t.hidden, t.copying)));
    bool kernels = std::any_of(t.steps.begin(), t.steps.end(),
                               [](const auto &s) { return s.kind == step_kind::kernel; });
    if (t.copying > 0 && t.hidden == 0 && kernels) all.push_back(why_alone(t));
    if (std::string chain = critical_words(t); !chain.empty())
        all.push_back(fmt::format("What decides the end: {}.", chain));
    return all;
}

std::string timeline_text(const stream_timeline &t, const terminal &out)
{
    std::string text = "Streams, in ticks of a simple model (for order and overlap, not speed):\n";
    if (t.left_out == 0 && t.ticks > 0) text += stream_lanes(t, out) + "\n";
    for (const std::string &s : sentences_of(t)) text += "  " + wrapped(s, out.width - 2, 2) + "\n";
    if (t.left_out == 0) text += "\n" + listed_text(t, out);
    return text;
}

std::string timeline_picture(const stream_timeline &t)
{
    if (t.left_out > 0 || t.ticks == 0) return {};
    std::vector<lane_row> rows = rows_of(t);
    double bottom = axis_height + lane_height * static_cast<double>(rows.size());
    std::string text = axis(t, bottom);
    std::vector<double> y_of(t.steps.size(), 0); // 0: the step has no bar
    std::size_t bars = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        double y = axis_height + lane_height * static_cast<double>(r) + 4;
        text += svg_words(4, y + 13, "small", escaped(rows[r].name));
        for (const timeline_step *s : rows[r].steps) {
            if (++bars > max_bars) break;
            y_of[static_cast<std::size_t>(s - t.steps.data())] = y;
            text += bar_of(t, *s, y);
        }
    }
    // Draw a line from the last work before an event to the wait that it ends.
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
        const timeline_step &s = t.steps[i];
        if (s.kind != step_kind::event_wait || y_of[i] == 0) continue;
        std::size_t from = s.waited_for;
        for (std::size_t k = 0; k < i && from && y_of[from - 1] == 0; ++k)
            from = t.steps[from - 1].waited_for;
        if (from == 0 || y_of[from - 1] == 0) continue;
        double x = x_of(t, s.end);
        bool below = y_of[i] > y_of[from - 1];
        text += svg_segment(x, y_of[from - 1] + (below ? bar_height : 0), x,
                            y_of[i] + (below ? 0 : bar_height), "event");
    }
    text += legend(rows, bottom + 16);
    return svg(picture_width, bottom + 24, fmt::format("streams over {} ticks", t.ticks), text);
}

} // namespace cli
