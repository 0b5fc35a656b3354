// Takes the filled stub apart by TODO, and grades what a student has after each.
#include "todo_points.hpp"

#include "cli/results/stub_original.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

struct code_line {
    std::string text;
    int todo = 0; // the last TODO in the comments between the line of code before and this one
};

std::vector<code_line> code_of(const std::string &text)
{
    std::vector<code_line> code;
    int todo = 0;
    for (const std::string &line : lines(text)) {
        if (grading::is_code(line))
            code.push_back({line, std::exchange(todo, 0)});
        else if (const int n = grading::todo_begun_in(line); n > 0)
            todo = n;
    }
    return code;
}

// Says of each line of `filled` whether it was added to the stub, all of whose lines are in it. Of
// the ways to see that (a brace may be the stub's or not) it takes the one with the fewest places
// of added lines that have no TODO.
std::vector<bool> added_lines(const std::vector<code_line> &stub,
                              const std::vector<code_line> &filled)
{
    constexpr int impossible = 1 << 20;
    const std::size_t m = stub.size(), n = filled.size();
    // [i][j][k]: the number of such places in the rest, from stub line i and filled line j on;
    // k is 1 where line j - 1 was added.
    std::vector rest(m + 1, std::vector(n + 1, std::array{impossible, impossible}));
    rest[m][n] = {0, 0};
    auto same = [&](std::size_t i, std::size_t j) {
        return i < m && j < n && stub[i].text == filled[j].text;
    };
    auto cost_of_adding = [&](std::size_t i, std::size_t j, int k) {
        const bool has_todo = (i < m && stub[i].todo > 0) || filled[j].todo > 0;
        return rest[i][j + 1][1] + (k == 0 && !has_todo);
    };
    for (std::size_t i = m + 1; i-- > 0;)
        for (std::size_t j = n; j-- > 0;)
            for (int k : {0, 1})
                rest[i][j][k] = std::min(same(i, j) ? rest[i + 1][j + 1][0] : impossible,
                                         cost_of_adding(i, j, k));
    std::vector<bool> added;
    for (std::size_t i = 0, j = 0; j < n; ++j) {
        const int k = !added.empty() && added.back();
        const bool ours = same(i, j) && rest[i + 1][j + 1][0] <= cost_of_adding(i, j, k);
        added.push_back(!ours);
        i += ours;
    }
    return added;
}

struct outcome {
    int todo;
    double points = 0, max_points = 0;
    std::string problem; // why there are no points
};

outcome graded_after(const toolchain &t, const lab &l, int todo, const std::string &text,
                     const grade_options &options)
{
    outcome o{.todo = todo, .problem = {}};
    const scratch_folder scratch;
    const std::string path = scratch.path() + "/filled.cu";
    write_atomically(path, text);
    const graded g = grade_one(t, l, file_of(path), options);
    const lab_view view = labs_of(g.document).at(0);
    o.points = view.points, o.max_points = view.max_points;
    for (const case_view &c : view.cases)
        if (c.name == "build" || c.verdict == "INFRA_ERROR") o.problem = c.verdict;
    return o;
}

} // namespace

std::vector<int> todos_in(const std::string &stub)
{
    std::set<int> numbers;
    for (const std::string &line : lines(stub))
        if (const int n = grading::todo_begun_in(line); n > 0) numbers.insert(n);
    return {numbers.begin(), numbers.end()};
}

std::string filled_up_to(const std::string &stub, const std::string &filled, int last)
{
    const std::vector<code_line> ours = code_of(stub), all = code_of(filled);
    const std::vector<bool> added = added_lines(ours, all);
    std::string text = fmt::format("#define DONE {}\n", last);
    std::size_t at = 0; // in ours
    int todo = 0;       // that added lines belong to
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!added[i] && ours[at].todo > 0) todo = ours[at].todo;
        if (added[i]) {
            // Where several TODOs stand side by side, a line without its own goes on with the last.
            const bool begins = i == 0 || !added[i - 1];
            const int before = begins && at < ours.size() ? ours[at].todo : 0;
            if (const int n = all[i].todo > 0 ? all[i].todo : before; n > 0) todo = n;
        } else {
            ++at;
        }
        const std::string line = trimmed(all[i].text);
        const bool directive = line.starts_with("#") && !line.starts_with("#pragma");
        if (!added[i] || todo <= last || directive) text += all[i].text + "\n";
    }
    return text;
}

int todo_points_of(const toolchain &t, const std::vector<std::string> &names,
                   const grade_options &options)
{
    std::vector<item> items;
    for (const std::string &name : names)
        if (const lab &l = lab_called(t, name); !l.test && l.solutions)
            items.push_back({&l, stub_of(t, l)});
    progress_line progress;
    build_for_grading(t, items, options.backend, progress);
    int status = passed;
    for (const item &i : items) {
        const lab &l = *i.of;
        const std::string stub = read_text(original_of(t, t.stub(l)).path),
                          filled = read_text(t.source(l, "filled"));
        const std::vector<int> todos = todos_in(stub);
        std::vector<outcome> after(todos.size());
        progress.say(fmt::format("{}: {} TODOs", l.name, todos.size()));
        parallel_for(todos.size(), options.backend == "sim" ? cores() : 1, [&](std::size_t k) {
            after[k] = graded_after(t, l, todos[k], filled_up_to(stub, filled, todos[k]), options);
        });
        progress.clear();
        std::string words;
        double before = 0;
        for (const outcome &o : after) {
            const bool loses = o.points < before;
            words += fmt::format("{}TODO {} {:g}{}", words.empty() ? "" : ", ", o.todo, o.points,
                                 !o.problem.empty() ? " (" + o.problem + ")"
                                 : loses            ? " (fewer)"
                                                    : "");
            if (loses || !o.problem.empty()) status = failed;
            before = std::max(before, o.points);
        }
        fmt::print("points after each TODO of {}: {}\n", l.name, words);
    }
    return status;
}

} // namespace cli
