// Tests what grading a class adds to a grade: a folder that a stopped run goes on from, the file
// that counts, due dates, and the comparison with an earlier run.
#include "cli/class/class_comparison.hpp"
#include "cli/class/class_list.hpp"
#include "cli/class/due_dates.hpp"
#include "cli/class/handed_in_time.hpp"
#include "cli/class/results_folder.hpp"
#include "cli/commands/commands.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"
#include "cli_project.hpp"

#include <fcntl.h>
#include <unistd.h>

using namespace cli;

namespace {

// A project whose grader appends a line to `log` per grade, and gives 3 of 3 points to files that
// contain "good", 1 to others.
struct class_project : project {
    class_project()
    {
        use_real_compiler();
        tools.simulator_library = tools.cudart_static; // any library that exists
        use_grader("1");
    }
    void use_grader(const std::string &points_of_bad)
    {
        script("build/grade.02_scaling",
               "[ \"$1\" = --list ] && echo 3 points, and 0 of the clock, in 1 cases && exit\n"
               "case \"$*\" in *--probe-sandbox) exit 0;; esac\n"
               "request=$(cat)\n"
               "to=$(echo \"$request\" | sed 's/.*\"result\":\"\\([^\"]*\\)\".*/\\1/')\n"
               "echo x >>" +
                   root +
                   "/log\n"
                   "source=$(echo \"$request\" | sed 's/.*\"source\":\"\\([^\"]*\\)\".*/\\1/')\n"
                   "if grep -q good \"$source\"; then points=3 verdict=PASS status=pass\n"
                   "else points=" +
                   points_of_bad +
                   " verdict=WRONG_ANSWER status=fail; fi\n"
                   "cat >\"$to\" <<END\n"
                   "{\"schema\": \"cuda-workbook/1\", \"labs\": [{\"lab\": \"02_scaling\", "
                   "\"submission\": \"stub.cu\", \"status\": \"$status\", \"points\": $points, "
                   "\"max_points\": 3, \"cases\": [{\"name\": \"scale\", \"kind\": "
                   "\"correctness\", \"verdict\": \"$verdict\", \"points\": $points, "
                   "\"max_points\": 3, \"message\": \"\", \"hint\": \"\"}]}]}\n"
                   "END\n");
    }
    std::size_t graded() const
    {
        return std::filesystem::exists(root + "/log") ? lines(read_text(root + "/log")).size() : 0;
    }
};

std::string file_with(const std::string &word)
{
    return "#include \"lab.hpp\"\n// " + word + "\nvoid scale(float *, int) {}\n";
}

void set_time(const std::string &path, timestamp at)
{
    const timespec times[2] = {{at, 0}, {at, 0}};
    REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

timestamp at(const char *words)
{
    const std::optional<timestamp> time = time_in(words);
    REQUIRE(time.has_value());
    return *time;
}

class time_zone {
public:
    explicit time_zone(const char *name)
    {
        if (const char *before = getenv("TZ")) was_ = before;
        setenv("TZ", name, 1);
        tzset();
    }
    ~time_zone()
    {
        was_ ? setenv("TZ", was_->c_str(), 1) : unsetenv("TZ");
        tzset();
    }
    time_zone(const time_zone &) = delete;

private:
    std::optional<std::string> was_;
};

grade_options sim_options()
{
    grade_options options;
    options.backend = "sim";
    options.seed = "1f";
    return options;
}

const bool no_sandbox = grading::available_confinement(false) == grading::confinement::none;

} // namespace

TEST_CASE("times are read with and without a zone, and impossible ones are refused")
{
    CHECK(at("2026-12-01T23:59:00Z") == at("2026-12-02T00:59:00+01:00"));
    CHECK(at("2026-12-01T23:59:00Z") == at("2026-12-01 18:29:00-0530"));
    CHECK(at("2026-12-01Z") == at("2026-12-01T23:59:59Z"));
    CHECK(at("2026-12-01T12:30Z") == at("2026-12-01T12:30:59Z")); // the minute counts whole
    CHECK(rfc3339(at("2026-12-01T23:59:00+01:00")) == "2026-12-01T22:59:00Z");
    CHECK(time_in("2028-02-29").has_value());
    for (const char *wrong : {"2026-02-29", "2026-11-31", "2026-13-01", "2026-12-01T24:00",
                              "2026-12-01T12:60", "1.12.2026", "", "tomorrow", "2026-12-01T1:00"})
        CHECK_MESSAGE(!time_in(wrong), wrong);
}

TEST_CASE("a begun day is a late day, and an extension moves the due date of its student alone")
{
    project p;
    const std::vector<std::string> students = {"ada", "carl", "emmy"},
                                   labs = {"02_scaling", "03_x"};
    const std::string file =
        p.put("extensions.csv", "student,lab,due\nada,,+2\ncarl,2,2026-12-05T12:00:00Z\n");
    const due_dates due("2026-12-01T12:00:00Z", file, students, labs);
    auto late = [&](const char *who, const char *lab, const char *when) {
        return due.late_days(who, lab, at(when));
    };
    CHECK(late("emmy", "02_scaling", "2026-12-01T12:00:00Z") == 0);
    CHECK(late("emmy", "02_scaling", "2026-12-01T12:00:01Z") == 1);
    CHECK(late("emmy", "02_scaling", "2026-12-02T12:00:00Z") == 1);
    CHECK(late("emmy", "02_scaling", "2026-12-02T12:00:01Z") == 2);
    CHECK(late("ada", "02_scaling", "2026-12-03T12:00:00Z") == 0);
    CHECK(late("ada", "03_x", "2026-12-03T12:00:00Z") == 0);
    CHECK(late("carl", "02_scaling", "2026-12-05T12:00:00Z") == 0);
    CHECK(late("carl", "03_x", "2026-12-05T12:00:00Z") == 4);
    CHECK_FALSE(due_dates("", "", students, labs).any());
}

TEST_CASE("a day has 23 or 25 hours where the clocks are changed, and an hour may be missing")
{
    const time_zone middle_europe("CET-1CEST,M3.5.0,M10.5.0/3");
    CHECK_FALSE(time_in("2026-03-29T02:30").has_value());
    project p;
    // As Excel writes it, with a byte order mark.
    const std::string file = p.put("extensions.csv", "\xef\xbb\xbfstudent,lab,due\r\nbob,,+3\r\n");
    const std::vector<std::string> students = {"ada", "bob"}, labs = {"02_scaling"};
    const due_dates autumn("2026-10-24", file, students, labs),
        spring("2026-03-28", "", students, labs);
    auto late = [&](const due_dates &due, const char *who, const char *when) {
        return due.late_days(who, "02_scaling", at(when));
    };
    CHECK(late(autumn, "ada", "2026-10-25T23:30") == 1);
    CHECK(late(autumn, "ada", "2026-10-26T00:00:00") == 2);
    CHECK(late(autumn, "bob", "2026-10-27T23:30") == 0);
    CHECK(late(autumn, "bob", "2026-10-28T00:00:00") == 1);
    CHECK(late(spring, "ada", "2026-03-29T23:59:59") == 1);
    CHECK(late(spring, "ada", "2026-03-30T00:00:00") == 2);
}

TEST_CASE("a wrong line of the extensions is named, since it would quietly extend nothing")
{
    project p;
    const std::vector<std::string> students = {"ada"}, labs = {"02_scaling"};
    auto says = [&](const std::string &text, const std::string &due, const char *words) {
        const std::string file = p.put("e.csv", text);
        CHECK_THROWS_WITH_AS(due_dates(due, file, students, labs), doctest::Contains(words),
                             usage_error);
    };
    says("student,lab,due\nadda,,+2\n", "2026-12-01", "e.csv:2: there is no student adda; did you");
    says("student,lab,due\nada,7,+2\n", "2026-12-01", "e.csv:2: ");
    says("student,lab,due\nada,,soon\n", "2026-12-01", "e.csv:2: soon is no time");
    says("name,due\n", "2026-12-01", "the first line must be student,lab,due");
    says("student,lab,due\n", "", "--extensions needs a due date");
    says("student,lab,due\n", "1.12.", "--due 1.12.: that is no time");
}

TEST_CASE("a file's time is that of its last commit, and nothing in the repository is run" *
          doctest::skip(find_program("git").empty()))
{
    project p;
    const std::string folder = p.root + "/ada";
    p.put("ada/labs/02_scaling/stub.cu", "one\n");
    auto git = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"-c", "user.name=a", "-c", "user.email=a@b"});
        REQUIRE(run_git(folder, words).ok());
    };
    setenv("GIT_COMMITTER_DATE", "2026-11-01T10:00:00Z", 1);
    git({"init", "-q"});
    git({"add", "."});
    git({"commit", "-qm", "one"});
    setenv("GIT_COMMITTER_DATE", "2026-11-05T10:00:00Z", 1);
    p.put("ada/other.txt", "x\n");
    git({"add", "."});
    git({"commit", "-qm", "another file"});
    unsetenv("GIT_COMMITTER_DATE");
    const std::string file = folder + "/labs/02_scaling/stub.cu";
    const std::string witness = p.root + "/witness";
    const std::string spy = p.script("spy", "touch " + witness + "; exit 1");
    p.put("ada/.git/config", "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = " + spy +
                                 "\n\tpager = " + spy +
                                 "\n[log]\n\tshowSignature = true\n[gpg]\n\t"
                                 "program = " +
                                 spy + "\n[filter \"x\"]\n\tclean = " + spy + "\n");
    p.put("ada/.gitattributes", "*.cu filter=x diff=x\n");
    handed_in_time when = time_of(file, folder);
    CHECK(when.of_commit);
    CHECK(rfc3339(when.at) == "2026-11-01T10:00:00Z");
    CHECK_FALSE(std::filesystem::exists(witness));

    // A file that is not as committed was changed later than the commit.
    p.put("ada/labs/02_scaling/stub.cu", "two\n");
    set_time(file, at("2026-11-09T10:00:00Z"));
    when = time_of(file, folder);
    CHECK_FALSE(when.of_commit);
    CHECK(rfc3339(when.at) == "2026-11-09T10:00:00Z");
    // HEAD may name any file of the machine.
    p.put("ada/.git/HEAD", "ref: refs/../../../../etc/passwd\n");
    CHECK_FALSE(time_of(file, folder).of_commit);
}

TEST_CASE("what a repository cannot say, or says to do harm, is no time of a commit" *
          doctest::skip(find_program("git").empty()))
{
    project p;
    p.put("ada/stub.cu", "one\n");
    auto git = [&](const char *folder, std::vector<std::string> words) {
        words.insert(words.begin(), {"-c", "user.name=a", "-c", "user.email=a@b"});
        REQUIRE(run_git(p.root + "/" + folder, words).ok());
    };
    auto commit = [&](const char *folder, const char *when) {
        setenv("GIT_COMMITTER_DATE", when, 1);
        git(folder, {"add", "."});
        git(folder, {"commit", "-qm", "x"});
        unsetenv("GIT_COMMITTER_DATE");
    };
    auto time_in_folder = [&](const std::string &folder) {
        return time_of(p.root + "/" + folder + "/stub.cu", p.root + "/" + folder);
    };
    git("ada", {"init", "-q"});
    commit("ada", "2026-11-01T10:00:00Z");
    p.put("ada/readme", "x\n");
    commit("ada", "2026-11-20T10:00:00Z");
    // A shallow clone seems to have made each file in its first commit.
    git("ada", {"clone", "-q", "--depth", "1", "file://" + p.root + "/ada", p.root + "/shallow"});
    CHECK_THROWS_WITH_AS(time_in_folder("shallow"), doctest::Contains("is shallow"), machine_error);
    git("ada", {"pack-refs", "--all"});
    CHECK(rfc3339(time_in_folder("ada").at) == "2026-11-01T10:00:00Z");
    std::filesystem::resize_file(p.root + "/ada/.git/packed-refs", 2 << 20);
    CHECK_FALSE(time_in_folder("ada").of_commit);

    p.put("carl/stub.cu", "one\n");
    git("carl", {"init", "-q", "--object-format=sha256"});
    commit("carl", "2026-11-01T10:00:00Z");
    CHECK(rfc3339(time_in_folder("carl").at) == "2026-11-01T10:00:00Z");
    p.put("carl/stub.cu", "two\n");
    commit("carl", "@999999999999 +0000");
    CHECK_FALSE(time_in_folder("carl").of_commit);
    CHECK(rfc3339(999'999'999'999).empty());
}

TEST_CASE("a class goes on where it was killed, and a changed file is graded again" *
          doctest::skip(no_sandbox))
{
    class_project p;
    project handed;
    for (const char *who : {"ada", "carl", "emmy"})
        handed.put(std::string("in/") + who + "/stub.cu", file_with(who));
    set_time(handed.root + "/in/ada/stub.cu", at("2026-11-30T12:00:00Z"));
    autograde_options wanted;
    wanted.folder = handed.root + "/in";
    wanted.csv_file = handed.root + "/grades.csv";
    wanted.due = "2026-12-01T12:00:00Z";
    grade_options options = sim_options();
    CHECK(autograde_command(p.tools, {}, options, wanted) == passed);
    CHECK(p.graded() == 3);
    const std::string whole = read_text(wanted.csv_file);

    // As if it had been killed before emmy's row was written, in the middle of ada's.
    const std::string rows = wanted.folder + ".results/rows/02_scaling";
    for (const auto &e : std::filesystem::directory_iterator(rows))
        if (e.path().filename().string().starts_with("emmy")) std::filesystem::remove(e.path());
    write_atomically(rows + "/ada.json.Xx1234", "half");
    // Another copy of the same download has other times; the first one counts.
    set_time(handed.root + "/in/ada/stub.cu", at("2026-12-24T12:00:00Z"));
    options.seed.clear(); // the run's own
    CHECK(autograde_command(p.tools, {}, options, wanted) == passed);
    CHECK(p.graded() == 4);
    CHECK(read_text(wanted.csv_file) == whole);
    CHECK(contains(whole, ",2026-11-30T12:00:00Z,0,sim,1f,"));
    CHECK_FALSE(std::filesystem::exists(rows + "/ada.json.Xx1234"));

    handed.put("in/carl/stub.cu", file_with("good"));
    CHECK(autograde_command(p.tools, {}, options, wanted) == passed);
    CHECK(p.graded() == 5);
    CHECK(contains(read_text(wanted.csv_file), "\ncarl,02_scaling,pass,3,3,"));

    options.seed = "2";
    CHECK_THROWS_WITH_AS(autograde_command(p.tools, {}, options, wanted),
                         doctest::Contains("were made with seed 1f"), usage_error);
    wanted.anew = true;
    CHECK(autograde_command(p.tools, {}, options, wanted) == passed);
    CHECK(p.graded() == 8);
    CHECK(contains(read_text(wanted.csv_file), ",2026-11-30T12:00:00Z,0,sim,2,"));
}

TEST_CASE("an empty file has its own grade, and of what cannot be graded nothing is kept" *
          doctest::skip(no_sandbox))
{
    class_project p;
    project handed;
    handed.put("in/ada/stub.cu", "");
    handed.put("in/carl/stub.cu", "");
    std::filesystem::create_directory(handed.root + "/in/emmy");
    const std::string link = handed.root + "/in/emmy/stub.cu";
    std::filesystem::create_symlink("/etc/passwd", link);
    autograde_options wanted;
    wanted.folder = handed.root + "/in";
    wanted.csv_file = handed.root + "/grades.csv";
    CHECK(autograde_command(p.tools, {}, sim_options(), wanted) == passed);
    std::string table = read_text(wanted.csv_file);
    CHECK(contains(table, "\nada,02_scaling,fail,0,3,"));
    CHECK_FALSE(contains(table, "byte for byte"));
    CHECK(contains(table, "is a symbolic link"));
    std::filesystem::remove(link);
    handed.put("in/emmy/stub.cu", "");
    std::filesystem::resize_file(link, 20 << 20);
    CHECK(autograde_command(p.tools, {}, sim_options(), wanted) == passed);
    table = read_text(wanted.csv_file);
    CHECK_FALSE(contains(table, "is a symbolic link"));
    CHECK(contains(table, "is larger than 256 KiB"));
}

TEST_CASE("a results folder is not made over other things, nor among the submissions" *
          doctest::skip(no_sandbox))
{
    class_project p;
    project handed;
    handed.put("in/ada/stub.cu", file_with("ada"));
    handed.put("thesis/chapter.tex", "x");
    autograde_options wanted;
    wanted.folder = handed.root + "/in";
    wanted.results = handed.root + "/thesis";
    CHECK_THROWS_WITH_AS(autograde_command(p.tools, {}, sim_options(), wanted),
                         doctest::Contains("chapter.tex"), usage_error);
    wanted.results = handed.root + "/in/results";
    CHECK_THROWS_WITH_AS(autograde_command(p.tools, {}, sim_options(), wanted),
                         doctest::Contains("name one outside"), usage_error);
    CHECK(read_text(handed.root + "/thesis/chapter.tex") == "x");
    CHECK_FALSE(std::filesystem::exists(handed.root + "/thesis/.lock"));
}

TEST_CASE("a run is gone on with in its own conditions, a lab with held-back cases too")
{
    class_project p;
    project handed;
    std::filesystem::create_directories(handed.root + "/in/ada");
    handed.put("in.results/run.json.Xx1234", ""); // of a process that was killed
    p.tools.labs.push_back(p.only_lab());
    p.tools.labs[1].name = "03_held";
    p.script("build/grade.03_held", "echo \"3 points, and 0 of the clock, in 1 cases; 2 points\"");
    autograde_options wanted;
    wanted.folder = handed.root + "/in";
    wanted.without_sandbox = true;
    grade_options options = sim_options();
    CHECK(autograde_command(p.tools, {"02_scaling"}, options, wanted) == passed);
    const std::string run = wanted.folder + ".results/run.json";
    CHECK(json::parse(read_text(run))["held_back_seed"] == "");
    CHECK(autograde_command(p.tools, {"03_held"}, options, wanted) == passed);
    const std::string seed = json::parse(read_text(run))["held_back_seed"];
    CHECK_FALSE(seed.empty());
    CHECK(autograde_command(p.tools, {"03_held"}, options, wanted) == passed);
    CHECK(json::parse(read_text(run))["held_back_seed"] == seed);

    // The simulator's program judges, too.
    p.script("build/cudasim-device", "exit 1");
    CHECK_THROWS_WITH_AS(autograde_command(p.tools, {"02_scaling"}, options, wanted),
                         doctest::Contains("by another grader of 02_scaling"), usage_error);
    json document = json::parse(read_text(run));
    document["tool"] = "0.0.9";
    write_atomically(run, document.dump());
    CHECK_THROWS_WITH_AS(autograde_command(p.tools, {"02_scaling"}, options, wanted),
                         doctest::Contains("by version 0.0.9"), usage_error);
}

TEST_CASE("of several files the newest or the best counts, if the instructor says so" *
          doctest::skip(no_sandbox))
{
    class_project p;
    project handed;
    const std::string first = handed.put("in/ada/02_scaling.cu", file_with("good")),
                      second = handed.put("in/ada/02_scaling-1.cu", file_with("worse"));
    set_time(first, at("2026-12-01T12:00:00Z"));
    set_time(second, at("2026-12-02T12:00:00Z"));
    autograde_options wanted;
    wanted.folder = handed.root + "/in";
    wanted.csv_file = handed.root + "/grades.csv";
    CHECK(autograde_command(p.tools, {}, sim_options(), wanted) == passed);
    CHECK(contains(read_text(wanted.csv_file), "\nada,02_scaling,missing,0,3,"));
    wanted.which = which_file::newest;
    CHECK(autograde_command(p.tools, {}, sim_options(), wanted) == passed);
    std::string table = read_text(wanted.csv_file);
    CHECK(contains(table, "\nada,02_scaling,fail,1,3,"));
    CHECK(contains(table, "the newest of 2 files"));
    wanted.which = which_file::best;
    CHECK(autograde_command(p.tools, {}, sim_options(), wanted) == passed);
    table = read_text(wanted.csv_file);
    CHECK(contains(table, "\nada,02_scaling,pass,3,3,"));
    CHECK(contains(table, "the best of 2 files"));
    CHECK(p.graded() == 2); // the newest was graded before
    // Times are kept of both, so another download makes neither the newest.
    set_time(first, at("2026-12-24T12:00:00Z"));
    wanted.which = which_file::newest;
    CHECK(autograde_command(p.tools, {}, sim_options(), wanted) == passed);
    CHECK(contains(read_text(wanted.csv_file), "\nada,02_scaling,fail,1,3,"));
    CHECK(p.graded() == 2);
}

TEST_CASE("--against says whose points a mended grader moves, and why" * doctest::skip(no_sandbox))
{
    class_project p;
    project handed;
    for (const char *who : {"ada", "carl", "emmy"})
        handed.put(std::string("in/") + who + "/stub.cu", file_with(who));
    handed.put("in/emmy/stub.cu", file_with("good"));
    autograde_options wanted;
    wanted.folder = handed.root + "/in";
    wanted.json_file = handed.root + "/old.json";
    CHECK(autograde_command(p.tools, {}, sim_options(), wanted) == passed);
    p.use_grader("2");
    handed.put("in/ada/stub.cu", file_with("good"));
    wanted.json_file = handed.root + "/new.json";
    wanted.anew = true;
    CHECK(autograde_command(p.tools, {}, sim_options(), wanted) == passed);
    const json before = read_class_results(handed.root + "/old.json"),
               now = read_class_results(wanted.json_file);
    std::vector<grade_row> rows;
    for (const json &row : now["rows"]) rows.push_back(row_in(row));
    CHECK(compare_classes(before, rows, "sim", "1f", 100) ==
          "Against the earlier grading: 2 rows with other points, 1 with the same, 0 new, 0 gone.\n"
          "  ada, 02_scaling: 1 / 3, now 3 / 3\n"
          "    another file was handed in\n"
          "    scale: WRONG_ANSWER 1 / 3, now PASS 3 / 3\n"
          "  carl, 02_scaling: 1 / 3, now 2 / 3\n"
          "    scale: WRONG_ANSWER 1 / 3, now WRONG_ANSWER 2 / 3\n");
    rows.pop_back(), rows[0].status = "error";
    const std::string text = compare_classes(before, rows, "both", "1f", 200);
    CHECK(contains(text, "1 gone. The two differ in: backend sim, now both."));
    CHECK(contains(text, "ada, 02_scaling: 1 / 3, now not graded"));
    CHECK(contains(text, "emmy, 02_scaling: 3 / 3, now no row"));
}
