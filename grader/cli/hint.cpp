// Hints of a lab, one more each time; how many were shown is kept with the progress.
#include "hint.hpp"

#include "errors.hpp"
#include "files.hpp"
#include "grade.hpp"
#include "lab_names.hpp"
#include "original.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Paragraphs as one line each, to be broken where the reader's terminal ends; what is laid out by
// hand stays.
std::string paragraphs(const std::string &text)
{
    std::string result;
    bool open = false, code = false;
    for (const std::string &line : lines(text)) {
        bool fence = line.rfind("```", 0) == 0;
        bool by_hand = code || fence || line.empty() || line.find_first_of(" -|*#") == 0;
        code ^= fence;
        if (!result.empty()) result += open && !by_hand ? " " : "\n";
        result += line;
        open = !by_hand;
    }
    std::size_t first = result.find_first_not_of('\n'), last = result.find_last_not_of('\n');
    return first == result.npos ? "" : result.substr(first, last - first + 1);
}

std::string path_of(const toolchain &t, const lab &l)
{
    return fs::path(t.stub(l)).parent_path().string() + "/hints.md";
}

// "TODO 2 has no hints; TODOs 1, 3 have."
std::string no_such_todo(const toolchain &t, const lab &l, int todo)
{
    std::set<int> numbers;
    for (const hint &h : parse_hints(read_text(path_of(t, l)))) numbers.insert(h.todo);
    return fmt::format("TODO {} of {} has no hints. There are hints for TODO {}", todo, l.name,
                       fmt::join(numbers, ", "));
}

void print_hint(const terminal &out, const hint &h, std::size_t number, std::size_t of)
{
    fmt::print("{}\n", bold(out, wrapped(fmt::format("TODO {}, hint {} of {}: {}", h.todo, number,
                                                     of, h.title),
                                         out.width, 2)));
    fmt::print("{}\n\n", wrapped(h.text, out.width, 0));
}

void print_rest(const toolchain &t, const lab &l, int todo, std::size_t left)
{
    terminal out = detect_terminal(1);
    std::string number = number_of(l.name);
    if (left > 0)
        fmt::print("{} left for TODO {}: try this one first.\n", plural(left, "more hint"), todo);
    else
        fmt::print("{}\n", wrapped(fmt::format("That was the last hint for TODO {}. {}", todo,
                                               read_on(t, l)),
                                   out.width, 0));
}

} // namespace

std::vector<hint> parse_hints(const std::string &markdown)
{
    static const std::regex heading(R"(## TODO (\d{1,4}): *(.*\S)\s*)");
    std::vector<hint> result;
    bool inside = false;
    for (const std::string &line : lines(markdown)) {
        std::smatch m;
        if (std::regex_match(line, m, heading)) {
            result.push_back({std::stoi(m[1]), m[2], {}});
            inside = true;
        } else if (line.rfind("## ", 0) == 0 || line.rfind("# ", 0) == 0) {
            inside = false;
        } else if (inside) {
            result.back().text += line + "\n";
        }
    }
    for (hint &h : result) h.text = paragraphs(h.text);
    return result;
}

std::vector<hint> hints_of(const toolchain &t, const lab &l, int todo)
{
    std::vector<hint> all;
    if (fs::exists(path_of(t, l))) all = parse_hints(read_text(path_of(t, l)));
    std::erase_if(all, [&](const hint &h) { return h.todo != todo; });
    return all;
}

int todo_at_hand(const toolchain &t, const lab &l, const progress_record &record)
{
    const progress_entry *e = record.last(l.name);
    if (e && e->verdict.empty() && e->mending.empty()) return 0;
    if (e && e->todo && !hints_of(t, l, e->todo).empty()) return e->todo;
    std::vector<int> todos;
    if (e && e->verdict.empty())
        todos = todos_of(t, l).for_more(e->mending);
    else if (e)
        todos = todos_of(t, l).of_case(e->mending);
    if (todos.empty()) todos = {1};
    int with_hints = 0;
    for (int todo : todos) {
        std::size_t count = hints_of(t, l, todo).size();
        auto seen = record.hints.find({l.name, todo});
        int shown = seen == record.hints.end() ? 0 : seen->second;
        if (count > static_cast<std::size_t>(shown)) return todo;
        if (count > 0) with_hints = todo;
    }
    return with_hints;
}

std::string read_on(const toolchain &t, const lab &l)
{
    std::string handout = fmt::format("{}/handouts/{}.md", t.source_root, l.name), sections;
    if (!fs::exists(handout)) return "Read the comments of lab.hpp once more.";
    bool code = false;
    for (const std::string &line : lines(read_text(handout))) {
        if (line.rfind("```", 0) == 0) code = !code;
        // The last sections are about the work itself and what lies beyond it.
        if (code || line.rfind("## ", 0) != 0 || line == "## See it") continue;
        if (line == "## The tasks" || line == "## Beyond") break;
        sections += fmt::format("{}\"{}\"", sections.empty() ? "" : ", ", line.substr(3));
    }
    return fmt::format("Read on in {}: {}.", t.shown(handout), sections);
}

int hint_command(const toolchain &t, const std::string &word, const hint_options &options)
{
    const lab &l = lab_called(t, find_lab(word, t.lab_names(false)));
    progress_record record = read_progress(t);
    terminal out = detect_terminal(1);
    int todo = options.todo ? options.todo : todo_at_hand(t, l, record);
    if (todo == 0) {
        fmt::print("{}\n",
                   wrapped(fmt::format("The last grade of {} found nothing to help with. A "
                                       "TODO's hints all the same: ./workbook hint {} --todo 1",
                                       l.name, number_of(l.name)),
                           out.width, 0));
        return passed;
    }
    std::vector<hint> hints = hints_of(t, l, todo);
    if (hints.empty()) throw usage_error(no_such_todo(t, l, todo));
    std::size_t shown =
        std::min(hints.size(), static_cast<std::size_t>(record.hints[{l.name, todo}]));
    if (shown < hints.size() && !options.again) {
        print_hint(out, hints[shown], shown + 1, hints.size());
        keep_hints(t, l.name, todo, static_cast<int>(shown + 1));
        print_rest(t, l, todo, hints.size() - shown - 1);
        return passed;
    }
    if (options.again)
        for (std::size_t i = 0; i < shown; ++i) print_hint(out, hints[i], i + 1, hints.size());
    if (shown < hints.size())
        print_rest(t, l, todo, hints.size() - shown);
    else
        fmt::print("{}\n",
                   wrapped(fmt::format("You have seen {} for TODO {}{} {}",
                                       plural(hints.size(), "hint"), todo,
                                       options.again
                                           ? ": that is all."
                                           : ": that is all. To read them once more, add --again.",
                                       read_on(t, l)),
                           out.width, 0));
    return passed;
}

} // namespace cli
