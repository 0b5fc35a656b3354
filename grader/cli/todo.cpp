// Which TODO of a stub a case belongs to, and which failed case a student should look at first.
#include "todo.hpp"

#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <tuple>

namespace cli {

std::string function_of(const std::string &case_name)
{
    return case_name.substr(0, case_name.find(':'));
}

namespace {

const std::regex &heading()
{
    static const std::regex todo(R"(TODO (\d{1,4}) \((\w[^)]*)\))");
    return todo;
}

bool is_code(const std::string &line)
{
    std::size_t first = line.find_first_not_of(" \t\r");
    return first != line.npos && line.compare(first, 2, "//") != 0;
}

// The lines of code before and after each TODO's comment.
std::map<int, std::string> surroundings(const std::string &text)
{
    std::map<int, std::string> result;
    std::vector<int> open;
    std::string before;
    for (const std::string &line : lines(text)) {
        std::smatch m;
        if (is_code(line)) {
            for (int number : open) result[number] += line;
            open.clear();
            before = line;
        } else if (std::regex_search(line, m, heading())) {
            int number = std::stoi(m[1]);
            result[number] += before + "\n";
            open.push_back(number);
        }
    }
    return result;
}

} // namespace

todo_list::todo_list(const std::string &original, const std::string &present)
{
    for (const std::string &line : lines(original)) {
        std::smatch m;
        if (!std::regex_search(line, m, heading())) continue;
        std::vector<int> &all = numbers_[m[2]];
        int number = std::stoi(m[1]);
        if (std::find(all.begin(), all.end(), number) == all.end()) all.push_back(number);
    }
    int at = 0;
    for (const std::string &line : lines(present)) {
        std::smatch m;
        ++at;
        if (std::regex_search(line, m, heading())) lines_.emplace(std::stoi(m[1]), at);
    }
    std::map<int, std::string> then = surroundings(original), now = surroundings(present);
    for (const auto &[number, around] : then) begun_[number] = now[number] != around;
}

const std::vector<int> &todo_list::find(const std::string &what) const
{
    static const std::vector<int> none;
    auto at = numbers_.find(what);
    return at == numbers_.end() ? none : at->second;
}

std::vector<int> todo_list::of_case(const std::string &case_name) const
{
    std::vector<int> all = find(case_name);
    if (all.empty()) all = find(function_of(case_name));
    for (int number : all)
        if (!begun_.at(number)) return {number};
    return all;
}

std::string todo_list::words(const std::string &case_name) const
{
    std::vector<int> all = of_case(case_name);
    if (all.empty()) return {};
    if (all.size() == 1) return fmt::format("TODO {}", all[0]);
    return fmt::format("TODOs {} to {}", all.front(), all.back());
}

todo_list::open_todo todo_list::open_of(const std::string &case_name) const
{
    std::vector<int> all = find(case_name);
    if (all.empty()) all = find(function_of(case_name));
    open_todo open;
    for (int number : all) {
        if (begun_.at(number))
            open.some_begun = true;
        else if (open.next == 0)
            open.next = number;
        open.last = std::max(open.last, number);
    }
    auto line = lines_.find(open.next);
    if (line != lines_.end()) open.line = line->second;
    return open;
}

std::vector<int> todo_list::for_more(const std::string &case_name) const
{
    if (is_for_later(case_name)) return find(case_name);
    std::string begin = function_of(case_name) + ": speed";
    for (const auto &[what, numbers] : numbers_)
        if (what.rfind(begin, 0) == 0) return numbers;
    return of_case(case_name);
}

bool todo_list::is_for_later(const std::string &case_name) const
{
    const std::vector<int> &own = find(case_name);
    return !own.empty() && own != find(function_of(case_name));
}

const case_view *first_to_better(const lab_view &l)
{
    for (const case_view &c : l.cases)
        if (c.passed() && c.kind == "speed" && c.points < c.max_points) return &c;
    return nullptr;
}

const case_view *first_to_mend(const lab_view &l, const todo_list &todos)
{
    std::set<std::string> written; // functions of which some case found something written
    for (const case_view &c : l.cases)
        if (c.verdict != "NOT_WRITTEN") written.insert(function_of(c.name));
    auto order = [&](const case_view &c) {
        bool later = c.kind == "speed" && todos.is_for_later(c.name);
        return std::tuple(later, !written.count(function_of(c.name)), c.kind == "speed");
    };
    const case_view *first = nullptr;
    for (const case_view &c : l.cases)
        if (!c.passed() && c.verdict != "SKIPPED" && (!first || order(c) < order(*first)))
            first = &c;
    return first;
}

} // namespace cli
