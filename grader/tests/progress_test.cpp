// What a student has reached is kept, and never lost.
#include "../cli/progress.hpp"
#include "cli_project.hpp"

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
    CHECK(contains(screen(p), "./workbook grade 02"));
    keep_progress(p.tools, view_of(4, "WRONG_ANSWER"), "sim");
    CHECK(contains(screen(p), "02_scaling  ####        4 / 10  WRONG_ANSWER"));
    keep_progress(p.tools, view_of(10, "", "pass"), "gpu");
    CHECK(contains(screen(p), "10 / 10  done"));
    CHECK(contains(screen(p), "Every lab is done"));
}

TEST_CASE("the best points stay when a later grade is worse")
{
    project p;
    keep_progress(p.tools, view_of(7, "TOO_SLOW"), "gpu");
    keep_progress(p.tools, view_of(2, "CRASH"), "sim");
    const progress_record record = read_progress(p.tools);
    const progress_entry *e = record.find("02_scaling");
    REQUIRE(e != nullptr);
    CHECK(e->best == 7);
    CHECK(e->points == 2);
    CHECK(e->verdict == "CRASH");
    CHECK(e->backend == "sim");
    CHECK(contains(screen(p), "7 / 10  (last 2)  CRASH"));
}

TEST_CASE("a fault of the machine leaves no trace")
{
    project p;
    keep_progress(p.tools, view_of(0, "INFRA_ERROR", "error"), "gpu");
    keep_progress(p.tools, view_of(0, "SKIPPED", "skipped"), "gpu");
    CHECK(read_progress(p.tools).labs.empty());
}

TEST_CASE("a damaged file is put aside, not overwritten")
{
    project p;
    std::string path = p.put(".workbook/progress.json", "{\"labs\": [");
    CHECK(contains(screen(p), "could not be understood"));
    keep_progress(p.tools, view_of(4, "CRASH"), "sim");
    CHECK(read_text(path + ".damaged") == "{\"labs\": [");
    CHECK(read_progress(p.tools).warning == "");
    CHECK(read_progress(p.tools).labs.size() == 1);
}

TEST_CASE("what other versions wrote is read as far as it goes")
{
    project p;
    p.put(
        ".workbook/progress.json",
        R"({"schema": "cuda-workbook-progress/1", "labs": [7, {"lab": "02_scaling", "points": "x", "best": 3}]})");
    const progress_record record = read_progress(p.tools);
    REQUIRE(record.find("02_scaling") != nullptr);
    CHECK(record.find("02_scaling")->best == 3);
}
