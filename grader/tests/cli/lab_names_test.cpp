// Tests which lab a word means, and the message if it means none or several.
#include "cli/results/lab_names.hpp"

#include "cli/support/errors.hpp"

#include "tests/contains.hpp"

#include <doctest/doctest.h>

using namespace cli;

namespace {

const std::vector<std::string> names = {"01_memory_spaces", "02_coalescing", "04_tiled_matmul",
                                        "06_scan",          "10_radix_sort", "12_multi_gpu"};

std::string refusal(const std::string &word)
{
    try {
        return "found " + find_lab(word, names);
    } catch (const usage_error &e) {
        return e.what();
    }
}

} // namespace

TEST_CASE("a number, a part of a name, a whole name and a path all find the lab")
{
    for (const char *word :
         {"2", "02", "coal", "COAL", "02_coalescing", "02_c", "labs/02_coalescing/stub.cu",
          "./labs/02_coalescing/", "/home/me/labs/02_coalescing"})
        CHECK(find_lab(word, names) == "02_coalescing");
    CHECK(find_lab("10", names) == "10_radix_sort");
    CHECK(find_lab("1", names) == "01_memory_spaces"); // neither 10 nor 12
}

TEST_CASE("a word that means several labs lists them, and no other")
{
    std::string said = refusal("m");
    CHECK(contains(said, "\"m\" means 3 labs"));
    CHECK(contains(said, "\n    01_memory_spaces\n    04_tiled_matmul\n    12_multi_gpu"));
    CHECK_FALSE(contains(said, "scan"));
}

TEST_CASE("a word that means no lab lists all, and the one that is near")
{
    std::string said = refusal("colaescing");
    CHECK(contains(said, "no lab is called \"colaescing\". Did you mean 02_coalescing?"));
    for (const std::string &name : names) CHECK(contains(said, "\n    " + name));
    CHECK_FALSE(contains(refusal("zzzzzz"), "Did you mean"));
    CHECK(contains(refusal("3"), "no lab is called \"3\""));
    CHECK(contains(refusal("99999999999999999999"), "no lab"));
    CHECK(contains(refusal(""), "means 6 labs"));
}

TEST_CASE("a whole name wins over being part of another")
{
    CHECK(find_lab("scan", {"scan", "scan_more"}) == "scan");
}

TEST_CASE("a file that is no stub is not taken for its lab, whose stub would be graded")
{
    const std::string said = refusal("solutions/02_coalescing/solution.cu");
    CHECK(contains(said, "is a file, not a lab"));
    CHECK(contains(said, "./workbook grade LAB --submission solutions/02_coalescing/solution.cu"));
    CHECK(contains(refusal("/tmp/mine.cu"), "is a file, not a lab"));
}

TEST_CASE("several words give each lab once, in teaching order")
{
    using list = std::vector<std::string>;
    CHECK(find_labs({"6", "scan", "2"}, names) == list{"02_coalescing", "06_scan"});
    CHECK(find_labs({}, names) == names);
    CHECK_THROWS_AS(find_labs({"2", "nothing"}, names), usage_error);
}
