// Tests results in the formats of course systems, and that a submission's text cannot forge them.
#include "result_documents.hpp"
#include "strict_forms.hpp"

using namespace cli;

TEST_CASE("junit: a submission's failure is a failure, a fault of ours an error")
{
    CHECK(as_junit(failing()) ==
          R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="5" failures="2" errors="0" time="0.062">
  <testsuite name="02_scaling" tests="5" failures="2" errors="0" time="0.062" skipped="1" file="labs/02_scaling/stub.cu">
    <properties>
      <property name="status" value="fail"/>
      <property name="backend" value="sim"/>
      <property name="seed" value="1f"/>
      <property name="points" value="3"/>
      <property name="max_points" value="9"/>
      <property name="open_points" value="1"/>
    </properties>
    <testcase classname="02_scaling.correctness" name="scale: one" time="0.012">
    </testcase>
    <testcase classname="02_scaling.correctness" name="scale: many" time="0.012">
      <failure type="WRONG_ANSWER" message="WRONG_ANSWER: Element 3 is 1 &amp; not 2.">Element 3 is 1 &amp; not 2.&#10;Is it i &lt; n?</failure>
    </testcase>
    <testcase classname="02_scaling.correctness" name="scale: more" time="0.012">
      <failure type="WRONG_ANSWER" message="WRONG_ANSWER: Element 3 is 1 &amp; not 2.">Element 3 is 1 &amp; not 2.&#10;Is it i &lt; n?</failure>
    </testcase>
    <testcase classname="02_scaling.speed" name="scale: speed" time="0.012">
      <system-out>5.80x naive, needs 3x; bytes used: 100 % (naive 12.5 %); sectors per request: 4&#10;The next step needs 8x.</system-out>
    </testcase>
    <testcase classname="02_scaling.correctness" name="scale: ranks" time="0.012">
      <skipped message="SKIPPED, 1 of 1 points open: There is no MPI."/>
    </testcase>
    <system-out>nvcc warned: stub.cu(7): n is never used</system-out>
  </testsuite>
</testsuites>
)");
    std::string text = as_junit(fault());
    CHECK(contains(text, R"(<testsuites tests="2" failures="0" errors="1" time="0.025">)"));
    CHECK(contains(text,
                   R"(      <error type="INFRA_ERROR" message="INFRA_ERROR: The GPU is gone.">)"
                   "The GPU is gone.&#10;Run it again.</error>\n"));
    CHECK_FALSE(contains(text, "\"points\""));
}

TEST_CASE("what only the simulator lacks is open: no failure, no points, and a grade all the same")
{
    json unsupported = case_of("scale: one", "SKIPPED", 0, 2, "There is no such instruction.");
    unsupported["unsupported"] = true;
    json document =
        result_with_cases("skipped", {case_of("scale: many", "PASS", 3, 3, ""), unsupported});
    CHECK(contains(as_junit(document), "tests=\"2\" failures=\"0\" errors=\"0\""));
    CHECK(contains(as_junit(document), "<skipped message=\"SKIPPED, 2 of 2 points open: There is"));
    json gradescope = json::parse(as_gradescope(document));
    CHECK(gradescope["score"] == 3);
    CHECK_FALSE(gradescope["tests"][1].contains("status"));
    CHECK(json::parse(as_prairielearn(document))["score"] == doctest::Approx(3.0 / 5));
    CHECK(contains(as_text(document), "02_scaling: 3 / 5 points, 2 open\n"
                                      "2 points are open: scale: one. There is no such"));
    CHECK_FALSE(contains(as_text(document), "not graded"));
}

TEST_CASE("gradescope: scores and their sum, and none where a fault of ours left a gap")
{
    CHECK(json::parse(as_gradescope(failing())) == json::parse(R"({
        "score": 3, "execution_time": 0,
        "output": "02_scaling: 3 / 9 points, 1 open\n1 point is open: scale: ranks. There is no MPI.\nnvcc warned: stub.cu(7): n is never used\nGraded in the simulator: efficiency is counted, not timed.\n",
        "output_format": "text", "test_output_format": "text", "test_name_format": "text",
        "tests": [
            {"name": "scale: one", "score": 1, "max_score": 1, "status": "passed", "output": "PASS"},
            {"name": "scale: many", "score": 0, "max_score": 2, "status": "failed",
             "output": "WRONG_ANSWER\nElement 3 is 1 & not 2.\nIs it i < n?"},
            {"name": "scale: more", "score": 0, "max_score": 2, "status": "failed",
             "output": "WRONG_ANSWER\nElement 3 is 1 & not 2.\nIs it i < n?"},
            {"name": "scale: speed", "score": 2, "max_score": 3, "status": "passed",
             "output": "PASS\n5.80x naive, needs 3x; bytes used: 100 % (naive 12.5 %); sectors per request: 4\nThe next step needs 8x."},
            {"name": "scale: ranks", "output": "SKIPPED, 1 of 1 points open\nThere is no MPI."}]})"));
    json ours = json::parse(as_gradescope(fault()));
    CHECK_FALSE(ours.contains("score"));
    for (const json &test : ours["tests"]) CHECK_FALSE(test.contains("score"));
    CHECK(contains(ours["output"].get<std::string>(), "02_scaling: not graded\nWhat was not"));
    CHECK(ours["tests"][1] == json{{"name", "scale: many"},
                                   {"output", "INFRA_ERROR\nThe GPU is gone.\nRun it again."}});
    json nothing = skipped_lab("02_scaling", "stub", "no device", {9});
    CHECK_FALSE(json::parse(as_gradescope(nothing)).contains("score"));
    // A file that does not compile scores 0 of all the lab's points.
    built_submission refused;
    refused.verdict = grading::verdict::BUILD_FAILED;
    json built = json::parse(as_gradescope(refused_build("02_scaling", "stub", refused, {12})));
    CHECK(built["score"] == 0);
    CHECK(built["tests"][0]["max_score"] == 12);
}

TEST_CASE(
    "prairielearn: a share of the points; what did not compile or was our fault is no attempt")
{
    CHECK(json::parse(as_prairielearn(failing())) == json::parse(R"({
        "gradable": true, "score": 0.3333333333333333,
        "message": "02_scaling: 3 / 9 points, 1 open\n1 point is open: scale: ranks. There is no MPI.\nnvcc warned: stub.cu(7): n is never used\nGraded in the simulator: efficiency is counted, not timed.\n",
        "tests": [
            {"name": "scale: one", "points": 1, "max_points": 1, "message": "PASS", "output": ""},
            {"name": "scale: many", "points": 0, "max_points": 2, "message": "WRONG_ANSWER",
             "output": "Element 3 is 1 & not 2.\nIs it i < n?"},
            {"name": "scale: more", "points": 0, "max_points": 2, "message": "WRONG_ANSWER",
             "output": "Element 3 is 1 & not 2.\nIs it i < n?"},
            {"name": "scale: speed", "points": 2, "max_points": 3, "message": "PASS",
             "output": "5.80x naive, needs 3x; bytes used: 100 % (naive 12.5 %); sectors per request: 4\nThe next step needs 8x."},
            {"name": "scale: ranks", "points": 0, "max_points": 1, "message": "SKIPPED, 1 of 1 points open",
             "output": "There is no MPI."}]})"));
    json ours = json::parse(as_prairielearn(fault()));
    CHECK(ours["gradable"] == false);
    CHECK(ours["format_errors"] ==
          json::array({"scale: many: INFRA_ERROR: The GPU is gone.\nRun it again."}));
    CHECK_FALSE(ours.contains("score"));
    built_submission refused;
    refused.verdict = grading::verdict::BUILD_FAILED;
    refused.message = "It does not compile.";
    refused.diagnostics = "stub.cu(3): error";
    json built = json::parse(as_prairielearn(refused_build("02_scaling", "stub", refused, {12})));
    CHECK(built["gradable"] == false);
    CHECK(built["format_errors"] ==
          json::array({"build: BUILD_FAILED: It does not compile.\nstub.cu(3): error"}));
    json all = merged({refused_build("01_more", "stub", refused, {9}), failing()}, "1f", "gpu");
    CHECK(json::parse(as_prairielearn(all))["score"] == doctest::Approx(3.0 / 18));
}

TEST_CASE("text: what did not pass, cases that say the same once")
{
    CHECK(as_text(failing()) == R"(02_scaling: 3 / 9 points, 1 open
1 point is open: scale: ranks. There is no MPI.
nvcc warned: stub.cu(7): n is never used
Graded in the simulator: efficiency is counted, not timed.

WRONG_ANSWER in scale: many, and 1 more
    Element 3 is 1 & not 2.
    Is it i < n?

SKIPPED in scale: ranks
    There is no MPI.

02_scaling: 2 of 5 cases passed, 1 open
)");
    json right = result_with_cases("pass", {case_of("scale: one", "PASS", 1, 1, "")});
    right["backend"] = "gpu";
    right["labs"][0]["cases"][0]["speedup"] = {{"median", nullptr}, {"required", 3}};
    CHECK_FALSE(contains(as_junit(right), "naive"));
    CHECK(as_text(right) == "02_scaling: 1 / 1 points\n\n02_scaling: 1 of 1 case passed\n");
    CHECK(as_annotations(right) == "");
    for (const std::string &line : lines(as_text(hostile_result("word " + hostile))))
        CHECK(columns(line) <= 80);
}

TEST_CASE("github: annotations name the line, ten at most; the summary has every case")
{
    CHECK(as_annotations(failing()) ==
          "::error file=labs/02_scaling/stub.cu,line=12,title=WRONG_ANSWER in scale%3A many%2C and "
          "1 more::Element 3 is 1 & not 2.%0AIs it i < n?\n"
          "::notice title=02_scaling%3A 3 / 9 points%2C 1 open::1 point is open: scale: ranks. "
          "There is no MPI.\n");
    CHECK(as_annotations(fault()) ==
          "::error title=INFRA_ERROR in scale%3A many::The GPU is gone.%0ARun it again.\n");
    CHECK(
        as_summary(failing(), 1 << 20) ==
        R"(<pre>02_scaling: 3 / 9 points, 1 open&#10;1 point is open: scale: ranks. There is no MPI.&#10;nvcc warned: stub.cu(7): n is never used&#10;Graded in the simulator: efficiency is counted, not timed.&#10;</pre>
<h3><code>02_scaling</code> 3 / 9 points, 1 open, fail</h3>
<table>
<tr><td>PASS</td><td><code>scale: one</code></td><td>1 / 1</td></tr>
<tr><td>WRONG_ANSWER</td><td><code>scale: many</code></td><td>0 / 2</td></tr>
<tr><td colspan="3"><pre>Element 3 is 1 &amp; not 2.&#10;Is it i &lt; n?</pre></td></tr>
<tr><td>WRONG_ANSWER</td><td><code>scale: more</code></td><td>0 / 2</td></tr>
<tr><td colspan="3"><pre>Element 3 is 1 &amp; not 2.&#10;Is it i &lt; n?</pre></td></tr>
<tr><td>PASS</td><td><code>scale: speed</code></td><td>2 / 3</td></tr>
<tr><td colspan="3"><pre>5.80x naive, needs 3x; bytes used: 100 % (naive 12.5 %); sectors per request: 4&#10;The next step needs 8x.</pre></td></tr>
<tr><td>SKIPPED</td><td><code>scale: ranks</code></td><td>0 / 1, 1 open</td></tr>
<tr><td colspan="3"><pre>There is no MPI.</pre></td></tr>
</table>

)");
    for (int n : {10, 11}) {
        std::vector<json> cases;
        for (int i = 0; i < n; ++i)
            cases.push_back(case_of("scale: one", "CRASH", 0, 1, std::to_string(i)));
        std::vector<std::string> all = lines(as_annotations(result_with_cases("fail", cases)));
        CHECK(all.size() == 10);
        CHECK(contains(all[9], "::error title=2 more failures::") == (n == 11));
    }
}

TEST_CASE("what a submission wrote stays text in every form")
{
    json document = hostile_result(hostile);
    std::string junit = as_junit(document), summary = as_summary(document, 1 << 20);
    for (const std::string &text : {junit, summary, as_text(document), as_annotations(document),
                                    as_gradescope(document), as_prairielearn(document)})
        CHECK(unsafe_in(text) == "");
    CHECK(wrong_in_xml(junit) == "");
    CHECK(wrong_in_xml("?>" + summary) == "");
    CHECK(contains(
        junit, "?[31mred?[0m ]]&gt; &lt;/failure&gt;&lt;a href=&quot;x&quot;&gt; &amp; 100%&#10;"));
    CHECK_FALSE(contains(junit, "\xef\xbf\xbe"));
    CHECK_FALSE(contains(junit, "\xef\xbf\xbf"));
    CHECK_FALSE(contains(summary.substr(0, summary.size() - 1), "\n\n")); // it would end the HTML
    std::string commands = as_annotations(document);
    CHECK(lines(commands).size() == 1);
    CHECK(contains(commands, "100%25%0A::error::no%0A##[error]no%0A%0A|"));
    std::string properties = commands.substr(8, commands.find("::", 8) - 8);
    CHECK(std::count(properties.begin(), properties.end(), ':') == 0);
    CHECK(std::count(properties.begin(), properties.end(), ',') == 1);
    std::string output = json::parse(as_gradescope(document))["tests"][0]["output"];
    CHECK(output.rfind("CRASH\n?[31mred?[0m ]]> </failure>", 0) == 0);
}

TEST_CASE("no form is longer than its reader takes, whatever was printed")
{
    std::string much(1 << 20, '<');
    json document = hostile_result(much);
    CHECK(as_junit(document).size() < 200'000);
    CHECK(contains(as_text(document), "more bytes]"));
    CHECK(as_annotations(document).size() < 10'000);
    document = hostile_result(much.substr(0, 8000));
    json cases = json::array();
    for (int i = 0; i < 100; ++i) cases.push_back(document["labs"][0]["cases"][0]);
    document["labs"][0]["cases"] = cases;
    CHECK(as_prairielearn(document).size() <= 1'000'000);
    std::string summary = as_summary(document, 1 << 20);
    CHECK(summary.size() <= 1 << 20);
    CHECK(summary.size() > 1 << 18); // the summary is filled up to its limit
    CHECK(wrong_in_xml("?>" + summary) == "");
    CHECK_THROWS_AS(as_summary(document, 1000), usage_error);
}

TEST_CASE("of a class one student's results are taken")
{
    json rows = json::array();
    rows.push_back(
        {{"student", "ada"}, {"lab", "02_scaling"}, {"status", "fail"}, {"result", failing()}});
    rows.push_back({{"student", "ada"},
                    {"lab", "03_more"},
                    {"status", "missing"},
                    {"problem", "there is no stub.cu"},
                    {"max_points", 4},
                    {"result", json::object()}});
    rows.push_back({{"student", "bob"},
                    {"lab", "02_scaling"},
                    {"status", "error"},
                    {"problem", "the disk is full"},
                    {"result", json::object()}});
    json all = {{"schema", class_schema}, {"seed", "1f"}, {"backend", "sim"}, {"rows", rows}};
    json ada = result_of_student(all, "ada");
    CHECK(invalid(ada) == "");
    CHECK(contains(as_text(ada), "02_scaling: 3 / 9 points, 1 open\n"));
    CHECK(contains(as_text(ada), "\nSUBMISSION_INVALID in 03_more: build\n    Nothing was graded: "
                                 "there is no stub.cu\n"));
    CHECK(json::parse(as_gradescope(ada))["score"] == 3);
    CHECK(json::parse(as_prairielearn(ada))["score"] == doctest::Approx(3.0 / 13));
    CHECK(contains(as_text(result_of_student(all, "bob")), "the disk is full"));
    CHECK_FALSE(json::parse(as_gradescope(result_of_student(all, "bob"))).contains("score"));
    CHECK_THROWS_WITH_AS(result_of_student(all, "adda"),
                         "There is no student \"adda\" among the 3 rows. Did you mean ada?",
                         usage_error);
}

TEST_CASE("each form of a rich result is the golden one, byte for byte")
{
    // Made by `cuda-workbook convert FOLDER/result.json --to FORM`.
    for (const char *name : {"graded", "ungraded"}) {
        const std::string folder =
            read_toolchain(toolchain_path()).source_root + "/grader/tests/cli/golden/" + name + "/";
        const json document = json::parse(read_text(folder + "result.json"));
        CHECK(invalid(document) == "");
        CHECK(as_junit(document) == read_text(folder + "junit.xml"));
        CHECK(as_gradescope(document) == read_text(folder + "gradescope.json"));
        CHECK(as_prairielearn(document) == read_text(folder + "prairielearn.json"));
        CHECK(as_text(document) == read_text(folder + "report.txt"));
        CHECK(as_annotations(document) == read_text(folder + "annotations.txt"));
        CHECK(as_summary(document, 1 << 20) == read_text(folder + "summary.html"));
        CHECK(as_autolab(document) == read_text(folder + "autolab.txt"));
        CHECK(as_coderunner(document) == read_text(folder + "coderunner.json"));
        if (name == std::string("graded"))
            CHECK(as_classroom50(document, one_submission) ==
                  read_text(folder + "classroom50.json"));
    }
}

TEST_CASE("the convert command writes a file whole or says why it does not")
{
    project p;
    std::string result = p.put("result.json", failing().dump()), out = p.root + "/out";
    CHECK(convert_command({result, "junit", out, ""}) == passed);
    CHECK(read_text(out) == as_junit(failing()));
    CHECK(contains(refusal({p.root + "/none", "text", out, ""}), "No such file"));
    CHECK(contains(refusal({p.root, "text", out, ""}), "Is a directory"));
    CHECK(contains(refusal({p.put("a", "{"), "text", out, ""}),
                   "/a is not a JSON object. Give the file that grade --json wrote."));
    CHECK(contains(refusal({p.put("a", "{\"x\": \"\xff\"}"), "text", out, ""}), "not a JSON"));
    CHECK(contains(refusal({p.put("a", "{\"schema\": \"other\"}"), "text", out, ""}),
                   "is not of schema cuda-workbook/1"));
    CHECK(contains(refusal({p.put("a", "{\"schema\": \"cuda-workbook/2\"}"), "text", out, ""}),
                   "is of schema cuda-workbook/2, which a newer workbook wrote; this one reads "
                   "cuda-workbook/1"));
    CHECK(contains(
        refusal({p.put("a", "{\"schema\": \"cuda-workbook-class/12\"}"), "text", out, "ada"}),
        "is of schema cuda-workbook-class/12, which a newer workbook wrote"));
    CHECK(contains(refusal({result, "text", out, "ada"}), "leave it out"));
    json all = {{"schema", class_schema}, {"rows", json::array()}};
    CHECK(contains(refusal({p.put("a", all.dump()), "text", out, ""}), "--student NAME"));
    CHECK(contains(refusal({result, "text", p.root + "/no/out", ""}), "cannot write "));
    CHECK(contains(refusal({result, "text", p.root, ""}), " is no file; nothing was written"));
    CHECK(read_text(out) == as_junit(failing()));
}

TEST_CASE("a summary stands behind what the step has said already, and both within the limit")
{
    project p;
    json right =
        result_with_cases("pass", {case_of("scale: one", "PASS", 1, 1, "")}); // no annotations
    std::string result = p.put("result.json", right.dump());
    std::string summary = p.put("summary", "said\n"), file = p.root + "/file";
    environment_variable step("GITHUB_STEP_SUMMARY", summary);
    CHECK(convert_command({result, "github", "", ""}) == passed);
    CHECK(read_text(summary) == "said\n" + as_summary(right, 1 << 20));
    std::string full(std::size_t(1 << 20) - 20, 'x');
    p.put("summary", full);
    CHECK(contains(refusal({result, "github", "", ""}), "the 20 bytes"));
    CHECK(read_text(summary) == full);
    CHECK(convert_command({result, "github", file, ""}) == passed);
    CHECK(read_text(file) == as_summary(right, 1 << 20));
}
