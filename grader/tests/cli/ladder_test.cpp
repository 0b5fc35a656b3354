// Tests the ladder in a terminal: its rows, its width, and that counts and times never mix.
#include "cli/results/ladder.hpp"

#include "tests/contains.hpp"

#include <doctest/doctest.h>

using namespace cli;

namespace {

json document_of(const json &speed, const char *correctness = "PASS")
{
    json cases = json::array({{{"name", "scale: one"},
                               {"kind", "correctness"},
                               {"verdict", correctness},
                               {"message", "said so"}}});
    json s = speed;
    s.update({{"name", "scale: many"}, {"kind", "speed"}});
    if (!s.contains("verdict")) s["verdict"] = "PASS";
    cases.push_back(s);
    return {{"schema", "cuda-workbook/1"},
            {"env", {{"gpu", "NVIDIA H200"}}},
            {"labs", json::array({{{"lab", "02_scaling"},
                                   {"submission", "x"},
                                   {"status", "pass"},
                                   {"cases", cases}}})}};
}

json timed(double ms, double ratio, double share)
{
    return document_of({{"measured", {{"ms", ms}}},
                        {"speedup", {{"median", ratio}}},
                        {"fraction", {{"value", share}, {"of", "copy bandwidth"}}}});
}

json counted(double used)
{
    return document_of({{"counters", {{"used by loads", used}}}, {"measured", nullptr}});
}

ladder on_gpu()
{
    return {"02_scaling",
            "gpu",
            {{"naive", "A thread a row.", timed(8, 1, 0.1)},
             {"1_coalesced",
              "Lanes walk along the row, which takes a rather long line to explain to anybody who "
              "reads it here.",
              timed(1, 8, 0.8)},
             {"solution", "Everything.", timed(0.8, 10, 0.98)}}};
}

ladder on_sim()
{
    return {
        "02_scaling",
        "sim",
        {{"naive", "A thread a row.", counted(0.125)}, {"solution", "Everything.", counted(1)}}};
}

int widest(const std::string &text)
{
    int most = 0;
    for (const std::string &line : lines(text)) most = std::max(most, columns(line));
    return most;
}

} // namespace

TEST_CASE("on a GPU: times, ratios, fractions, bars in proportion")
{
    terminal plain;
    std::string text = draw(on_gpu(), plain);
    CHECK(contains(text, "timed on NVIDIA H200"));
    CHECK(contains(text, "share of copy bandwidth"));
    CHECK(contains(text, "less is better"));
    CHECK(contains(text, "naive            8.000 ms   1.00x   10 %  ###"));
    CHECK(contains(text, "solution         0.800 ms  10.00x   98 %  "));
    CHECK(contains(text, "A thread a row."));
    CHECK_FALSE(contains(text, "counted"));
    CHECK(widest(text) <= 80);
    // The solution's bar is ten times naive's.
    std::size_t bars[2] = {0, 0};
    for (const std::string &line : lines(text)) {
        std::size_t n = std::count(line.begin(), line.end(), '#');
        if (contains(line, "naive ") && n) bars[0] = n;
        if (contains(line, "solution ") && n) bars[1] = n;
    }
    CHECK(bars[0] >= 2);
    CHECK(bars[1] / bars[0] >= 8);
    CHECK(bars[1] / bars[0] <= 12);
}

TEST_CASE("on the simulator: counts with their label, no times")
{
    terminal plain;
    std::string text = draw(on_sim(), plain);
    CHECK(contains(text, "counted by the simulator, not timed"));
    CHECK(contains(text, "used by loads"));
    CHECK(contains(text, "0.125"));
    CHECK(contains(text, "(1 of 1 right)"));
    CHECK_FALSE(contains(text, " ms"));
    CHECK_FALSE(contains(text, "H200"));
    CHECK(widest(text) <= 80);
}

TEST_CASE("an overview draws the speed cases that it names, and counts correctness all the same")
{
    terminal plain;
    ladder l = on_sim();
    for (rung &r : l.rungs) {
        json &cases = r.document["labs"][0]["cases"];
        cases.push_back(cases.back());
        cases.back()["name"] = "scale: few";
    }
    CHECK(contains(draw(l, plain), "scale: few"));
    l.drawn = {"scale: many", "scale: many, timed"};
    const std::string text = draw(l, plain);
    CHECK(contains(text, "scale: many"));
    CHECK_FALSE(contains(text, "scale: few"));
    CHECK_FALSE(contains(text, ", timed\n"));
    CHECK(contains(text, "(1 of 1 right)"));
}

TEST_CASE("which way a measure is good is said where the grader says it")
{
    ladder l = on_sim();
    CHECK_FALSE(contains(draw(l, terminal{}), "is better"));
    for (rung &r : l.rungs)
        r.document["labs"][0]["cases"][1]["counted_gates"] = {
            {"used by loads", {{"better", "more"}, {"unit", "%"}}}};
    CHECK(contains(draw(l, terminal{}),
                   "used by loads (more is better)\n    naive        12.5 %  ##"));
}

TEST_CASE("on the simulator the vendor's library is said to wait, where there is one")
{
    terminal plain;
    ladder l = on_sim();
    CHECK_FALSE(contains(draw(l, plain), "library"));
    l.library_elsewhere = "on gpu only";
    CHECK(contains(draw(l, plain), "library: the vendor's version, on gpu only\n"));
}

TEST_CASE("a measure that is the same in all versions takes one line")
{
    ladder l = on_sim();
    for (rung &r : l.rungs) r.document["labs"][0]["cases"][1]["counters"]["used by stores"] = 1;
    std::string text = draw(l, terminal{});
    CHECK(contains(text, "the same in all: used by stores 1\n"));
    CHECK(contains(text, "used by loads\n    naive         0.125  ##"));
}

TEST_CASE("what is open is said of each version, and why below")
{
    ladder l = on_sim();
    CHECK_FALSE(contains(draw(l, terminal{}), "open"));
    json &lab = l.rungs[1].document["labs"][0];
    lab["open_points"] = 4;
    lab["cases"].push_back({{"name", "scale: ranks"},
                            {"kind", "correctness"},
                            {"verdict", "SKIPPED"},
                            {"message", "There is no MPI."},
                            {"open_points", 4}});
    std::string text = draw(l, terminal{});
    CHECK(contains(text, "Everything. (1 of 1 right) (4 points open)\n"));
    CHECK(contains(text, "4 points are open: scale: ranks. There is no MPI.\n"));
    CHECK(ladder_faults(l).empty());
}

TEST_CASE("bars are ASCII unless the terminal has UTF-8, and fit either way")
{
    terminal rich;
    rich.utf8 = true;
    std::string text = draw(on_gpu(), rich);
    CHECK(contains(text, "█"));
    CHECK_FALSE(contains(text, "#"));
    CHECK(widest(text) <= 80);
    for (unsigned char c : draw(on_gpu(), terminal{})) CHECK(c < 0x80);
    rich.width = 40;
    CHECK(widest(draw(on_sim(), rich)) <= 40);
}

TEST_CASE("a version that lacks a figure is left out of the bars, not drawn as zero")
{
    ladder l = on_gpu();
    l.rungs[1].document =
        document_of({{"verdict", "WRONG_ANSWER"}, {"speedup", {{"median", nullptr}}}});
    std::string text = draw(l, terminal{});
    CHECK_FALSE(contains(text, "1_coalesced      "));
    CHECK(contains(text, "solution"));
}

TEST_CASE("what is wrong with our own versions is said, and a slow naive is not wrong")
{
    ladder l = on_gpu();
    l.rungs[0].document["labs"][0]["cases"][1]["verdict"] = "TOO_SLOW";
    CHECK(ladder_faults(l).empty());
    l.rungs[2].document["labs"][0]["cases"][1]["verdict"] = "TOO_SLOW";
    CHECK(ladder_faults(l).size() == 1);
    l.rungs[1].document = document_of(json::object(), "OUT_OF_BOUNDS");
    REQUIRE(ladder_faults(l).size() == 2);
    CHECK(contains(ladder_faults(l)[0], "1_coalesced: OUT_OF_BOUNDS  scale: one: said so"));
    CHECK(contains(draw(l, terminal{}), "(0 of 1 right)"));
}

TEST_CASE("what a file is for is its first comment")
{
    CHECK(first_comment("// Lanes walk along the row.\n#include <x>\n") ==
          "Lanes walk along the row.");
    CHECK(first_comment("// Rung 1: lanes\n// walk. The rest\n// is detail.\nint i;\n") ==
          "Rung 1: lanes walk.");
    CHECK(first_comment("int i; // no\n") == "");
}
