// Tests which cases are held back, and that without their seed nothing of them is left.
#include "runner/case_record.hpp"
#include "runner/case_run.hpp"
#include "runner/grading_request.hpp"
#include "runner/parallel_cases.hpp"
#include "tests/contains.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <utility>

using namespace grading;

namespace {

// The cases of two files, entered as their macros do while the program starts.
struct with_files {
    std::vector<case_record> kept = std::exchange(records(), {});
    run_options options_before = options();
    ~with_files()
    {
        records() = std::move(kept);
        options() = options_before;
    }
    static void add(const char *file, const char *name, case_points points)
    {
        doctest::detail::TestCase test(nullptr, file, 7, doctest::detail::TestSuite());
        points.fill(test * name);
    }
};

const case_points right(kind::correctness, 2);

std::vector<std::string> names()
{
    std::vector<std::string> all;
    for (const case_record &r : records()) all.push_back(r.name);
    return all;
}

void judge_all(verdict result)
{
    for (case_record &r : records()) {
        r.started = r.ended = true;
        r.result = r.held_back ? result : verdict::PASS;
        r.points = r.passed() ? r.max_points : 0;
    }
}

} // namespace

TEST_CASE("the cases of held_back.cpp are held back, and come last in groups of their own")
{
    with_files files;
    files.add("../labs/02/held_back.cpp", "scale: odd", right);
    files.add("../labs/02/grade.cpp", "scale: one", right);
    files.add("../labs/02/not_held_back.cpp", "scale: two", right);
    put_held_back_last();
    CHECK(names() == std::vector<std::string>{"scale: one", "scale: two", "scale: odd"});
    CHECK(groups_of({0, 1, 2}) == std::vector<case_group>{{0, 1}, {2}});
    CHECK(case_faults().empty());
}

TEST_CASE("without their seed the cases are gone, and their points are open")
{
    with_files files;
    files.add("grade.cpp", "scale: one", right);
    const double before = points_left_out();
    files.add("held_back.cpp", "scale: odd", {kind::correctness, 3.5});
    leave_out_held_back();
    CHECK(names() == std::vector<std::string>{"scale: one"});
    CHECK(points_left_out() == before + 3.5);
    judge_all(verdict::PASS);
    const auto lab = nlohmann::json::parse(result_json())["labs"][0];
    CHECK(lab["max_points"] == 2);
    CHECK(lab["held_back"]["open_points"] == points_left_out());
    CHECK(lab["held_back"]["points"] == 0);
    CHECK_FALSE(contains(lab.dump(), "scale: odd"));
}

TEST_CASE("their points have a sum of their own, and of the status they decide only a fault")
{
    with_files files;
    files.add("grade.cpp", "scale: one", right);
    files.add("held_back.cpp", "scale: odd", {kind::correctness, 1});
    files.add("held_back.cpp", "scale: odd, counted", {kind::speed, 0.5});
    judge_all(verdict::WRONG_ANSWER);
    CHECK(exit_status() == 0);
    auto lab = nlohmann::json::parse(result_json())["labs"][0];
    CHECK(lab["points"] == 2);
    CHECK(lab["held_back"]["max_points"] == points_left_out() + 1.5);
    CHECK(lab["cases"][1]["held_back"] == true);
    CHECK_FALSE(lab["cases"][0].contains("held_back"));
    judge_all(verdict::SKIPPED);
    CHECK(exit_status() == 0);
    judge_all(verdict::INFRA_ERROR);
    CHECK(exit_status() == 99);
    records()[1].started = false; // it was not chosen
    lab = nlohmann::json::parse(result_json())["labs"][0];
    CHECK_FALSE(lab.contains("not_chosen"));
}

TEST_CASE("inputs of a held-back case depend on its seed and the run's, and those of others do not")
{
    with_files files;
    files.add("grade.cpp", "scale: one", right);
    files.add("held_back.cpp", "scale: odd", right);
    auto seed_of = [](const char *name, std::uint64_t run, std::uint64_t held_back) {
        options().seed = run;
        options().held_back_seed = held_back;
        begin_case(name);
        return case_seed();
    };
    CHECK(seed_of("scale: one", 1, 1) == seed_of("scale: one", 1, 2));
    CHECK(seed_of("scale: odd", 1, 1) == seed_of("scale: odd", 1, 1));
    CHECK(seed_of("scale: odd", 1, 1) != seed_of("scale: odd", 1, 2));
    CHECK(seed_of("scale: odd", 1, 1) != seed_of("scale: odd", 2, 1));
    CHECK(seed_of("scale: odd", 1, 1) != seed_of("scale: odd", 2, 2));
}

TEST_CASE("a case that shares its name or wants points of the clock is named with its line")
{
    with_files files;
    files.add("labs/02/grade.cpp", "scale: one", {kind::speed, 2, 1});
    CHECK(case_faults().empty());
    files.add("labs/02/held_back.cpp", "scale: one", right);
    files.add("labs/02/held_back.cpp", "scale: fast", {kind::speed, 2, 1});
    const std::vector<std::string> faults = case_faults();
    REQUIRE(faults.size() == 2);
    CHECK(faults[0] == "labs/02/held_back.cpp:7: another case has the name \"scale: one\", too: "
                       "rename one");
    CHECK(contains(faults[1], "labs/02/held_back.cpp:7: the held-back case \"scale: fast\" has "
                              "points of the clock"));
}

TEST_CASE("a request names the seed of held-back cases, or they are not graded")
{
    const std::string required =
        R"({"backend": "sim", "worker": "/bin/true", "naive": "/bin/true")";
    CHECK_FALSE(parse_request(required + "}").options.held_back_seed);
    CHECK(parse_request(required + R"(, "held_back_seed": "1f"})").options.held_back_seed == 0x1f);
    CHECK_THROWS_WITH_AS(parse_request(required + R"(, "held_back_seed": "x"})"),
                         "\"held_back_seed\" is no hexadecimal number of at most 16 digits: x",
                         bad_request);
}
