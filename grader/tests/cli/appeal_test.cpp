// Tests that a grade can be made again from its result, and what is said where it differs.
#include "cli/commands/commands.hpp"
#include "cli/results/class_results.hpp"
#include "cli/results/grade_comparison.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/sha256.hpp"
#include "cli_project.hpp"

#include <fmt/format.h>

#include <functional>

using namespace cli;

namespace {

json appealed_case(const char *name, const char *verdict, int points)
{
    return {{"name", name},    {"kind", "correctness"}, {"verdict", verdict}, {"points", points},
            {"max_points", 4}, {"message", ""},         {"hint", ""}};
}

json appealed_result(std::vector<json> cases)
{
    int points = 0;
    for (const json &c : cases) points += c["points"].get<int>();
    return {{"schema", result_schema},
            {"tool", tool_version},
            {"seed", "1f"},
            {"backend", "sim"},
            {"env", {{"sandbox", "namespaces"}}},
            {"labs",
             {{{"lab", "02_scaling"},
               {"submission", "stub"},
               {"status", "fail"},
               {"sha256", sha256("the file")},
               {"points", points},
               {"max_points", 4 * cases.size()},
               {"cases", cases}}}}};
}

json two_cases()
{
    return appealed_result(
        {appealed_case("scale: one", "PASS", 4), appealed_case("scale: many", "WRONG_ANSWER", 0)});
}

std::string comparison(const json &given, const json &here)
{
    return compare_grades(given, here, 500).text;
}

// A grader that passes with seed 1f and fails with any other.
void script_grader(project &p)
{
    p.script("build/grade.02_scaling",
             "[ \"$1\" = --list ] && echo 4 points in 1 cases && exit\n"
             "request=$(cat)\n"
             "to=$(echo \"$request\" | sed 's/.*\"result\":\"\\([^\"]*\\)\".*/\\1/')\n"
             "case \"$request\" in\n"
             "*'\"seed\":\"1f\"'*) verdict=PASS points=4 ;;\n"
             "*) verdict=WRONG_ANSWER points=0 ;;\n"
             "esac\n"
             "cat >\"$to\" <<END\n"
             "{\"schema\": \"cuda-workbook/1\", \"tool\": \"" +
                 std::string(tool_version) +
                 "\", \"backend\": \"sim\", \"seed\": \"1f\", \"labs\": [{\"lab\": \"02_scaling\", "
                 "\"submission\": \"stub\", \"status\": \"fail\", \"points\": $points, "
                 "\"max_points\": 4, \"cases\": [{\"name\": \"scale: one\", \"kind\": "
                 "\"correctness\", \"verdict\": \"$verdict\", \"points\": $points, "
                 "\"max_points\": 4, \"message\": \"\", \"hint\": \"\"}]}]}\n"
                 "END");
    p.tools.simulator_library = p.tools.cudart_static; // any library that exists
}

std::string refused_appeal(const project &p, const appeal_options &wanted)
{
    try {
        appeal_command(p.tools, wanted);
    } catch (const usage_error &e) {
        return e.what();
    } catch (const no_device_error &e) {
        return std::string("no device: ") + e.what();
    }
    return "none";
}

} // namespace

TEST_CASE("SHA-256 is that of the standard")
{
    CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(sha256(std::string(1000000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the same grade is said in one line, with what is not the same about it")
{
    const json given = two_cases();
    CHECK(compare_grades(given, given, 500).same);
    CHECK(comparison(given, given) == "02_scaling, backend sim, seed 1f: the same verdict in all 2 "
                                      "cases, 4 of 8 points\n");
    json newer = given;
    newer["tool"] = "9.9";
    CHECK(compare_grades(newer, given, 500).same);
    CHECK(contains(
        comparison(newer, given),
        fmt::format("  Another version of the workbook: 9.9 there, {} here.\n", tool_version)));
}

TEST_CASE("each case whose verdict or points differ has a row, and there is no other")
{
    const json given = appealed_result(
        {appealed_case("scale: one", "PASS", 4), appealed_case("scale: many", "WRONG_ANSWER", 0),
         appealed_case("scale: speed", "PASS", 2), appealed_case("scale: gone", "PASS", 4)});
    const json here = appealed_result(
        {appealed_case("scale: one", "PASS", 4), appealed_case("scale: many", "PASS", 4),
         appealed_case("scale: speed", "PASS", 4), appealed_case("scale: new", "PASS", 4)});
    CHECK_FALSE(compare_grades(given, here, 500).same);
    CHECK(comparison(given, here) ==
          "02_scaling, backend sim, seed 1f: 4 of 4 cases differ\n\n"
          "case          there               here\n"
          "scale: many   WRONG_ANSWER 0 / 4  PASS 4 / 4\n"
          "scale: speed  PASS 2 / 4          PASS 4 / 4\n"
          "scale: gone   PASS 4 / 4          no such case\n"
          "scale: new    no such case        PASS 4 / 4\n"
          "points        10 / 16             16 / 16\n\n"
          "Nothing in the two results explains it: file, workbook and inputs are the same. Show "
          "both to your instructor; --json FILE writes the one made here.\n");
    json of_one_case = two_cases();
    of_one_case["labs"][0]["cases"].erase(1);
    CHECK_FALSE(compare_grades(of_one_case, two_cases(), 500).same);
    of_one_case["labs"][0]["not_chosen"] = {"scale: many"}; // by --case
    CHECK(compare_grades(of_one_case, two_cases(), 500).same);
}

TEST_CASE("what may explain a difference is said: file, workbook, GPU, sandbox, clock, limits")
{
    const json given = two_cases();
    auto text = [&](const std::function<void(json &)> &change) {
        json here = given;
        here["labs"][0]["cases"][1]["verdict"] = "PASS";
        change(here);
        return comparison(given, here);
    };
    CHECK(contains(
        text([](json &d) { d["labs"][0]["sha256"] = sha256("other"); }),
        fmt::format("- Another file, by the first digits of its SHA-256: {} there, {} here.\n",
                    sha256("the file").substr(0, 16), sha256("other").substr(0, 16))));
    CHECK(
        contains(text([](json &d) { d["tool"] = "9.9"; }), "- Another version of the workbook: "));
    CHECK(contains(text([](json &d) { d["env"]["sandbox"] = "none"; }),
                   "- Another sandbox: namespaces there, none here.\n"));
    CHECK(contains(text([](json &d) { d["env"]["gpu"] = "NVIDIA H200"; }),
                   "- Another GPU: unknown there, NVIDIA H200 here.\n"));
    CHECK(contains(text([](json &d) {
                       d["labs"][0]["cases"][1]["speedup"] = {{"median", 3}};
                   }),
                   "- The clock: 1 of the cases that differ is timed"));
    CHECK(contains(text([](json &d) { d["labs"][0]["cases"][1]["verdict"] = "TIMEOUT"; }),
                   "- A limit: 1 of the cases that differ"));
    json of_gpu = given, without_hash = given, fault = given, here = given;
    here["labs"][0]["cases"][1]["verdict"] = "PASS";
    CHECK_FALSE(contains(comparison(given, here), "A race"));
    of_gpu["backend"] = "gpu";
    CHECK(contains(comparison(of_gpu, here), "- A race: on a GPU"));
    without_hash["labs"][0].erase("sha256");
    CHECK(contains(comparison(without_hash, here), "does not say which one was graded"));
    fault["labs"][0]["status"] = "error";
    CHECK(contains(comparison(fault, here), "- A fault of the machine or the workbook"));
    CHECK(contains(comparison(fault, here), "points       not graded"));
}

TEST_CASE("a grade is made again with the seed of its result")
{
    project p;
    p.use_real_compiler();
    script_grader(p);
    const std::string text = "#include \"lab.hpp\"\nvoid scale(float *, int) {}\n";
    p.put("labs/02_scaling/stub.cu", text);
    const std::string other = p.put("handed_in.cu", text + "// Another file.\n");
    json given = appealed_result({appealed_case("scale: one", "PASS", 4)});
    given["labs"][0]["sha256"] = sha256(text);

    appeal_options wanted;
    wanted.file = p.put("result.json", given.dump());
    wanted.json_file = p.root + "/here.json";
    CHECK(appeal_command(p.tools, wanted) == passed); // the stub is the file that was graded
    const json here = json::parse(read_text(wanted.json_file));
    CHECK(here["labs"][0]["sha256"] == sha256(text));
    wanted.submission = other;
    CHECK(appeal_command(p.tools, wanted) == passed); // another file, and the same grade
    CHECK(json::parse(read_text(wanted.json_file))["labs"][0]["sha256"] ==
          sha256(read_text(other)));
    given["seed"] = "20";
    p.put("result.json", given.dump());
    CHECK(appeal_command(p.tools, wanted) == failed);

    // A class's result holds the grades of all; the student's own part can be handed out.
    given["seed"] = "1f";
    const json of_class = {
        {"schema", class_schema},
        {"seed", "1f"},
        {"backend", "sim"},
        {"tool", "0.0.1"},
        {"rows", {{{"student", "ada"}, {"lab", "02_scaling"}, {"result", given}}}}};
    wanted.file = p.put("class.json", of_class.dump());
    CHECK(contains(refused_appeal(p, wanted), "say whose results with --student NAME"));
    wanted.student = "adda";
    CHECK(contains(refused_appeal(p, wanted), "Did you mean ada?"));
    wanted.student = "ada";
    CHECK(appeal_command(p.tools, wanted) == passed);
    CHECK(convert_command({wanted.file, "json", p.root + "/ada.json", "ada"}) == passed);
    CHECK(json::parse(read_text(p.root + "/ada.json"))["tool"] == "0.0.1");
    wanted.file = p.root + "/ada.json";
    wanted.student.clear();
    CHECK(appeal_command(p.tools, wanted) == passed);

    // A grader that breaks here says nothing about the grade that was given.
    p.script("build/grade.02_scaling",
             "[ \"$1\" = --list ] && echo 4 points in 1 cases && exit\nkill -SEGV $$");
    CHECK_THROWS_WITH_AS(appeal_command(p.tools, wanted),
                         doctest::Contains("could not be made again"), machine_error);
}

TEST_CASE("what cannot be appealed with is refused, with what to do")
{
    project p;
    auto with = [&](const json &result, const std::string &file = "", const std::string &lab = "") {
        appeal_options wanted;
        wanted.file = p.put("result.json", result.dump());
        wanted.submission = file;
        wanted.lab = lab;
        return refused_appeal(p, wanted);
    };
    const std::string file = p.put("mine.cu", "// Mine.\n");
    appeal_options missing;
    missing.file = p.root + "/resutl.json";
    CHECK(contains(refused_appeal(p, missing), "No such file"));
    CHECK(contains(with(json::array()), "is not a JSON object. Give the file that grade --json"));
    CHECK(contains(with({{"schema", "cuda-workbook/1"}}), "has no labs"));
    CHECK(contains(with({{"schema", "cuda-workbook/2"}}), "which a newer workbook wrote"));
    json result = two_cases();
    CHECK(contains(with(result), "labs/02_scaling/stub.cu is not the file that was graded"));
    CHECK(contains(with(result), "./workbook appeal " + p.root + "/result.json FILE.cu"));
    CHECK(contains(with(result, p.root + "/mien.cu"), "mien.cu: there is no such file here"));
    result["labs"][0].erase("sha256");
    CHECK(contains(with(result), "does not say which file was graded"));
    result["labs"][0]["lab"] = "02_scalnig";
    CHECK(contains(with(result, file), "is of lab 02_scalnig, which this workbook does not have "
                                       "(it has 02_scaling)"));
    result = two_cases();
    result.erase("seed");
    CHECK(contains(with(result, file), "names no seed"));
    result["seed"] = "1g";
    CHECK(contains(with(result, file), "names no seed"));
    result = two_cases();
    result["labs"].push_back(result["labs"][0]);
    result["labs"][1]["lab"] = "03_other";
    CHECK(contains(with(result, file), "is of 2 labs: name one with --lab (02_scaling, 03_other)"));
    CHECK(contains(with(result, file, "03"), "is of lab 03_other, which this workbook does not"));
    CHECK(contains(with(result, file, "scalnig"), "scalnig"));
    result = two_cases();
    result["backend"] = "gpu";
    if (access("/dev/nvidiactl", F_OK) != 0) CHECK(contains(with(result, file), "no device: "));
}
