// Tests which file belongs to which student in the folders of course systems.
#include "cli/results/submission_folder.hpp"
#include "cli/submission/submission.hpp"
#include "cli/support/errors.hpp"
#include "cli_project.hpp"

using namespace cli;

namespace {

const std::vector<std::string> both_labs = {"02_scaling", "04_more"};

struct one_folder : project {
    handed_in found(const std::string &student, bool only_lab = false)
    {
        return find_file({student, {root + "/" + student}, {}}, "02_scaling", only_lab, both_labs);
    }
};

} // namespace

TEST_CASE("a folder that cannot be read is said to be so, and nothing is said to be missing")
{
    one_folder p;
    p.put("a/labs/02_scaling/stub.cu", "");
    p.put("b/02_scaling/stub.cu", "");
    chmod(p.root.c_str(), 0755);
    chmod((p.root + "/a").c_str(), 0);
    chmod((p.root + "/b/02_scaling").c_str(), 0);
    ordinary_user user;
    handed_in a = p.found("a"), b = p.found("b");
    CHECK(a.problem == "the student's folder cannot be read: permission denied; nobody knows what "
                       "is in it");
    CHECK(a.unreadable);
    CHECK(b.problem == "02_scaling cannot be read: permission denied; nobody knows what is in it");
    CHECK(b.unreadable);
    CHECK_THROWS_AS(read_class(p.root + "/a", both_labs), machine_error);
    CHECK_FALSE(p.found("none").file.size() > 0);
    chmod((p.root + "/a").c_str(), 0700); // so that it can be removed
    chmod((p.root + "/b/02_scaling").c_str(), 0700);
}

TEST_CASE("a student's file is found in an edition, in a lab's folder, or alone")
{
    one_folder p;
    std::string whole = p.put("a/labs/02_scaling/stub.cu", ""),
                folder = p.put("b b/02_scaling/stub.cu", ""),
                unpacked = p.put("c/workbook-main/labs/02_scaling/stub.cu", ""),
                alone = p.put("d/stub.cu", "");
    p.put("a/build-test/originals/labs/02_scaling/stub.cu", "");
    p.put("a/.workbook/02_scaling/stub.cu", "");
    CHECK(p.found("a").file == whole);
    CHECK(p.found("b b").file == folder);
    CHECK(p.found("c").file == unpacked);
    CHECK(p.found("d", true).file == alone);
    CHECK(p.found("d").file == "");
    CHECK(
        contains(p.found("d").problem,
                 "there is no 02_scaling/stub.cu, nor labs/02_scaling/stub.cu; stub.cu does not"));
}

TEST_CASE("two files for one lab are a question, not a choice")
{
    one_folder p;
    p.put("a/1/02_scaling/stub.cu", "");
    p.put("a/2/02_scaling/stub.cu", "");
    CHECK(p.found("a").file == "");
    CHECK(contains(p.found("a").problem, "there are 2 files for it: 1/02_scaling/stub.cu and 2/"));
}

TEST_CASE("a numbered stub beside the stub is a question, too; a folder without says what it holds")
{
    one_folder p;
    p.put("a/stub.cu", "");
    p.put("a/stub (1).cu", "");
    p.put("b/report.pdf", "");
    p.put("b/code/ma\nin.cpp", "");
    std::filesystem::create_directory(p.root + "/c");
    CHECK(p.found("a", true).file == "");
    CHECK(contains(p.found("a", true).problem, "there are 2 files for it: stub (1).cu and stub"));
    CHECK(contains(p.found("b").problem, "; there is code/ma?in.cpp, report.pdf"));
    CHECK(contains(p.found("c").problem, "; there are no files"));
    p.put("class/gausscarl_125_67890_stub.cu", "");
    p.put("class/gausscarl_LATE_125_67899_stub-1.cu", "");
    class_files all = read_class(p.root + "/class", both_labs);
    REQUIRE(all.students.size() == 1);
    CHECK(contains(find_file(all.students[0], "02_scaling", true, both_labs).problem,
                   "there are 2 files for it: gausscarl_125_67890_stub.cu and gausscarl_LATE"));
}

TEST_CASE("no link is followed")
{
    one_folder p;
    p.put("a/02_scaling/stub.cu", "");
    std::filesystem::create_directory(p.root + "/b");
    std::filesystem::create_symlink("../a/02_scaling", p.root + "/b/02_scaling");
    CHECK(contains(p.found("b").problem, "02_scaling is a link, which is not followed"));
    std::filesystem::create_symlink("a", p.root + "/c");
    CHECK(contains(p.found("c").problem, "the student's folder is a link"));
    // A file that is a link gets its verdict at the place where it would be read.
    std::filesystem::create_directories(p.root + "/d/02_scaling");
    std::filesystem::create_symlink("/etc/passwd", p.root + "/d/02_scaling/stub.cu");
    handed_in d = p.found("d");
    CHECK(build_submission(p.tools, {&p.only_lab(), d.file, {"sim"}}).verdict ==
          grading::verdict::SUBMISSION_INVALID);
}

TEST_CASE("a link in a class's folder that leads to itself ends nothing but its own row")
{
    project p;
    p.put("class/ada_02_scaling.cu", "");
    std::filesystem::create_symlink("bob_02_scaling.cu", p.root + "/class/bob_02_scaling.cu");
    std::filesystem::create_symlink("eve", p.root + "/class/eve");
    class_files all = read_class(p.root + "/class", {"02_scaling"});
    REQUIRE(all.students.size() == 1);
    CHECK(find_file(all.students[0], "02_scaling", true, {"02_scaling"}).problem.empty());
}

TEST_CASE("of a whole edition only the lab's file is read")
{
    project p;
    p.use_real_compiler();
    // Reading any other file would cause an error or change the build.
    for (const char *theirs :
         {"labs/02_scaling/lab.hpp", "labs/check.hpp", "labs/02_scaling/grade.cpp", "meson.build",
          "grader/build/compile.sh", "build/toolchain.json", "subprojects/doctest.wrap",
          ".github/workflows/grade.yml", "labs/02_scaling/oracle.hpp"})
        p.put(std::string("class/ada/") + theirs, "#error this is the student's own\nexit 1\n");
    const std::string stub =
        p.put("class/ada/labs/02_scaling/stub.cu",
              "#include \"lab.hpp\"\n#if __has_include(\"oracle.hpp\")\n#error seen\n#endif\n"
              "void scale(float *, int) {}\n");
    class_files all = read_class(p.root + "/class", {"02_scaling"});
    REQUIRE(all.students.size() == 1);
    CHECK(find_file(all.students[0], "02_scaling", true, {"02_scaling"}).file == stub);
    built_submission b = build_submission(p.tools, {&p.only_lab(), stub, {"gpu"}});
    CHECK_MESSAGE(b.built(), b.message << b.diagnostics);
}

TEST_CASE("an archive is never unpacked")
{
    one_folder p;
    // The member "../../escaped.cu", stored uncompressed, would land outside the class.
    const std::string zip("PK\3\4\12\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0"
                          "../../escaped.cu",
                          46);
    p.put("class/ada/all.zip", zip);
    p.put("class/all.zip", zip);
    class_files all = read_class(p.root + "/class", both_labs);
    REQUIRE(all.students.size() == 1);
    handed_in h = find_file(all.students[0], "02_scaling", true, both_labs);
    CHECK(h.file == "");
    CHECK(contains(h.problem, "unpack all.zip"));
    std::vector<std::string> there;
    for (const auto &e : std::filesystem::recursive_directory_iterator(p.root))
        if (contains(e.path().filename().string(), "escaped")) there.push_back(e.path());
    CHECK(there.empty());
}

TEST_CASE("right in a student's folder, the lab's name or the only .cu file will do")
{
    one_folder p;
    std::string browser = p.put("a/stub (1).cu", ""), named = p.put("b/02_scaling-final.cu", "");
    p.put("b/04_more.cu", "");
    p.put("c/04_more.cu", "");
    p.put("d/one.cu", "");
    p.put("d/two.cu", "");
    p.put("e/all.zip", "");
    CHECK(p.found("a", true).file == browser);
    CHECK(p.found("a").file == "");
    CHECK(contains(p.found("a").problem, "stub (1).cu does not say that it is this lab's"));
    CHECK(p.found("b").file == named);
    CHECK(p.found("c", true).file == "");
    CHECK(contains(p.found("d", true).problem, "there are 2 files for it: one.cu and two.cu"));
    CHECK(contains(p.found("e").problem, "unpack all.zip"));
}

TEST_CASE("what course systems make of a class is taken apart by student")
{
    project p;
    for (const char *name :
         {"Lovelace Ada_123_assignsubmission_file_/stub.cu",
          "Lovelace Ada_123_assignsubmission_onlinetext_/onlinetext.html",
          "Noether Emmy_124_assignsubmission_file_stub.cu", "gausscarl_125_67890_stub.cu",
          "eulerleonhard_LATE_126_67891_02_scaling-1.cu", "turing_02_scaling.cu",
          "turing-04_more.cu", "stubbs_stub.cu", "hopper-main/labs/02_scaling/stub.cu", "notes.pdf",
          ".DS_Store", "__MACOSX/._x"})
        p.put(std::string("class/") + name, "");
    class_files all = read_class(p.root + "/class", both_labs);
    std::string found, numbers;
    for (const student_files &s : all.students) {
        handed_in h = find_file(s, "02_scaling", true, both_labs);
        std::string file = h.file.empty() ? h.problem : h.file.substr(p.root.size() + 7);
        found += s.name + ": " + file + "\n";
        numbers += s.known_as.system + s.known_as.id + " ";
    }
    CHECK(numbers == "moodle123 moodle124 canvas126 canvas125    ");
    CHECK(found == "Lovelace Ada_123: Lovelace Ada_123_assignsubmission_file_/stub.cu\n"
                   "Noether Emmy_124: Noether Emmy_124_assignsubmission_file_stub.cu\n"
                   "eulerleonhard_126: eulerleonhard_LATE_126_67891_02_scaling-1.cu\n"
                   "gausscarl_125: gausscarl_125_67890_stub.cu\n"
                   "hopper-main: hopper-main/labs/02_scaling/stub.cu\n"
                   "stubbs: stubbs_stub.cu\n"
                   "turing: turing_02_scaling.cu\n");
    CHECK(all.skipped == std::vector<std::string>{"notes.pdf"});
    // If several labs are wanted, a single file must name its lab.
    handed_in unclear = find_file(all.students[3], "02_scaling", false, both_labs);
    CHECK(contains(unclear.problem, "gausscarl_125_67890_stub.cu does not say"));
    p.put("archives/all.zip", "");
    CHECK_THROWS_WITH_AS(read_class(p.root + "/archives", both_labs),
                         doctest::Contains("Unpack archives"), usage_error);
    CHECK_THROWS_AS(read_class(p.root + "/nowhere", both_labs), usage_error);
}
