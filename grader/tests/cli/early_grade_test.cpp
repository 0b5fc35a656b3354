// A GPU's grader that is started while the submission is compiled.
#include "cli_project.hpp"

#include "cli/grading/grader_run.hpp"

#include <chrono>
#include <filesystem>
#include <thread>

using namespace cli;

namespace {

// A grader that tells when it has started, and waits for its worker as a real one does.
struct waiting_project : project {
    waiting_project()
    {
        put("result.json",
            R"({"schema": "cuda-workbook/1", "backend": "gpu", "env": {"sandbox": "limits"},
                "labs": [{"lab": "02_scaling", "submission": "mine.cu", "status": "pass",
                          "points": 3, "max_points": 3, "cases": [
                    {"name": "scale: one", "kind": "correctness", "verdict": "PASS", "points": 3,
                     "max_points": 3, "message": "", "hint": ""}]}]})");
        script("build/grade.02_scaling", "cd '" + root + R"sh('
field() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/" request; }
cat >request
flock -n -s "$(field worker_lock)" true || touch compiling
touch started
flock -s "$(field worker_lock)" true || exit 5
[ -e "$(field worker)" ] || exit 1
readlink "$(field worker)" >worker
cp result.json "$(field result)")sh");
        options.backend = "gpu";
        options.every_gate = true; // the lab has no calibration, nor files that one would be about
        prepared.workers["gpu"] = put("build/program", "");
    }
    bool has(const std::string &name) const { return std::filesystem::exists(root + "/" + name); }
    void wait_until_started() const
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!has("started") && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        REQUIRE(has("started"));
    }

    grade_options options;
    prepared_grade prepared;
    const subject mine = {.name = "mine.cu", .source = root + "/mine.cu"};
};

} // namespace

TEST_CASE("a grader is started before its submission is compiled, and told where the program is")
{
    waiting_project p;
    early_grade grade(p.tools, p.only_lab(), p.mine, p.options, {});
    p.wait_until_started();
    CHECK(p.has("compiling"));
    p.prepared.sha256 = "1f";
    p.prepared.warnings = {"mine.cu(3): warning"};
    grade.begin(p.prepared);
    const graded g = grade.result();
    CHECK(g.from_grader);
    CHECK(g.status == passed);
    CHECK(g.worker == p.root + "/build/program");
    CHECK(g.document["labs"][0]["sha256"] == "1f");
    CHECK(g.document["labs"][0]["warnings"][0] == "mine.cu(3): warning");
    CHECK(read_text(p.root + "/worker") == p.root + "/build/program\n");
}

TEST_CASE("a refused submission ends the grader that waits for it")
{
    waiting_project p;
    early_grade grade(p.tools, p.only_lab(), p.mine, p.options, {});
    built_submission refused;
    refused.verdict = grading::verdict::BUILD_FAILED;
    refused.message = "mine.cu(3): error";
    p.prepared.workers.clear();
    p.prepared.refused = refused_build("02_scaling", "mine.cu", refused, {3});
    grade.begin(p.prepared);
    const graded g = grade.result();
    CHECK_FALSE(g.from_grader);
    CHECK(g.status == failed);
    CHECK(labs_of(g.document).at(0).cases.at(0).verdict == "BUILD_FAILED");
    CHECK_FALSE(p.has("worker"));
}

TEST_CASE("a grader whose submission is given up ends with it")
{
    waiting_project p;
    {
        early_grade grade(p.tools, p.only_lab(), p.mine, p.options, {});
        p.wait_until_started();
    }
    CHECK_FALSE(p.has("worker"));
}
