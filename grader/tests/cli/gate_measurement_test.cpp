// Tests what a calibration takes from the results of a ladder, and which runs it decides about.
#include "cli/commands/commands.hpp"
#include "cli/grading/gate_measurement.hpp"
#include "cli/support/errors.hpp"
#include "cli_project.hpp"
#include "tests/contains.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace cli;

namespace {

json timed_case(const std::string &name, const std::string &verdict, double ratio, double required)
{
    return {
        {"name", name},
        {"kind", "clock"},
        {"verdict", verdict},
        {"message", "about it"},
        {"speedup",
         {{"median", ratio}, {"low", ratio - 0.1}, {"high", ratio + 0.1}, {"required", required}}},
        {"fraction", {{"value", ratio / 10}, {"required", 0.2}, {"of", "copy bandwidth"}}},
        {"counters", json::object()},
        {"steps", {{"reached", verdict == "PASS" ? 2 : 0}, {"offered", 2}}}};
}

json counted_case(const std::string &name, const std::string &verdict)
{
    return {{"name", name}, {"kind", "speed"}, {"verdict", verdict}};
}

json with_cases(const json &cases)
{
    return {{"labs", json::array({{{"lab", "02_scaling"}, {"cases", cases}}})}};
}

ladder_results three_versions()
{
    ladder_results r;
    r.timed["naive"] = with_cases(json::array({timed_case("a, timed", "TOO_SLOW", 1, 3)}));
    r.timed["1_first"] = with_cases(json::array({timed_case("a, timed", "TOO_SLOW", 2, 3)}));
    r.timed["solution"] = with_cases(json::array({timed_case("a, timed", "PASS", 6, 3)}));
    r.counted["naive"] = with_cases(json::array({counted_case("a", "TOO_SLOW")}));
    r.counted["1_first"] = with_cases(json::array({counted_case("a", "PASS")}));
    return r;
}

} // namespace

TEST_CASE("each version's figures and the simulator's verdict come from its own document")
{
    const auto cases = calibrated_cases(three_versions());
    REQUIRE(cases.size() == 1);
    const grading::calibrated_case &c = cases.at("a, timed");
    CHECK(c.required == 3);
    CHECK(c.required_fraction == 0.2);
    CHECK(c.offered == 2);
    CHECK(c.naive.ratio == 1);
    CHECK(c.naive.high == doctest::Approx(1.1));
    CHECK(c.naive.counted == "TOO_SLOW");
    REQUIRE(c.rungs.size() == 1);
    CHECK(c.rungs.at("1_first").counted == "PASS");
    CHECK(c.solution.low == doctest::Approx(5.9));
    CHECK(c.solution.fraction == doctest::Approx(0.6));
    CHECK(c.solution.reached == 2);
    CHECK(decide_gate(c).kept);
}

TEST_CASE("a version that failed before it was timed has no figures")
{
    ladder_results r = three_versions();
    r.timed["solution"] = with_cases(json::array({counted_case("a, timed", "WRONG_ANSWER")}));
    const grading::calibrated_case c = calibrated_cases(r).at("a, timed");
    CHECK(std::isnan(c.solution.ratio));
    CHECK(contains(decide_gate(c).why, "WRONG_ANSWER"));
}

TEST_CASE("a fault of the machine is told, and leaves the earlier figures as they are")
{
    ladder_results r = three_versions();
    CHECK(machine_faults(r).empty());
    grading::calibrated_lab earlier, spoiled;
    earlier.contract = spoiled.contract = "0123";
    earlier.cases = calibrated_cases(r);
    r.timed["1_first"] = with_cases(json::array({timed_case("a, timed", "INFRA_ERROR", 2, 3)}));
    REQUIRE(machine_faults(r).size() == 1);
    CHECK(machine_faults(r)[0] == "1_first, a, timed: about it");
    spoiled.cases = calibrated_cases(r);
    const grading::calibrated_lab other_contract = [&] {
        grading::calibrated_lab l = spoiled;
        l.contract = "4567";
        return l;
    }();
    keep_earlier_where_spoiled(earlier, spoiled);
    CHECK(spoiled.cases.at("a, timed").rungs.at("1_first").verdict == "TOO_SLOW");
    grading::calibrated_lab changed = other_contract;
    keep_earlier_where_spoiled(earlier, changed);
    CHECK(changed.cases.at("a, timed").rungs.at("1_first").verdict == "INFRA_ERROR");
}

TEST_CASE("a grader on a GPU is told the calibrations' folder, unless every gate is wanted")
{
    project p;
    p.put("reference/02_scaling/naive.cu", "int naive;\n");
    p.script("build/grade.02_scaling", "cat >" + p.root + "/request; exit 0");
    auto asked = [&](const std::string &backend, bool every_gate, bool test = false) {
        grade_options options;
        options.backend = backend;
        options.seed = "1";
        options.every_gate = every_gate;
        p.tools.labs[0].test = test;
        const subject naive{"naive", p.root + "/reference/02_scaling/naive.cu", true};
        grade_one(p.tools, p.only_lab(), naive, options);
        p.tools.labs[0].test = false;
        return json::parse(read_text(p.root + "/request"));
    };
    const json request = asked("gpu", false);
    CHECK(request.at("gates") == "data/gates");
    CHECK(request.at("contract") == contract_of(p.tools, p.only_lab()));
    p.put("reference/02_scaling/naive.cu", "int other;\n");
    CHECK(asked("gpu", false).at("contract") != request.at("contract"));
    CHECK_FALSE(asked("gpu", true).contains("gates"));
    CHECK_FALSE(asked("gpu", false, true).contains("gates"));
    CHECK_FALSE(asked("sim", false).contains("gates"));
}

TEST_CASE("the project's own calibrations can be read, and have their model's name")
{
    const std::string folder = read_toolchain(toolchain_path()).source_root + "/" + gates_folder;
    int files = 0;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
        const grading::calibration c = grading::parse_calibration(read_text(entry.path().string()));
        CHECK(grading::calibration_file(folder, c.model) == entry.path().string());
        CHECK_FALSE(c.labs.empty());
        ++files;
    }
    CHECK(files > 0);
}

TEST_CASE("a student edition cannot calibrate, and says who has the file")
{
    project p;
    p.tools.labs[0].solutions = false;
    std::string said;
    try {
        calibrate_command(p.tools, {}, {});
    } catch (const usage_error &e) {
        said = e.what();
    }
    CHECK(contains(said, "ask your instructor"));
    CHECK(contains(said, "data/gates"));
}
