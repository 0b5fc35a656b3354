// Tests a class's grades as a column of a gradebook: who is matched to whom, and who is not.
#include "cli/results/grade_columns.hpp"
#include "cli/results/gradebook.hpp"
#include "cli/support/csv.hpp"
#include "result_documents.hpp"

using namespace cli;

namespace {

std::string golden_class(const std::string &name)
{
    return read_toolchain(toolchain_path()).source_root + "/grader/tests/cli/golden/class/" + name;
}

json graded_class(std::vector<json> rows)
{
    for (json &row : rows) {
        json whole = {{"lab", "02_scaling"},
                      {"status", "fail"},
                      {"points", 7.5},
                      {"max_points", 40},
                      {"open_points", 0}};
        whole.update(row);
        row = whole;
    }
    return {{"schema", class_schema}, {"rows", rows}};
}

columns_wanted canvas_column()
{
    return {.lms = "canvas",
            .roster_name = "roster.csv",
            .lab = "",
            .column = "",
            .clock = false,
            .published = false};
}
columns_wanted moodle_column()
{
    columns_wanted wanted = canvas_column();
    wanted.lms = "moodle";
    return wanted;
}

std::string column_refusal(const json &of_class, const std::string &roster,
                           const columns_wanted &wanted)
{
    try {
        fill_column(of_class, roster, wanted);
    } catch (const usage_error &e) {
        return e.what();
    } catch (const machine_error &e) {
        return std::string("broken: ") + e.what();
    }
    return "none";
}

const std::string canvas_head = "Student,ID,SIS Login ID,Section,Lab (5)\n";

} // namespace

TEST_CASE("moodle: the worksheet has final grades only, and who has none is named")
{
    columns_wanted wanted = moodle_column();
    wanted.lab = "2";
    const filled_column filled =
        fill_column(read_class_results(golden_class("moodle.json")),
                    read_text(golden_class("moodle_worksheet.csv")), wanted);
    CHECK(filled.table == read_text(golden_class("moodle_filled.csv")));
    CHECK(filled.notes ==
          std::vector<std::string>{
              "Carl Friedrich Gau\u00df (line 3) stays empty: not graded by a fault of ours: the "
              "disk is full",
              "Grace Hopper (line 4) stays \"20.00\": 4 of 40 points are open, 36 reached",
              "Alan Turing (line 6) stays empty: nothing to grade: there is no "
              "02_scaling/stub.cu",
              "No row for stranger: 0 points", "No submission of Kurt G\u00f6del (line 9)",
              "Filled in 3 of 7 cells of \"Grade\" with the points of 02_scaling."});
}

TEST_CASE("canvas: the file to upload has one column of grades")
{
    const filled_column filled = [&] {
        columns_wanted wanted = canvas_column();
        wanted.column = "lab 02";
        return fill_column(read_class_results(golden_class("canvas.json")),
                           read_text(golden_class("canvas_gradebook.csv")), wanted);
    }();
    CHECK(filled.table == read_text(golden_class("canvas_filled.csv")));
    CHECK(filled.notes ==
          std::vector<std::string>{
              "Gauss, Carl (line 4) stays \"12.00\": not graded by a fault of ours: the disk is "
              "full",
              "G\u00f6del, Kurt (line 5) stays \"EX\": excused in the course, and has 10 points",
              "No row for noetheremmy_99: 40 points", "No submission of Student, Test (line 9)",
              "Filled in 3 of 6 cells of \"Lab 02 (501)\" with the points of 02_scaling."});
}

TEST_CASE("moodle: the export of grades names a student by mail, number or name")
{
    const std::string roster =
        "First name\tLast name\tID number\tEmail address\tAssignment: Lab (Real)\tCourse total "
        "(Real)\tLast downloaded from this course\n"
        "Ada\tLovelace\t4711\tada@a.edu\t-\t-\t1796000000\n"
        "Carl\tGauss\t4712\tcfg@a.edu\t-\t-\t1796000000\n"
        "Grace\tHopper\t4713\tgrace@a.edu\t-\t-\t1796000000\n";
    // Numbers of another file, so the name before them counts.
    const json of_class = graded_class(
        {{{"student", "Lovelace Ada_17"}, {"known_as", {{"system", "moodle"}, {"id", "17"}}}},
         {{"student", "4712"}, {"points", 8}},
         {{"student", "GRACE@a.edu"}, {"points", 9}}});
    const filled_column filled = fill_column(of_class, roster, moodle_column());
    const std::vector<csv_row> rows = parse_csv(filled.table, "filled", '\t');
    REQUIRE(rows.size() == 4);
    CHECK(rows[1].words[4] == "7.5");
    CHECK(rows[2].words[4] == "8");
    CHECK(rows[3].words[4] == "9");
    CHECK(rows[3].words[6] == "1796000000");
}

TEST_CASE("nobody is matched by guessing")
{
    const std::string two = canvas_head + "\"Lovelace, Ada\",1,ada@a.edu,Mon,\n"
                                          "\"Byron, Ada\",2,ada@b.edu,Mon,\n";
    CHECK(column_refusal(graded_class({{{"student", "ada"}}}), two, canvas_column()) ==
          "roster.csv: \"ada\" may be Lovelace, Ada (line 2) or Byron, Ada (line 3). Rename the "
          "student's folder to what only one of them has, an e-mail address for instance, and "
          "grade again.");
    CHECK(column_refusal(graded_class({{{"student", "ada@a.edu"}}, {{"student", "Ada Lovelace"}}}),
                         two, canvas_column()) ==
          "roster.csv: both \"ada@a.edu\" and \"Ada Lovelace\" may be Lovelace, Ada (line 2). Keep "
          "one of their folders, and grade again.");
    // A number at the end of a name given by hand is none of Canvas.
    CHECK(contains(column_refusal(graded_class({{{"student", "team_2"}}}), two, canvas_column()),
                   "none of its students is in the class that was graded"));
    // A number of Moodle's is none of Canvas, and one of Canvas is not looked up as a name.
    const json moodle = {{"system", "moodle"}, {"id", "2"}},
               canvas = {{"system", "canvas"}, {"id", "3"}};
    CHECK(contains(column_refusal(graded_class({{{"student", "x_2"}, {"known_as", moodle}}}), two,
                                  canvas_column()),
                   "none of its students"));
    CHECK(
        contains(column_refusal(graded_class({{{"student", "ada@a.edu_3"}, {"known_as", canvas}}}),
                                two, canvas_column()),
                 "none of its students"));
}

TEST_CASE("points that mean something else in the course are refused")
{
    const std::string head = canvas_head + "    Points Possible,,,,50\n";
    const std::string roster = head + "\"Lovelace, Ada\",1,ada,Mon,\n";
    json of_class =
        graded_class({{{"student", "ada"},
                       {"clock", {{"points", 2.5}, {"max_points", 10}, {"open_points", 0}}}}});
    CHECK(column_refusal(of_class, roster, canvas_column()) ==
          "roster.csv: the column's maximum is 50, and 02_scaling has 40 points without the clock. "
          "Set it to 40 in the course, and export the file again; a course that counts the clock "
          "takes --clock.");
    columns_wanted with_clock = canvas_column();
    with_clock.clock = true;
    CHECK(contains(fill_column(of_class, roster, with_clock).table, ",10\n"));
    of_class["rows"][0]["clock"]["open_points"] = 7.5;
    CHECK(fill_column(of_class, roster, with_clock).notes[0] ==
          "Lovelace, Ada (line 3) stays empty: 7.5 of 50 points are open, 10 reached");
}

TEST_CASE("held-back points are on top once they are published; a late student is named")
{
    const json of_class =
        graded_class({{{"student", "ada"},
                       {"late_days", 2},
                       {"held_back", {{"points", 1.5}, {"max_points", 5}, {"open_points", 0}}}},
                      {{"student", "cfg"},
                       {"status", "unreadable"},
                       {"points", nullptr},
                       {"problem", "permission denied"}}});
    const std::string roster = canvas_head + "\"Lovelace, Ada\",1,ada,Mon,\nGauss,2,cfg,Mon,\n";
    columns_wanted wanted = canvas_column();
    CHECK(contains(fill_column(of_class, roster, wanted).table, ",ada,Mon,7.5\n"));
    wanted.published = true;
    const filled_column filled = fill_column(of_class, roster, wanted);
    CHECK(contains(filled.table, ",ada,Mon,9\n"));
    CHECK(filled.notes[0] == "Lovelace, Ada (line 2) is 2 days late, and has all of 9 points");
    CHECK(filled.notes[1] == "Gauss (line 3) stays empty: nobody can read it: permission denied");
}

TEST_CASE("the column and the lab must be clear")
{
    const std::string roster = "Student,ID,SIS Login ID,Section,Lab (5),Lab 2 (6)\n"
                               "\"Lovelace, Ada\",1,ada,Mon,,\n";
    const json one = graded_class({{{"student", "ada"}}});
    CHECK(column_refusal(one, roster, canvas_column()) ==
          "roster.csv: there are several columns for grades. Name one with --column: \"Lab (5)\", "
          "\"Lab 2 (6)\".");
    columns_wanted wanted = canvas_column();
    wanted.column = "quiz";
    CHECK(contains(column_refusal(one, roster, wanted), "there is no column like \"quiz\"."));
    wanted.column = "lab (5)";
    CHECK(column_refusal(one, roster, wanted) == "none");
    const json two = graded_class({{{"student", "ada"}}, {{"student", "ada"}, {"lab", "03_more"}}});
    CHECK(column_refusal(two, roster, wanted) ==
          "The class has several labs: 02_scaling, 03_more. Name one with --lab.");
    wanted.lab = "more";
    CHECK(column_refusal(two, roster, wanted) == "none");
}

TEST_CASE("a file that is none of the course system's, or is broken, is refused")
{
    const json one = graded_class({{{"student", "ada"}}});
    const std::string row = "\"Lovelace, Ada\",1,ada,Mon,\n";
    CHECK(contains(column_refusal(one, "", canvas_column()), "roster.csv is empty"));
    CHECK(contains(column_refusal(one, "a,b\n1,2\n", canvas_column()),
                   "no columns Student, ID and Section"));
    CHECK(contains(column_refusal(one, canvas_head, moodle_column()),
                   "no column Identifier, Full name, "));
    CHECK(contains(column_refusal(one, canvas_head, canvas_column()), "has no students"));
    CHECK(column_refusal(one, canvas_head + "x,1\n", canvas_column()) ==
          "broken: roster.csv:2: it has 2 words, and the header has 5");
    CHECK(column_refusal(one, canvas_head + "\"x,1,ada,Mon,\n", canvas_column()) ==
          "broken: roster.csv:2: a quoted word does not end in a quote");
    CHECK(column_refusal(one, canvas_head + row + "L\xf6we,2,l,Mon,\n", canvas_column()) ==
          "broken: roster.csv:3: it is no UTF-8 text");
    CHECK(contains(
        column_refusal(one, "Student,ID,Section\n" + std::string("x,1,Mon\n"), canvas_column()),
        "no column for the grades of an assignment"));
}

TEST_CASE("a gradebook keeps its separator and byte order mark, and its students' text")
{
    const std::string roster = "\xef\xbb\xbfStudent;ID;SIS Login ID;Section;Lab (5)\r\n"
                               "    Points Possible;;;;40,00\r\n"
                               "=1+1;1;ada;\"a;b\";\r\n";
    CHECK(fill_column(graded_class({{{"student", "ada"}}}), roster, canvas_column()).table ==
          "\xef\xbb\xbfStudent;ID;SIS Login ID;Section;Lab (5)\n"
          "    Points Possible;;;;\"40,00\"\n"
          "=1+1;1;ada;\"a;b\";7.5\n");
}

TEST_CASE("the convert command writes the column to a file, and says what it did not do")
{
    project p;
    const std::string out = p.root + "/grades.csv";
    convert_options options{golden_class("moodle.json"), "", out, ""};
    CHECK(refusal(options) == "Say one form with --to, or one course system with --lms.");
    options.lms = "moodle";
    CHECK(contains(refusal(options), "--lms needs --roster FILE: the grading worksheet"));
    options.roster = golden_class("moodle_worksheet.csv");
    CHECK(contains(refusal(options), "The class has several labs"));
    options.lab = "02";
    options.student = "emmy";
    CHECK(refusal(options) == "--student is for --to only: leave it out.");
    options.student = "";
    CHECK(convert_command(options) == passed);
    CHECK(read_text(out) == read_text(golden_class("moodle_filled.csv")));
    options.roster = p.root + "/none.csv";
    CHECK(contains(refusal(options), "none.csv"));
    options.roster = golden_class("moodle_worksheet.csv");
    options.file = p.put("one.json", failing().dump());
    CHECK(contains(refusal(options), "is not of a class. Give the file that autograde --json "
                                     "wrote."));
    CHECK(read_text(out) == read_text(golden_class("moodle_filled.csv")));
}

TEST_CASE("a table's quoted words may hold separators, quotes and line breaks")
{
    const std::vector<csv_row> rows = parse_csv("a,\"b\r\n\"\"c\"\", d\"\r\n\n,\"\"", "t");
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].words == std::vector<std::string>{"a", "b\r\n\"c\", d"});
    CHECK(rows[1].line == 3);
    CHECK(rows[1].words == std::vector<std::string>{""});
    CHECK(rows[2].words == std::vector<std::string>{"", ""});
    for (const char *broken : {"\"a", "\"a\"b", "a\"b\""})
        CHECK_THROWS_AS(parse_csv(broken, "t"), machine_error);
    CHECK(parse_csv("", "t").empty());
}
