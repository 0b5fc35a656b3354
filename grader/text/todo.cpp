// Maps cases to the TODOs of a stub, and orders failed cases for the student.
#include "todo.hpp"

#include "words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

namespace grading {

std::string function_of(const std::string &case_name)
{
    return case_name.substr(0, case_name.find(':'));
}

namespace {

bool holds(const std::vector<int> &numbers, int number)
{
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

constexpr std::string_view timed = ", timed";
bool is_timed(const std::string &case_name) { return case_name.ends_with(timed); }

void add_once(std::vector<int> &numbers, int number)
{
    if (!holds(numbers, number)) numbers.push_back(number);
}

struct heading {
    int number;
    std::string of;
};

// Parses "TODO 2 (scan_block)" in a line. Avoids std::regex, which overflows the stack on the long
// lines that a submission may have.
std::optional<heading> heading_in(const std::string &line)
{
    constexpr std::string_view word = "TODO ";
    constexpr std::size_t max_digits = 4;
    for (std::size_t at = 0; (at = line.find(word, at)) != line.npos;) {
        at += word.size();
        const std::size_t end = line.find_first_not_of("0123456789", at);
        if (end == at || end == line.npos || end - at > max_digits) continue;
        const std::size_t of = end + 2;
        if (line.compare(end, 2, " (") != 0 || of >= line.size()) continue;
        const std::size_t close = line.find(')', of);
        if (is_name_char(line[of]) && close != line.npos)
            return heading{std::stoi(line.substr(at, end - at)), line.substr(of, close - of)};
    }
    return {};
}

} // namespace

std::string timed_name_of(const std::string &case_name) { return case_name + std::string(timed); }

std::string counted_name_of(const std::string &case_name)
{
    return is_timed(case_name) ? case_name.substr(0, case_name.size() - timed.size()) : case_name;
}

bool is_code(const std::string &line)
{
    std::size_t first = line.find_first_not_of(" \t\r");
    return first != line.npos && line.compare(first, 2, "//") != 0;
}

int todo_begun_in(const std::string &line)
{
    const auto todo = heading_in(line);
    return todo ? todo->number : 0;
}

namespace {

// TODOs with no code between them, and the lines of code before and after them.
struct todo_group {
    std::vector<int> numbers;
    std::string before, after;
};

std::vector<todo_group> groups_of(const std::string &text)
{
    std::vector<todo_group> groups;
    bool open = false;
    std::string before;
    for (const std::string &line : lines(text)) {
        if (is_code(line)) {
            if (open) groups.back().after = line;
            open = false;
            before = line;
        } else if (const auto todo = heading_in(line)) {
            if (!open) groups.push_back({{}, before, {}});
            open = true;
            groups.back().numbers.push_back(todo->number);
        }
    }
    return groups;
}

// Returns the TODOs of group `was` that are not begun, by the group `is` that is left of it. Code
// between TODOs belongs to the one above it; code before the first one, if those above were
// removed, belongs to the removed ones.
std::vector<int> untouched(const todo_group &was, const todo_group &is)
{
    const bool has_first = is.numbers.front() == was.numbers.front();
    const bool has_last = is.numbers.back() == was.numbers.back();
    if (has_first && is.before != was.before) return {};
    std::vector<int> left = is.numbers;
    if (has_last && is.after == was.after) return left;
    if (has_first && has_last) return {}; // code was written below the whole group
    const int begun = left.back(); // a step for several functions has its number several times
    std::erase(left, begun);
    return left;
}

std::set<int> begun_todos(const std::string &original, const std::string &present)
{
    std::set<int> begun;
    const std::vector<todo_group> now = groups_of(present);
    for (const todo_group &was : groups_of(original)) {
        std::set<int> waiting;
        for (const todo_group &is : now)
            if (holds(was.numbers, is.numbers.back()))
                for (int number : untouched(was, is)) waiting.insert(number);
        for (int number : was.numbers)
            if (!waiting.contains(number)) begun.insert(number);
    }
    return begun;
}

// Maps functions to the TODOs that they contain.
std::map<std::string, std::vector<int>> todos_by_function(const std::string &text)
{
    std::map<std::string, std::vector<int>> result;
    std::vector<std::string> all = lines(text);
    for (const line_range &f : functions_of(text))
        for (int line = f.first; line <= f.last; ++line) {
            const auto todo = heading_in(all.at(std::size_t(line - 1)));
            if (todo) add_once(result[f.name], todo->number);
        }
    return result;
}

// Returns the TODOs whose comment, up to the next one or the next code, says of something that it
// is in shared memory, or comes there.
std::set<int> todos_with_shared_array(const std::string &text)
{
    std::set<int> found;
    int number = 0;
    std::string comment;
    auto end = [&] {
        for (const char *words : {" in shared memory", " into shared memory"})
            if (comment.find(words) != comment.npos) found.insert(number);
        comment.clear();
    };
    for (const std::string &line : lines(text)) {
        const auto todo = heading_in(line);
        if (is_code(line) || todo) {
            end();
            number = todo ? todo->number : 0;
        }
        // A heading names cases.
        if (const std::size_t mark = todo ? line.find(')') : line.find("//");
            number && mark != line.npos)
            comment += line.substr(mark + (todo ? 1 : 2));
    }
    end();
    return found;
}

// Maps the names of a source's functions to their text.
std::map<std::string, std::string> texts_by_function(const std::string &text)
{
    std::map<std::string, std::string> result;
    const std::vector<std::string> all = lines(text);
    for (const line_range &f : functions_of(text))
        for (int line = f.first; line <= f.last; ++line)
            result[f.name] += all.at(std::size_t(line - 1)) + "\n";
    return result;
}

} // namespace

todo_list::todo_list(const std::string &original, const std::string &present,
                     const std::vector<std::string> &given_wrong)
    : begun_(begun_todos(original, present))
{
    for (const std::string &line : lines(original))
        if (const auto todo = heading_in(line)) add_once(numbers_[todo->of], todo->number);
    int at = 0;
    for (const std::string &line : lines(present)) {
        ++at;
        if (const auto todo = heading_in(line)) lines_.emplace(todo->number, at);
    }
    std::map<std::string, std::vector<int>> held = todos_by_function(original);
    for (const line_range &f : functions_of(present))
        if (held.contains(f.name)) functions_.emplace_back(f, held.at(f.name));
    const auto before = texts_by_function(original), now = texts_by_function(present);
    const std::set<int> with_array = todos_with_shared_array(original);
    auto has_array = [](const auto &texts, const std::string &name) {
        if (!texts.contains(name)) return false;
        return std::ranges::any_of(lines(texts.at(name)), [](const std::string &line) {
            return line.substr(0, line.find("//")).find("__shared__") != line.npos;
        });
    };
    for (const line_range &f : functions_of(present)) {
        if (!held.contains(f.name) || has_array(before, f.name) || !has_array(now, f.name))
            continue;
        std::vector<int> steps = held.at(f.name);
        std::erase_if(steps, [&](int number) { return !with_array.contains(number); });
        if (!steps.empty()) with_shared_array_.emplace_back(f, steps);
    }
    auto is_as_before = [&](const std::string &name) {
        return !before.contains(name) || (now.contains(name) && now.at(name) == before.at(name));
    };
    for (const std::string &function : given_wrong) {
        bool same = is_as_before(function);
        for (const auto &holder : held)
            for (int number : holder.second)
                if (holds(find(function), number)) same &= is_as_before(holder.first);
        if (same) untouched_.insert(function);
    }
}

const std::vector<int> &todo_list::find(const std::string &what) const
{
    static const std::vector<int> none;
    auto at = numbers_.find(what);
    return at == numbers_.end() ? none : at->second;
}

std::vector<int> todo_list::of_case_or_function(const std::string &case_name) const
{
    const std::vector<int> &own = find(case_name);
    if (!is_timed(case_name)) return own.empty() ? find(function_of(case_name)) : own;
    std::vector<int> all = of_case_or_function(counted_name_of(case_name));
    for (int number : own) add_once(all, number);
    return all;
}

std::vector<int> todo_list::of_line(const std::string &case_name, int line) const
{
    for (const auto &[lines, held] : functions_) {
        if (line < lines.first || line > lines.last) continue;
        const std::vector<int> all = of_case_or_function(case_name);
        std::vector<int> of_the_case, first; // `first`: not for later
        for (int number : held) {
            if (holds(all, number)) of_the_case.push_back(number);
            bool later = std::any_of(numbers_.begin(), numbers_.end(), [&](const auto &entry) {
                return is_for_later(entry.first) && entry.second.front() == number;
            });
            if (!later) first.push_back(number);
        }
        return !of_the_case.empty() ? of_the_case : first.empty() ? held : first;
    }
    return {};
}

int todo_list::shared_memory_todo(const std::string &case_name, int line) const
{
    if (!find(case_name).empty()) return 0;
    const std::vector<int> &own = find(function_of(case_name));
    for (const auto &[lines, steps] : with_shared_array_) {
        if (line != 0 && (line < lines.first || line > lines.last)) continue;
        for (int number : steps)
            for (const std::string &function : functions_of_todo(number))
                if (function == function_of(case_name) && !holds(own, number)) return number;
    }
    return 0;
}

bool todo_list::waits_for_others(const std::string &case_name, int line) const
{
    std::vector<int> at_the_line = of_line(case_name, line);
    return !at_the_line.empty() && open_of(case_name).next != 0 &&
           std::all_of(at_the_line.begin(), at_the_line.end(),
                       [this](int number) { return begun_.contains(number); });
}

bool todo_list::serves(int number, const std::string &case_name) const
{
    return holds(of_case_or_function(case_name), number);
}

std::vector<int> todo_list::of_case(const std::string &case_name, int line) const
{
    if (const int number = shared_memory_todo(case_name, line)) return {number};
    const std::vector<int> at_the_line = of_line(case_name, line);
    return at_the_line.empty() ? own_of_case(case_name) : at_the_line;
}

std::vector<int> todo_list::own_of_case(const std::string &case_name) const
{
    const std::vector<int> all = of_case_or_function(case_name);
    for (int number : all)
        if (!begun_.contains(number)) return {number};
    return all;
}

std::string todo_list::words(const std::string &case_name, int line) const
{
    return todo_words(of_case(case_name, line));
}

todo_list::open_todo todo_list::open_of(const std::string &case_name) const
{
    open_todo open;
    for (int number : of_case_or_function(case_name)) {
        if (begun_.contains(number))
            open.some_begun = true;
        else if (open.next == 0)
            open.next = number;
        open.last = std::max(open.last, number);
    }
    open.line = line_of(open.next);
    return open;
}

std::vector<int> todo_list::for_more(const std::string &case_name) const
{
    if (const auto &own = find(case_name); !own.empty())
        return still_open({own.begin(), own.end()});
    const bool of_clock = is_timed(case_name);
    for (const std::string &begin : {case_name + ", ", function_of(case_name) + ": speed"})
        if (std::vector<int> later = for_later(begin, of_clock); !later.empty()) return later;
    return of_clock ? for_more(counted_name_of(case_name)) : of_case(case_name);
}

std::vector<int> todo_list::for_later(const std::string &begin, bool of_clock) const
{
    std::set<int> all;
    for (const auto &[what, numbers] : numbers_)
        if (what.starts_with(begin) && is_timed(what) == of_clock)
            all.insert(numbers.begin(), numbers.end());
    return still_open(all);
}

std::vector<int> todo_list::still_open(const std::set<int> &all) const
{
    std::vector<int> left;
    std::ranges::set_difference(all, begun_, std::back_inserter(left));
    return left.empty() ? std::vector<int>(all.begin(), all.end()) : left;
}

std::vector<int> todo_list::for_more(const std::vector<std::string> &case_names) const
{
    std::set<int> open, all;
    for (const std::string &name : case_names) {
        for (int number : for_more(name)) all.insert(number);
        for (const auto &[what, numbers] : numbers_)
            if (function_of(what) == function_of(name)) open.insert(numbers.begin(), numbers.end());
    }
    std::erase_if(open, [&](int number) { return begun_.contains(number); });
    if (!open.empty()) all = open;
    return {all.begin(), all.end()};
}

int todo_list::line_of(int number) const
{
    const auto at = lines_.find(number);
    return at == lines_.end() ? 0 : at->second;
}

int todo_list::first_of(const std::string &case_name) const
{
    const std::vector<int> all = of_case_or_function(case_name);
    return all.empty() ? 0 : *std::ranges::min_element(all);
}

std::vector<std::string> todo_list::functions_of_todo(int number) const
{
    std::vector<std::string> names;
    for (const auto &[what, numbers] : numbers_)
        if (holds(numbers, number)) names.push_back(function_of(what));
    return names;
}

bool todo_list::is_for_later(const std::string &case_name) const
{
    const std::vector<int> &all = find(case_name);
    if (!all.empty()) return all != find(function_of(case_name));
    return is_timed(case_name) && is_for_later(counted_name_of(case_name));
}

std::string todo_words(const std::vector<int> &todos)
{
    if (todos.empty()) return {};
    if (todos.size() == 1) return fmt::format("TODO {}", todos[0]);
    bool contiguous = todos.back() - todos.front() + 1 == int(todos.size());
    return contiguous && todos.size() > 2
               ? fmt::format("TODOs {} to {}", todos.front(), todos.back())
               : fmt::format("TODOs {}", fmt::join(todos, " and "));
}

std::vector<int> todos_to_blame(const std::string &case_name, int line,
                                const std::vector<case_outcome> &cases, const todo_list &todos)
{
    const std::vector<int> at_the_line = todos.of_case(case_name, line);
    auto is_proven = [&](int number) {
        bool judged = false;
        for (const case_outcome &c : cases) {
            if (c.case_name == case_name || !todos.serves(number, c.case_name)) continue;
            if (c.failed || c.not_written) return false;
            judged = true;
        }
        return judged && !todos.serves(number, case_name);
    };
    return std::ranges::all_of(at_the_line, is_proven) ? todos.own_of_case(case_name) : at_the_line;
}

std::vector<std::size_t> order_to_mend(const std::vector<case_outcome> &cases,
                                       const todo_list &todos)
{
    std::set<std::string> written; // functions with output in some case
    for (const case_outcome &c : cases)
        if (!c.not_written) written.insert(function_of(c.case_name));
    std::erase_if(written,
                  [&](const std::string &function) { return todos.is_untouched(function); });
    int first_to_write = 0; // 0: all are written, or their TODOs are not known
    for (const case_outcome &c : cases) {
        const int number = todos.first_of(c.case_name);
        if (c.failed && !written.contains(function_of(c.case_name)) && number > 0 &&
            (first_to_write == 0 || number < first_to_write))
            first_to_write = number;
    }
    auto rank = [&](std::size_t i) {
        const case_outcome &c = cases[i];
        const bool later = c.speed && todos.is_for_later(c.case_name);
        const bool to_write = !written.contains(function_of(c.case_name));
        const int number = todos.first_of(c.case_name);
        const bool before = later && !to_write && number < first_to_write;
        return std::tuple(later && !before, to_write, before, c.speed);
    };
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < cases.size(); ++i)
        if (cases[i].failed) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    return order;
}

} // namespace grading
