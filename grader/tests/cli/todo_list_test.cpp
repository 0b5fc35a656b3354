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

static const std::string product = "void kernel()\n"
                                   "{\n"
                                   "    // TODO 1 (product): In lane 0, without shared memory.\n"
                                   "    // TODO 2 (product: what is loaded): A tile of each, into\n"
                                   "    // shared memory.\n"
                                   "}\n";

// With a line of code below the TODOs.
static std::string product_with(const std::string &line)
{
    std::string changed = product;
    return changed.insert(changed.rfind('}'), line);
}

TEST_CASE("a __shared__ array has begun the TODO that puts one there, until its case passes")
{
    const std::string tiled = product_with("    __shared__ float t[4];\n");
    const todo_list todos(product, tiled);
    CHECK(todos.of_case("product: a few") == todo_numbers{2});
    CHECK(todo_list(product, product_with("    // __shared__ float t[4];\n"))
              .of_case("product: a few") != todo_numbers{2});
    const grading::case_outcome failed{"product: a few", true};
    CHECK(todos_to_blame("product: a few", 0, {failed, {"product: what is loaded", true}}, todos) ==
          todo_numbers{2});
    CHECK(todos_to_blame("product: a few", 0, {failed, {"product: what is loaded"}}, todos) ==
          todo_numbers{1});
}

TEST_CASE("more points are for what is left of a case's own TODOs")
{
    const std::string original = "// TODO 1 (sort): A.\n"
                                 "void a();\n"
                                 "// TODO 2 (sort: speed): B.\n"
                                 "void b();\n"
                                 "// TODO 3 (sort: speed): C.\n"
                                 "void c();\n";
    std::string begun = original;
    begun.insert(begun.find("// TODO 2"), "done();\n");
    CHECK(todo_list(original).for_more("sort: speed") == todo_numbers{2, 3});
    CHECK(todo_list(original, begun).for_more("sort: speed") == todo_numbers{3});
}

TEST_CASE("work for later is mended first only where its TODO comes before what is not written")
{
    const std::string original = "// TODO 1 (first): A.\n"
                                 "void a();\n"
                                 "// TODO 2 (first: speed): B.\n"
                                 "void b();\n"
                                 "// TODO 3 (second): C.\n"
                                 "void c();\n"
                                 "// TODO 4 (third: speed): D.\n"
                                 "void d();\n"
                                 "// TODO 5 (third): E.\n"
                                 "void e();\n";
    using indices = std::vector<std::size_t>;
    const todo_list todos(original);
    const grading::case_outcome early{"first: speed", true, false, true},
        late{"third: speed", true, false, true}, open{"second: a few", true, true};
    CHECK(order_to_mend({open, early}, todos) == indices{1, 0});
    CHECK(order_to_mend({open, late}, todos) == indices{0, 1});
}
