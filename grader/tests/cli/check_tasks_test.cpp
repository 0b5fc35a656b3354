// Tests the tasks of `check`: the cases that it grades, and the results that go into the table.
#include "cli/check/check_tasks.hpp"

#include "cli_project.hpp"

#include <fmt/format.h>

using namespace cli;

namespace {

// Fails as its first line says if only that case is graded; in a full run another case never ends.
const char *const mistaken_source = "// Fails: scale: row | WRONG_ANSWER | its own factor\n";
const char *const late_grader = R"sh(
request=$(cat)
json=$(echo "$request" | sed 's/.*"result":"\([^"]*\)".*/\1/')
case $request in *'"case":'*) alone=yes ;; esac
late='{"name": "scale: one", "kind": "correctness", "verdict": "TIMEOUT", "max_points": 1},'
verdict=TIMEOUT message="Not tried: scale did not end in time."
[ -z "$alone" ] || { late= verdict=WRONG_ANSWER message="row 3 has its own factor"; }
cat >"$json" <<END
{"schema": "cuda-workbook/1", "labs": [{"lab": "02_scaling", "status": "fail", "cases": [$late
 {"name": "scale: row", "kind": "correctness", "verdict": "$verdict", "message": "$message", "max_points": 2}]}]}
END
exit 1)sh";

check_task spoiled_task(project &p)
{
    p.script("build/grade.02_scaling", late_grader);
    subject what{"x.cu", p.put("solutions/02_scaling/wrong/x.cu", mistaken_source), true};
    check_task work{&p.only_lab(), check_role::wrong, what};
    work.got.submission = work.submission();
    return work;
}

grade_options simulator_options()
{
    grade_options options;
    options.backend = "sim";
    options.seed = "1";
    return options;
}

} // namespace

TEST_CASE("the case that a wrong submission is about is judged alone where another spoiled it")
{
    project p;
    check_task work = spoiled_task(p);
    carry_out(p.tools, work, simulator_options());
    REQUIRE(work.findings.size() == 1);
    CHECK(work.findings[0].fault == "");
    CHECK(work.got.how == graded_submission::whole);
    REQUIRE(work.got.rows.size() == 2);
    CHECK(work.got.rows[0].words() == "TIMEOUT 0/1");
    CHECK(work.got.rows[1].words() == "WRONG_ANSWER 0/2");
    CHECK(work.got.rows[1].submission == "wrong/x.cu");
}

TEST_CASE("one case of a submission is not the whole of it")
{
    project p;
    std::vector<check_task> tasks = {spoiled_task(p)};
    narrow_mistakes(p.tools, tasks, "sim", false);
    CHECK(tasks[0].whole());
    p.tools.labs[0].slow_mistakes = true;
    narrow_mistakes(p.tools, tasks, "sim", false);
    CHECK(tasks[0].case_name == "scale: row");
    carry_out(p.tools, tasks[0], simulator_options());
    CHECK(tasks[0].findings[0].fault == "");
    CHECK(tasks[0].got.rows.size() == 1);

    std::vector<check_task> quick = {spoiled_task(p)};
    p.tools.labs[0].slow_mistakes = false;
    narrow_mistakes(p.tools, quick, "sim", true);
    CHECK(quick[0].case_name == "scale: row");
}

TEST_CASE("the vendor's version fails the case that its first lines name, and no other")
{
    project p;
    p.script("build/grade.02_scaling", late_grader);
    auto fault_of = [&p](const std::string &first_lines) {
        subject what{"library", p.put("reference/02_scaling/library.cu", first_lines), true};
        check_task work{&p.only_lab(), check_role::library, what};
        carry_out(p.tools, work, simulator_options());
        REQUIRE(work.findings.size() == 1);
        return work.findings[0].fault;
    };
    const std::string one = "TIMEOUT  scale: one: ", row = "TIMEOUT  scale: row: Not tried";
    CHECK(fault_of("// The vendor's.\n").find(one) != std::string::npos);
    const std::string of_row =
        fault_of("// The vendor's.\n// Fails: scale: row | TIMEOUT | Not tried\n");
    CHECK(of_row.find(one) != std::string::npos);
    CHECK(of_row.find(row) == std::string::npos);
}

TEST_CASE("a verdict that is up to chance is one of some, with the key of what decides it")
{
    project p;
    check_task work = spoiled_task(p);
    work.case_name = "scale: row";
    work.chance = "PASS WRONG_ANSWER";
    work.key = "0123456789ab";
    carry_out(p.tools, work, simulator_options());
    REQUIRE(work.got.rows.size() == 1);
    CHECK(work.got.rows[0].words() == "*PASS WRONG_ANSWER");
    CHECK(work.got.rows[0].why != "");
    CHECK(work.got.rows[0].key == "0123456789ab");
    const verdict_table table{"gpu", "02_scaling", work.got.rows};

    work.chance = "PASS RACE";
    carry_out(p.tools, work, simulator_options());
    REQUIRE(work.got.rows.size() == 1);
    CHECK(work.got.rows[0].words() == "WRONG_ANSWER 0/2");
    CHECK(work.got.rows[0].why == "");
    CHECK(compare(table, {work.got}, {}).agrees());
    work.got.rows[0].verdict = "CRASH";
    CHECK(!compare(table, {work.got}, {}).agrees());
}

TEST_CASE("the core-seconds of a submission that is graded twice count once")
{
    project p;
    check_task work = spoiled_task(p);
    work.cpu_seconds = 1000; // for example of a compilation
    carry_out(p.tools, work, simulator_options());
    REQUIRE(work.got.rows.size() == 2);
    CHECK(work.cpu_seconds < 2000);
}

TEST_CASE("a right submission must have all points, by the schedules that it names too")
{
    project p;
    p.script("build/grade.02_scaling", late_grader);
    p.put("solutions/02_scaling/right/y.cu",
          "// Right: in two streams.\n// Schedules: late random\nvoid f();\n");
    p.put("solutions/02_scaling/right/z.cu", "// Right: in one.\n\n// Schedules: late\n");
    std::vector<check_task> right;
    for (const check_task &work : tasks_of(p.tools, p.only_lab(), "sim"))
        if (work.as == check_role::right) right.push_back(work);
    REQUIRE(right.size() == 4);
    CHECK(right[0].submission() == "right/y.cu");
    CHECK(right[1].submission() == "right/y.cu, schedule late");
    CHECK(right[2].submission() == "right/y.cu, schedule random");
    CHECK(right[3].submission() == "right/z.cu");
    right[0].case_name = right[1].case_name = "scale: row"; // a case in which nothing passes
    for (check_task *work : {&right[0], &right[1]}) {
        work->what.ours = true; // nothing is compiled here
        carry_out(p.tools, *work, simulator_options());
        REQUIRE(work->findings.size() == 1);
        CHECK(work->findings[0].what == work->submission() + ": passes everything");
        CHECK(contains(work->findings[0].fault, "WRONG_ANSWER  scale: row: row 3 has its own"));
    }
    CHECK(right[0].got.rows.size() == 1);
    CHECK(right[1].got.how == graded_submission::not_at_all); // tables have one schedule
    CHECK(right[1].got.rows.size() == 1);
    CHECK(tasks_of(p.tools, p.only_lab(), "gpu").size() ==
          tasks_of(p.tools, p.only_lab(), "sim").size() - 2);
}

TEST_CASE("a right submission need not write all functions, but those that it writes must pass")
{
    project p;
    p.put("solutions/02_scaling/right/y.cu", "// Right: in two streams.\nvoid f();\n");
    auto fault_with = [&](const char *verdict_of_half) {
        p.script("build/grade.02_scaling", fmt::format(R"sh(
json=$(sed 's/.*"result":"\([^"]*\)".*/\1/')
cat >"$json" <<END
{{"schema": "cuda-workbook/1", "labs": [{{"lab": "02_scaling", "status": "fail", "cases": [
 {{"name": "scale: row", "kind": "correctness", "verdict": "PASS", "max_points": 2}},
 {{"name": "half: one", "kind": "correctness", "verdict": "NOT_WRITTEN", "max_points": 2}},
 {{"name": "half: row", "kind": "correctness", "verdict": "{}", "max_points": 2}}]}}]}}
END
exit 1)sh",
                                                       verdict_of_half));
        for (check_task &work : tasks_of(p.tools, p.only_lab(), "sim")) {
            if (work.as != check_role::right) continue;
            work.what.ours = true; // nothing is compiled here
            carry_out(p.tools, work, simulator_options());
            return work.findings.at(0).fault;
        }
        return std::string("no right submission was found");
    };
    CHECK(fault_with("NOT_WRITTEN").empty());
    CHECK(contains(fault_with("PASS"), "NOT_WRITTEN  half: one"));
}
