// Tests what messages take from the text of a submission.
#include "runner/source_facts.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

using namespace grading;

TEST_CASE("the element of a shared array is known where its declaration says it plainly")
{
    const char *source = "constexpr int n = 8; // __shared__ double copy[n];\n"
                         "__global__ void f() {\n"
                         "    __shared__ int copy[n];\n"
                         "    __shared__ volatile unsigned char bytes[4 * n];\n"
                         "    __shared__ float tile[n][n + 1], row[n];\n"
                         "    __shared__ unsigned counts[n], all;\n"
                         "    __shared__ float4 vectors[n];\n"
                         "    __shared__ unsigned long long wide[n];\n"
                         "    __shared__ point points[n];\n"
                         "    extern __shared__ double dynamic[];\n"
                         "}\n";
    CHECK(shared_element_bytes(source, "copy") == 4);
    CHECK(shared_element_bytes(source, "bytes") == 1);
    CHECK(shared_element_bytes(source, "row") == 4);
    CHECK(shared_element_bytes(source, "counts") == 4);
    CHECK(shared_element_bytes(source, "vectors") == 16);
    CHECK(shared_element_bytes(source, "wide") == 8);
    CHECK(shared_element_bytes(source, "dynamic") == 8);
    for (const char *unknown : {"tile", "all", "points", "n", "elsewhere"})
        CHECK_MESSAGE(shared_element_bytes(source, unknown) == 0, unknown);
    const std::string two = std::string(source) + "void g() { __shared__ double copy[4]; }\n";
    CHECK(shared_element_bytes(two, "copy") == 0);
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
    CHECK(shared_element_bytes("__shared__ x" + std::string(200000, '2') + " a[4];", "a") == 0);
    for (int k = 0; k < 25000; ++k) shared += "__shared__ ";
    CHECK(shared_element_bytes(shared + "int a[4];", "a") == 0);
}
