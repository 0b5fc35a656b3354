// Tests requests to the grader: what they set, and that a wrong field is named.
#include "runner/grading_request.hpp"
#include "tests/contains.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace grading;

namespace {

const std::string required = R"("backend": "sim", "worker": "/bin/true", "naive": "/bin/true")";

std::string problem_of(const std::string &more)
{
    try {
        parse_request("{" + required + ", " + more + "}");
    } catch (const bad_request &e) {
        return e.what();
    }
    return {};
}

} // namespace

TEST_CASE("a request sets what it names and leaves the rest as it is")
{
    const grading_request r = parse_request("{" + required + R"(, "seed": "1f", "schedule": "late",
        "case": "scale", "kind": "speed", "processes": 3, "sandbox": false, "counters": "c.json",
        "clock_lock": "/tmp/clock", "simulator_lock": "/tmp/simulator"})");
    CHECK(r.options.simulated);
    CHECK(r.options.worker == "/bin/true");
    CHECK(r.options.seed == 0x1f);
    CHECK(r.options.late_streams);
    CHECK_FALSE(r.options.random_schedule);
    CHECK_FALSE(r.options.sandbox);
    CHECK(r.options.keep_counts);
    CHECK(r.options.submission == "submission");
    CHECK(r.options.work_percent == 100);
    CHECK(r.pattern == "scale");
    CHECK(r.kind == "speed");
    CHECK(r.processes == 3);
    CHECK(r.options.clock_lock == "/tmp/clock");
    CHECK(r.options.simulator_lock == "/tmp/simulator");
    CHECK(r.options.record_pairs == 0);
}

TEST_CASE("a program that is still built need not be there")
{
    const std::string absent =
        R"("backend": "sim", "worker": "/nowhere/worker", "naive": "/bin/true")";
    CHECK_THROWS_WITH_AS(parse_request("{" + absent + "}"), doctest::Contains("/nowhere/worker"),
                         bad_request);
    const grading_request r = parse_request("{" + absent + R"(, "worker_lock": "/tmp/lock"})");
    CHECK(r.options.worker == "/nowhere/worker");
    CHECK(r.options.worker_lock == "/tmp/lock");
}

TEST_CASE("pairs are recorded on a GPU only, as many as asked for, into a file")
{
    const grading_request r = parse_request(R"({"backend": "gpu", "worker": "/bin/true",
        "naive": "/bin/true", "record_pairs": 300, "pairs": "p.csv"})");
    CHECK(r.options.record_pairs == 300);
    CHECK(r.options.pairs_file == "p.csv");
    CHECK(contains(problem_of(R"("record_pairs": 300, "pairs": "p.csv")"),
                   "\"pairs\" needs \"backend\": \"gpu\""));
    CHECK(contains(problem_of(R"("record_pairs": 300)"), "\"record_pairs\" needs \"pairs\""));
    CHECK(contains(problem_of(R"("pairs": "p.csv")"), "\"record_pairs\" is not between 1 and"));
}

TEST_CASE("the versions of a ladder are timed on a GPU, each for a result of its own")
{
    const std::string gpu = R"({"backend": "gpu", "worker": "/bin/true", "naive": "/bin/true",)";
    const grading_request r = parse_request(gpu + R"("steps": [
        {"worker": "/bin/true", "submission": "naive", "result": "n.json", "judged": false},
        {"worker": "/bin/false", "submission": "library", "result": "l.json", "sandbox": false}]})");
    REQUIRE(r.options.steps.size() == 2);
    CHECK(r.options.steps[0].submission == "naive");
    CHECK(r.options.steps[0].result_file == "n.json");
    CHECK(r.options.steps[0].sandbox);
    CHECK_FALSE(r.options.steps[0].judged);
    CHECK(r.options.steps[1].worker == "/bin/false");
    CHECK_FALSE(r.options.steps[1].sandbox);
    CHECK(r.options.steps[1].judged);
    const std::string one = R"("worker": "/bin/true", "submission": "naive", "result": "n.json")";
    CHECK(contains(problem_of(R"("steps": [{)" + one + "}]"),
                   "\"steps\" needs \"backend\": \"gpu\""));
    CHECK(contains(problem_of(R"("steps": [{"worker": "/bin/true"}])"),
                   "each of \"steps\" needs \"worker\", \"submission\" and \"result\""));
    CHECK(contains(problem_of(R"("steps": [{"worker": "/none"}])"),
                   "\"worker\" is not an executable file: /none"));
    CHECK(contains(problem_of(R"("steps": [{)" + one + R"(, "pace": 2}])"),
                   "there is no field \"pace\""));
    CHECK(contains(problem_of(R"("steps": [1])"), "each of \"steps\" is a JSON object"));
}

TEST_CASE("a field that is wrong or unknown is named")
{
    CHECK(contains(problem_of(R"("seed": "xyz")"), "\"seed\" is no hexadecimal number"));
    CHECK(contains(problem_of(R"("seed": 7)"), "\"seed\" is of the wrong type: 7"));
    CHECK(contains(problem_of(R"("work_percent": 0)"),
                   "\"work_percent\" is not between 1 and 100: 0"));
    CHECK(
        contains(problem_of(R"("kind": "fast")"), "\"kind\" is none of correctness, speed: fast"));
    CHECK(
        contains(problem_of(R"("library": "/no/such")"), "\"library\" is not an executable file"));
    CHECK(contains(problem_of(R"("sede": "1f")"), "there is no field \"sede\""));
    CHECK(contains(problem_of(R"("gates": "data/gates")"), "\"gates\" and \"contract\" need"));
    CHECK_THROWS_WITH_AS(parse_request("[1]"), "a request is a JSON object", bad_request);
    CHECK_THROWS_WITH_AS(parse_request(R"({"backend": "sim"})"),
                         "\"backend\", \"worker\" and \"naive\" are required", bad_request);
}
