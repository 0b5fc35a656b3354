// Tests names and files as courses have them: none changes another student's row, nor the class's
// exit status.
#include "cli/class/class_list.hpp"
#include "cli/commands/commands.hpp"
#include "cli/results/submission_folder.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/strings.hpp"
#include "cli_project.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <map>

using namespace cli;

namespace {

const std::vector<std::string> the_lab = {"02_scaling"};

// A project whose grader passes every file that compiles.
struct names_project : project {
    names_project()
    {
        use_real_compiler();
        tools.simulator_library = tools.cudart_static; // any library that exists
        script("build/grade.02_scaling",
               "[ \"$1\" = --list ] && echo 3 points, and 0 of the clock, in 1 cases && exit\n"
               "case \"$*\" in *--probe-sandbox) exit 0;; esac\n"
               "to=$(sed 's/.*\"result\":\"\\([^\"]*\\)\".*/\\1/')\n"
               "cat >\"$to\" <<END\n"
               "{\"schema\": \"cuda-workbook/1\", \"labs\": [{\"lab\": \"02_scaling\", "
               "\"submission\": \"stub.cu\", \"status\": \"pass\", \"points\": 3, \"max_points\": "
               "3, \"cases\": [{\"name\": \"scale\", \"kind\": \"correctness\", \"verdict\": "
               "\"PASS\", \"points\": 3, \"max_points\": 3, \"message\": \"\", \"hint\": "
               "\"\"}]}]}\nEND");
    }
};

const std::string right_file = "#include \"lab.hpp\"\nvoid scale(float *, int) {}\n";

void make_socket(const std::string &path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    path.copy(address.sun_path, path.size());
    grading::owned_fd fd(socket(AF_UNIX, SOCK_STREAM, 0));
    REQUIRE(bind(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof address) == 0);
}

std::map<std::string, const student_files *> by_shown_name(const class_files &all)
{
    std::map<std::string, const student_files *> names;
    for (const student_files &s : all.students) names[s.shown] = &s;
    return names;
}

} // namespace

TEST_CASE("odd names and files cost their own row, and leave the others and the exit status" *
          doctest::skip(grading::available_confinement(false) == grading::confinement::none))
{
    names_project p;
    project handed;
    const std::string of_class = handed.root + "/c/";
    // project::put() writes another name first, which would be too long here.
    auto put = [&](const std::string &name) {
        const std::filesystem::path path = of_class + name;
        std::filesystem::create_directories(path.parent_path());
        REQUIRE(bool(std::ofstream(path) << right_file));
    };
    const std::string n250(250, 'n');
    put("ada/stub.cu");
    put(n250 + "/stub.cu");
    put(std::string(247, 'm') + ".cu");
    put("k/" + std::string(252, 'k') + ".cu");
    put("new\nline/stub.cu");
    put("\x1b[31mred\x07/stub.cu");
    put("not\xff\xfeutf8/stub.cu");
    put("--json/stub.cu");
    put("$(id) `id` \"'/stub.cu");
    std::filesystem::create_directories(of_class + "fifo");
    REQUIRE(mkfifo((of_class + "fifo/stub.cu").c_str(), 0644) == 0);
    REQUIRE(mkfifo((of_class + "pipe.cu").c_str(), 0644) == 0);
    std::filesystem::create_directories(of_class + "socket");
    make_socket(of_class + "socket/stub.cu");
    std::filesystem::create_directories(of_class + "folder/stub.cu");
    for (const char *link : {"outside", "dangling", "loop", "device"})
        std::filesystem::create_directories(of_class + link);
    std::filesystem::create_symlink("/etc/passwd", of_class + "outside/stub.cu");
    std::filesystem::create_symlink("nowhere", of_class + "dangling/stub.cu");
    std::filesystem::create_symlink("stub.cu", of_class + "loop/stub.cu");
    std::filesystem::create_symlink("/dev/zero", of_class + "device/stub.cu");
    handed.put("c/zipped/all.ZIP", "");
    handed.put("c/Gauss Carl_17_assignsubmission_file_lab.tar.gz", "");
    handed.put("c/whole class.zip", "");

    autograde_options wanted;
    wanted.folder = handed.root + "/c";
    wanted.json_file = handed.root + "/class.json";
    wanted.csv_file = handed.root + "/class.csv";
    wanted.similarity = handed.root + "/alike";
    grade_options options;
    options.backend = "sim";
    options.seed = "1f";
    CHECK(autograde_command(p.tools, {}, options, wanted) == passed);

    std::map<std::string, json> rows;
    const json document = json::parse(read_text(wanted.json_file));
    for (const json &row : document["rows"]) rows[row["student"]] = row;
    CHECK(rows.size() == 19);
    std::vector<std::string> passing;
    for (const auto &[student, row] : rows)
        if (row["status"] == "pass") passing.push_back(student);
    CHECK(passing.size() == 9);
    for (const char *student :
         {"ada", "new?line", "?[31mred?", "not??utf8", "--json", "k", "$(id) `id` \"'"})
        CHECK_MESSAGE(rows[student]["status"] == "pass", rows[student].dump());
    for (const char *student :
         {"fifo", "pipe", "socket", "folder", "outside", "dangling", "loop", "device"}) {
        const json &row = rows[student];
        CHECK_MESSAGE((row["status"] == "fail" || row["status"] == "missing"), row.dump());
        CHECK_MESSAGE(row["points"] == 0, row.dump());
        CHECK_MESSAGE(row["problem"] != "", row.dump());
    }
    CHECK(contains(text_at(rows["zipped"], "problem"), "unpack all.ZIP"));
    CHECK(contains(text_at(rows["Gauss Carl_17"], "problem"),
                   "unpack Gauss Carl_17_assignsubmission_file_lab.tar.gz"));
}

TEST_CASE("what nobody may read costs no points, for it may be right, and is no fault of ours")
{
    project p;
    p.script("build/grade.02_scaling", "echo 3 points, and 0 of the clock, in 1 cases");
    p.put("c/a/02_scaling/stub.cu", "");
    p.put("c/b/stub.cu", "");
    p.put("c/d/stub.cu", "");
    chmod(p.root.c_str(), 0755);
    chmod((p.root + "/c/a").c_str(), 0);
    chmod((p.root + "/c/b/stub.cu").c_str(), 0);
    std::vector<class_entry> entries;
    {
        ordinary_user user;
        entries = entries_of(p.tools, read_class(p.root + "/c", the_lab).students, the_lab,
                             which_file::only);
    }
    chmod((p.root + "/c/a").c_str(), 0700); // so that it can be removed
    REQUIRE(entries.size() == 3);
    for (std::size_t i : {0u, 1u}) {
        const grade_row row = entries[i].row();
        CHECK(row.status == "unreadable");
        CHECK(row.without_grade());
        CHECK(contains(row.problem, "cannot be read: permission denied"));
        CHECK(row_as_json(row)["points"].is_null());
    }
    CHECK(contains(entries[1].row().problem, "stub.cu cannot be read"));
    CHECK_FALSE(entries[2].row().without_grade());
}

TEST_CASE("two names that look the same are two students")
{
    project p;
    const std::string long_name(200, 'x');
    for (const std::string &name :
         {std::string("a\nb"),
          std::string("a\x01"
                      "b"),
          std::string("a?b"), std::string("a?b (2)"), long_name + "one", long_name + "two"})
        p.put("c/" + name + "/stub.cu", "");
    const class_files all = read_class(p.root + "/c", the_lab);
    const auto names = by_shown_name(all);
    CHECK(names.size() == 6);
    for (const auto &[shown, student] : names) {
        CHECK(shown == on_one_line(shown, 400));
        CHECK(find_file(*student, "02_scaling", true, the_lab).file ==
              p.root + "/c/" + student->name + "/stub.cu");
    }
    CHECK(names.contains("a?b"));
    CHECK(names.contains("a?b (2)"));
}

TEST_CASE("an archive that a course system names is a student's, and must be unpacked")
{
    project p;
    for (const char *name :
         {"Lovelace Ada_1_assignsubmission_file_lab.zip", "gausscarl_125_67890_lab.tar.gz",
          "eulerleonhard_LATE_126_67891_x.7Z", "all.zip", "notes.txt"})
        p.put(std::string("c/") + name, "");
    p.put("c/Noether Emmy_2_assignsubmission_file_stub.cu", "");
    const class_files all = read_class(p.root + "/c", the_lab);
    const auto names = by_shown_name(all);
    CHECK(all.skipped == std::vector<std::string>{"all.zip", "notes.txt"});
    REQUIRE(names.size() == 4);
    for (const char *name : {"Lovelace Ada_1", "gausscarl_125", "eulerleonhard_126"}) {
        REQUIRE_MESSAGE(names.contains(name), name);
        const handed_in h = find_file(*names.at(name), "02_scaling", true, the_lab);
        CHECK(h.file == "");
        CHECK_FALSE(h.unreadable);
        CHECK_MESSAGE(contains(h.problem, "there is no file for it; unpack "), h.problem);
    }
    CHECK_FALSE(find_file(*names.at("Noether Emmy_2"), "02_scaling", true, the_lab).file.empty());
}

TEST_CASE("more files than anybody writes are counted, not graded, and only theirs")
{
    project p;
    p.put("c/many/stub.cu", "");
    p.put("c/one/stub.cu", "");
    for (int i = 0; i < 10'000; ++i)
        REQUIRE(mknod((p.root + "/c/many/" + std::to_string(i)).c_str(), S_IFREG | 0644, 0) == 0);
    const class_files all = read_class(p.root + "/c", the_lab);
    REQUIRE(all.students.size() == 2);
    CHECK(contains(find_file(all.students[0], "02_scaling", true, the_lab).problem,
                   "there are more than 10000 files"));
    CHECK(find_file(all.students[1], "02_scaling", true, the_lab).file ==
          p.root + "/c/one/stub.cu");
}
