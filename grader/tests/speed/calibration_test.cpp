// Tests which gates a calibration keeps, its file, and what is said where a gate is open.
#include "speed/calibration.hpp"
#include "tests/contains.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <string>

using namespace grading;

namespace {

calibration_figure figure(const std::string &verdict, double ratio, const std::string &counted = {})
{
    return {verdict, ratio, 0.95 * ratio, 1.05 * ratio, 0, verdict == "PASS", counted};
}

// A gate at 3 that holds: one rung misses the lesson, another has learnt it and passes.
calibrated_case held()
{
    calibrated_case c;
    c.required = 3;
    c.naive = figure("TOO_SLOW", 1, "TOO_SLOW");
    c.rungs["1_first"] = figure("TOO_SLOW", 2, "TOO_SLOW");
    c.rungs["2_second"] = figure("PASS", 3.5, "PASS");
    c.solution = figure("PASS", 6);
    return c;
}

calibration one_lab(const calibrated_case &c)
{
    calibration all{"NVIDIA T4", "7.5", {}};
    all.labs["02_scaling"] = {"0123",       "580.65.06", "13.0",
                              "2026-11-26", "0.1.0",     {{"scale: speed", c}}};
    return all;
}

const asked_gate asked = {"NVIDIA T4", "02_scaling", "0123", "scale: speed", 3, 0, 1};

std::string open_words(const calibration &c, const asked_gate &gate = asked)
{
    return open_gate(gate, "data/gates/NVIDIA_T4.json", calibration_text(c));
}

std::string problem_in(const std::string &text)
{
    try {
        parse_calibration(text);
    } catch (const std::invalid_argument &e) {
        return e.what();
    }
    return {};
}

std::string replaced(std::string text, const std::string &from, const std::string &to)
{
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("a gate is kept where the ladder stands on its right sides")
{
    CHECK(decide_gate(held()).kept);
    CHECK(decide_gate(held()).why == "");
}

TEST_CASE("a gate that naive may reach is open, by the upper end of naive's interval")
{
    calibrated_case c = held();
    c.naive.high = 3;
    CHECK_FALSE(decide_gate(c).kept);
    CHECK(contains(decide_gate(c).why, "naive reaches up to 3"));
    c.naive.high = 2.99;
    CHECK(decide_gate(c).kept);
}

TEST_CASE("where naive's way is the right one, naive may reach the gate")
{
    calibrated_case c = held();
    c.naive.high = 4;
    c.naive_may_pass = true;
    CHECK(decide_gate(c).kept);
    c.rungs["1_first"].high = 4;
    CHECK_FALSE(decide_gate(c).kept);
}

TEST_CASE("a rung that misses the lesson must stay below; one that is not counted need not")
{
    calibrated_case c = held();
    c.rungs["1_first"].high = 3.2;
    CHECK(contains(decide_gate(c).why, "1_first reaches up to 3.2"));
    for (const char *counted : {"SKIPPED", "PASS", ""}) {
        c.rungs["1_first"].counted = counted;
        CHECK(decide_gate(c).kept);
    }
}

TEST_CASE("the solution must stand a quarter above, by the lower end of its interval")
{
    calibrated_case c = held();
    c.solution.low = 3.75;
    CHECK(decide_gate(c).kept);
    c.solution.low = 3.74;
    CHECK(contains(decide_gate(c).why, "the solution surely reaches only 3.74"));
    c.solution.low = std::nan("");
    CHECK_FALSE(decide_gate(c).kept);
}

TEST_CASE("the solution must reach the fraction, and every step")
{
    calibrated_case c = held();
    c.required_fraction = 0.5;
    c.solution.fraction = 0.49;
    CHECK(contains(decide_gate(c).why, "49 %"));
    c.solution.fraction = 0.5;
    CHECK(decide_gate(c).kept);
    c.offered = 3;
    c.solution.reached = 2;
    CHECK(contains(decide_gate(c).why, "2 of 3 steps"));
    c.solution.reached = 3;
    CHECK(decide_gate(c).kept);
}

TEST_CASE("a case that needs only a fraction asks nothing of naive's ratio")
{
    calibrated_case c = held();
    c.required = 0;
    c.required_fraction = 0.5;
    c.solution.fraction = 0.6;
    c.naive.high = 10;
    CHECK(decide_gate(c).kept);
}

TEST_CASE("what was not timed keeps no gate, but a version too slow to be timed stays below")
{
    for (const char *verdict : {"INFRA_ERROR", "WRONG_ANSWER", ""}) {
        calibrated_case c = held();
        c.naive.verdict = verdict;
        CHECK(contains(decide_gate(c).why, "naive was not timed"));
        c = held();
        c.rungs["1_first"].verdict = verdict;
        CHECK_FALSE(decide_gate(c).kept);
        c = held();
        c.solution.verdict = verdict;
        CHECK(contains(decide_gate(c).why, "the solution was not timed"));
    }
    calibrated_case c = held();
    c.naive = {};
    c.naive.verdict = "TOO_SLOW";
    CHECK(decide_gate(c).kept);
}

TEST_CASE("a file is read as it was written")
{
    calibrated_case c = held();
    c.required_fraction = 0.45;
    c.solution.fraction = 0.58;
    c.rungs["1_first"].ratio = std::nan("");
    const calibration all = parse_calibration(calibration_text(one_lab(c)));
    CHECK(calibration_text(all) == calibration_text(one_lab(c)));
    CHECK(all.model == "NVIDIA T4");
    CHECK(all.labs.at("02_scaling").driver == "580.65.06");
    const calibrated_case &read = all.labs.at("02_scaling").cases.at("scale: speed");
    CHECK(read.solution.ratio == 6);
    CHECK(std::isnan(read.rungs.at("1_first").ratio));
    CHECK(read.rungs.at("2_second").counted == "PASS");
}

TEST_CASE("a decision follows from the figures as they are written, also close to the gate")
{
    calibrated_case c = held();
    c.naive.high = 2.99999; // is written as 3
    CHECK_NOTHROW(parse_calibration(calibration_text(one_lab(c))));
    CHECK_FALSE(open_words(one_lab(c)) == "");
}

TEST_CASE("a file that claims what its figures deny is refused, both ways")
{
    const std::string kept = calibration_text(one_lab(held()));
    CHECK(contains(problem_in(replaced(kept, "\"kept\": true", "\"kept\": false")), "kept"));
    calibrated_case c = held();
    c.solution.low = 3;
    const std::string open = calibration_text(one_lab(c));
    CHECK(contains(problem_in(replaced(open, "\"kept\": false", "\"kept\": true")), "kept"));
}

TEST_CASE("a file of another kind is refused, and it is said what is wrong")
{
    CHECK(contains(problem_in("{"), "no JSON"));
    CHECK(contains(problem_in("{}"), "schema"));
    const std::string whole = calibration_text(one_lab(held()));
    CHECK(contains(problem_in(replaced(whole, "gates/1", "gates/2")), "schema"));
    CHECK(contains(problem_in(replaced(whole, "\"solution\"", "\"other\"")), "solution"));
    CHECK(
        contains(problem_in(replaced(whole, "\"required\": 3.0", "\"required\": \"3\"")), "lacks"));
}

TEST_CASE("a kept gate is judged; one that was never measured says how to measure it")
{
    CHECK(open_words(one_lab(held())) == "");
    const std::string missing = "not calibrated for NVIDIA T4: ./workbook calibrate 02, or copy a "
                                "colleague's data/gates/NVIDIA_T4.json";
    CHECK(open_gate(asked, "data/gates/NVIDIA_T4.json", "") == missing);
    asked_gate other = asked;
    other.lab = "03_other";
    CHECK(contains(open_words(one_lab(held()), other), "./workbook calibrate 03"));
    other = asked;
    other.case_name = "another case";
    CHECK(open_words(one_lab(held()), other) == missing);
}

TEST_CASE("a calibration of another contract or gate is stale")
{
    for (auto change :
         {+[](asked_gate &g) { g.contract = "4567"; }, +[](asked_gate &g) { g.required = 3.1; },
          +[](asked_gate &g) { g.required_fraction = 0.1; },
          +[](asked_gate &g) { g.offered = 2; }}) {
        asked_gate gate = asked;
        change(gate);
        const std::string words = open_words(one_lab(held()), gate);
        CHECK(contains(words, "has changed since"));
        CHECK(contains(words, "./workbook calibrate 02"));
    }
}

TEST_CASE("an open gate, another GPU's file and a broken one are told apart")
{
    calibrated_case c = held();
    c.solution.low = 3;
    CHECK(contains(open_words(one_lab(c)), "does not tell right from wrong"));
    asked_gate gate = asked;
    gate.model = "NVIDIA L4";
    CHECK(contains(open_words(one_lab(held()), gate), "is about another GPU, NVIDIA T4"));
    CHECK(contains(open_gate(asked, "data/gates/NVIDIA_T4.json", "{"), "cannot be used"));
}

TEST_CASE("a model's file has its name, without what file names do not hold well")
{
    CHECK(calibration_file("data/gates", "NVIDIA H200") == "data/gates/NVIDIA_H200.json");
    CHECK(calibration_file("g", "NVIDIA GeForce RTX 4090/../x") ==
          "g/NVIDIA_GeForce_RTX_4090____x.json");
}

TEST_CASE("a contract's hash changes with its code, not with its comments and blanks")
{
    const std::string header = "void scale(float *a, int n);", naive = "int x = 1'000; // why\n";
    const std::string hash = contract_hash(header, naive);
    CHECK(contract_hash("// The contract.\nvoid scale(float *a,\n   int n); /* more */", naive) ==
          hash);
    CHECK(contract_hash(header, "int x = 1'000;\n") == hash);
    CHECK(contract_hash("void scale(float *a, long n);", naive) != hash);
    CHECK(contract_hash(header, "int x = 1'001;") != hash);
    CHECK(contract_hash(header, "auto s = \"// not a comment\";") !=
          contract_hash(header, "auto s = \"// another\";"));
}

TEST_CASE("a contract's hash does not depend on functions that are not timed")
{
    const std::string header = "void scale(float *a, int n);\n", naive = "int x;\n",
                      quiz = "int quiz(int n);\n", line = "\n// --- Not timed ---\n";
    const std::string answer = "int quiz(int n) { return n; }\n";
    CHECK(contract_hash(header + line + quiz, naive) == contract_hash(header, naive));
    CHECK(contract_hash(header + line + quiz, naive + line + answer) ==
          contract_hash(header, naive));
    CHECK(contract_hash(header, naive + answer) != contract_hash(header, naive));
    CHECK(contract_hash(header, line + naive) != contract_hash(header, naive));
    CHECK(contract_hash(header + quiz, naive) != contract_hash(header, naive));
    CHECK(contract_hash(line + header, naive) != contract_hash(header, naive));
}
