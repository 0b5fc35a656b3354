// Takes the filled stub apart by TODO, and grades what a student has after each.
#include "todo_points.hpp"

#include "cli/results/stub_original.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/parallel_for.hpp"
#include "cli/support/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>

namespace cli {

namespace fs = std::filesystem;

namespace {

bool is_code(const std::string &line)
{
    const std::string said = trimmed(line);
    return !said.empty() && !said.starts_with("//");
}

// The number of a comment "// TODO 3 (scale): ..."; 0: the line begins no TODO.
int todo_of(const std::string &line)
{
    int number = 0;
    const std::size_t at = line.find("TODO ");
    return at != line.npos && std::sscanf(line.c_str() + at, "TODO %d (", &number) == 1 ? number
                                                                                        : 0;
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
    const std::string folder = t.build_root + "/submissions";
    fs::create_directories(folder);
    temporary_name file(folder);
    const std::string path = file.path() + ".cu";
    struct remover {
        const std::string &path;
        ~remover()
        {
            std::error_code none;
            fs::remove(path, none);
        }
    } at_the_end{path};
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
        if (const int n = todo_of(line); n > 0) numbers.insert(n);
    return {numbers.begin(), numbers.end()};
}

std::string filled_up_to(const std::string &stub, const std::string &filled, int last)
{
    const std::vector<std::string> all = lines(stub);
    std::size_t at = 0; // in the stub
    int todo = 0;       // that added lines belong to
    // Reads the comments before the stub's next line of code.
    auto read_comments = [&] {
        for (; at < all.size() && !is_code(all[at]); ++at)
            if (const int n = todo_of(all[at]); n > 0) todo = n;
    };
    read_comments();
    std::string text;
    for (const std::string &line : lines(filled)) {
        if (!is_code(line)) continue;
        const bool of_stub = at < all.size() && trimmed(line) == trimmed(all[at]);
        if (of_stub || todo <= last) text += line + "\n";
        if (!of_stub) continue;
        ++at;
        read_comments();
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
