// Tests that held-back cases are graded, counted apart, and in nothing that a student sees.
#include "cli/commands/commands.hpp"
#include "cli/grading/both_backends.hpp"
#include "cli/results/class_results.hpp"
#include "cli/results/formats/formats.hpp"
#include "cli/results/grade_comparison.hpp"
#include "cli/results/student_edition.hpp"
#include "cli/results/text_report.hpp"
#include "cli/results/watch_screen.hpp"
#include "cli/support/errors.hpp"
#include "cli_project.hpp"

using namespace cli;

namespace {

// Words that only held-back cases have, and the seed of their inputs.
const std::vector<std::string> secrets = {"odd sizes",    "Element 776", "Secret advice",
                                          "x is printed", "5eedf00d",    "half_of_it"};

json held_back_case(const char *name, const char *verdict, double points, double max_points)
{
    return {{"name", name},
            {"kind", "correctness"},
            {"verdict", verdict},
            {"points", points},
            {"max_points", max_points},
            {"open_points", verdict == std::string("SKIPPED") ? max_points : 0},
            {"message", verdict == std::string("PASS") ? "" : "Element 776 is not doubled."},
            {"hint", "Secret advice."},
            {"printed", "x is printed"},
            {"duration_ms", 1},
            {"held_back", true}};
}

// All that a student sees passes; of the held-back points 1.5 of 5 are reached.
json held_back_result(const char *verdict = "WRONG_ANSWER")
{
    json seen = held_back_case("scale: one", "PASS", 40, 40);
    seen.erase("held_back"), seen.erase("hint"), seen.erase("printed");
    return {{"schema", result_schema},
            {"tool", tool_version},
            {"seed", "1f"},
            {"backend", "sim"},
            {"held_back_seed", "5eedf00d"},
            {"labs",
             json::array({{{"lab", "02_scaling"},
                           {"submission", "stub"},
                           {"status", "pass"},
                           {"points", 40},
                           {"max_points", 40},
                           {"open_points", 0},
                           {"warnings", {"stub.cu(7): n is never used"}},
                           {"held_back", {{"points", 1.5}, {"max_points", 5}, {"open_points", 0}}},
                           {"cases",
                            {seen, held_back_case("scale: odd sizes", verdict, 0, 3.5),
                             held_back_case("scale: half_of_it", "PASS", 1.5, 1.5)}}}})}};
}

std::string secret_in(const std::string &text)
{
    for (const std::string &secret : secrets)
        if (contains(text, secret)) return secret + " in:\n" + text;
    return {};
}

std::string converted(const std::string &result, const std::string &form, bool published = false)
{
    project p;
    convert_options options;
    options.file = p.put("result.json", result);
    options.format = form;
    options.output = p.root + "/out";
    options.published = published;
    convert_command(options);
    return read_text(options.output);
}

std::string report_for_terminal(const json &document)
{
    return text_report(document, {"", "./workbook grade 02", "", todo_list(""), {}});
}

const json &only_lab_of(const json &document) { return document["labs"][0]; }

} // namespace

TEST_CASE("a student's result has the number of held-back points and nothing else of them")
{
    const json seen = without_held_back(held_back_result());
    CHECK(secret_in(seen.dump()) == "");
    CHECK(only_lab_of(seen)["held_back"] ==
          json({{"points", 0}, {"max_points", 5.0}, {"open_points", 5.0}}));
    CHECK(only_lab_of(seen)["points"] == 40);
    CHECK(only_lab_of(seen)["cases"].size() == 1);
    CHECK(without_held_back(seen) == seen);
    // A fault of ours in a held-back case alone does not keep the other points from counting.
    json fault = held_back_result("INFRA_ERROR");
    CHECK(status_of(only_lab_of(fault)) == infrastructure);
    fault["labs"][0]["status"] = "error";
    CHECK(only_lab_of(without_held_back(fault))["status"] == "pass");
    json none = held_back_result();
    none["labs"][0]["cases"].erase(2), none["labs"][0]["cases"].erase(1);
    none["labs"][0].erase("held_back"), none.erase("held_back_seed");
    CHECK(without_held_back(none) == none);
    CHECK(with_held_back_published(none) == none);
}

TEST_CASE("held-back cases decide no status and no sum before publication, and both after it")
{
    const json document = held_back_result();
    CHECK(status_of(only_lab_of(document)) == passed);
    CHECK(invalid(document) == "");
    const json published = with_held_back_published(document);
    CHECK(only_lab_of(published)["points"] == 41.5);
    CHECK(only_lab_of(published)["max_points"] == 45);
    CHECK(only_lab_of(published)["status"] == "fail");
    CHECK_FALSE(contains(published.dump(), "\"held_back\""));
    json too_many = document;
    too_many["labs"][0]["held_back"]["open_points"] = 4;
    CHECK(contains(invalid(too_many), "more points reached and open"));
}

TEST_CASE("what was graded without held-back cases cannot be published, and the message says so")
{
    const json seen = without_held_back(held_back_result());
    CHECK_THROWS_WITH_AS(with_held_back_published(seen),
                         "02_scaling was graded without its held-back cases, 5 points, so there is "
                         "nothing of them to publish. Give what autograde --json wrote in the "
                         "workbook that has labs/02_scaling/held_back.cpp.",
                         usage_error);
    // A file that does not compile loses these points as it loses the others.
    built_submission broken;
    broken.verdict = grading::verdict::BUILD_FAILED;
    const json refused =
        with_held_back_published(refused_build("02_scaling", "stub", broken, {40, 10, 5}));
    CHECK(only_lab_of(refused)["max_points"] == 45);
    CHECK(only_lab_of(refused)["points"] == 0);
    const json skipped = skipped_lab("02_scaling", "stub", "no GPU", {40, 10, 5});
    CHECK(only_lab_of(skipped)["held_back"]["open_points"] == 5);
    CHECK(only_lab_of(with_held_back_published(skipped))["open_points"] == 45);
}

TEST_CASE("the report and the screen of watch say how many points are held back")
{
    const std::string report = report_for_terminal(held_back_result());
    CHECK(secret_in(report) == "");
    CHECK(contains(report, "\n40 of 40 points: complete\n5 points are held back until "
                           "publication.\n"));
    CHECK_FALSE(contains(report, "nvcc warned"));
    json one = held_back_result();
    one["labs"][0]["held_back"]["max_points"] = 1;
    CHECK(contains(report_for_terminal(one), "\n1 point is held back until publication.\n"));
    one["labs"][0].erase("held_back");
    CHECK_FALSE(contains(report_for_terminal(one), "held back"));

    watch_state state;
    state.now = watch_state::phase::graded;
    state.lab = "02_scaling";
    state.file = "labs/02_scaling/stub.cu";
    state.document = without_held_back(held_back_result());
    std::string screen;
    for (const std::string &line : draw(state, todo_list(""), {}, 24)) screen += line + "\n";
    CHECK(contains(screen, "40 / 40 points, 5 held back"));
    CHECK(secret_in(screen) == "");
}

TEST_CASE("no form shows a held-back case before publication, and each says how many points it is")
{
    for (const char *verdict : {"WRONG_ANSWER", "PASS", "SKIPPED", "INFRA_ERROR"})
        for (const char *form : {"junit", "prairielearn", "text", "github"}) {
            CAPTURE(form);
            const std::string text = converted(held_back_result(verdict).dump(), form);
            CHECK(secret_in(text) == "");
            CHECK(contains(text, "5 points are held back until publication."));
            CHECK_FALSE(contains(text, "41.5"));
            CHECK_FALSE(contains(text, "nvcc warned")); // which would tell that a case failed
        }
    const json own = json::parse(converted(held_back_result().dump(), "json"));
    CHECK(own == without_held_back(held_back_result()));
}

TEST_CASE("gradescope gets held-back cases to show after publication, and says nothing before")
{
    const json form = json::parse(converted(held_back_result().dump(), "gradescope"));
    CHECK(secret_in(form["output"].get<std::string>()) == "");
    CHECK(contains(form["output"].get<std::string>(), "02_scaling: 40 / 40 points\n5 points are "
                                                      "held back until publication.\n"));
    CHECK_FALSE(form["tests"][0].contains("visibility"));
    for (std::size_t i : {1, 2}) CHECK(form["tests"][i]["visibility"] == "after_published");
    CHECK(form["score"] == 41.5);
}

TEST_CASE("published, each form has the held-back cases and counts their points")
{
    for (const char *form : {"junit", "gradescope", "prairielearn", "text", "github"}) {
        CAPTURE(form);
        const std::string text = converted(held_back_result().dump(), form, true);
        CHECK(contains(text, "scale: odd sizes"));
        CHECK(contains(text, "Element 776 is not doubled."));
        CHECK_FALSE(contains(text, "until publication"));
        CHECK_FALSE(contains(text, "after_published"));
    }
    CHECK(contains(converted(held_back_result().dump(), "text", true), "41.5 / 45 points"));
    const json own = json::parse(converted(held_back_result().dump(), "json", true));
    CHECK(own == held_back_result()); // with the seed, so that an appeal can grade them again
}

TEST_CASE("a class has columns of held-back points, and only the result holds their cases")
{
    grade_row row;
    row.student = "ada", row.lab = "02_scaling", row.status = "pass";
    row.points = row.max_points = 40;
    row.held_back = {1.5, 5, 0};
    row.document = held_back_result();
    const std::string table = as_csv({row}, "sim", "1f");
    CHECK(contains(table, ",held_back_points,held_back_max_points,held_back_open_points,"));
    CHECK(contains(table, "\nada,02_scaling,pass,40,40,0,0,0,0,1.5,5,0,"));
    CHECK(secret_in(table) == "");
    json of_class = as_json({row}, "sim", "1f");
    CHECK(of_class["rows"][0]["held_back"]["points"] == 1.5);
    of_class["held_back_seed"] = "5eedf00d";
    CHECK(result_of_student(of_class, "ada")["held_back_seed"] == "5eedf00d");
    row.status = "error";
    CHECK(as_json({row}, "sim", "1f")["rows"][0]["held_back"]["points"].is_null());
    // Who handed in nothing has none of these points, either.
    row.status = "missing", row.document = json::object();
    const json missing = result_of_student(as_json({row}, "sim", "1f"), "ada");
    CHECK(only_lab_of(with_held_back_published(missing))["max_points"] == 45);
}

TEST_CASE("held-back points of a grade on both backends have their own sum")
{
    json by_gpu = held_back_result("PASS");
    by_gpu["labs"][0]["cases"][1]["points"] = 3.5;
    json by_simulator = by_gpu;
    by_gpu["labs"][0]["cases"][2]["verdict"] = "WRONG_ANSWER";
    by_gpu["labs"][0]["cases"][2]["points"] = 0;
    const json merged = merged_backends(by_simulator, by_gpu, by_gpu);
    CHECK(only_lab_of(merged)["points"] == 40);
    CHECK(only_lab_of(merged)["held_back"]["points"] == 3.5);
    CHECK(only_lab_of(merged)["held_back"]["max_points"] == 5);
    CHECK(only_lab_of(merged)["status"] == "pass");
    CHECK(secret_in(report_for_terminal(merged)) == ""); // although a case is disputed
}

TEST_CASE("an appeal compares held-back cases where they are, and says where they are not")
{
    const json given = held_back_result();
    json here = given;
    here["labs"][0]["cases"][1]["verdict"] = "PASS";
    CHECK_FALSE(compare_grades(given, here, 500).same);
    const grade_comparison c = compare_grades(given, without_held_back(given), 500);
    CHECK(c.same);
    CHECK(contains(c.text, "5 points are held back: their cases are not compared here."));
    CHECK(secret_in(c.text) == "");
}

TEST_CASE("an edition has the number of held-back points and not the file")
{
    edition e{"1.2", "HEAD", {"02_scaling", "04_other"}, {}};
    CHECK_FALSE(delivered(e, "labs/02_scaling/held_back.cpp"));
    CHECK(delivered(e, "labs/02_scaling/grade.cpp"));
    CHECK(delivered(e, "grader/tests/labs/held_back/held_back.cpp")); // the tests need it
    project p;
    CHECK(held_back_from_edition(p.root, "02_scaling") == 0);
    p.put("edition.txt", "# An edition.\nheld_back 02_scaling 2.5\nlabs 02_scaling 04_other\n");
    CHECK(held_back_from_edition(p.root, "02_scaling") == 2.5);
    CHECK(held_back_from_edition(p.root, "04_other") == 0);
}

TEST_CASE("in an edition a grade says how many points are held back, and release writes it")
{
    project p, outside;
    p.script("build/grade.02_scaling", "echo '40 points, and 10 of the clock, in 3 cases; 2.5 "
                                       "points are held back'");
    CHECK(points_offered(p.tools, p.only_lab()).held_back == 2.5);
    p.put("labs/02_scaling/held_back.cpp", "// Not in git.\n");
    p.put("README.md", "# Start\n");
    for (const std::vector<std::string> &words : std::vector<std::vector<std::string>>{
             {"init", "-q"},
             {"add", "README.md", "labs/02_scaling/stub.cu"},
             {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "all"}})
        REQUIRE(run_git(p.root, words).ok());
    const std::string folder = outside.root + "/edition";
    CHECK(release_command(p.tools, {folder, {}, false}) == passed);
    CHECK_FALSE(std::filesystem::exists(folder + "/labs/02_scaling/held_back.cpp"));
    CHECK(contains(read_text(folder + "/edition.txt"), "\nheld_back 02_scaling 2.5\nlabs "));
    CHECK(held_back_from_edition(folder, "02_scaling") == 2.5);
    // A case that cannot be graded is named by the grader, and stops the release.
    p.script("build/grade.02_scaling", "echo 'held_back.cpp:3: two cases' >&2; exit 99");
    CHECK_THROWS_WITH_AS(release_command(p.tools, {outside.root + "/other", {}, false}),
                         doctest::Contains("held_back.cpp:3: two cases"), machine_error);
}
