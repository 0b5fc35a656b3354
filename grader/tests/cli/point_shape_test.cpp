// Tests the demands that `check` makes on a lab's points: their sums, and their order on the
// ladder.
#include "cli/check/point_shape.hpp"

#include "cli_project.hpp"

using namespace cli;

namespace {

struct version {
    check_role as;
    std::string name;
    double points;
};

// The faults in the points of a lab's versions, of `full` and `clock`; "": none.
std::string faults_in_points(project &p, const std::vector<version> &versions, double full = 40,
                             double clock = 10, bool known = true,
                             const std::string &stated = "// A version.\n")
{
    std::vector<check_task> tasks;
    for (const version &v : versions) {
        const std::string source = p.put("solutions/02_scaling/" + v.name, stated);
        check_task work{&p.only_lab(), v.as, {v.name, source, true}};
        work.known = known;
        lab_view graded{"02_scaling", v.name, v.points < full ? "fail" : "pass", v.points, full};
        graded.cases.push_back({"scale: one", "correctness", "PASS", "", "", v.points, full});
        graded.clock.max_points = clock;
        work.graded = graded;
        tasks.push_back(work);
    }
    std::string faults;
    for (const check_finding &f : shape_of(p.only_lab(), tasks).findings)
        if (!f.fault.empty()) faults += f.what + ": " + f.fault + "\n";
    return faults;
}

} // namespace

TEST_CASE("a lab's points add up to 40, with 10 or none of the clock")
{
    project p;
    const std::vector<version> solution = {{check_role::solution, "solution", 40}};
    CHECK(faults_in_points(p, solution) == "");
    CHECK(faults_in_points(p, solution, 40, 0) == "");
    CHECK(faults_in_points(p, {{check_role::solution, "solution", 37.5}}, 37.5) ==
          "the lab has 40 points, and 10 or none of the clock: its cases have 37.5 and 10 of the "
          "clock\n");
    CHECK(contains(faults_in_points(p, solution, 40, 8), "have 40 and 8 of the clock"));
}

TEST_CASE("each version has the points of its place on the ladder")
{
    using enum check_role;
    project p;
    CHECK(faults_in_points(p, {{naive, "naive", 18}, {rung, "1_wide", 25}, {filled, "f.cu", 40}}) ==
          "");
    CHECK(faults_in_points(p, {{naive, "naive", 18.5}}) ==
          "naive has the points for right answers alone: 18.5 points; at most 18\n");
    CHECK(faults_in_points(p, {{naive, "naive", 18}, {rung, "1_wide", 17}}) ==
          "1_wide has at least the points of naive: 17, and 18 there\n");
    CHECK(
        faults_in_points(p, {{naive, "naive", 18}, {rung, "1_wide", 18}}) ==
        "1_wide has more points than naive, or a line \"// Same points: WHY\": 18, and 18 there\n");
    CHECK(faults_in_points(p, {{filled, "f.cu", 39.5}}) ==
          "the filled stub has all points: 39.5 points: the TODOs must lead to all\n");
}

TEST_CASE("a rung whose idea no counter sees says so, and no other does")
{
    using enum check_role;
    project p;
    const std::string why = "// Same points: only the clock sees it.\n";
    auto faults = [&](double points) {
        return faults_in_points(p, {{naive, "naive", 18}, {rung, "1_wide", points}}, 40, 10, true,
                                why);
    };
    CHECK(faults(18) == "");
    CHECK(contains(faults(20), "20, and 18 there"));
}

TEST_CASE("an empty stub has no points, but what a student edited may have")
{
    project p;
    const std::vector<version> stub = {{check_role::stub, "stub", 3}};
    CHECK(faults_in_points(p, stub) ==
          "the stub has no points: 3 points: a case passes without any work\n");
    CHECK(faults_in_points(p, stub, 40, 10, false) == "");
    CHECK(faults_in_points(p, {{check_role::stub, "stub", 0}}) == "");
}
