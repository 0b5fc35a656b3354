// Tests the forms of single course systems: whole numbers, last lines, hidden rows and names.
#include "result_documents.hpp"
#include "strict_forms.hpp"

using namespace cli;

namespace {

// Holds back the second and the timed case of failing(), and counts their points apart.
json with_held_back()
{
    json document = failing();
    json &l = document["labs"][0];
    for (int i : {1, 3}) l["cases"][i]["held_back"] = true;
    l["points"] = 1, l["max_points"] = 4;
    l["held_back"] = {{"points", 2}, {"max_points", 5}, {"open_points", 0}};
    return document;
}

// Sets the variables that Classroom 50's runner sets.
struct runner_of_classroom50 {
    environment_variable classroom{"CLASSROOM", "cuda"}, assignment{"ASSIGNMENT", "02-scaling"},
        tag{"SUBMISSION_TAG", "submit/2026"}, commit{"COMMIT_URL", "https://x/commit/1"},
        release{"RELEASE_URL", "https://x/releases/1"}, review{"REVIEW_URL", ""};
};

} // namespace

TEST_CASE("classroom50: whole numbers of half points, and nothing after a fault of ours")
{
    json half = failing();
    half["labs"][0]["points"] = 2.5;
    half["labs"][0]["cases"][3]["points"] = 1.5;
    const std::string text = as_classroom50(half, one_submission);
    CHECK(wrong_in_classroom50(text) == "");
    const json document = json::parse(text);
    CHECK(document["score"] == 5);
    CHECK(document["max-score"] == 18);
    CHECK(document["tests"][3] ==
          json{{"test-name", "scale: speed"},
               {"passed", true},
               {"score", 3},
               {"max-score", 6},
               {"verdict", "PASS"},
               {"message", "5.80x naive, needs 3x; bytes used: 100 % (naive 12.5 %); sectors per "
                           "request: 4\nThe next step needs 8x."}});
    CHECK(document["tests"][4]["verdict"] == "SKIPPED, 1 of 1 points open");
    CHECK(document["datetime"] == "2026-12-01T14:32:01Z");
    half["labs"][0]["cases"][3]["points"] = 1.25;
    CHECK_THROWS_WITH_AS(as_classroom50(half, one_submission),
                         "\"scale: speed\" has 1.25 points, and the whole numbers of Classroom 50 "
                         "hold half points only. Give the file that grade --json wrote.",
                         usage_error);
    CHECK_THROWS_AS(as_classroom50(fault(), one_submission), machine_error);
    classroom50_submission local = one_submission;
    local.committed_at = "2026-12-01 14:32";
    CHECK_THROWS_AS(as_classroom50(failing(), local), usage_error);
}

TEST_CASE("classroom50: the command takes the submission from the runner's environment")
{
    project p;
    const std::string result = p.put("result.json", failing().dump()), out = p.root + "/out";
    convert_options options{result, "classroom50", out, ""};
    options.committed_at = "2026-12-01T14:32:01Z";
    {
        environment_variable none("CLASSROOM", "");
        environment_variable other("ASSIGNMENT", "x");
        CHECK(contains(refusal(options), "not set: CLASSROOM, SUBMISSION_TAG, COMMIT_URL, "));
    }
    runner_of_classroom50 runner;
    CHECK(convert_command(options) == passed);
    const json document = json::parse(read_text(out));
    CHECK(wrong_in_classroom50(read_text(out)) == "");
    CHECK(document["review"] == "https://x/commit/1"); // what older runners do not set
    options.committed_at = "";
    CHECK(contains(refusal(options), "needs --committed TIME"));
    options.committed_at = "yesterday";
    CHECK(contains(refusal(options), "--committed \"yesterday\" is no time in UTC"));
}

TEST_CASE("autolab: a problem per lab in the last line; a fault of ours leaves its score empty")
{
    const std::string text = as_autolab(failing());
    CHECK(wrong_in_autolab(text) == "");
    CHECK(text == as_text(failing()) + "{\"scores\":{\"02_scaling\":3.0}}\n");
    const json all = merged({failing(), fault()}, "1f", "sim");
    json two = all;
    two["labs"][1]["lab"] = "03: more"; // Autolab would take the word before the colon for a key
    CHECK(wrong_in_autolab(as_autolab(two)) == "");
    CHECK(lines(as_autolab(two)).back() == "{\"scores\":{\"02_scaling\":3.0,\"03  more\":null}}");
}

TEST_CASE("coderunner: a share of the points and a table; no fraction after a fault of ours")
{
    const std::string text = as_coderunner(failing());
    CHECK(wrong_in_coderunner(text) == "");
    const json document = json::parse(text);
    CHECK(document["fraction"] == doctest::Approx(3.0 / 9));
    CHECK(document["testresults"][2] == json({0.0, "scale: many", "WRONG_ANSWER", "0 / 2",
                                              "Element 3 is 1 & not 2.\nIs it i < n?"}));
    CHECK(document["testresults"][4][0] == doctest::Approx(2.0 / 3));
    CHECK(contains(document["prologuehtml"].get<std::string>(),
                   "<pre>02_scaling: 3 / 9 points, 1 open&#10;"));
    CHECK_FALSE(json::parse(as_coderunner(fault())).contains("fraction"));
}

TEST_CASE("no form that students read names a held-back case, until it is published")
{
    project p;
    runner_of_classroom50 runner;
    const std::string result = p.put("result.json", with_held_back().dump()), out = p.root + "/out";
    auto made = [&](const char *form, bool published) {
        convert_options options{result, form, out, ""};
        options.published = published;
        if (form == std::string("classroom50")) options.committed_at = "2026-12-01T14:32:01Z";
        CHECK(convert_command(options) == passed);
        return read_text(out);
    };
    for (const char *form : {"classroom50", "autolab", "coderunner", "junit", "prairielearn"}) {
        CHECK_FALSE(contains(made(form, false), "scale: many"));
        CHECK_FALSE(contains(made(form, false), "scale: speed"));
        CHECK(contains(made(form, true), "scale: many"));
    }
    CHECK(json::parse(made("classroom50", false))["score"] == 2);
    CHECK(json::parse(made("classroom50", false))["max-score"] == 8);
    CHECK(json::parse(made("classroom50", true))["score"] == 6);
    CHECK(json::parse(made("classroom50", true))["max-score"] == 18);
    CHECK(lines(made("autolab", false)).back() == "{\"scores\":{\"02_scaling\":1.0}}");
    CHECK(lines(made("autolab", true)).back() == "{\"scores\":{\"02_scaling\":3.0}}");
    CHECK(json::parse(made("coderunner", false))["fraction"] == doctest::Approx(1.0 / 4));
    CHECK(json::parse(made("coderunner", true))["fraction"] == doctest::Approx(3.0 / 9));
}

TEST_CASE("gradescope: measured speedups are ranked only if the course wants it")
{
    CHECK_FALSE(json::parse(as_gradescope(failing())).contains("leaderboard"));
    const std::string text = as_gradescope(failing(), true);
    CHECK(wrong_in_gradescope(text) == "");
    CHECK(json::parse(text)["leaderboard"] ==
          json::array({{{"name", "scale: speed"}, {"value", 5.8}, {"order", "desc"}}}));
    json unmeasured = failing();
    unmeasured["labs"][0]["cases"][3]["speedup"]["median"] = nullptr;
    CHECK_FALSE(json::parse(as_gradescope(unmeasured, true)).contains("leaderboard"));
    json slow = failing(); // a rank is for a right answer
    slow["labs"][0]["cases"][3]["verdict"] = "TOO_SLOW";
    CHECK_FALSE(json::parse(as_gradescope(slow, true)).contains("leaderboard"));
    CHECK_FALSE(json::parse(as_gradescope(with_held_back(), true)).contains("leaderboard"));
    project p;
    convert_options options{p.put("result.json", failing().dump()), "junit", "", ""};
    options.leaderboard = true;
    CHECK(refusal(options) == "--leaderboard is for --to gradescope only: leave it out.");
}

TEST_CASE("junit: what GitLab reads is whole: names differ, and the message comes first")
{
    json document = failing();
    for (json &c : document["labs"][0]["cases"]) c["name"] = "scale: one";
    const std::string text = as_junit(document);
    CHECK(wrong_in_junit(text) == "");
    for (const char *name : {"\"scale: one\"", "\"scale: one (2)\"", "\"scale: one (5)\""})
        CHECK(contains(text, name));
    // Two characters that XML lacks become the same.
    document["labs"][0]["cases"][0]["name"] = "scale: \xef\xbf\xbe";
    document["labs"][0]["cases"][1]["name"] = "scale: \xef\xbf\xbf";
    CHECK(wrong_in_junit(as_junit(document)) == "");
    std::string much;
    for (int i = 0; i < 500; ++i) much += "line " + std::to_string(i) + "\n";
    json wrong = case_of("scale: one", "CRASH", 0, 1, "It divides by zero.");
    wrong["printed"] = much;
    const std::string failure = as_junit(result_with_cases("fail", {wrong}));
    CHECK(contains(failure, "\"CRASH: It divides by zero.\">It divides by zero.&#10;"));
}

TEST_CASE("the strict readers refuse what their systems refuse")
{
    json document = json::parse(as_classroom50(failing(), one_submission));
    auto classroom50 = [&](auto change) {
        json other = document;
        change(other);
        return wrong_in_classroom50(other.dump());
    };
    CHECK(classroom50([](json &) {}) == "");
    CHECK(classroom50([](json &d) { d["score"] = 2.5; }) == "score is no count");
    CHECK(classroom50([](json &d) { d["grade"] = 1; }) == "unknown: grade");
    CHECK(classroom50([](json &d) { d.erase("review"); }) == "without review");
    CHECK(classroom50([](json &d) { d["tests"][0]["passed"] = 1; }) == "passed is no bool");
    CHECK(classroom50([](json &d) { d["tests"][0]["score"] = 99; }) == "a score above its limit");
    CHECK(wrong_in_autolab("text\n{\"scores\":{}}\n") == "no scores");
    CHECK(wrong_in_autolab("text\n{\"scores\":{\"a: b\":1}}\n") != "");
    CHECK(wrong_in_autolab("{\"scores\":{\"a\":1}}\ntext\n") != "");
    CHECK(wrong_in_coderunner("{\"prologuehtml\":\"<b>\",\"testresults\":[[]]}\n") == "headings");
    CHECK(wrong_in_gradescope("{}") == "without execution_time");
    CHECK(wrong_in_junit("<?xml?>\n<a>\n<testcase name=\"x\" time=\"1\">\n</testcase>\n<testcase "
                         "name=\"x\" time=\"2\">\n</testcase>\n</a>\n") != "");
    CHECK(wrong_in_annotations("::error title=a::b\n") == "");
    CHECK(wrong_in_annotations("::error title=a:b::b\n") != "");
    CHECK(wrong_in_text(std::string(81, 'x')) != "");
    CHECK(unsafe_in("a\x1b") != "");
}
