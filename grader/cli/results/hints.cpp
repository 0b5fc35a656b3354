// Reads a lab's hints and handout, and finds the TODO that a student is at.
#include "hints.hpp"

#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"
#include "stub_original.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <regex>

namespace cli {

namespace fs = std::filesystem;

namespace {

// True if the line must keep its line break: list items, tables, headings and indented lines.
bool laid_out_by_hand(const std::string &line)
{
    return line.empty() || line.find_first_of(" |#") == 0 || line.starts_with("- ") ||
           line.starts_with("* ");
}

bool is_fence(const std::string &line) { return line.starts_with("```"); }

// Joins each paragraph into one line, to be wrapped at the terminal's width; lines that are laid
// out by hand stay as they are.
std::string paragraphs(const std::string &text)
{
    std::string result;
    bool open = false, code = false; // inside a paragraph; inside a code block
    for (const std::string &line : lines(text)) {
        bool stays = code || is_fence(line) || laid_out_by_hand(line);
        code ^= is_fence(line);
        if (!result.empty()) result += open && !stays ? " " : "\n";
        result += line;
        open = !stays;
    }
    std::size_t first = result.find_first_not_of('\n'), last = result.find_last_not_of('\n');
    return first == result.npos ? "" : result.substr(first, last - first + 1);
}

struct handout_section {
    std::string title, text;
};

// Returns the sections of a handout before "The tasks" or "Beyond", without "See it".
std::vector<handout_section> sections_of(const std::string &markdown)
{
    std::vector<handout_section> result;
    bool inside = false, code = false;
    for (const std::string &line : lines(markdown)) {
        code ^= is_fence(line);
        if (!code && line.starts_with("## ")) {
            if (line == "## The tasks" || line == "## Beyond") break;
            inside = line != "## See it";
            if (inside) result.push_back({line.substr(3), {}});
        } else if (inside) {
            result.back().text += line + "\n";
        }
    }
    return result;
}

// True if the text names the function as code: `scan` or `scan(in, out)`, but not `scan_block`.
bool names_function(const std::string &text, const std::string &name)
{
    return std::regex_search(text, std::regex("`" + name + "\\b"));
}

} // namespace

std::vector<hint> parse_hints(const std::string &markdown)
{
    static const std::regex hint_heading(R"(## TODO (\d{1,4}): *(.*\S)\s*)");
    std::vector<hint> result;
    bool inside = false, code = false; // inside a hint; inside a code block, where # is no heading
    for (const std::string &line : lines(markdown)) {
        std::smatch m;
        code ^= is_fence(line);
        if (!code && std::regex_match(line, m, hint_heading)) {
            result.push_back({std::stoi(m[1]), m[2], {}});
            inside = true;
        } else if (!code && (line.starts_with("## ") || line.starts_with("# "))) {
            inside = false;
        } else if (inside) {
            result.back().text += line + "\n";
        }
    }
    for (hint &h : result) h.text = paragraphs(h.text);
    return result;
}

std::vector<hint> hints_of(const toolchain &t, const lab &l)
{
    fs::path path = fs::path(t.stub(l)).parent_path() / "hints.md";
    return fs::exists(path) ? parse_hints(read_text(path.string())) : std::vector<hint>();
}

std::vector<hint> hints_of(const toolchain &t, const lab &l, int todo)
{
    std::vector<hint> all = hints_of(t, l);
    std::erase_if(all, [&](const hint &h) { return h.todo != todo; });
    return all;
}

int hints_shown(const progress_record &record, const lab &l, int todo)
{
    auto at = record.hints.find({l.name, todo});
    return at == record.hints.end() ? 0 : at->second;
}

int todo_at_hand(const toolchain &t, const lab &l, const progress_record &record)
{
    const progress_entry *e = record.last(l.name);
    if (e && e->verdict.empty() && e->mending.empty()) return 0;
    if (e && e->todo && !hints_of(t, l, e->todo).empty()) return e->todo;
    std::vector<int> todos;
    if (e)
        todos = e->verdict.empty() ? todos_of(t, l).for_more(e->mending)
                                   : todos_of(t, l).of_case(e->mending);
    if (todos.empty()) todos = {1};
    int with_hints = 0; // the last TODO whose hints were all shown
    for (int todo : todos) {
        int count = static_cast<int>(hints_of(t, l, todo).size());
        if (count > hints_shown(record, l, todo)) return todo;
        if (count > 0) with_hints = todo;
    }
    return with_hints;
}

std::string read_on(const toolchain &t, const lab &l, int todo)
{
    std::string handout = fmt::format("{}/handouts/{}.md", t.source_root, l.name);
    if (!fs::exists(handout)) return "Read the comments of lab.hpp once more.";
    std::vector<handout_section> all = sections_of(read_text(handout));
    std::vector<std::string> functions = todos_of(t, l).functions_of_todo(todo), titles;
    std::string hinted;
    for (const hint &h : hints_of(t, l, todo)) hinted += h.text + "\n";
    for (const handout_section &s : all)
        if (hinted.find(fmt::format("\"{}\"", s.title)) != hinted.npos)
            titles.push_back(fmt::format("\"{}\"", s.title));
    std::string where = fmt::format("Read on in {}", t.shown(handout));
    if (!titles.empty()) return fmt::format("{}: {}.", where, fmt::join(titles, ", "));
    for (const handout_section &s : all)
        if (std::ranges::any_of(
                functions, [&](const std::string &name) { return names_function(s.text, name); }))
            titles.push_back(fmt::format("\"{}\"", s.title));
    if (titles.empty() || titles.size() == all.size()) return where + ".";
    return fmt::format("{}; {} is named in {}.", where, fmt::join(functions, " or "),
                       fmt::join(titles, ", "));
}

} // namespace cli
