// Tests grading a class: the files that are found or refused, and the table of grades.
#include "cli/commands/commands.hpp"
#include "cli/commands/doctor.hpp"
#include "cli/results/class_results.hpp"
#include "cli/support/errors.hpp"
#include "cli_project.hpp"

#include <unistd.h>

using namespace cli;

TEST_CASE("the table is one that a spreadsheet reads and does not calculate")
{
    grade_row a, b;
    a.student = "=1+1";
    a.lab = "02_scaling";
    a.status = "fail";
    a.points = 2.5;
    a.max_points = 10;
    a.verdicts = {{"PASS", 3}, {"SKIPPED", 1}, {"TOO_SLOW", 1}};
    a.open_points = 2;
    a.clock = {1.5, 4, 1};
    a.open = {"2 points are open: scale: odd. There is no such instruction."};
    a.first_failure = "TOO_SLOW in scale: speed";
    b.student = "van \"x\", y";
    b.lab = "02_scaling";
    b.status = "missing";
    b.max_points = 10;
    b.problem = "there is none";
    a.handed_in = "2026-12-01T22:59:00Z";
    a.late_days = 2;
    std::string end = std::string(",sim,1f,") + tool_version + "\n";
    CHECK(as_csv({a, b}, "sim", "1f") ==
          "student,lab,status,points,max_points,open_points,clock_points,clock_max_points,"
          "clock_open_points,held_back_points,held_back_max_points,held_back_open_points,verdicts,"
          "first_failure,problem,file,handed_in,late_days,backend,seed,tool\n"
          "'=1+1,02_scaling,fail,2.5,10,2,1.5,4,1,0,0,0,PASS 3 SKIPPED 1 TOO_SLOW 1,"
          "TOO_SLOW in scale: speed,"
          "2 points are open: scale: odd. There is no such instruction.,"
          ",2026-12-01T22:59:00Z,2" +
              end +
              "\"van \"\"x\"\", y\",02_scaling,missing,0,10,0,0,0,0,0,0,0,,,there is none,,," +
              end);
    json document = as_json({a, b}, "sim", "1f");
    CHECK(row_as_json(row_in(document["rows"][0])) == document["rows"][0]);
    CHECK(row_as_json(row_in(document["rows"][1])) == document["rows"][1]);
    CHECK(document["rows"][0]["verdicts"]["PASS"] == 3);
    CHECK(document["rows"][0]["open_points"] == 2);
    CHECK(document["rows"][0]["clock"]["points"] == 1.5);
    CHECK(document["rows"][0]["open"] == json(a.open));
    CHECK(document["rows"][1]["status"] == "missing");
    CHECK(document["seed"] == "1f");
}

TEST_CASE("one student's broken file ends nothing but that student's row" *
          doctest::skip(grading::available_confinement(false) == grading::confinement::none))
{
    project p, handed;
    p.use_real_compiler();
    p.script("build/grade.02_scaling",
             "[ \"$1\" = --list ] && echo 3 points, and 0 of the clock, in 1 cases && exit\n"
             "case \"$*\" in *--probe-sandbox) exit 0;; esac\n"
             "to=$(sed 's/.*\"result\":\"\\([^\"]*\\)\".*/\\1/')\n"
             "cat >\"$to\" <<END\n"
             "{\"schema\": \"cuda-workbook/1\", \"labs\": [{\"lab\": \"02_scaling\", "
             "\"submission\": \"stub.cu\", \"status\": \"pass\", \"points\": 3, \"max_points\": 3, "
             "\"cases\": [{\"name\": \"scale\", \"kind\": \"correctness\", \"verdict\": \"PASS\", "
             "\"points\": 3, \"max_points\": 3, \"message\": \"\", \"hint\": \"\"}]}]}\n"
             "END");
    p.tools.simulator_library = p.tools.cudart_static; // any library that exists
    handed.put("handed/Gauss Carl_17_assignsubmission_file_stub.cu",
               "#include \"lab.hpp\"\nvoid scale(float *, int) {}\n");
    handed.put("handed/all.zip", "");
    handed.put("handed/a/stub.cu", "this does not compile\n");
    const std::string naive = "#include \"lab.hpp\"\nvoid scale(float *, int) { ; }\n";
    p.put("reference/02_scaling/naive.cu", naive);
    handed.put("handed/naive/stub.cu", naive);
    for (const char *name : {"handed/untouched/stub.cu", "handed/x\ny/stub.cu"})
        handed.put(name, read_text(p.root + "/labs/02_scaling/stub.cu"));
    handed.put("handed/b c/02_scaling/stub.cu",
               "#include \"lab.hpp\"\nvoid scale(float *, int) {}\n");
    std::filesystem::create_directory(handed.root + "/handed/d");
    std::filesystem::create_directory(handed.root + "/handed/e");
    std::filesystem::create_symlink("/etc/passwd", handed.root + "/handed/e/stub.cu");
    autograde_options wanted;
    wanted.folder = handed.root + "/handed";
    wanted.csv_file = handed.root + "/grades.csv";
    wanted.json_file = handed.root + "/grades.json";
    grade_options options;
    options.backend = "sim";
    options.seed = "1f";
    CHECK(autograde_command(p.tools, {}, options, wanted) == passed);
    std::string table = read_text(wanted.csv_file);
    CHECK(contains(table,
                   "\na,02_scaling,fail,0,3,0,0,0,0,0,0,0,BUILD_FAILED 1,BUILD_FAILED in build,"));
    CHECK_FALSE(contains(table, "BUILD_FAILED in build,,")); // the row gives a reason
    CHECK(contains(
        table, "\nb c,02_scaling,pass,3,3,0,0,0,0,0,0,0,PASS 1,,\"the file is the same as Gauss "
               "Carl_17's, byte for byte\","));
    CHECK(contains(
        table,
        "\nGauss Carl_17,02_scaling,pass,3,3,0,0,0,0,0,0,0,PASS 1,,\"the file is the same as "
        "b c's, byte for byte\","));
    CHECK(contains(table, "\nnaive,02_scaling,pass,3,3,0,0,0,0,0,0,0,PASS 1,,\"the file is "
                          "reference/02_scaling/naive.cu, byte for byte\","));
    CHECK(contains(table, "\nuntouched,02_scaling,fail,0,3,0,0,0,0,0,0,0,BUILD_FAILED 1,"));
    CHECK(contains(table, "\nx?y,02_scaling,fail,0,3,0,0,0,0,0,0,0,BUILD_FAILED 1,"));
    CHECK_FALSE(contains(table, "untouched's"));
    CHECK(contains(
        table,
        "\nd,02_scaling,missing,0,3,0,0,0,0,0,0,0,,,\"there is no 02_scaling/stub.cu, nor "));
    CHECK(contains(table, "stub.cu is a symbolic link"));
    json document = json::parse(read_text(wanted.json_file));
    CHECK(document["rows"][2]["result"]["labs"][0]["cases"][0]["name"] == "scale");

    // A broken grader is our fault, and its rows say so.
    p.script("build/grade.02_scaling",
             "[ \"$1\" = --list ] && echo 3 points, and 0 of the clock, in 1 cases && exit\n"
             "case \"$*\" in *--probe-sandbox) exit 0;; esac\nkill -SEGV $$");

    // Grades of two graders do not stand in one table.
    CHECK_THROWS_WITH_AS(autograde_command(p.tools, {}, options, wanted),
                         doctest::Contains("by another grader of 02_scaling"), usage_error);
    wanted.anew = true;
    CHECK(autograde_command(p.tools, {}, options, wanted) == infrastructure);
    table = read_text(wanted.csv_file);
    CHECK(contains(table, "\na,02_scaling,fail,0,3,0,0,0,0,0,0,0,BUILD_FAILED 1,"));
    CHECK(
        contains(table, "\nb c,02_scaling,error,,3,,,0,,,0,,INFRA_ERROR 1,INFRA_ERROR in grader,"));
    CHECK(contains(table, "killed by SIGSEGV"));
    document = json::parse(read_text(wanted.json_file));
    CHECK(document["rows"][2]["points"].is_null()); // a spreadsheet does not add it up
    // Whose file another's equals is not for that student.
    CHECK(contains(document["rows"][2]["remark"].get<std::string>(), "Gauss Carl_17's"));
    document["rows"][2].erase("result");
    CHECK_FALSE(contains(result_of_student(document, "b c").dump(), "Gauss"));
}
