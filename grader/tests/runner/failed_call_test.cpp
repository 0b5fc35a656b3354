// Tests how messages name the first call that failed.
#include "runner/failed_call.hpp"

#include "tests/contains.hpp"

#include <doctest/doctest.h>

using namespace grading;

TEST_CASE("calls are found by name, outside of comments and longer names")
{
    const char *source = "void f() // cudaMemcpy\n"
                         "{\n"
                         "    cudaMemcpyAsync(a, b, n);\n"
                         "    check(cudaMemcpy(a, b, n, cudaMemcpyDefault)); /* cudaMemcpy\n"
                         "    cudaMemcpy */ cudaMemcpy (a, b);\n"
                         "    my_cudaMemcpy(\"// \\\" /*\"); kernel<<<1, 1>>>();\n"
                         "}\n";
    auto said = [](const char *name, std::string_view in, std::string_view within = {}) {
        return sentence_of({name, "e", ""}, in, within);
    };
    CHECK(said("cudaMemcpy", source) == "cudaMemcpy (on one of the lines 4, 5) failed with e.");
    CHECK(said("cudaMemcpyAsync", source) == "cudaMemcpyAsync on line 3 failed with e.");
    CHECK(said("cudaLaunchKernel", source) == "a kernel's launch on line 6 failed with e.");
    CHECK(said("cudaFree", source) == "cudaFree failed with e.");

    const std::string two = std::string(source) + "void g()\n{\n    cudaMemcpy(a);\n}\n";
    CHECK(said("cudaMemcpy", two, "g") == "cudaMemcpy on line 10 failed with e.");
    CHECK(said("cudaMemcpyAsync", two, "g") == "cudaMemcpyAsync on line 3 failed with e.");
}

TEST_CASE("a failed call is a sentence, with its line where that is known")
{
    failed_call f{"cudaMemcpy", "cudaErrorInvalidValue", "its source is a null pointer"};
    CHECK(sentence_of(f, "\ncudaMemcpy(a, 0, 4);") ==
          "cudaMemcpy on line 2 failed with cudaErrorInvalidValue: its source is a null pointer.");
    CHECK(sentence_of(f, "cudaMemcpy();\n\ncudaMemcpy();\n") ==
          "cudaMemcpy (on one of the lines 1, 3) failed with cudaErrorInvalidValue: its source is "
          "a null pointer.");
    f.why.clear();
    CHECK(sentence_of(f, "") == "cudaMemcpy failed with cudaErrorInvalidValue.");
    CHECK(
        sentence_of({"cudaLaunchKernel", "cudaErrorInvalidResourceHandle", {}}, "k<<<1, 1>>>()") ==
        "a kernel's launch on line 1 failed with cudaErrorInvalidResourceHandle.");
    CHECK_FALSE(failed_call{});
}

TEST_CASE("a copy in a wrong direction is found by what the lines say")
{
    const std::string source = "cudaMemcpy(x, x_host, n, cudaMemcpyHostToDevice);\n"
                               "cudaMemcpy(y, y_host, n, cudaMemcpyHostToDevice);\n";
    const failed_call to_device{"cudaMemcpy", "cudaErrorInvalidValue",
                                "its destination is host memory, and the direction it was given "
                                "says device",
                                simulator::wrong_pointer::destination_on_host};
    CHECK(contains(
        sentence_of(to_device, source + "cudaMemcpy(y_host, y, n, cudaMemcpyHostToDevice);"),
        "on line 3 failed"));
    CHECK(contains(
        sentence_of(to_device, source + "cudaMemcpy(y_host, y, n, cudaMemcpyDeviceToHost);"),
        "on one of the lines 1, 2)"));
    const failed_call to_host{"cudaMemcpy", "cudaErrorInvalidValue",
                              "its destination is device memory, and the direction it was given "
                              "says host",
                              simulator::wrong_pointer::destination_on_device};
    CHECK(
        contains(sentence_of(to_host, source + "cudaMemcpy(y, y_host, n, cudaMemcpyDeviceToHost);"),
                 "on line 3 failed"));
}

TEST_CASE("the order of a copy's arguments is told for the copies that have it")
{
    failed_call f{"cudaMemcpy", "cudaErrorInvalidValue", "",
                  simulator::wrong_pointer::source_on_device};
    CHECK(contains(hint_of(f), "(to, from, bytes, direction)"));
    f.name = "cudaMemcpyToSymbol";
    CHECK(contains(hint_of(f), "Begin with the call that failed"));
    f.name = "cudaFree";
    CHECK(contains(hint_of(f), "cudaFree takes the pointers"));
}
