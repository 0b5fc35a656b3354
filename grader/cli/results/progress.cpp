// A student's progress, kept in .workbook/progress.json.
#include "progress.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/terminal/text.hpp"
#include "stub_original.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

constexpr const char *schema = "cuda-workbook-progress/1";

std::string path_of(const toolchain &t) { return t.source_root + "/.workbook/progress.json"; }

int count_at(const json &o, const char *key)
{
    return static_cast<int>(std::clamp(number_at(o, key), 0.0, 9999.0));
}

progress_entry entry_from(const json &o)
{
    progress_entry e;
    e.lab = text_at(o, "lab");
    e.backend = text_at(o, "backend");
    e.points = number_at(o, "points");
    e.max_points = number_at(o, "max_points");
    e.open = number_at(o, "open_points");
    e.best = std::max(e.points, number_at(o, "best"));
    e.when = text_at(o, "when");
    e.verdict = text_at(o, "verdict");
    e.case_name = text_at(o, "case");
    e.mending = member(o, "mending").is_string() ? text_at(o, "mending") : e.case_name;
    e.todo = count_at(o, "todo");
    return e;
}

json entry_to(const progress_entry &e)
{
    return {{"lab", e.lab},          {"backend", e.backend},
            {"points", e.points},    {"max_points", e.max_points},
            {"open_points", e.open}, {"best", e.best},
            {"when", e.when},        {"verdict", e.verdict},
            {"case", e.case_name},   {"mending", e.mending},
            {"todo", e.todo}};
}

std::string text_of(const progress_record &record)
{
    json document = {{"schema", schema}, {"labs", json::array()}, {"hints", json::array()}};
    for (const progress_entry &e : record.entries) document["labs"].push_back(entry_to(e));
    for (const auto &[what, shown] : record.hints)
        document["hints"].push_back({{"lab", what.first}, {"todo", what.second}, {"shown", shown}});
    return document.dump(2) + "\n";
}

// Renames a file that cannot be parsed to PATH.broken-N, with the first free N.
void put_aside(const std::string &path)
{
    int n = 1;
    while (fs::exists(fmt::format("{}.broken-{}", path, n))) ++n;
    fs::rename(path, fmt::format("{}.broken-{}", path, n));
}

// Reads, changes and writes the file under a lock, atomically among all processes.
void change(const toolchain &t, const std::function<void(progress_record &)> &what)
{
    std::string path = path_of(t);
    try {
        fs::create_directories(fs::path(path).parent_path());
        file_lock lock(path + ".lock");
        progress_record record = read_progress(t);
        if (!record.warning.empty()) put_aside(path);
        what(record);
        write_atomically(path, text_of(record), durability::durable);
    } catch (const fs::filesystem_error &e) {
        throw machine_error(cannot_write(path, e.code().value()));
    }
}

std::string state_of(const progress_entry *best, const progress_entry *last)
{
    if (!best) return "not graded yet";
    std::string words = points_words(best->best, best->max_points, best->still_open());
    if (best->done()) return words + "  done";
    if (last->points < best->best) words += fmt::format("  (last {:g})", last->points);
    if (last->verdict.empty()) return words;
    return fmt::format("{}  {}", words, last->verdict);
}

std::string what_next(const toolchain &t, const progress_record &record, const terminal &out)
{
    const lab *next = next_lab(t, record);
    if (!next) {
        bool done = std::ranges::all_of(t.labs, [&](const lab &l) {
            const progress_entry *e = record.best(l.name);
            return l.test || (e && e->done());
        });
        bool compare =
            std::ranges::any_of(t.labs, [](const lab &l) { return !l.test && l.solutions; });
        return fmt::format("Every lab is done{}.{}", done ? "" : " but for points that are open",
                           compare ? " To compare, the worked ladders: ./workbook demo" : "");
    }
    std::string command = "./workbook watch " + number_of(next->name);
    if (record.last(next->name)) return "Next: " + bold(out, command);
    std::string text = fmt::format("Next: read handouts/{0}.md, open labs/{0}/stub.cu in your "
                                   "editor, and beside it type",
                                   next->name);
    return wrapped(text, out.width, 2) + "\n  " + bold(out, command);
}

} // namespace

const progress_entry *progress_record::best(const std::string &lab) const
{
    const progress_entry *found = nullptr;
    for (const progress_entry &e : entries)
        if (e.lab == lab && (!found || e.share() >= found->share())) found = &e;
    return found;
}

const progress_entry *progress_record::last(const std::string &lab) const
{
    auto at = std::find_if(entries.rbegin(), entries.rend(),
                           [&](const progress_entry &e) { return e.lab == lab; });
    return at == entries.rend() ? nullptr : &*at;
}

const lab *next_lab(const toolchain &t, const progress_record &record)
{
    auto open = [&](const lab &l) {
        const progress_entry *e = record.best(l.name);
        return !l.test && !(e && e->done_here());
    };
    auto first = std::ranges::find_if(t.labs, [&](const lab &l) {
        return !record.entries.empty() && l.name == record.entries.back().lab && open(l);
    });
    if (first == t.labs.end()) first = std::ranges::find_if(t.labs, open);
    return first == t.labs.end() ? nullptr : &*first;
}

progress_record read_progress(const toolchain &t)
{
    progress_record record;
    std::string path = path_of(t);
    if (!fs::exists(path)) return record;
    json document = json::parse(read_text(path), nullptr, false);
    if (member(document, "schema") != schema || !member(document, "labs").is_array()) {
        record.warning = fmt::format("{0} could not be understood. The next grade begins a new one "
                                     "and keeps this as {0}.broken-1, -2, ...",
                                     t.shown(path));
        return record;
    }
    for (const json &o : document["labs"])
        if (o.is_object()) record.entries.push_back(entry_from(o));
    if (const json &hints = member(document, "hints"); hints.is_array())
        for (const json &o : hints)
            if (o.is_object())
                record.hints[{text_at(o, "lab"), count_at(o, "todo")}] = count_at(o, "shown");
    return record;
}

void keep_progress(const toolchain &t, const lab_view &graded, const std::string &backend)
{
    if (!graded.judged()) return;
    todo_list todos = todos_of(t, lab_called(t, graded.lab));
    const case_view *failure = first_to_mend(graded, todos);
    const case_view *to_improve = failure ? nullptr : first_to_improve(graded);
    std::vector<int> named;
    if (failure && !todos.of_line(failure->named_in_todo(), failure->line).empty())
        named = todos_to_blame(*failure, graded, todos);
    const bool compiled = !failure || failure->name != "build";
    change(t, [&](progress_record &record) {
        // A file that does not compile was graded nowhere.
        const progress_entry *last = record.last(graded.lab);
        const std::string where = compiled || !last ? backend : last->backend;
        progress_entry e;
        auto at = std::find_if(record.entries.begin(), record.entries.end(), [&](const auto &o) {
            return o.lab == graded.lab && o.backend == where;
        });
        if (at != record.entries.end()) {
            e = *at;
            record.entries.erase(at);
        }
        e.lab = graded.lab;
        e.backend = where;
        e.points = graded.points;
        e.open = graded.open_points;
        // Points of another total, as of an earlier edition, do not compare.
        if (graded.max_points > 0 && std::exchange(e.max_points, graded.max_points) != e.max_points)
            e.best = 0;
        e.best = std::max(e.best, graded.points);
        e.when = utc_time("%Y-%m-%dT%H:%M:%SZ");
        e.verdict = failure ? failure->verdict : "";
        e.case_name = failure ? failure->name : "";
        // While the file does not compile, the student still works on the earlier failure.
        if (compiled) {
            const case_view *at_hand = failure ? failure : to_improve;
            e.mending = at_hand ? at_hand->named_in_todo() : "";
            e.todo = named.empty() ? 0 : named.front();
        }
        record.entries.push_back(e);
    });
}

void keep_hints(const toolchain &t, const std::string &lab, int todo, int shown)
{
    change(t, [&](progress_record &record) {
        int &known = record.hints[{lab, todo}];
        known = std::max(known, shown);
    });
}

void add_progress(const toolchain &t, const progress_record &older)
{
    if (older.entries.empty() && older.hints.empty()) return;
    change(t, [&](progress_record &record) {
        std::vector<progress_entry> before; // the lab at hand is the latest, so older ones go first
        for (const progress_entry &o : older.entries) {
            auto at =
                std::find_if(record.entries.begin(), record.entries.end(), [&](const auto &e) {
                    return e.lab == o.lab && e.backend == o.backend;
                });
            if (at == record.entries.end())
                before.push_back(o);
            else if (at->max_points == o.max_points)
                at->best = std::max(at->best, o.best);
        }
        record.entries.insert(record.entries.begin(), before.begin(), before.end());
        for (const auto &[todo, shown] : older.hints)
            record.hints[todo] = std::max(record.hints[todo], shown);
    });
}

std::string where_am_i(const toolchain &t, const progress_record &record, const terminal &out)
{
    std::string screen;
    if (!record.warning.empty())
        screen += wrapped("note: " + record.warning, out.width, 2) + "\n\n";
    std::size_t width = 0, done = 0, count = 0;
    double points = 0, all = 0, open = 0;
    constexpr int bar_width = 10;
    for (const std::string &name : t.lab_names(false)) width = std::max(width, name.size());
    for (const std::string &name : t.lab_names(false)) {
        const progress_entry *e = record.best(name);
        ++count;
        done += e && e->done();
        points += e ? e->best : 0;
        all += e ? e->max_points : 0;
        open += e ? e->still_open() : 0;
        screen += fmt::format("  {}  {}  {}\n", padded(name, static_cast<int>(width)),
                              padded(bar(out, e ? e->share() : 0, bar_width), bar_width),
                              state_of(e, record.last(name)));
    }
    screen += fmt::format("\n{} of {} done", done, plural(count, "lab"));
    if (all > 0)
        screen += fmt::format(", {} points{} of those graded", points_words(points, all),
                              open > 0 ? open_words(open) + "," : "");
    screen += "\n";
    if (open > 0)
        screen += wrapped("Open points are neither reached nor lost: nothing here can judge them. "
                          "./workbook grade LAB says which, and why.",
                          out.width, 2) +
                  "\n";
    return screen + what_next(t, record, out) + "\n";
}

} // namespace cli
