// Which TODO of a stub a case belongs to, and which failed case a student should look at first.
#include "todo.hpp"

#include "text.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <tuple>

namespace cli {

std::string function_of(const std::string &case_name)
{
    return case_name.substr(0, case_name.find(':'));
}

todo_list::todo_list(const std::string &stub_text)
{
    static const std::regex todo(R"(TODO (\d{1,4}) \((\w[^)]*)\))");
    for (const std::string &line : lines(stub_text)) {
        std::smatch m;
        if (std::regex_search(line, m, todo)) numbers_.emplace(m[2], std::stoi(m[1]));
    }
}

int todo_list::find(const std::string &what) const
{
    auto at = numbers_.find(what);
    return at == numbers_.end() ? 0 : at->second;
}

int todo_list::of_case(const std::string &case_name) const
{
    int own = find(case_name);
    return own ? own : find(function_of(case_name));
}

bool todo_list::is_for_later(const std::string &case_name) const
{
    int own = find(case_name);
    return own && own != find(function_of(case_name));
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
