// Tests the page of a class: what it counts, that it is whole, and that strangers' text stays text.
#include "cli/commands/commands.hpp"
#include "cli/results/class_overview.hpp"
#include "cli/results/formats/class_page.hpp"
#include "cli/support/errors.hpp"
#include "cli_project.hpp"
#include "tests/wrong_in_xml.hpp"

using namespace cli;

namespace {

json class_case(const char *name, const char *verdict, const std::string &message, double ms)
{
    const bool open = verdict == std::string("SKIPPED");
    return {{"name", name},    {"kind", "correctness"}, {"verdict", verdict},
            {"points", 0},     {"max_points", 4},       {"open_points", open ? 4 : 0},
            {"hint", "Look."}, {"message", message},    {"duration_ms", ms}};
}

json class_row_of(const std::string &student, double points, const char *status,
                  const std::vector<json> &cases, double clock = 0)
{
    json sums = {{"points", clock}, {"max_points", 10}, {"open_points", 0}};
    json result = {{"schema", result_schema},
                   {"labs",
                    {{{"lab", "02_scaling"},
                      {"submission", "stub"},
                      {"status", status},
                      {"points", points},
                      {"max_points", 40},
                      {"open_points", 0},
                      {"clock", sums},
                      {"cases", cases}}}}};
    return {{"student", student},  {"lab", "02_scaling"}, {"status", status}, {"points", points},
            {"max_points", 40},    {"open_points", 0},    {"clock", sums},    {"problem", ""},
            {"first_failure", ""}, {"result", result}};
}

json row_without_result(const std::string &student, const char *status, const std::string &problem)
{
    json row = class_row_of(student, 0, status, {});
    row["problem"] = problem;
    row["result"] = json::object();
    return row;
}

json class_of(const std::vector<json> &rows)
{
    return {{"schema", class_schema},
            {"seed", "1f"},
            {"backend", "sim"},
            {"tool", "7"},
            {"rows", rows}};
}

// Two students with one mistake, made in three cases; one who is right; one without a file, and one
// whom a fault of ours left ungraded.
json small_class()
{
    auto wrong = [](const char *name, int count, double ms) {
        return class_case(name, "WRONG_ANSWER",
                          fmt::format("{0} of 15 elements are wrong; the first is out[{0}]: "
                                      "expected 0.5, got 1.5e-05. Every wrong element is {0} "
                                      "times what it should be. In the call with n = {0}.",
                                      count),
                          ms);
    };
    json late = class_row_of("bob", 31.5, "fail", {wrong("scale: one", 4, 300)});
    late["late_days"] = 2;
    return class_of(
        {class_row_of("ada", 20, "fail",
                      {wrong("scale: one", 3, 100), wrong("scale: many", 7, 20)}),
         late, class_row_of("eve", 40, "pass", {class_case("scale: one", "PASS", "", 200)}, 10),
         row_without_result("mia", "missing", "there is no stub.cu"),
         row_without_result("zoe", "error", "the disk is full")});
}

std::string class_page_refusal(const convert_options &options)
{
    try {
        convert_command(options);
    } catch (const usage_error &e) {
        return e.what();
    }
    return "none";
}

} // namespace

TEST_CASE("a mistake is what two students' messages have in common")
{
    auto same = [](const char *a, const char *b, const char *what) {
        CHECK(mistake_in(a) == what);
        CHECK(mistake_in(b) == what);
    };
    same("12 of 15 elements are wrong; the first is out[1] (row 0, column 1): expected 0.19291012, "
         "got -0.19. Each row was scaled by a factor of its own. In the call with rows = 3.",
         "1 of 4 elements is wrong; the first is out[3]: expected 1e-05, got nan. Each row was "
         "scaled by a factor of its own.",
         "Each row was scaled by a factor of its own.");
    same("A first call was right and a second, with the same inputs, was not: 1 of 9 elements is "
         "wrong; the first is out[8]: expected 3, got 2. Every 1024 elements lack -4.5. Print it.",
         "Every 64 elements lack 2e-05.", "Every N elements lack N.");
    same("Kernel a<true, int> reached outside its memory at stub.cu:83: a read of 4 bytes, just "
         "past the end of `f4` (12 bytes). Block (0, 0, 0).",
         "Kernel b reached outside its memory at my own.cu:7: a read of 16 bytes, just past the "
         "end of `f4` (8 bytes).",
         "A kernel reached outside its memory: a read of N bytes, just past the end of `f4` (N "
         "bytes).");
    same("A kernel launch was refused: read: invalid argument. Kernel read was asked for a grid of "
         "(0, 1, 1) blocks.",
         "A kernel launch was refused: mine: invalid argument. It has no block.",
         "A kernel launch was refused: invalid argument.");
    same("/a b/stub.cu(1): error: identifier \"x\" is undefined",
         "stub.cu(17): error: identifier \"y\" is undefined\n1 error",
         "error: identifier \"...\" is undefined");
    // Without a recognised cause nothing is in common.
    same("2 of 4 elements are wrong; the first is out[0]: expected 0, got 1. In the call with n = "
         "4.",
         "2 of 4 elements are wrong; the first is out[0]: expected 0, got 1.", "");
    CHECK(mistake_in("sums of float4 in warp0: 4") == "sums of float4 in warp0: N");
    CHECK(mistake_in("") == "");
}

TEST_CASE("of a class the page counts students, not cases, and only those with a grade")
{
    const class_overview all = overview_of(small_class(), {});
    REQUIRE(all.labs.size() == 1);
    const lab_overview &l = all.labs[0];
    CHECK(l.points == std::vector<double>{20, 31.5, 40});
    CHECK(l.median == 31.5);
    CHECK(l.missing == 1);
    CHECK(l.faults == 1);
    CHECK(l.bands ==
          decltype(l.bands){
              {"complete and fast", 1}, {"complete", 0}, {"understood", 1}, {"right", 1}, {"", 0}});
    REQUIRE(l.mistakes.size() == 1);
    CHECK(l.mistakes[0].students == 2);
    CHECK(l.mistakes[0].function == "scale");
    CHECK(l.mistakes[0].what == "Every wrong element is N times what it should be.");
    CHECK(l.mistakes[0].student == "ada");
    CHECK(l.verdicts.at(0).verdict == "WRONG_ANSWER");
    CHECK(l.verdicts.at(0).students == 2);
    CHECK(l.verdicts.at(0).cases == 3);
    REQUIRE(l.slow.size() == 2);
    CHECK(l.slow[0].name == "scale: one");
    CHECK(l.slow[0].median_ms == 200);
    CHECK(l.slow[0].max_ms == 300);
    CHECK(l.slow[0].slowest == "bob");
    CHECK(all.missing.at(0).words == "there is no stub.cu");
    CHECK(all.faults.at(0).student == "zoe");

    const class_overview with_clock = overview_of(small_class(), {.clock = true});
    CHECK(with_clock.labs.at(0).points == std::vector<double>{20, 31.5, 50});
    CHECK(with_clock.labs[0].max_points == 50);
    CHECK(with_clock.labs[0].bands == l.bands);
}

TEST_CASE("the page says all this, every tag is closed, and it loads nothing")
{
    for (bool with_clock : {false, true}) {
        const std::string page = as_class_page(small_class(), {.clock = with_clock});
        CHECK(wrong_in_xml("?>" + page.substr(page.find('\n'))) == "");
        for (const char *words :
             {"<dt>students</dt><dd>5</dd>", "<dt>seed</dt><dd><code>1f</code></dd>",
              "<dt>workbook</dt><dd>7</dd>", "\u25b2", "median 31.5",
              "<strong>2 students</strong>, <code>scale</code>",
              "<td>zoe</td><td>the disk is full</td>", "2 days late",
              "<td>mia</td><td>there is no stub.cu</td>"})
            CHECK_MESSAGE(contains(page, words), words);
        CHECK_FALSE(contains(page, "http:"));
        CHECK_FALSE(contains(page, "src="));
        CHECK(contains(page, with_clock ? "<td>50 / 50" : "<td>40 / 40"));
    }
    CHECK(contains(as_class_page(class_of({}), {}), "Results of a class"));
}

TEST_CASE("no name and no message leaves its place in the page")
{
    const std::string evil = "</td></style><script>alert(1)</script>\x1b[31m \xff \xe2\x80\xae "
                             "`a` ` & \"x\" 'y'\n<img src=x onerror=a>";
    json wrong = class_case("scale: one", "CRASH", evil, 1e300);
    for (const char *key : {"name", "hint", "duration_ms"}) wrong[key] = evil;
    json row = class_row_of(evil, 3, "fail", {wrong});
    row["first_failure"] = evil;
    json lab = row_without_result("a", "error", evil);
    lab["lab"] = evil;
    json all =
        class_of({row, lab, row_without_result(evil, "missing", evil), json(3), {{"student", 3}}});
    all["seed"] = all["backend"] = all["tool"] = evil;
    const std::string page = as_class_page(all, {});
    CHECK(wrong_in_xml("?>" + page.substr(page.find('\n'))) == "");
    CHECK(page.find("</style>") == page.rfind("</style>"));
    for (const char *tag : {"<script", "<img", "\x1b", "\xe2\x80\xae", "\xff"})
        CHECK_FALSE(contains(page, tag));
    CHECK(contains(page, "&lt;script&gt;alert(1)"));
}

TEST_CASE("held-back cases are on the page only after publication")
{
    json secret = class_case("scale: secret", "WRONG_ANSWER", "The secret sum is wrong.", 9000);
    secret["held_back"] = true;
    json row = class_row_of("ada", 40, "fail", {class_case("scale: one", "PASS", "", 1), secret});
    const json sums = {{"points", 2}, {"max_points", 5}, {"open_points", 0}};
    row["held_back"] = row["result"]["labs"][0]["held_back"] = sums;
    json all = class_of({row});
    all["held_back_seed"] = "5ec4e7";
    const std::string before = as_class_page(all, {}),
                      after = as_class_page(all, {.held_back = true});
    CHECK_FALSE(contains(before, "secret"));
    CHECK_FALSE(contains(before, "WRONG_ANSWER"));
    CHECK_FALSE(contains(before, "5ec4e7"));
    CHECK(contains(before, "held-back cases are left out"));
    CHECK(contains(before, "<td>40 / 40"));
    CHECK(contains(after, "The secret sum is wrong."));
    CHECK(contains(after, "<td>42 / 45"));
}

TEST_CASE("convert writes the page of a class, and of nothing else")
{
    project p;
    const std::string of_class = p.put("class.json", small_class().dump()),
                      out = p.root + "/class.html";
    CHECK(convert_command({of_class, "page", out, ""}) == passed);
    CHECK(read_text(out) == as_class_page(small_class(), {}));
    CHECK(convert_command({of_class, "page", out, "", true}) == passed);
    CHECK(read_text(out) == as_class_page(small_class(), {.clock = true}));
    CHECK(contains(class_page_refusal({of_class, "page", out, "ada"}), "leave --student out"));
    const std::string one = p.put("one.json", small_class()["rows"][0]["result"].dump());
    CHECK(contains(class_page_refusal({one, "page", out, ""}),
                   "one.json is not of a class. Give the file that autograde --json wrote."));
    CHECK(contains(class_page_refusal({p.put("x", "{"), "page", out, ""}), "is not of a class"));
    CHECK(contains(class_page_refusal(
                       {p.put("x", "{\"schema\": \"cuda-workbook-class/9\"}"), "page", out, ""}),
                   "which a newer workbook wrote"));
    CHECK(read_text(out) == as_class_page(small_class(), {.clock = true}));
}
