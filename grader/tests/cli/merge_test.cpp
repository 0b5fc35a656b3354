// Tests merged results of several labs, results of broken graders, and the exit status.
#include "cli/commands/commands.hpp"
#include "cli/support/errors.hpp"
#include "cli_project.hpp"

using namespace cli;

namespace {

const char *passing =
    R"({"schema": "cuda-workbook/1", "backend": "sim", "env": {"sandbox": "limits"}, "labs": [
  {"lab": "02_scaling", "submission": "solution", "status": "pass", "points": 3, "max_points": 3, "cases": [
    {"name": "scale: one", "kind": "correctness", "verdict": "PASS", "points": 3, "max_points": 3, "message": "", "hint": ""}]}]})";

// A project whose grader writes `result` to the file that its request names, and then does `more`.
struct fake_grader : project {
    grade_options options;
    fake_grader(const std::string &result, const std::string &more)
    {
        std::string file = put("result.json", result);
        script(
            "build/grade.02_scaling",
            "if [ \"$1\" = --list ]; then echo 3 points, and 0 of the clock, in 1 cases; exit; fi\n"
            "cat > '" +
                root +
                "/request'\n"
                "to=$(sed 's/.*\"result\":\"\\([^\"]*\\)\".*/\\1/' '" +
                root + "/request')\n[ -s '" + file + "' ] && cp '" + file + "' \"$to\"\n" + more);
        options.backend = "sim";
        options.seed = "1f";
    }
    graded grade()
    {
        return grade_one(tools, only_lab(), implementation_of(tools, only_lab(), "solution"),
                         options);
    }
};

std::string fault_of(const graded &g)
{
    REQUIRE(g.status == infrastructure);
    REQUIRE(invalid(g.document) == "");
    lab_view l = labs_of(g.document).at(0);
    CHECK(l.status == "error");
    CHECK(l.cases.at(0).verdict == "INFRA_ERROR");
    return l.cases.at(0).message;
}

} // namespace

TEST_CASE("a grader's result is taken with its status")
{
    fake_grader p(passing, "exit 0");
    graded g = p.grade();
    CHECK(g.status == passed);
    CHECK(labs_of(g.document).at(0).points == 3);
    const json request = json::parse(read_text(p.root + "/request"));
    CHECK(request["backend"] == "sim");
    CHECK(request["worker"] == p.root + "/build/02_scaling.solution.sim");
    CHECK(request["naive"] == p.root + "/build/02_scaling.naive.sim");
    CHECK(request["seed"] == "1f");
    CHECK_FALSE(request.contains("case"));
    const std::filesystem::path result = request["result"].get<std::string>();
    CHECK_FALSE(std::filesystem::exists(result.parent_path())); // nothing is left behind
    CHECK_FALSE(std::filesystem::exists(p.root + "/build/submissions"));
}

TEST_CASE("a grader that misbehaves is our fault, said in words")
{
    CHECK(contains(fault_of(fake_grader("", "exit 0").grade()), "wrote no result"));
    CHECK(contains(fault_of(fake_grader(passing, "kill -SEGV $$").grade()), "killed by SIGSEGV"));
    CHECK(contains(fault_of(fake_grader(passing, "exit 5").grade()), "exited with status 5"));
    CHECK(contains(fault_of(fake_grader("{\"schema\":", "exit 0").grade()), "not a JSON object"));
    CHECK(contains(fault_of(fake_grader("{\"schema\": \"other\"}", "exit 1").grade()),
                   "not of schema"));
    std::string odd = passing;
    odd.replace(odd.find("PASS"), 4, "FINE");
    CHECK(contains(fault_of(fake_grader(odd, "exit 0").grade()), "unknown verdict \"FINE\""));
    CHECK(contains(fault_of(fake_grader("", "echo 'no \x1b[31mmemory'; exit 99").grade()),
                   "no ?[31mmemory"));
}

TEST_CASE("a grader without a device skips the lab")
{
    graded g = fake_grader("", "echo no device; exit 77").grade();
    CHECK(g.status == nothing_graded);
    CHECK(labs_of(g.document).at(0).status == "skipped");
    lab_view l = labs_of(g.document).at(0);
    CHECK(contains(l.cases.at(0).message, "no device"));
    CHECK_FALSE(l.judged());
    CHECK(l.points == 0);
    CHECK(l.max_points == 3);
    CHECK(l.open_points == 3);
}

TEST_CASE("documents merge into one, in order, without NaN or loss")
{
    json a = json::parse(passing), b = a;
    b["labs"][0]["lab"] = "03_more";
    b["env"] = {{"gpu", "other"}};
    built_submission refused;
    refused.verdict = grading::verdict::BUILD_FAILED;
    refused.message = "stub.cu(3): error";
    refused.diagnostics = "all of it";
    json c = refused_build("04_broken", "stub", refused, {12});
    json all = merged({a, b, c}, "2a", "sim");
    CHECK(invalid(all) == "");
    CHECK(all["seed"] == "2a");
    CHECK(all["env"] == a["env"]);
    std::vector<lab_view> labs = labs_of(all);
    REQUIRE(labs.size() == 3);
    CHECK(labs[0].lab == "02_scaling");
    todo_list none("");
    CHECK(first_to_mend(labs[0], none) == nullptr);
    CHECK(labs[1].lab == "03_more");
    CHECK(labs[2].status == "fail");
    CHECK(labs[2].max_points == 12);
    REQUIRE(first_to_mend(labs[2], none) != nullptr);
    CHECK(first_to_mend(labs[2], none)->verdict == "BUILD_FAILED");
    CHECK(all["labs"][0] == a["labs"][0]);
}

TEST_CASE("a result with more points reached and open than there are is none")
{
    json document = json::parse(passing);
    document["labs"][0]["open_points"] = 1;
    CHECK(contains(invalid(document), "has a lab with more points"));
    document["labs"][0]["open_points"] = 0;
    document["labs"][0]["cases"][0]["open_points"] = 1;
    CHECK(contains(invalid(document), "in \"scale: one\""));
}

TEST_CASE("the exit status of several labs: ours before theirs, what is open before a pass")
{
    CHECK(merged_status({0, 0}) == passed);
    CHECK(merged_status({0, 1, 77}) == failed);
    CHECK(merged_status({1, 99, 0}) == infrastructure);
    CHECK(merged_status({77, 77}) == nothing_graded);
    CHECK(merged_status({0, 77}) == nothing_graded);
}

TEST_CASE("the grade command writes the canonical file and passes the status on")
{
    fake_grader p(passing, "exit 1");
    p.options.solutions = true;
    p.options.json_file = p.root + "/out.json";
    CHECK(grade_command(p.tools, {"2"}, p.options) == failed);
    json written = json::parse(read_text(p.options.json_file));
    CHECK(written["seed"] == "1f");
    CHECK(written["labs"].size() == 1);
    p.options.json_file = p.root + "/no/such/folder/out.json";
    CHECK_THROWS_AS(grade_command(p.tools, {"2"}, p.options), usage_error);
    p.options.json_file = "";
    p.options.submission = "also.cu";
    CHECK_THROWS_AS(grade_command(p.tools, {"2"}, p.options), usage_error);
    p.options.solutions = false;
    CHECK_THROWS_AS(grade_command(p.tools, {}, p.options), usage_error);
    p.options.submission = "";
    p.options.seed = "12g";
    CHECK_THROWS_AS(grade_command(p.tools, {"2"}, p.options), usage_error);
}

TEST_CASE("a build that fails says that it is not about the student's file")
{
    fake_grader p(passing, "exit 0");
    p.options.solutions = true;
    p.tools.ninja = p.script(
        "build/ninja", "echo 'FAILED: a.o'; echo 'c++ -c a.cpp'; echo 'a.cpp:1: error: x'; exit 1");
    try {
        grade_command(p.tools, {"2"}, p.options);
        CHECK(false);
    } catch (const machine_error &e) {
        CHECK(contains(e.what(), "this is not about your file"));
        CHECK(contains(e.what(), "a.cpp:1: error: x"));
    }
}

TEST_CASE("only what a lab needs is built")
{
    fake_grader p(passing, "exit 0");
    p.options.solutions = true;
    p.tools.ninja = p.script("build/ninja", "echo \"$@\" > '" + p.root + "/targets'");
    CHECK(grade_command(p.tools, {"2"}, p.options) == passed);
    CHECK(read_text(p.root + "/targets") ==
          "-C " + p.root +
              "/build grade.02_scaling cudasim-device 02_scaling.naive.sim "
              "02_scaling.solution.sim\n");
}
