// Tests how the filled stub is taken apart by TODO.
#include "cli/check/todo_points.hpp"

#include <doctest/doctest.h>

using namespace cli;

namespace {

// Each TODO stands in a function of its own, which ends in a brace.
const std::string stub = R"(
void first(int *x)
{
    // TODO 1 (first): All of them.
}

void second(int *x)
{
    // TODO 2 (second): The even ones.
    // TODO 3 (second: odd): The odd ones, too, in the order
    // of TODO 1.
}
)";

} // namespace

TEST_CASE("a stub's TODOs are listed in order")
{
    CHECK(todos_in(stub) == std::vector<int>{1, 2, 3});
}

TEST_CASE("a brace that was added is not taken for the stub's")
{
    const std::string filled = R"(
void first(int *x)
{
    for (int i = 0; i < 4; ++i) {
        x[i] = 1;
    }
}

void second(int *x)
{
}
)";
    CHECK(filled_up_to(stub, filled, 0) ==
          "#define DONE 0\nvoid first(int *x)\n{\n}\nvoid second(int *x)\n{\n}\n");
    CHECK(filled_up_to(stub, filled, 1) == "#define DONE 1\nvoid first(int *x)\n{\n    for (int i "
                                           "= 0; i < 4; ++i) {\n        x[i] = 1;\n    }\n}\n"
                                           "void second(int *x)\n{\n}\n");
}

TEST_CASE("a helper between two functions belongs to the TODO above it")
{
    const std::string filled = R"(
void first(int *x)
{
    x[0] = 1;
}

// Both use it.
int half(int i) { return i / 2; }

void second(int *x)
{
    x[half(2)] = 2;
}
)";
    const std::string after_1 = filled_up_to(stub, filled, 1);
    CHECK(after_1.find("half(int i)") != std::string::npos);
    CHECK(after_1.find("x[half(2)]") == std::string::npos);
    CHECK(filled_up_to(stub, filled, 0).find("half") == std::string::npos);
}

TEST_CASE("of two TODOs side by side the filled stub's own comments tell; else it is the last")
{
    auto with = [](const std::string &comment) {
        return "void first(int *x)\n{\n}\nvoid second(int *x)\n{\n" + comment +
               "    x[0] = 2;\n    x[4] = 2;\n    // TODO 3 (second: odd): The odd ones, too.\n    "
               "x[1] = 2;\n}\n";
    };
    const std::string told = with("    // TODO 2 (second): The even ones.\n");
    CHECK(filled_up_to(stub, told, 1).find("x[0]") == std::string::npos);
    CHECK(filled_up_to(stub, told, 2).find("x[0]") != std::string::npos);
    CHECK(filled_up_to(stub, told, 2).find("x[4]") != std::string::npos);
    CHECK(filled_up_to(stub, told, 2).find("x[1]") == std::string::npos);
    CHECK(filled_up_to(stub, told, 3).find("x[1]") != std::string::npos);
    CHECK(filled_up_to(stub, with(""), 2).find("x[0]") == std::string::npos);
}

TEST_CASE("lines that a later TODO replaces are chosen by DONE")
{
    const std::string filled = R"(
#ifndef DONE
#define DONE 3
#endif
void first(int *x)
{
#if DONE < 2
    x[0] = 1;
#else
    x[0] = one();
#endif
}

void second(int *x)
{
    // TODO 3 (second: odd): The odd ones, too.
#pragma unroll
    for (int i = 1; i < 9; i += 2) x[i] = 2;
}
)";
    CHECK(filled_up_to(stub, filled, 1) ==
          "#define DONE 1\n#ifndef DONE\n#define DONE 3\n#endif\nvoid first(int *x)\n{\n#if DONE < "
          "2\n    x[0] = 1;\n#else\n    x[0] = one();\n#endif\n}\nvoid second(int *x)\n{\n}\n");
}
