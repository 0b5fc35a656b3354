// Tests which TODOs a case has: its function's, its own, those of a step of its points, and those
// that only the clock sees.
#include "text/todo.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using grading::todo_list;
using todo_numbers = std::vector<int>;

static const std::string two_functions = "// TODO 1 (sort): A.\n"
                                         "void a();\n"
                                         "// TODO 2 (sort: speed): B.\n"
                                         "void b();\n"
                                         "// TODO 3 (sort: speed, timed): C.\n"
                                         "void c();\n"
                                         "// TODO 4 (scan): D.\n"
                                         "void d();\n"
                                         "// TODO 5 (scan: speed, 50 bytes moved): E.\n"
                                         "void e();\n"
                                         "// TODO 6 (scan: speed, at most 15 launches): F.\n"
                                         "void f();\n"
                                         "// TODO 7 (scan: speed, timed): G.\n"
                                         "void g();\n";

// The file with code above TODO `number`, which is then begun.
static std::string with_begun(int number)
{
    std::string begun = two_functions;
    return begun.insert(begun.find("// TODO " + std::to_string(number)), "done();\n");
}

TEST_CASE("a timed case has the TODOs of the counted one, and its own, which no other case has")
{
    const todo_list all(two_functions);
    CHECK(all.of_case("sort: speed") == todo_numbers{2});
    CHECK(all.of_case("sort: speed, timed") == todo_numbers{2});
    CHECK(todo_list(two_functions, with_begun(2)).of_case("sort: speed, timed") == todo_numbers{3});
    CHECK(todo_list(two_functions, with_begun(3)).of_case("sort: speed, timed") == todo_numbers{2});
    CHECK(all.of_case("scan: speed, timed") == todo_numbers{4});
    CHECK(all.is_for_later("sort: speed, timed"));
    CHECK(all.is_for_later("scan: speed, timed"));
    CHECK_FALSE(all.is_for_later("scan: speed, few, timed"));
}

TEST_CASE("more points are for the steps of a case that are left; those of the clock for its TODOs")
{
    const todo_list all(two_functions);
    CHECK(all.for_more("sort: speed") == todo_numbers{2});
    CHECK(all.for_more("sort: speed, timed") == todo_numbers{3});
    CHECK(all.for_more("sort: speed, few, timed") == todo_numbers{3});
    CHECK(all.for_more("scan: speed") == todo_numbers{5, 6});
    CHECK(all.for_more("scan: speed, few") == todo_numbers{5, 6});
    CHECK(todo_list(two_functions, with_begun(5)).for_more("scan: speed") == todo_numbers{6});
    CHECK(all.for_more("scan: speed, timed") == todo_numbers{7});
    CHECK(all.for_more("scan: other, timed") == todo_numbers{7});
    CHECK(todo_list("// TODO 1 (sort): A.\n").for_more("sort: speed, timed") == todo_numbers{1});
}
