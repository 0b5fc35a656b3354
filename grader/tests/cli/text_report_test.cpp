// Tests the report for a terminal on results as the grader writes them.
#include "cli/results/text_report.hpp"
#include "cli/support/files.hpp"
#include "cli_project.hpp"
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"

#include <fstream>
#include <utility>

#include <unistd.h>

using namespace cli;
using grading::case_record;
using grading::kind;
using grading::options;
using grading::records;
using grading::verdict;

namespace {

json result() { return json::parse(grading::result_json()); }

std::string report(const json &document, const std::string &source)
{
    const std::string command =
        "./workbook grade " + (source.empty() ? "02" : "02 --submission " + source);
    const std::string text = std::filesystem::is_regular_file(source) ? read_text(source) : "";
    return text_report(document, {source, command, "", todo_list(text), {}});
}
std::string report() { return report(result(), ""); }

case_record &add_case(const char *name, kind what, verdict result, const std::string &message,
                      double max_points = 1)
{
    case_record &r = records().emplace_back();
    r.name = name;
    r.what = what;
    r.started = r.ended = true;
    r.result = result;
    r.message = message;
    r.max_points = max_points;
    return r;
}

} // namespace

TEST_CASE("a function that was handed out wrong is to do; one that stores nothing is told in full")
{
    add_case("scale: one", kind::correctness, verdict::NOT_WRITTEN, "It stored nothing.");
    add_case("shift: one", kind::correctness, verdict::RACE, "Two threads race.");
    const std::string stub = "void a()\n{\n    // TODO 1 (scale): A.\n}\n"
                             "void b()\n{\n    // TODO 2 (shift): B.\n    wrong();\n}\n";
    auto said = [&](const std::string &present) {
        return text_report(
            result(), {"", "./workbook grade 02", "", todo_list(stub, present, {"shift"}), {}});
    };
    CHECK(contains(said(stub), "todo  scale                not written yet: TODO 1"));
    CHECK(contains(said(stub), "todo  shift                as it was given: TODO 2"));
    CHECK(contains(said(stub), "Next: write TODO 1"));
    CHECK_FALSE(contains(said(stub), "Two threads race."));

    std::string begun = stub;
    begun.insert(begun.find("}\n"), "    work();\n");
    CHECK(contains(said(begun), "\nNOT_WRITTEN  scale: one\n    It stored nothing.\n"));
    std::string mended = stub;
    mended.replace(mended.find("wrong()"), 7, "other()");
    CHECK(contains(said(mended), "\nRACE  shift: one\n    Two threads race.\n"));
    CHECK(contains(said(mended), "FAIL  shift                0 of 1 cases"));
    records().clear();
}

TEST_CASE("a step by shared memory is named once its array is there, and comes in its turn")
{
    const std::string stub = "void a()\n{\n    // TODO 1 (scale): A.\n"
                             "    // TODO 2 (scale: loads): B, in\n    // shared memory.\n}\n"
                             "void b()\n{\n    // TODO 3 (shift): C.\n}\n";
    auto said = [&](const std::string &code) {
        std::string present = stub;
        present.insert(present.find("}\n"), code);
        return text_report(result(),
                           {"s.cu", "./workbook grade 02", "", todo_list(stub, present), {}});
    };
    add_case("scale: one", kind::correctness, verdict::WRONG_ANSWER, "It failed.", 2);
    add_case("scale: loads", kind::speed, verdict::TOO_SLOW, "It failed.", 2);
    add_case("shift: one", kind::correctness, verdict::NOT_WRITTEN, "It failed.", 2);
    CHECK(contains(said("    work();\n"), "It belongs to TODO 1."));
    CHECK(contains(said("    __shared__ int t[4];\n"), "It belongs to TODO 2."));
    CHECK(contains(said("    work();\n"),
                   "Next: mend it, then ./workbook grade 02 --case \"scale: one\"\n"));
    records()[0].result = verdict::PASS;
    CHECK(contains(said("    work();\n"), "TOO_SLOW  scale: loads\n"));
    CHECK(contains(said("    work();\n"), "Next: TODO 2 (s.cu:4), then ./workbook grade 02\n"));
    records()[1].result = verdict::PASS;
    CHECK(contains(said("    work();\n"), "Next: write TODO 3 (s.cu:"));
    records()[2].result = verdict::PASS;
    records()[1].points = 0.5;
    CHECK(contains(said("    work();\n"),
                   "Next: TODO 2 (s.cu:4) for 1.5 more points, then ./workbook grade 02\n"));
    records().clear();
}

TEST_CASE("the report begins with what is first to mend, and names its TODO by the line")
{
    char path[] = "/tmp/cuda-workbook-stub.XXXXXX";
    close(mkstemp(path));
    std::ofstream(path) << "void a()\n{\n    // TODO 1 (scale): A.\n}\n"
                           "void b()\n{\n    // TODO 2 (scale): B.\n}\n"
                           "// TODO 3 (shift): C.\n// TODO 4 (scale: speed): D.\n";
    auto add = [](const char *name, kind what, verdict result, int line) {
        case_record &r =
            add_case(name, what, result, std::string(name) + " failed at line 6. More is known.");
        r.hint = "mend it.";
        r.line = line;
    };
    add("scale: speed", kind::speed, verdict::TOO_SLOW, 0);
    add("shift: one", kind::correctness, verdict::NOT_WRITTEN, 0);
    add("scale: two", kind::correctness, verdict::RACE, 6);
    add("turn: one", kind::correctness, verdict::CRASH, 0);
    add("turn: two", kind::correctness, verdict::CRASH, 0);
    auto holds = [&](const std::string &part) {
        json document = result();
        document["labs"][0]["warnings"] = {"line 8: \"factor\" cannot be read in a host function"};
        return contains(report(document, path), part);
    };
    CHECK(holds("\nRACE  scale: two\n"));
    CHECK(holds("Try: mend it. (TODO 2)"));
    records()[2].hint.clear();
    json of_stub = result();
    CHECK(contains(report(of_stub, path), "It belongs to TODO 2.\n"));
    of_stub["labs"][0]["lab"] = "02_scaling", of_stub["labs"][0]["submission"] = "stub";
    CHECK(contains(report(of_stub, path),
                   "It belongs to TODO 2. Hints: ./workbook hint 02 --todo 2\n"));
    records()[2].hint = "mend it.";
    // A function that is not shown yet gets one sentence about its first failure.
    const std::string turn = "    CRASH              turn: ";
    const std::string indent(23, ' ');
    CHECK(holds(turn + "one\n" + indent + "turn: one failed at line 6.\n" + turn + "two\n"));
    CHECK(holds("    TOO_SLOW           scale: speed\n"));
    CHECK_FALSE(holds("scale: speed failed"));
    records().resize(3);
    CHECK(holds("Also not passed:\n    TOO_SLOW           scale: speed\n"));
    CHECK(result()["labs"][0]["cases"][2]["line"] == 6);
    CHECK(holds("    nvcc warned: line 8: \"factor\" cannot be read in a host function\n"));
    records()[2].result = verdict::PASS;
    // The one failure of a function that is written is told in full, though another comes next.
    CHECK(holds("Not passed, and for later:\nTOO_SLOW  scale: speed\n    scale: speed failed at "
                "line 6. More is known.\n    Try: mend it."));
    CHECK_FALSE(holds("Also not passed:"));
    CHECK(holds(std::string("write TODO 3 (") + path + ":9), then"));
    records().clear();
    unlink(path);
}

TEST_CASE("no line is wider than 80 columns, whatever cases are called")
{
    auto kept = std::exchange(records(), std::vector<case_record>(3));
    const std::string longest =
        "eliminate_ranks: a tiny first pivot, and an ill-conditioned system";
    for (std::size_t i = 0; i < 3; ++i) {
        records()[i].name = (i ? "eliminate_ranks: " + std::to_string(i) : "") + longest;
        records()[i].started = records()[i].ended = true;
        records()[i].result = verdict::PARTIALLY_WRITTEN;
    }
    records()[2].tried = false;
    for (const char *name : {"stub", "/a/folder/of/somebody/who/handed/in/here.cu"}) {
        options().submission = name;
        for (const std::string &line : lines(report(result(), name))) {
            CAPTURE(line);
            CHECK(line.size() <= 80);
        }
    }
    CHECK(contains(report(result(), "/a/folder/of/somebody/who/handed/in/here.cu"),
                   "here.cu \\\n    --case \"eliminate_ranks: a tiny"));
    options().submission = "stub";
    records()[1].name = "eliminate_ranks: two";
    records()[2].name = "eliminate_ranks: three";
    CHECK(contains(report(), "--case \"eliminate_ranks: a tiny first pivot, and an\"\n"));
    options().submission.clear();
    records() = std::move(kept);
}

TEST_CASE("a speed case that gives a part of its points says what the others are for")
{
    case_record r;
    r.name = "scale: speed";
    r.what = kind::speed;
    r.started = r.ended = true;
    r.points = 2;
    r.max_points = 6;
    r.speed.emplace();
    r.speed->offered = 3;
    r.speed->reached = 1;
    r.speed->needs = {"at least 45 %", "at least 65 %", "at least 90 %"};
    records().push_back(r);
    auto holds = [&](const std::string &part) { return contains(report(), part); };
    CHECK(holds("2 of 6 points. For 4 points: at least 65 %. For 6 points: at least 90 %."));
    CHECK(result()["labs"][0]["cases"][0]["more_points"] ==
          "For 4 points: at least 65 %. For 6 points: at least 90 %.");
    records()[0].points = records()[0].speed->reached = 0;
    records()[0].result = verdict::TOO_SLOW;
    CHECK(holds("For 2 points: what is required. For 4 points: at least 65 %. For 6"));
    records()[0].points = 6;
    CHECK_FALSE(holds("For "));
    records().clear();
}

TEST_CASE("that races went unwatched is noted once, however many cases it befell")
{
    auto kept = std::exchange(records(), std::vector<case_record>(3));
    for (std::size_t i = 0; i < 3; ++i) {
        records()[i].name = "add: case " + std::to_string(i);
        records()[i].started = true;
    }
    CHECK(report().find("races") == std::string::npos);
    records()[1].unwatched = records()[2].unwatched = "add_all";
    std::string text = report();
    std::size_t at = text.find("Note: races were looked for in a part of kernel add_all only");
    CHECK(at != std::string::npos);
    CHECK(text.find("in 2 cases") != std::string::npos);
    CHECK(text.find("add: case 1") != std::string::npos);
    CHECK(text.find("Note:", at + 1) == std::string::npos);
    auto cases = result()["labs"][0]["cases"];
    CHECK_FALSE(cases[0].contains("races_partly_unwatched"));
    CHECK(cases[1]["races_partly_unwatched"] == "add_all");
    records() = std::move(kept);
}

TEST_CASE("what nothing here can judge is open, and neither fails the lab nor passes it alone")
{
    records().clear();
    for (bool lacking : {true, true}) {
        case_record r;
        r.name = std::string("ranks: ") + (records().empty() ? "two" : "four");
        r.started = r.ended = true;
        r.result = verdict::SKIPPED;
        r.lacking = lacking;
        r.max_points = 2;
        r.message = "There is no MPI.";
        records().push_back(r);
    }
    CHECK(grading::exit_status() == 77);
    case_record right;
    right.name = "alone: one";
    right.started = true;
    right.points = right.max_points = 1;
    records().push_back(right);
    CHECK(grading::exit_status() == 0);
    std::string text = report();
    CHECK(text.find("  open  ranks                0 of 2 cases, 4 points open") !=
          std::string::npos);
    CHECK(text.find("4 points are open: ranks: two; ranks: four. There is no MPI.") !=
          std::string::npos);
    CHECK(text.find("\n1 of 5 points, 4 open") != std::string::npos);
    CHECK(text.find("Next:") == std::string::npos); // no work is left here
    records().front().lacking = false;              // the lab cannot do without it
    CHECK(grading::exit_status() == 77);
    auto lab_json = [] { return result()["labs"][0]; };
    CHECK_FALSE(lab_json()["cases"][0].contains("unsupported"));
    records().front().unsupported = true; // the submission uses an unsupported feature
    records().front().hint = "A GPU can judge it.";
    CHECK(grading::exit_status() == 77);
    CHECK(lab_json()["status"] == "skipped");
    CHECK(lab_json()["points"] == 1);
    CHECK(lab_json()["open_points"] == 4);
    CHECK(lab_json()["cases"][0]["open_points"] == 2);
    CHECK(lab_json()["cases"][0]["unsupported"] == true);
    CHECK(lab_json()["cases"][2]["open_points"] == 0);
    text = report();
    CHECK(text.find("2 points are open: ranks: two. There is no MPI. A GPU can judge it.") !=
          std::string::npos);
    CHECK(text.find("Next: edit") != std::string::npos); // another solution may be judged here
    records().back().result = verdict::WRONG_ANSWER;
    records().back().points = 0;
    CHECK(grading::exit_status() == 1);
    records().back().result = verdict::INFRA_ERROR;
    text = report();
    CHECK(text.find("Not graded: a fault of the machine") != std::string::npos);
    CHECK(text.find("0 of 5 points") == std::string::npos); // that would be a zero
    CHECK(text.find("FAIL") == std::string::npos);
    records().clear();
}

TEST_CASE("a long command after a refused build has a line of its own")
{
    built_submission refused;
    refused.verdict = verdict::BUILD_FAILED;
    refused.message = "stub.cu(3): error";
    const json document = refused_build("02_scaling", "stub", refused, {12});
    const std::string file = "/home/ada/" + std::string(50, 'a') + ".cu";
    auto said = [&](const std::string &command) {
        return refused_build_report(document, {file, command, "", todo_list(""), {}});
    };
    CHECK(contains(said("./workbook grade 02"), "Next: mend it, then ./workbook grade 02\n"));
    const std::string command = "./workbook grade 02 --submission " + file;
    CHECK(contains(said(command), "Next: mend it, then\n  " + command + "\n"));
}
