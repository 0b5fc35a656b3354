// Draws the timeline of a call's streams.
#include "pictures.hpp"

#include "access_words.hpp"
#include "cli/support/html.hpp"
#include "timeline_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

namespace {

constexpr std::size_t max_bars = 1000;

// Dimensions of the drawing.
constexpr double names_width = 104, right_margin = 6, axis_height = 26, row_height = 30;
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
        text += svg_line(x, axis_height - 4, x, bottom, "grid");
        text += svg_text(x, axis_height - 10,
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
    std::string title = escaped(fmt::format("{}: {}, {} to {}", s.stream, words_of(s),
                                            thousands(s.start), thousands(s.end)));
    std::string text = svg_rect(x, y, w, bar_height, mark_of(s).style, title);
    std::string label = s.kind == step_kind::kernel || s.kind == step_kind::host_wait ? s.name : "";
    if (!label.empty() && 6.2 * columns(label) < w)
        text += svg_text(x + w / 2, y + 13, waits(s) ? "mid faint" : "mid", escaped(label));
    if (s.critical && works(s)) text += svg_rect(x, y + bar_height + 1, w, 2, "critical");
    return text;
}

std::string legend(const std::vector<timeline_row> &rows, double y)
{
    double x = names_width;
    std::string text;
    for (mark m : marks_of(rows)) {
        text += svg_rect(x, y - 9, 14, 11, m.style) + svg_text(x + 18, y, "small", m.meaning);
        x += 30 + 6 * columns(m.meaning);
    }
    return text + svg_rect(x, y - 2, 14, 2, "critical") +
           svg_text(x + 18, y, "small", "decides the end");
}

} // namespace

std::string timeline_picture(const stream_timeline &t)
{
    if (t.left_out > 0 || t.ticks == 0) return {};
    std::vector<timeline_row> rows = rows_of(t);
    double bottom = axis_height + row_height * static_cast<double>(rows.size());
    std::string text = axis(t, bottom);
    std::vector<double> y_of(t.steps.size(), 0); // 0: the step has no bar
    std::size_t bars = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        double y = axis_height + row_height * static_cast<double>(r) + 4;
        text += svg_text(4, y + 13, "small", escaped(rows[r].name));
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
        text += svg_line(x, y_of[from - 1] + (below ? bar_height : 0), x,
                         y_of[i] + (below ? 0 : bar_height), "event");
    }
    text += legend(rows, bottom + 16);
    return svg(picture_width, bottom + 24, fmt::format("streams over {} ticks", t.ticks), text);
}

} // namespace cli
