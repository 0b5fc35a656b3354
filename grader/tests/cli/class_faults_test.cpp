// Tests that a fault on the GPU leaves a row without a grade and the simulator's part to go on
// from.
#include "cli/class/class_work.hpp"
#include "cli/class/results_folder.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"
#include "cli_project.hpp"

#include <fmt/format.h>

using namespace cli;

namespace {

constexpr const char *judged_case =
    R"({"name": "scale", "kind": "correctness", "verdict": "PASS", "points": 3, "max_points": 3,
        "open_points": 0, "message": "", "hint": ""})";

std::string result_with_clock(const std::string &verdict, int points)
{
    return fmt::format(R"({{"schema": "cuda-workbook/1", "labs": [{{"lab": "02_scaling",
        "submission": "stub", "status": "pass", "points": 3, "max_points": 3, "open_points": 0,
        "clock": {{"points": {0}, "max_points": 4, "open_points": 0}}, "cases": [{1},
        {{"name": "scale: timed", "kind": "clock", "verdict": "{2}", "points": {0},
          "max_points": 4, "open_points": 0, "message": "The clock stood.", "hint": "",
          "not_required": true}}]}}]}})",
                       points, judged_case, verdict);
}

// A project whose grader does what `body` says, after a line in `log`.
struct gpu_project : project {
    explicit gpu_project(const std::string &body)
    {
        put("reference/02_scaling/naive.cu", "// Naive.\n");
        use(body);
    }
    void use(const std::string &body)
    {
        script("build/grade.02_scaling",
               "[ \"$1\" = --list ] && echo 3 points, and 4 of the clock, in 2 cases && exit\n"
               "to=$(sed 's/.*\"result\":\"\\([^\"]*\\)\".*/\\1/')\necho x >>" +
                   root + "/log\n" + body);
    }
    std::size_t tries() const { return lines(read_text(root + "/log")).size(); }

    // Work that is compiled, and graded by the simulator.
    class_work counted()
    {
        class_work w{.of = &only_lab(), .owner = "ada", .row = {}};
        w.row.lab = "02_scaling", w.row.sha256 = "d1";
        w.row.file = put("in/ada/stub.cu", "// ada\n");
        w.prepared.workers = {{"gpu", "worker"}, {"sim", "worker"}};
        graded g;
        g.from_grader = true;
        g.document = json::parse(result_with_clock("SKIPPED", 0));
        w.by_simulator = g;
        return w;
    }
    void complete(class_work &w, const char *backend = "both")
    {
        grade_options options;
        options.backend = backend, options.seed = "1f";
        complete_on_gpu(tools, w, options, todo_list(""));
    }
};

// A grader that writes one result, and then always another.
std::string written(const std::string &first, const std::string &then)
{
    return "if [ -e \"$0.ran\" ]; then cat >\"$to\" <<END\n" + then +
           "\nEND\nelse touch \"$0.ran\"; " + "cat >\"$to\" <<END\n" + first + "\nEND\nfi";
}

} // namespace

TEST_CASE("a run of the GPU that came to nothing is a fault, and the simulator's part is kept")
{
    for (const char *ends : {"kill -SEGV $$", "echo no device >&2; exit 77"}) {
        gpu_project p(ends);
        results_folder folder(p.root + "/kept", {});
        folder.begin(
            {.id = "1", .seed = "1f", .backend = "both", .held_back_seed = {}, .graders = {}});
        class_work w = p.counted();
        p.complete(w);
        CHECK(w.finished);
        CHECK(w.row.status == "error");
        CHECK(contains(w.row.problem, "on the GPU nothing was graded: "));
        CHECK((contains(w.row.problem, "SIGSEGV") || contains(w.row.problem, "no device")));
        CHECK(p.tries() == 2);
        folder.keep(w);

        class_work told = p.counted(), again = p.counted();
        told.by_simulator.reset(), again.by_simulator.reset();
        folder.restore(told, true);
        CHECK(told.row.problem == w.row.problem);
        folder.restore(again);
        CHECK_FALSE(again.finished);
        REQUIRE(again.by_simulator.has_value());
        p.use(written(result_with_clock("PASS", 4), result_with_clock("PASS", 4)));
        p.complete(again);
        CHECK(again.row.status == "pass");
        CHECK(again.row.clock.points == 4);
        folder.keep(again);
        class_work done = p.counted();
        folder.restore(done);
        CHECK(done.finished);
    }
    gpu_project alone("echo no device >&2; exit 77");
    class_work w = alone.counted();
    w.by_simulator.reset();
    alone.complete(w, "gpu");
    CHECK(w.row.status == "error");
}

TEST_CASE("a fault of the clock is tried once more, and then leaves the rest of the row")
{
    const std::string fault = result_with_clock("INFRA_ERROR", 0),
                      right = result_with_clock("PASS", 4);
    gpu_project passing(written(fault, right)), standing(written(fault, fault));
    class_work w = passing.counted();
    passing.complete(w);
    CHECK(passing.tries() == 2);
    CHECK(w.row.clock.points == 4);
    CHECK(w.row.problem.empty());
    w = standing.counted();
    standing.complete(w);
    CHECK(standing.tries() == 2);
    CHECK(w.row.status == "pass");
    CHECK(w.row.clock.open == 4);
    CHECK(w.row.problem == "scale: timed: The clock stood.");
}

TEST_CASE("work that is only compiled is no grade, though an earlier version kept it as a row")
{
    project p;
    results_folder folder(p.root + "/kept", {});
    folder.begin({.id = "1", .seed = "1f", .backend = "gpu", .held_back_seed = {}, .graders = {}});
    class_work w{.of = &p.only_lab(), .owner = "ada", .row = {}};
    w.row.lab = "02_scaling", w.row.sha256 = "d1";
    folder.keep(w);
    folder.restore(w);
    CHECK_FALSE(w.finished);
}

TEST_CASE("a file that was changed after the simulator's part is not graded on the GPU")
{
    gpu_project p(written(result_with_clock("PASS", 4), result_with_clock("PASS", 4)));
    p.use_real_compiler();
    class_work w = p.counted();
    w.prepared = {};
    p.put("in/ada/stub.cu", "this does not compile\n");
    p.complete(w);
    CHECK(w.row.status == "error");
    CHECK(contains(w.row.problem, "the file was changed"));
}

TEST_CASE("a row that cannot be kept is a machine's error, with which a class goes on")
{
    project p;
    results_folder folder(p.root + "/kept", {});
    p.put("kept/rows", "a file where a folder should be");
    class_work w{.of = &p.only_lab(), .owner = "ada", .row = {}};
    w.row.lab = "02_scaling", w.row.sha256 = "d1", w.row.status = "pass", w.finished = true;
    CHECK_THROWS_AS(folder.keep(w), machine_error);
}
