// Tests what messages take from the text of a submission.
#include "runner/source_facts.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

using namespace grading;

TEST_CASE("the shape of a shared array is known where its declaration says it plainly")
{
    const char *source =
        "constexpr int n = 8, half = n / 2; // __shared__ double copy[n];\n"
        "#define ROWS (2 * n)\n"
        "#define COLUMNS 3\n"
        "__global__ void f() {\n"
        "    const int deep = n + half - 1;\n"
        "    int thread = threadIdx.x;\n"
        "    __shared__ int copy[n];\n"
        "    __shared__ volatile unsigned char bytes[4 * n];\n"
        "    __shared__ float tile[n][n + 1], row[n];\n"
        "    __shared__ double cube[2][deep][ROWS * (COLUMNS + 1)];\n"
        "    __shared__ unsigned counts[n], all;\n"
        "    __shared__ float4 vectors[n];\n"
        "    __shared__ unsigned long long wide[n];\n"
        "    __shared__ point points[n];\n"
        "    __shared__ int by_template[n][m], by_variable[n][thread], none[4][0];\n"
        "    extern __shared__ double dynamic[];\n"
        "}\n";
    const auto shape = [&](const char *array) { return shared_array_shape(source, array); };
    CHECK(shape("copy") == array_shape{4, {}});
    CHECK(shape("bytes") == array_shape{1, {}});
    CHECK(shape("row") == array_shape{4, {}});
    CHECK(shape("counts") == array_shape{4, {}});
    CHECK(shape("vectors") == array_shape{16, {}});
    CHECK(shape("wide") == array_shape{8, {}});
    CHECK(shape("dynamic") == array_shape{8, {}});
    CHECK(shape("tile") == array_shape{4, {9}});
    CHECK(shape("cube") == array_shape{8, {11, 64}});
    for (const char *unknown :
         {"all", "points", "n", "elsewhere", "by_template", "by_variable", "none"})
        CHECK_MESSAGE(shape(unknown) == array_shape(), unknown);
    const std::string two = std::string(source) + "void g() { __shared__ double copy[4]; }\n";
    CHECK(shared_array_shape(two, "copy") == array_shape());
    const std::string again = std::string(source) + "void g() { const int n = 9; }\n";
    CHECK(shared_array_shape(again, "tile") == array_shape());
}

TEST_CASE("functions that divide are found from the one that was called, but not by a number")
{
    const char *source = "static int rounded(int n) { return (n + 31) / 32 * 32; }\n"
                         "static int by_registers(int n, int r)\n"
                         "{\n"
                         "    return n / rounded(r); // and by nothing else\n"
                         "}\n"
                         "static int by_bytes(int n, int b) { n %= b; return n; }\n"
                         "static int unused(int n) { return 1 / n; }\n"
                         "int blocks(int n) // 1 / n\n"
                         "{\n"
                         "    return by_registers(n, 1) + by_bytes(n, 2);\n"
                         "}\n";
    using names = std::vector<std::string>;
    CHECK(dividing_functions(source, "blocks") == names{"by_registers", "by_bytes"});
    CHECK(dividing_functions(source, "rounded").empty());
    CHECK(dividing_functions(source, "missing").empty());
}

TEST_CASE("threads miss a line of a helper that has no branch by one in its caller")
{
    const std::string source = "int vote(bool b)\n{\n    return all(b);\n}\n"
                               "void ask(int i)\n{\n    // if\n    if (i) vote(i);\n}\n";
    CHECK(no_branch_before(source, 3));
    CHECK_FALSE(no_branch_before(source, 8));
    CHECK_FALSE(no_branch_before(source, 99));
}

// Without a limit each would keep the grader busy for minutes.
TEST_CASE("a source that is made to be searched for long is not searched")
{
    std::string one_line = "int f0(int x) { return 1 / x; } ", shared;
    for (int k = 1; k < 8000; ++k)
        one_line += fmt::format("int f{}(int x) {{ return f{}(x); }} ", k, k - 1);
    CHECK(dividing_functions(one_line, "f7999").empty());
    std::string few = "int f0(int x) { return 1 / x; }" + std::string(20000, ' ');
    for (int k = 1; k < 150; ++k) few += fmt::format(" int f{0}() {{ return f0({0}); }}", k);
    CHECK(dividing_functions(few, "f149").empty());
    CHECK(shared_array_shape("__shared__ x" + std::string(200000, '2') + " a[4];", "a") ==
          array_shape());
    for (int k = 0; k < 25000; ++k) shared += "__shared__ ";
    CHECK(shared_array_shape(shared + "int a[4];", "a") == array_shape());
    std::string circle =
        "constexpr int a = a + 1, b = c * b, c = b + b + c; __shared__ int t[2][b], ";
    for (int k = 0; k < 10000; ++k) circle += "constexpr int a = b + b + c;\n";
    CHECK(shared_array_shape(circle + "int x;", "t") == array_shape());
    const std::string deep = "constexpr int a = " + std::string(200000, '(') + "1;";
    CHECK(shared_array_shape(deep + "__shared__ int t[2][a];", "t") == array_shape());
}
