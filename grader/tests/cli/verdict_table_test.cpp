// Tests the table of verdicts: reading, writing, and the differences that it finds.
#include "cli/check/verdict_table.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli_project.hpp"

using namespace cli;

namespace {

const std::string header = "submission,case,verdict,points,why\n";

verdict_row row(const std::string &submission, const std::string &case_name,
                const std::string &verdict, const std::string &points)
{
    return {submission, case_name, verdict, points, {}, {}};
}

const verdict_table recorded{"sim",
                             "02_scaling",
                             {row("naive", "scale: one", "PASS", "1/1"),
                              row("naive", "scale: speed", "TOO_SLOW", "0/4"),
                              row("wrong/x.cu", "scale: one", "PASS", "1/1"),
                              row("wrong/x.cu", "scale: row, wide", "RACE", "0/2")}};

// Results that equal the table, the wrong submission's in its own case only.
std::vector<graded_submission> as_recorded()
{
    return {
        {"naive", graded_submission::whole, {recorded.rows[0], recorded.rows[1]}},
        {"wrong/x.cu", graded_submission::some_cases, {recorded.rows[3]}},
    };
}

verdict_change change(const std::string &before, const std::string &after)
{
    return {"sim", "02_scaling", "naive", "scale: speed", before, after, "a wider gate", 2};
}

std::string words(const verdict_comparison &c) { return difference_words(c, 10); }

} // namespace

TEST_CASE("what is as it was agrees, and cases that were not graded are not compared")
{
    verdict_comparison c = compare(recorded, as_recorded(), {});
    CHECK(c.agrees());
    CHECK(c.compared == 3);
    CHECK(as_csv(c.recorded) == as_csv(recorded));
    const auto none = graded_submission::not_at_all;
    c = compare(recorded, {{"naive", none, {}}, {"wrong/x.cu", none, {}}}, {});
    CHECK(c.agrees());
    CHECK(c.compared == 0);
}

TEST_CASE("a changed verdict and a changed point are differences, which recording refuses")
{
    for (const verdict_row &now : {row("naive", "scale: speed", "PASS", "0/4"),
                                   row("naive", "scale: speed", "TOO_SLOW", "1/4"),
                                   row("naive", "scale: speed", "TOO_SLOW", "0/5")}) {
        std::vector<graded_submission> got = as_recorded();
        got[0].rows[1] = now;
        verdict_comparison c = compare(recorded, got, {});
        CHECK_FALSE(c.agrees());
        CHECK(words(c) == "02_scaling  naive  scale: speed: was TOO_SLOW 0/4, is " + now.words());
        CHECK(c.refused().size() == 1);
        CHECK(as_csv(c.recorded) == as_csv(recorded));
        CHECK(lines_for_changes(c) ==
              "sim,02_scaling,naive,scale: speed,TOO_SLOW 0/4," + now.words() + ",\n");
    }
}

TEST_CASE("a row that the table lacks is a difference, and recorded")
{
    verdict_table lacking = recorded;
    lacking.rows.erase(lacking.rows.begin());
    verdict_comparison c = compare(lacking, as_recorded(), {});
    CHECK(words(c) == "02_scaling  naive  scale: one: not in the table, is PASS 1/1");
    CHECK(c.refused().empty());
    CHECK(as_csv(c.recorded) == as_csv(recorded));
}

TEST_CASE("a row of a case or a submission that is gone is a difference, and dropped")
{
    std::vector<graded_submission> got = as_recorded();
    got[0].rows.pop_back();
    verdict_comparison c = compare(recorded, got, {});
    CHECK(words(c) == "02_scaling  naive  scale: speed: was TOO_SLOW 0/4, is not there any more");
    CHECK(c.refused().empty());
    CHECK(c.recorded.rows.size() == 3);

    got = as_recorded();
    got.pop_back();
    c = compare(recorded, got, {});
    CHECK(c.differences.size() == 2);
    CHECK(c.recorded.rows.size() == 2);
}

TEST_CASE("a change that is listed with its reason is recorded, and a difference until then")
{
    std::vector<graded_submission> got = as_recorded();
    got[0].rows[1].points = "1/4";
    const std::vector<verdict_change> listed = {change("TOO_SLOW 0/4", "TOO_SLOW 1/4")};
    verdict_comparison c = compare(recorded, got, listed);
    CHECK_FALSE(c.agrees());
    CHECK(contains(words(c), "changes.csv:2 lists this, to be recorded"));
    CHECK(c.refused().empty());
    CHECK(c.recorded.rows[1].points == "1/4");
    CHECK(compare(c.recorded, got, listed).agrees());

    verdict_change elsewhere = listed[0];
    elsewhere.backend = "gpu";
    CHECK(compare(recorded, got, {elsewhere}).refused().size() == 1);
    verdict_change other = change("TOO_SLOW 0/4", "PASS 4/4");
    CHECK(compare(recorded, got, {other}).refused().size() == 1);
}

TEST_CASE("a change whose line does not fit the table, or the line before it, is a fault")
{
    verdict_comparison wrong_before =
        compare(recorded, as_recorded(), {change("WRONG_ANSWER 0/4", "PASS 4/4")});
    CHECK_FALSE(wrong_before.agrees());
    CHECK(contains(words(wrong_before), "is \"TOO_SLOW 0/4\" in the table, neither"));

    CHECK(compare(recorded, as_recorded(), {change("PASS 4/4", "TOO_SLOW 0/4")}).agrees());

    verdict_change second = change("PASS 3/4", "TOO_SLOW 0/4");
    second.line = 3;
    verdict_comparison broken =
        compare(recorded, as_recorded(), {change("CRASH 0/4", "PASS 4/4"), second});
    CHECK(contains(words(broken), "changes.csv:3: naive in scale: speed was \"PASS 4/4\" before"));

    verdict_comparison untrue =
        compare(recorded, as_recorded(), {change("TOO_SLOW 0/4", "PASS 4/4")});
    CHECK(contains(words(untrue), "changes.csv:2: naive in scale: speed is still"));
}

TEST_CASE("a verdict that varies is one of those that its row states")
{
    verdict_table table = recorded;
    table.rows[1].verdict = "*CRASH TIMEOUT";
    table.rows[1].why = "by chance";
    std::vector<graded_submission> got = as_recorded();
    got[0].rows[1] = row("naive", "scale: speed", "CRASH", "2/4");
    verdict_comparison c = compare(table, got, {});
    CHECK(c.agrees());
    CHECK(as_csv(c.recorded) == as_csv(table));
    got[0].rows[1].verdict = "PASS";
    CHECK_FALSE(compare(table, got, {}).agrees());
    table.rows[1].verdict = "*";
    CHECK(compare(table, got, {}).agrees());
}

TEST_CASE("what a grader's own fault leaves ungraded is no row, and none is missing for it")
{
    lab_view l{"02_scaling",
               "naive",
               "error",
               1,
               5,
               {{"scale: one", "correctness", "PASS", "", "", 1, 1, nullptr},
                {"scale: speed", "speed", "INFRA_ERROR", "", "", 0, 4, nullptr}}};
    graded_submission g = rows_of(l, "naive", true);
    REQUIRE(g.rows.size() == 1);
    CHECK(g.rows[0].words() == "PASS 1/1");
    CHECK(g.how == graded_submission::some_cases);
    std::vector<graded_submission> got = as_recorded();
    got[0] = g;
    CHECK(compare(recorded, got, {}).agrees());
    l.cases[1].verdict = "TOO_SLOW";
    CHECK(rows_of(l, "naive", true).how == graded_submission::whole);
}

TEST_CASE("a table is read as it was written, in order")
{
    project p;
    verdict_table table = recorded;
    table.rows[1].verdict = "*CRASH TIMEOUT";
    table.rows[1].why = "who comes first, \"and\" when";
    std::string path = p.put("sim.csv", as_csv(table));
    CHECK(as_csv(read_table(path, "sim", "02_scaling")) == as_csv(table));
    CHECK(read_text(path).starts_with(header + "naive,scale: one,PASS,1/1,\n"));
    CHECK(contains(read_text(path), "wrong/x.cu,\"scale: row, wide\",RACE,0/2,\n"));
    CHECK(read_table(p.root + "/none.csv", "sim", "02_scaling").rows.empty());

    table.backend = "gpu";
    for (verdict_row &r : table.rows) r.key = "0123456789ab";
    path = p.put("gpu.csv", as_csv(table));
    CHECK(read_table(path, "gpu", "02_scaling").rows[3].key == "0123456789ab");
    CHECK_THROWS_AS(read_table(path, "sim", "02_scaling"), machine_error);
}

TEST_CASE("a damaged table is an error that names the file, the line and what is wrong")
{
    project p;
    auto fault = [&](const std::string &text) -> std::string {
        try {
            read_table(p.put("t.csv", text), "sim", "02_scaling");
        } catch (const machine_error &e) {
            return e.what();
        }
        return {};
    };
    CHECK(contains(fault("case,verdict\n"), "t.csv:1: the first line must be submission,case"));
    CHECK(contains(fault(header + "naive,one,PASS\n"), "t.csv:2: it has 3 words"));
    CHECK(contains(fault(header + "naive,\"one,PASS,1/1,\n"), "t.csv:2: a quoted word"));
    CHECK(contains(fault(header + "naive,one,GOOD,1/1,\n"), "t.csv:2: \"GOOD\" is no verdict"));
    CHECK(contains(fault(header + "naive,one,INFRA_ERROR,0/1,\n"), "is no verdict of a row"));
    CHECK(contains(fault(header + "naive,one,PASS CRASH,1/1,\n"), "is not one verdict"));
    CHECK(contains(fault(header + "naive,one,*PASS CRASH,,\n"), "must say with what"));
    CHECK(contains(fault(header + "naive,two,PASS,1/1,\nnaive,one,PASS,1/1,\n"), "t.csv:3: rows"));
    CHECK(contains(fault(header + "naive,one,PASS,1/1,\nnaive,one,PASS,1/1,\n"), "t.csv:3: rows"));
    CHECK(fault(header + "naive,one,PASS,1/1,\n") == "");
}

TEST_CASE("a change without a reason is an error")
{
    project p;
    const std::string columns = "backend,lab,submission,case,before,after,reason\n",
                      line = "sim,02_scaling,naive,\"scale: a, b\",PASS 1/1,CRASH 0/1,";
    CHECK(read_changes(p.root + "/none.csv").empty());
    std::vector<verdict_change> all =
        read_changes(p.put("changes.csv", columns + line + "it crashes\n"));
    REQUIRE(all.size() == 1);
    CHECK(all[0].case_name == "scale: a, b");
    CHECK(all[0].after == "CRASH 0/1");
    CHECK(all[0].line == 2);
    for (const char *reason : {"", " ", "\"\""})
        CHECK_THROWS_WITH_AS(read_changes(p.put("changes.csv", columns + line + reason + "\n")),
                             doctest::Contains("changes.csv:2: the change of naive"),
                             machine_error);
}

TEST_CASE("the list of differences is cut, and says how many more there are")
{
    verdict_comparison c = compare({"sim", "02_scaling", {recorded.rows[0]}}, as_recorded(), {});
    CHECK(contains(difference_words(c, 1), "\nand 1 more"));
    CHECK_FALSE(contains(difference_words(c, 2), "more"));
}

TEST_CASE("a new lab's long list of differences is one line, which says how to record them")
{
    verdict_comparison c = compare({"sim", "02_scaling", {}}, as_recorded(), {});
    CHECK(difference_words(c, 2) == "the table has none of these 3 rows yet: --record writes them");
    CHECK(contains(difference_words(c, 3), "scale: speed: not in the table, is TOO_SLOW 0/4"));
}
