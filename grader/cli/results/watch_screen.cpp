// The screen of `watch`, drawn from the last grade.
#include "watch_screen.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

namespace {

using screen = std::vector<std::string>;

// Appends the text as wrapped lines, indented by `indent` blanks.
void add(screen &to, const std::string &text, const terminal &out, int indent)
{
    std::string blanks(static_cast<std::size_t>(indent), ' ');
    for (const std::string &line : lines(blanks + wrapped(text, out.width, indent)))
        to.push_back(line);
}

void add_more_points(screen &to, const case_view &c, const terminal &out, int indent)
{
    const std::string words = text_at(*c.whole, "more_points");
    if (!words.empty()) add(to, words, out, indent);
}

lab_view view_of(const watch_state &s)
{
    std::vector<lab_view> labs = labs_of(s.document);
    return labs.empty() ? lab_view{} : labs[0];
}

void draw_head(screen &to, const watch_state &s, const lab_view &l, const terminal &out)
{
    std::string where = s.simulated ? "simulated" : "on the GPU";
    std::string head = s.lab + "  " + s.file;
    int room = out.width - columns(head) - columns(where);
    if (room < 2) head = s.lab, room = out.width - columns(head) - columns(where);
    to.push_back(bold(out, no_wider(head, out.width)) +
                 (room >= 2 ? std::string(static_cast<std::size_t>(room), ' ') + where : ""));
    double all = std::max(l.max_points, s.max_points);
    if (all <= 0) return to.push_back("");
    double now = l.max_points > 0 ? l.points : 0;
    std::string words =
        l.max_points > 0 ? points_words(now, all) + " points" + open_words(l.open_points) : "";
    if (l.held_back.max_points > 0 && !words.empty())
        words += fmt::format(", {:g} held back", l.held_back.max_points);
    if (s.best > now || words.empty())
        words += fmt::format("{}best {:g}", words.empty() ? "" : ", ", s.best);
    const bool graded = s.now == watch_state::phase::graded, narrow = out.width < 60;
    if (graded && !narrow) words += fmt::format("   {}, graded in {:.1f} s", s.saved, s.seconds);
    const int width = graded && narrow ? 10 : std::min(24, out.width - columns(words) - 4);
    std::string drawn;
    if (width >= 8) {
        const std::string filled = bar(out, now / all, width);
        drawn = "[" + good(out, filled) + padded("", width - columns(filled)) + "] ";
    }
    to.push_back(drawn + no_wider(words, out.width));
}

// Appends the first lines that the submission printed in a case.
void draw_lines(screen &to, const case_view &c, const terminal &out)
{
    constexpr std::size_t max_lines = 6;
    std::vector<std::string> all = lines(sanitized(text_at(*c.whole, "printed"), 2000));
    for (std::size_t i = 0; i < std::min(all.size(), max_lines); ++i)
        to.push_back("  | " + no_wider(all[i], out.width - 4));
    if (all.size() > max_lines)
        to.push_back(fmt::format("  | ({} more)", plural(all.size() - max_lines, "line")));
}

void draw_printed(screen &to, const case_view &c, const terminal &out)
{
    if (!c.whole->contains("printed")) return;
    to.push_back("  It printed:");
    draw_lines(to, c, out);
}

// Appends the output of the first passed case that printed, and the command that shows the others.
void draw_printed_in_passing(screen &to, const lab_view &l, const std::string &grade,
                             const terminal &out)
{
    std::vector<const case_view *> printed;
    for (const case_view &c : l.cases)
        if (c.passed() && c.whole->contains("printed")) printed.push_back(&c);
    if (printed.empty()) return;
    add(to,
        fmt::format("{} passed, and printed{}", printed[0]->name,
                    printed.size() == 1
                        ? ":"
                        : fmt::format(", as {} did:", plural(printed.size() - 1, "other case"))),
        out, 2);
    draw_lines(to, *printed[0], out);
    if (printed.size() > 1)
        add(to, fmt::format("All of it, a case at a time: ./workbook {} --case NAME", grade), out,
            2);
}

// Names the TODOs without which the case cannot be judged; empty if there are none.
std::string still_to_write(const case_view &c, const todo_list &todos, const std::string &file)
{
    if (!todos.of_line(c.name, c.line).empty()) return {};
    todo_list::open_todo open = todos.open_of(c.name);
    if (open.next == 0 || open.line == 0) return {};
    if (open.some_begun)
        return fmt::format("{} can be judged when TODO {} is done; next is TODO {}: {}:{}.",
                           function_of(c.name), open.last, open.next, file, open.line);
    if (c.verdict != "NOT_WRITTEN") return {};
    return fmt::format("TODO {} is not written yet: {}:{}.", open.next, file, open.line);
}

void draw_case(screen &to, const case_view &c, const lab_view &l, const todo_list &todos,
               const std::string &file, const terminal &out)
{
    std::size_t at = to.size();
    add(to, c.verdict + "  " + c.name, out, 0);
    const bool to_do = c.verdict == "NOT_WRITTEN";
    to[at].replace(0, std::min(to[at].size(), c.verdict.size()),
                   to_do ? bold(out, c.verdict) : bad(out, c.verdict));
    std::string open = still_to_write(c, todos, file);
    if (!open.empty()) {
        if (c.verdict != "NOT_WRITTEN") add(to, c.message, out, 2);
        add(to, open, out, 2);
        return draw_printed(to, c, out);
    }
    std::string said = text_at(*c.whole, "output");
    if (said.find(c.message) == said.npos || said.empty()) add(to, c.message, out, 2);
    if (!said.empty())
        for (const std::string &line : lines(compiler_words(said, out.width))) to.push_back(line);
    std::string todo = grading::todo_words(todos_to_blame(c, l, todos));
    if (!c.hint.empty())
        add(to, "Try: " + c.hint + (todo.empty() ? "" : " (" + todo + ")"), out, 2);
    else if (!todo.empty())
        add(to, "It belongs to " + todo + "; h shows a hint.", out, 2);
    add_more_points(to, c, out, 2);
    draw_printed(to, c, out);
}

// A table with one row per function; columns are as wide as their content, if there is room.
screen table(const lab_view &l, const todo_list &todos, const terminal &out)
{
    struct row {
        std::string status, function, what, points;
    };
    std::vector<row> rows;
    int functions = 18, whats = 22, points = 0;
    for (const function_tally &t : tallies(l)) {
        const bool all = t.passed == t.cases, none = t.not_written == t.cases;
        const bool given = !none && is_as_given(t, todos);
        std::string todo = todos.words(t.function);
        std::string what = given          ? "as it was given: " + todo
                           : !none        ? fmt::format("{} of {} cases", t.passed, t.cases)
                           : todo.empty() ? "not written"
                                          : "not written: " + todo;
        rows.push_back({all             ? good(out, "ok    ")
                        : none || given ? "todo  "
                        : t.rest_open() ? "open  "
                                        : bad(out, "FAIL  "),
                        t.function, what, points_words(t.points, t.max_points, t.open)});
        functions = std::max(functions, columns(t.function));
        whats = std::max(whats, columns(what));
        points = std::max(points, columns(rows.back().points));
    }
    constexpr int status = 6, gaps = 2;
    const int over = std::max(status + functions + whats + points + gaps - out.width, 0);
    functions = std::max(functions - over, 18);
    whats = std::max(std::min(whats, out.width - status - functions - points - gaps), 0);
    screen to;
    for (const row &r : rows) {
        std::string words =
            fmt::format("{} {} {}", padded(no_wider(r.function, functions), functions),
                        padded(no_wider(r.what, whats), whats), r.points);
        to.push_back(r.status + no_wider(words, out.width - status));
    }
    return to;
}

std::string summary(const lab_view &l)
{
    int right = 0, wrong = 0, to_do = 0, open = 0;
    for (const function_tally &t : tallies(l))
        ++(t.passed == t.cases        ? right
           : t.not_written == t.cases ? to_do
           : t.rest_open()            ? open
                                      : wrong);
    return fmt::format("Functions: {} right, {} wrong, {} to do{}", right, wrong, to_do,
                       open ? fmt::format(", {} open", open) : "");
}

// Lists the cases with points left although nothing fails, mostly speed cases.
void draw_missing_points(screen &to, const lab_view &l, const todo_list &todos, const terminal &out)
{
    add(to, "Every answer is right. Points are left in:", out, 0);
    for (const case_view &c : l.cases)
        if (c.points + c.open_points < c.max_points) {
            std::string todo = grading::todo_words(c.kind != "correctness" ? todos.for_more(c.name)
                                                                           : todos.of_case(c.name));
            add(to,
                fmt::format("{}: {}{}", c.name, points_words(c.points, c.max_points),
                            todo.empty() ? "" : " (" + todo + ")"),
                out, 2);
            if (!c.message.empty()) add(to, c.message, out, 4);
            for (const auto &[what, value] : member(*c.whole, "counters").items())
                if (value.is_number())
                    add(to, fmt::format("measured: {} {:.4g}", what, value.get<double>()), out, 4);
            add_more_points(to, c, out, 4);
        }
}

void draw_hint(screen &to, const watch_state &s, const terminal &out)
{
    std::size_t at = to.size();
    add(to,
        fmt::format("Hint {} of {} for TODO {}: {}", s.hint_number, s.hints, s.helped->todo,
                    s.helped->title),
        out, 0);
    for (; at < to.size(); ++at) to[at] = bold(out, to[at]);
    add(to, s.helped->text, out, 0);
}

std::string keys_line(const watch_state &s, const terminal &out)
{
    std::string keys;
    if (s.hints_for)
        keys = fmt::format("h {} for TODO {}   ", s.all_hints_seen ? "hints again" : "hint",
                           s.hints_for);
    keys += "r run again   q quit";
    if (columns(keys) + 5 > out.width)
        keys = s.hints_for ? "h hint  r run  q quit" : "r run  q quit";
    return bold(out, "keys:") + " " + keys;
}

// Cuts `body` to `room` lines, the last of which then names the command that shows the rest.
void fit(screen &body, std::size_t room, const std::string &command)
{
    if (body.size() <= room) return;
    body.resize(room);
    if (room > 0) body.back() = "... more: ./workbook " + command;
}

// Returns the verdict and, if there is room, the table of functions, or the hint in its place.
screen verdict_screen(const watch_state &s, const lab_view &l, const todo_list &todos,
                      const terminal &out, std::size_t room)
{
    screen body, below;
    std::string number = number_of(s.lab), grade = "grade " + number;
    const case_view *first = first_to_mend(l, todos);
    if (first) {
        draw_case(body, *first, l, todos, s.file, out);
        for (const std::string &warning : l.warnings) add(body, "nvcc warned: " + warning, out, 2);
    } else if (l.max_points > 0 && l.points >= l.max_points)
        body.push_back(good(out, fmt::format("All {:g} points{}.", l.max_points, band_words(l))));
    else if (l.all_but_open())
        add(body, l.judged() ? "All points but those that are open." : "Nothing could be judged.",
            out, 0);
    else
        draw_missing_points(body, l, todos, out);
    for (const std::string &note : open_notes(l)) add(body, note, out, 2);
    if (!first) add(body, clock_words(l), out, 0);
    if (!first || !first->whole->contains("printed")) draw_printed_in_passing(body, l, grade, out);
    if (l.all_but_open())
        for (const std::string &line : s.next) add(body, line, out, 2);
    if (s.helped)
        draw_hint(below, s, out);
    else if (!first || first->name != "build")
        below = table(l, todos, out);
    if (below.empty()) {
        fit(body, room, grade);
        return body;
    }
    // A hint that was asked for is shown first; the verdict gets the rows that are left.
    if (s.helped) {
        fit(below, room, "hint " + number + " --again");
        std::size_t left = room - below.size();
        fit(body, left > 1 ? left - 1 : 0, grade);
        if (left < 2) body.clear();
    } else if (body.size() + 1 + below.size() > room) {
        below = {no_wider(summary(l), out.width)};
        fit(body, room > 2 ? room - 2 : room, grade);
        if (body.size() + 2 > room) below.clear();
    }
    if (!body.empty() && !below.empty()) body.push_back("");
    body.insert(body.end(), below.begin(), below.end());
    return body;
}

} // namespace

std::vector<std::string> draw(const watch_state &s, const todo_list &todos, const terminal &out,
                              int rows)
{
    screen to;
    lab_view l = view_of(s);
    if (!l.judged()) l.max_points = 0;
    draw_head(to, s, l, out);
    std::size_t total = static_cast<std::size_t>(std::max(rows, 4));
    std::size_t room = total - std::min(total, to.size() + 3);
    screen body;
    bool hint_is_drawn = s.now == watch_state::phase::graded;
    switch (s.now) {
    case watch_state::phase::grading:
        add(body, s.step + (s.waited >= 1 ? fmt::format(" {:.0f} s", s.waited) : ""), out, 0);
        // Keep the verdict on the previous text readable meanwhile.
        if (!s.document.is_null() && room > body.size() + 2) {
            terminal grey = out;
            grey.colour = out.colour && s.by_simulator;
            body.push_back("");
            hint_is_drawn = true;
            for (const std::string &line : verdict_screen(s, l, todos, grey, room - body.size()))
                body.push_back(s.by_simulator ? line : dim(out, line));
        }
        break;
    case watch_state::phase::missing:
        add(body, s.file + " is not there. As soon as it is saved, it is graded.", out, 0);
        add(body, "To get the stub back: ./workbook reset " + number_of(s.lab), out, 0);
        break;
    case watch_state::phase::fault:
        add(body, "This is not about your file: it could not be graded.", out, 0);
        add(body, s.trouble, out, 2);
        break;
    case watch_state::phase::graded:
        body = verdict_screen(s, l, todos, out, room);
        break;
    }
    if (s.now != watch_state::phase::graded) {
        if (s.helped && !hint_is_drawn) body.push_back(""), draw_hint(body, s, out);
        fit(body, room, "grade " + number_of(s.lab));
    }
    if (room > 0) to.push_back("");
    to.insert(to.end(), body.begin(), body.end());
    if (to.size() + 2 <= total) to.push_back("");
    to.push_back(keys_line(s, out));
    return to;
}

} // namespace cli
