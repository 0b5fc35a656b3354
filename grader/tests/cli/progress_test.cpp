// Tests that a student's progress is kept and never lost.
#include "cli/results/progress.hpp"
#include "cli_project.hpp"

#include <sys/wait.h>
#include <unistd.h>

using namespace cli;

namespace {

lab_view view_of(double points, const char *verdict = "", const char *status = "fail")
{
    lab_view l{"02_scaling", "stub", status, points, 10, {}};
    if (*verdict) l.cases.push_back({"scale: one", "correctness", verdict, "", "", 0, 1, nullptr});
    return l;
}

std::string screen(const project &p)
{
    terminal plain;
    return where_am_i(p.tools, read_progress(p.tools), plain);
}

} // namespace

TEST_CASE("before the first grade, and after each")
{
    project p;
    CHECK(contains(screen(p), "02_scaling              not graded yet"));
    CHECK(contains(screen(p), "0 of 1 lab done"));
    CHECK(contains(screen(p), "./workbook watch 02"));
    keep_progress(p.tools, view_of(4, "WRONG_ANSWER"), "sim");
    CHECK(contains(screen(p), "02_scaling  ####        4 / 10  WRONG_ANSWER"));
    keep_progress(p.tools, view_of(10, "", "pass"), "gpu");
    CHECK(contains(screen(p), "10 / 10  done"));
    CHECK(contains(screen(p), "Every lab is done"));
}

TEST_CASE("the best points stay when a later grade is worse, for each backend")
{
    project p;
    keep_progress(p.tools, view_of(7, "TOO_SLOW"), "gpu");
    keep_progress(p.tools, view_of(9, "TOO_SLOW"), "sim");
    keep_progress(p.tools, view_of(2, "CRASH"), "sim");
    const progress_record record = read_progress(p.tools);
    REQUIRE(record.entries.size() == 2);
    const progress_entry *last = record.last("02_scaling");
    REQUIRE(last != nullptr);
    CHECK(last->backend == "sim");
    CHECK(last->best == 9);
    CHECK(last->points == 2);
    CHECK(last->verdict == "CRASH");
    CHECK(record.entries[0].best == 7);
    CHECK(contains(screen(p), "9 / 10  (last 2)  CRASH"));
}

TEST_CASE("a file that does not compile counts for the backend of the grade before")
{
    project p;
    keep_progress(p.tools, view_of(7, "WRONG_ANSWER"), "sim");
    const std::string mending = read_progress(p.tools).entries.at(0).mending;
    lab_view broken = view_of(0, "BUILD_FAILED");
    broken.cases[0].name = "build";
    keep_progress(p.tools, broken, "both");
    const progress_record record = read_progress(p.tools);
    REQUIRE(record.entries.size() == 1);
    CHECK(record.entries[0].backend == "sim");
    CHECK(record.entries[0].verdict == "BUILD_FAILED");
    CHECK(record.entries[0].mending == mending);
}

TEST_CASE("the lab to go on with is the one at hand; when it is done, the first that is not")
{
    project p;
    for (const char *name : {"04_other", "05_another"}) {
        lab other;
        other.name = name;
        p.tools.labs.push_back(other);
    }
    auto next = [&] { return next_lab(p.tools, read_progress(p.tools))->name; };
    auto graded = [&](const char *name, int points) {
        lab_view l = view_of(points);
        l.lab = name;
        keep_progress(p.tools, l, "sim");
    };
    CHECK(next() == "02_scaling");
    graded("02_scaling", 9);
    graded("05_another", 4);
    graded("04_other", 4);
    CHECK(next() == "04_other");
    graded("04_other", 10);
    CHECK(next() == "02_scaling"); // although 05_another was graded later
}

TEST_CASE("two programs that end a grade at once both leave their points")
{
    project p;
    std::vector<pid_t> all;
    for (const char *backend : {"a", "b", "c", "d"}) {
        pid_t pid = fork();
        if (pid == 0) {
            for (int points = 1; points <= 9; ++points)
                keep_progress(p.tools, view_of(points), backend);
            _exit(0);
        }
        all.push_back(pid);
    }
    for (pid_t pid : all) {
        int status = -1;
        waitpid(pid, &status, 0);
        CHECK(status == 0);
    }
    const progress_record record = read_progress(p.tools);
    CHECK(record.entries.size() == 4);
    for (const progress_entry &e : record.entries) CHECK(e.best == 9);
}

TEST_CASE("a fault of the machine leaves no trace")
{
    project p;
    keep_progress(p.tools, view_of(0, "INFRA_ERROR", "error"), "gpu");
    keep_progress(p.tools, view_of(0, "SKIPPED", "skipped"), "gpu");
    CHECK(read_progress(p.tools).entries.empty());
}

TEST_CASE("what is open counts as neither reached nor left to do")
{
    project p;
    lab other;
    other.name = "04_other";
    p.tools.labs.push_back(other);
    lab_view l = view_of(7, "", "skipped");
    l.cases.push_back({"scale: one", "correctness", "PASS", "", "", 7, 7, nullptr});
    l.cases.push_back({"scale: ranks", "correctness", "SKIPPED", "There is no MPI.", "", 0, 3,
                       nullptr, "", 0, 3});
    l.open_points = 3;
    keep_progress(p.tools, l, "sim");
    progress_record record = read_progress(p.tools);
    REQUIRE(record.entries.size() == 1);
    CHECK(record.entries[0].best == 7);
    CHECK(record.entries[0].open == 3);
    CHECK_FALSE(record.entries[0].done());
    CHECK(next_lab(p.tools, record)->name == "04_other");
    CHECK(contains(screen(p), "7 / 10, 3 open\n"));
    CHECK(contains(screen(p), "0 of 2 labs done, 7 / 10 points, 3 open, of those graded\n"
                              "Open points are neither reached nor lost"));
    l.lab = "04_other";
    keep_progress(p.tools, l, "sim");
    CHECK(contains(screen(p), "Every lab is done but for points that are open."));
    // The open points were judged on another machine, so they are not open here.
    l.points = 9;
    l.open_points = 0;
    keep_progress(p.tools, l, "gpu");
    l.points = 7;
    l.open_points = 3;
    keep_progress(p.tools, l, "gpu");
    CHECK(contains(screen(p), "9 / 10, 1 open"));
}

TEST_CASE("a damaged file is put aside, not overwritten, and neither is the one before")
{
    project p;
    for (const char *text : {"{\"labs\": [", "", "[1]"}) {
        p.put(".workbook/progress.json", text);
        CHECK(contains(screen(p), "could not be understood"));
        keep_progress(p.tools, view_of(4, "CRASH"), "sim");
        CHECK(read_progress(p.tools).warning == "");
        CHECK(read_progress(p.tools).entries.size() == 1);
    }
    std::string path = p.root + "/.workbook/progress.json.broken-";
    CHECK(read_text(path + "1") == "{\"labs\": [");
    CHECK(read_text(path + "2") == "");
    CHECK(read_text(path + "3") == "[1]");
}

TEST_CASE("shown hints are kept with the points, and never become fewer")
{
    project p;
    keep_hints(p.tools, "02_scaling", 2, 3);
    keep_progress(p.tools, view_of(4, "CRASH"), "sim");
    keep_hints(p.tools, "02_scaling", 2, 1);
    progress_record record = read_progress(p.tools);
    CHECK(record.hints[{"02_scaling", 2}] == 3);
    CHECK(record.entries.size() == 1);
}

TEST_CASE("what other versions wrote is read as far as it goes")
{
    project p;
    p.put(
        ".workbook/progress.json",
        R"({"schema": "cuda-workbook-progress/1", "labs": [7, {"lab": "02_scaling", "points": "x", "best": 3}]})");
    const progress_record record = read_progress(p.tools);
    REQUIRE(record.best("02_scaling") != nullptr);
    CHECK(record.best("02_scaling")->best == 3);
}
