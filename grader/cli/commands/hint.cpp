// The hint command; the count of the hints shown is kept with the progress.
#include "commands.hpp"

#include "cli/results/hints.hpp"
#include "cli/results/lab_names.hpp"
#include "cli/support/errors.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace cli {

namespace {

std::string no_hints(const toolchain &t, const lab &l, int todo)
{
    std::set<int> numbers;
    for (const hint &h : hints_of(t, l)) numbers.insert(h.todo);
    if (numbers.empty()) return fmt::format("{} has no hints. {}", l.name, read_on(t, l, todo));
    return fmt::format("TODO {} of {} has no hints. There are hints for TODO {}", todo, l.name,
                       fmt::join(numbers, ", "));
}

void say(const terminal &out, const std::string &text)
{
    fmt::print("{}\n", wrapped(text, out.width, 0));
}

void print_hint(const terminal &out, const std::vector<hint> &hints, std::size_t at)
{
    const hint &h = hints[at];
    std::string head =
        fmt::format("TODO {}, hint {} of {}: {}", h.todo, at + 1, hints.size(), h.title);
    fmt::print("{}\n", bold(out, wrapped(head, out.width, 2)));
    say(out, h.text + "\n");
}

} // namespace

int hint_command(const toolchain &t, const std::string &word, const hint_options &options)
{
    const lab &l = lab_called(t, find_lab(word, t.lab_names(false)));
    progress_record record = read_progress(t);
    terminal out = detect_terminal(1);
    int todo = options.todo ? options.todo : todo_at_hand(t, l, record);
    std::vector<hint> hints = hints_of(t, l, todo);
    if (todo == 0 && !hints_of(t, l).empty()) {
        say(out, fmt::format(
                     "The last grade of all of {} found nothing to help with. A TODO's hints all "
                     "the same: ./workbook hint {} --todo 1",
                     l.name, number_of(l.name)));
        return passed;
    }
    if (hints.empty()) throw usage_error(no_hints(t, l, todo));
    std::size_t shown =
        std::min(hints.size(), static_cast<std::size_t>(hints_shown(record, l, todo)));
    bool one_more = shown < hints.size() && !options.again;
    for (std::size_t i = 0; options.again && i < shown; ++i) print_hint(out, hints, i);
    if (one_more) {
        print_hint(out, hints, shown);
        keep_hints(t, l.name, todo, static_cast<int>(++shown));
    }
    if (shown < hints.size())
        say(out, fmt::format("{} left for TODO {}: try {} first.",
                             plural(hints.size() - shown, "more hint"), todo,
                             one_more ? "this one" : "those shown"));
    else if (one_more)
        say(out, fmt::format("That was the last hint for TODO {}. {}", todo, read_on(t, l, todo)));
    else
        say(out, fmt::format("You have seen {} for TODO {}: that is all.{} {}",
                             plural(hints.size(), "hint"), todo,
                             options.again ? "" : " To read them once more, add --again.",
                             read_on(t, l, todo)));
    return passed;
}

} // namespace cli
