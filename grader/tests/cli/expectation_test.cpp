// Tests the verdict that a wrong submission requires, and which verdicts satisfy it.
#include "cli/check/expectation.hpp"

#include "cli/check/judgement.hpp"
#include "cli/results/stub_original.hpp"
#include "cli_project.hpp"

#include "cli/support/errors.hpp"

#include <doctest/doctest.h>

using namespace cli;

namespace {

const std::string source = "// Fails: scale: a | b row | WRONG_ANSWER | its own factor\n"
                           "// On gpu: passes - only the simulator sees it\n";

lab_view got(const char *verdict, const char *message, const char *status = "fail")
{
    return {"02_scaling",
            "x.cu",
            status,
            0,
            1,
            {{"scale: one", "correctness", "PASS", "", "", 1, 1, nullptr},
             {"scale: row", "correctness", verdict, message, "index by column", 0, 1, nullptr}}};
}

expectation of(const std::string &text, const std::string &backend = "sim")
{
    return read_expectation(text, "wrong/x.cu", backend);
}

const std::string ordinary = "// Fails: scale: row | WRONG_ANSWER | its own factor\n";

} // namespace

TEST_CASE("the first line is read on both backends, the second on the GPU")
{
    expectation e = of(ordinary);
    CHECK(e.case_name == "scale: row");
    CHECK(e.verdict == "WRONG_ANSWER");
    CHECK(e.words == "its own factor");
    CHECK(of(ordinary, "gpu").verdict == "WRONG_ANSWER");
    CHECK(of(ordinary + "// On gpu: scale: row | CUDA_ERROR | misaligned\n", "gpu").verdict ==
          "CUDA_ERROR");
    CHECK(of(ordinary + "// On gpu: scale: row | CUDA_ERROR | misaligned\n").verdict ==
          "WRONG_ANSWER");
    CHECK(of(ordinary + "// On gpu: passes - no checks there\n", "gpu").passes);
}

TEST_CASE("a malformed line is an error that names the file")
{
    for (const char *text :
         {"// Wrong on purpose.\n", "// Fails: scale: row | WRONG_ANSWER\n",
          "// Fails: scale: row | BAD_ANSWER | words\n", "// Fails:  | PASS | words\n", "",
          "// Fails: scale: row |  | words\n", "// Fails: scale: row | CRASH TIMEOUT |\n",
          "// Fails: scale: row | CRASH or |\n"})
        CHECK_THROWS_WITH_AS(of(text), doctest::Contains("wrong/x.cu"), machine_error);
    CHECK(of("// Fails: scale: row | CRASH |\n").words == "");
    const expectation either = of("// Fails: scale: row | CRASH or TIMEOUT |\n");
    CHECK(unmet(either, got("CRASH", "")) == "");
    CHECK(unmet(either, got("TIMEOUT", "")) == "");
    CHECK(unmet(either, got("WRONG_ANSWER", "")) != "");
    CHECK_FALSE(states_expectation("// A stub.\n"));
    CHECK(states_expectation(source));
}

TEST_CASE("case, verdict and words must all be right")
{
    expectation e = of(ordinary);
    CHECK(unmet(e, got("WRONG_ANSWER", "row 3 has its own factor")) == "");
    CHECK(unmet(of("// Fails: scale: row | WRONG_ANSWER | by column\n"), got("WRONG_ANSWER", "")) ==
          "");
    CHECK(unmet(e, got("WRONG_ANSWER", "something else")) != "");
    CHECK(unmet(e, got("CRASH", "its own factor")) != "");
    CHECK(unmet(e, got("PASS", "its own factor", "pass")) != "");
    CHECK(unmet(of("// Fails: scale: other | WRONG_ANSWER | x\n"), got("WRONG_ANSWER", "x")) != "");
    expectation skipped = of("// Fails: scale: row | SKIPPED | no opcode\n");
    CHECK(unmet(skipped, got("SKIPPED", "no opcode", "pass")) == "");
    lab_view also = got("WRONG_ANSWER", "its own factor");
    also.cases[0].verdict = "INFRA_ERROR";
    CHECK(unmet(e, also) != "");
}

TEST_CASE("what must pass must pass")
{
    expectation e = of(ordinary + "// On gpu: passes - no checks there\n", "gpu");
    CHECK(unmet(e, got("PASS", "", "pass")) == "");
    CHECK(unmet(e, got("WRONG_ANSWER", "its own factor")) != "");
    CHECK(unmet(e, got("PASS", "", "fail")) == ""); // another case may fail
    for (const char *backend : {"sim", "gpu"})
        CHECK(of("// Passes: what looks like a fault is none\n", backend).passes);
    CHECK_FALSE(
        of("// Passes: where it is counted\n// On gpu: may pass by chance\n", "gpu").passes);
}

TEST_CASE("what only the simulator can judge is proven there")
{
    lab_view open = got("SKIPPED", "Only the simulator can judge this.", "pass");
    CHECK(unmet(of(ordinary, "gpu"), open) == "");
    CHECK(unmet(of(ordinary), open) != "");
    CHECK(unmet(of(ordinary, "both"), open) != "");
    CHECK(unmet(of(ordinary, "gpu"), got("PASS", "", "pass")) != "");
    CHECK(unmet(of(ordinary + "// On gpu: scale: row | CUDA_ERROR |\n", "gpu"), open) != "");
}

TEST_CASE("what is up to chance may pass, but the grader may not fail")
{
    expectation e = of(ordinary + "// On gpu: may pass - a race\n", "gpu");
    CHECK_FALSE(of(ordinary + "// On gpu: may pass - a race\n").may_pass);
    CHECK(unmet(e, got("PASS", "", "pass")) == "");
    CHECK(unmet(e, got("WRONG_ANSWER", "some other words")) == "");
    lab_view broken = got("INFRA_ERROR", "no worker");
    CHECK(unmet(e, broken) != "");
}

TEST_CASE("outside a git repository the stub in the tree is looked at")
{
    project p;
    const std::string stub = p.tools.stub(p.only_lab());
    CHECK_FALSE(original_of(p.tools, stub).known);
    CHECK(original_of(p.tools, stub).path == stub);
}

TEST_CASE("of a file that a student has edited, the one in git's index is looked at" *
          doctest::skip(find_program("git").empty()))
{
    project p;
    std::string stub = p.tools.stub(p.only_lab()), ours = read_text(stub);
    auto git = [&](std::vector<std::string> words) {
        child c;
        c.arguments = {"git", "-C", p.root};
        c.arguments.insert(c.arguments.end(), words.begin(), words.end());
        REQUIRE(run(c).ok());
    };
    git({"init", "--quiet"});
    git({"add", "labs"});
    original_file same = original_of(p.tools, stub);
    CHECK(same.known);
    CHECK_FALSE(same.edited);
    CHECK(same.path == stub);

    p.put("labs/02_scaling/stub.cu", "// A student's.\n");
    original_file kept = original_of(p.tools, stub);
    CHECK(kept.edited);
    CHECK(kept.path != stub);
    CHECK(read_text(kept.path) == ours);

    git({"add", "labs"});
    CHECK_FALSE(original_of(p.tools, stub).edited);
}
