// The rule that makes one result of the simulator's and a GPU's.
#include "cli/grading/both_backends.hpp"
#include "cli/results/formats/formats.hpp"
#include "cli/support/errors.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace cli;

namespace {

json a_case(const std::string &name, const std::string &kind, const std::string &verdict,
            double points, double max_points)
{
    const bool open = verdict == "SKIPPED";
    json c = {{"name", name},
              {"kind", kind},
              {"verdict", verdict},
              {"points", points},
              {"max_points", max_points},
              {"open_points", open ? max_points : 0},
              {"message", "said of " + verdict + "."}};
    // A case that the other backend judges does not keep a lab from passing.
    if (open && kind != "correctness") c["not_required"] = true;
    return c;
}

json document(const json &cases)
{
    return {{"schema", "cuda-workbook/1"},
            {"env", {{"gpu", "NVIDIA T4"}}},
            {"labs", json::array({{{"lab", "02_scaling"}, {"cases", cases}}})}};
}

json of_simulator(const std::string &verdict, const std::string &counted = "PASS")
{
    return document({a_case("scale: one", "correctness", verdict, verdict == "PASS" ? 18 : 0, 18),
                     a_case("scale: speed", "speed", counted, counted == "PASS" ? 22 : 0, 22),
                     a_case("scale: speed, timed", "clock", "SKIPPED", 0, 10)});
}

json of_gpu(const std::string &verdict, const std::string &timed = "PASS")
{
    return document({a_case("scale: one", "correctness", verdict, verdict == "PASS" ? 18 : 0, 18),
                     a_case("scale: speed", "speed", "SKIPPED", 0, 22),
                     a_case("scale: speed, timed", "clock", timed, timed == "PASS" ? 10 : 0, 10)});
}

const json &lab_of(const json &d) { return d["labs"][0]; }
const json &first(const json &d) { return lab_of(d)["cases"][0]; }

} // namespace

TEST_CASE("what passes on both has all points, those of the clock apart")
{
    const json d = merged_backends(of_simulator("PASS"), of_gpu("PASS"), {});
    CHECK(d["backend"] == "both");
    CHECK(d["env"]["gpu"] == "NVIDIA T4");
    CHECK(lab_of(d)["status"] == "pass");
    CHECK(lab_of(d)["points"] == 40);
    CHECK(lab_of(d)["max_points"] == 40);
    CHECK(lab_of(d)["open_points"] == 0);
    CHECK(lab_of(d)["clock"]["points"] == 10);
    CHECK_FALSE(first(d).contains("disputed"));
    CHECK(status_of(lab_of(d)) == passed);
}

TEST_CASE("a failure on the simulator stands, whatever the GPU says")
{
    for (const char *on_gpu : {"PASS", "RACE", "SKIPPED"}) {
        const json d = merged_backends(of_simulator("RACE"), of_gpu(on_gpu), {});
        CHECK(first(d)["verdict"] == "RACE");
        CHECK_FALSE(first(d).contains("disputed"));
        CHECK(lab_of(d)["points"] == 22);
        CHECK(status_of(lab_of(d)) == failed);
        CHECK_FALSE(disagree(first(of_simulator("RACE")), first(of_gpu(on_gpu))));
    }
}

TEST_CASE("a failure on the GPU alone counts if it repeats, and is disputed")
{
    REQUIRE(disagree(first(of_simulator("PASS")), first(of_gpu("WRONG_ANSWER"))));
    const json stays =
        merged_backends(of_simulator("PASS"), of_gpu("WRONG_ANSWER"), of_gpu("NONDETERMINISTIC"));
    CHECK(first(stays)["verdict"] == "WRONG_ANSWER");
    CHECK(first(stays)["disputed"] == true);
    CHECK(first(stays)["gpu"]["verdict"] == "WRONG_ANSWER");
    CHECK(lab_of(stays)["points"] == 22);
    CHECK(lab_of(stays)["status"] == "fail");
    const json goes = merged_backends(of_simulator("PASS"), of_gpu("WRONG_ANSWER"), of_gpu("PASS"));
    CHECK(first(goes)["verdict"] == "PASS");
    CHECK(first(goes)["disputed"] == true);
    CHECK(first(goes)["gpu"]["verdict"] == "WRONG_ANSWER");
    CHECK(lab_of(goes)["points"] == 40);
    CHECK(lab_of(goes)["status"] == "pass");
}

TEST_CASE("what the simulator cannot run is judged on the GPU alone")
{
    for (const auto &[verdict, points] : {std::pair("PASS", 40), std::pair("WRONG_ANSWER", 22)}) {
        const json d = merged_backends(of_simulator("SKIPPED"), of_gpu(verdict), {});
        CHECK(first(d)["verdict"] == verdict);
        CHECK(first(d)["judged_by"] == "gpu");
        CHECK(lab_of(d)["points"] == points);
        CHECK(lab_of(d)["open_points"] == 0);
    }
    const json neither = merged_backends(of_simulator("SKIPPED"), of_gpu("SKIPPED"), {});
    CHECK(lab_of(neither)["open_points"] == 18);
    CHECK(lab_of(neither)["status"] == "skipped");
}

TEST_CASE("a fault of ours costs no points: the simulator's verdicts stand, the clock is open")
{
    for (const char *verdict : {"PASS", "RACE"}) {
        const json d = merged_backends(of_simulator(verdict), of_gpu("INFRA_ERROR"), {});
        CHECK(first(d)["verdict"] == verdict);
    }
    const json no_clock = merged_backends(of_simulator("PASS"), of_gpu("PASS", "INFRA_ERROR"), {});
    CHECK(lab_of(no_clock)["status"] == "pass");
    CHECK(lab_of(no_clock)["points"] == 40);
    CHECK(lab_of(no_clock)["clock"]["open_points"] == 10);
    CHECK(lab_of(no_clock)["cases"][2]["fault"] == true);
    CHECK(lab_of(no_clock)["cases"][2]["message"] == "said of INFRA_ERROR.");
    // Without the simulator's verdict there is none.
    const json ours = merged_backends(of_simulator("INFRA_ERROR"), of_gpu("PASS"), {});
    CHECK(lab_of(ours)["status"] == "error");
    CHECK(status_of(lab_of(ours)) == infrastructure);
    // A whole run of the GPU that came to nothing.
    const json alone = merged_backends(of_simulator("PASS"), {}, {});
    CHECK(lab_of(alone)["points"] == 40);
    CHECK(lab_of(alone)["clock"]["open_points"] == 10);
}

TEST_CASE("a course that does not count the clock has no case of it")
{
    const json slow = merged_backends(of_simulator("PASS"), of_gpu("PASS", "TOO_SLOW"), {});
    const json without = as_counted(slow, false), with = as_counted(slow, true);
    CHECK(lab_of(without)["status"] == "pass");
    CHECK(lab_of(without)["cases"].size() == 2);
    CHECK(lab_of(with)["status"] == "fail");
    CHECK(lab_of(with)["max_points"] == 50);
    CHECK(lab_of(with)["points"] == 40);
}

TEST_CASE("counts are the simulator's, times the GPU's, and neither makes up for the other")
{
    const json slow = merged_backends(of_simulator("PASS"), of_gpu("PASS", "TOO_SLOW"), {});
    CHECK(lab_of(slow)["points"] == 40);
    CHECK(lab_of(slow)["clock"]["points"] == 0);
    CHECK(lab_of(slow)["status"] == "fail");
    const json wasteful = merged_backends(of_simulator("PASS", "TOO_SLOW"), of_gpu("PASS"), {});
    CHECK(lab_of(wasteful)["points"] == 18);
    CHECK(lab_of(wasteful)["clock"]["points"] == 10);
    // An uncalibrated clock is open, and the lab passes.
    const json open = merged_backends(of_simulator("PASS"), of_gpu("PASS", "SKIPPED"), {});
    CHECK(lab_of(open)["clock"]["open_points"] == 10);
    CHECK(lab_of(open)["status"] == "pass");
}

TEST_CASE("a dispute is told in every report")
{
    const json d = merged_backends(of_simulator("PASS"), of_gpu("WRONG_ANSWER"), of_gpu("PASS"));
    const std::vector<std::string> notes = disputed_notes(labs_of(d)[0]);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].find("scale: one") != std::string::npos);
    CHECK(notes[0].find("not again") != std::string::npos);
    CHECK(as_text(d).find(notes[0].substr(0, 40)) != std::string::npos);
    CHECK(disputed_notes(labs_of(merged_backends(of_simulator("PASS"), of_gpu("PASS"), {}))[0])
              .empty());
}
