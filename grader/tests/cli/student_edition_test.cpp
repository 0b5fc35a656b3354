// Tests the student edition: its files, the files it must not have, and the check of an edition.
#include "cli/commands/commands.hpp"
#include "cli/results/student_edition.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/subprocess.hpp"
#include "cli_project.hpp"

#include <unistd.h>

using namespace cli;

namespace {

const edition of_both{"1.2", "HEAD", {"02_scaling", "04_other"}, {}};
const edition of_one{"1.2", "HEAD", {"04_other"}, {"02_scaling"}};

const char *secret = "    float sum_of_this_lane = 0;\n"
                     "    for (int k = 0; k < n; ++k) sum_of_this_lane += data[k];\n"
                     "    data[threadIdx.x] = sum_of_this_lane;\n";

void must_git(const std::string &root, std::vector<std::string> words)
{
    words.insert(words.begin(), {"-c", "user.name=a", "-c", "user.email=a@example.org"});
    exit_result e = run_git(root, words);
    REQUIRE_MESSAGE(e.ok(), e.text);
}

// A project in git, with one lab and its solution.
struct tracked : project {
    tracked()
    {
        put("README.md", "# Start\n\nRead `labs/02_scaling/stub.cu`.\n");
        put("workbook", "#!/bin/sh\n");
        chmod((root + "/workbook").c_str(), 0755);
        put("solutions/02_scaling/solution.cu", std::string("// All.\n") + secret);
        put("solutions/02_scaling/filled.cu", "// Not written.\n#include \"lab.hpp\"\nint i;\n");
        put(".gitignore", "/build/\n/made*\n");
        tools.labs[0].solutions = true;
        must_git(root, {"init", "-q"});
        commit();
    }
    void commit()
    {
        must_git(root, {"add", "-A"});
        must_git(root, {"commit", "-q", "--allow-empty", "-m", "all"});
    }
    std::string written(const edition &e, const std::string &name = "made")
    {
        std::string folder = root + "/" + name;
        std::filesystem::create_directory(folder);
        write_edition(e, root, folder);
        return folder;
    }
    // Returns the message of a refusal of `release`; throws machine_error.
    std::string refusal(const std::string &folder)
    {
        try {
            release_command(tools, {folder, {}, false});
        } catch (const usage_error &e) {
            return e.what();
        }
        return "it was made";
    }
};

bool no_git() { return find_program("git").empty() || find_program("tar").empty(); }

} // namespace

TEST_CASE("solutions, what is counted of them and what staff reads stay behind")
{
    for (const char *path :
         {"solutions/02_scaling/solution.cu", "solutions/02_scaling/wrong/a.cu", "CONTRIBUTING.md",
          "reference/02_scaling/library.cu", "grader/tests/sectors.py",
          "data/measured/some_gpu/sectors.csv", "grader/simulator/tests/programs/quicksort.cu",
          "data/measured/programs/answers/05_convolution.cu",
          "data/measured/pairs/02_scaling.solution.csv", "grader/tests/threats.csv",
          "handouts/instructor/security.md", "grader/tests/verdicts/changes.csv",
          "grader/tests/verdicts/sim/02_scaling.csv"})
        CHECK_FALSE_MESSAGE(delivered(of_both, path), path);
    for (const char *path :
         {"workbook", "labs/02_scaling/stub.cu", "reference/02_scaling/naive.cu",
          "grader/tests/labs/verdicts/solution.cu", "data/measured/some_gpu/02_scaling.json"})
        CHECK_MESSAGE(delivered(of_both, path), path);
}

TEST_CASE("of a lab left out nothing is there")
{
    for (const char *path : {"labs/02_scaling/stub.cu", "reference/02_scaling/oracle.hpp",
                             "handouts/02_scaling.md", "data/measured/some_gpu/02_scaling.json"})
        CHECK_FALSE_MESSAGE(delivered(of_one, path), path);
    CHECK(delivered(of_one, "labs/04_other/stub.cu"));
    CHECK(delivered(of_one, "handouts/02_scaling_in_general.md"));
}

TEST_CASE("a page says to each edition what holds there")
{
    const char *page = "# Start\n\n<!-- whole edition -->\nstaff\n<!-- end -->\n"
                       "<!-- student edition\nstudents\n-->\n\n"
                       "| [02_scaling](x) | a |\n| [04_other](y) | b |\n";
    CHECK(page_for_students(of_both, page, "a.md") ==
          "# Start\n\nstudents\n\n| [02_scaling](x) | a |\n| [04_other](y) | b |\n");
    CHECK(page_for_students(of_one, page, "a.md") ==
          "# Start\n\nstudents\n\n| [04_other](y) | b |\n");
    for (const char *open : {"<!-- whole edition -->\nstaff\n-->\n", "<!-- student edition\nb\n"}) {
        CAPTURE(open);
        CHECK_THROWS_WITH_AS(page_for_students(of_both, open, "a.md"),
                             doctest::Contains("a.md: a passage of one edition has no end"),
                             machine_error);
    }
}

TEST_CASE("an edition holds what git has, and no more" * doctest::skip(no_git()))
{
    tracked p;
    p.put("labs/02_scaling/stub.cu", "edited\n");
    p.put("labs/02_scaling/notes.txt", "unknown to git\n");
    std::string made = p.written(of_both);
    CHECK(read_text(made + "/labs/02_scaling/stub.cu") ==
          "// Not written.\n#include \"lab.hpp\"\n");
    CHECK(read_text(made + "/.workbook/stubs/02_scaling.cu") ==
          read_text(made + "/labs/02_scaling/stub.cu"));
    CHECK_FALSE(std::filesystem::exists(made + "/labs/02_scaling/notes.txt"));
    CHECK_FALSE(std::filesystem::exists(made + "/solutions"));
    CHECK_FALSE(std::filesystem::exists(made + "/.git"));
    CHECK_FALSE(std::filesystem::exists(made + ".tar"));
    CHECK(access((made + "/workbook").c_str(), X_OK) == 0);
    CHECK(contains(read_text(made + "/edition.txt"),
                   "\nversion 1.2\ncommit HEAD\nlabs 02_scaling 04_other\n"));
    CHECK(is_student_edition(made));
    CHECK(read_edition(made).version == "1.2");
    CHECK(read_edition(made).labs == of_both.labs);
    CHECK_FALSE(is_student_edition(p.root));
    CHECK(edition_faults(p.root, made).empty());
}

TEST_CASE("a start page shows its commands on a lab that is there" * doctest::skip(no_git()))
{
    tracked p;
    p.put("README.md", "# Start\n\nEdit `labs/02_scaling/stub.cu`, then ./workbook grade 02\n");
    p.commit();
    CHECK(read_text(p.written(of_one) + "/README.md") ==
          "# Start\n\nEdit `labs/04_other/stub.cu`, then ./workbook grade 04\n");
}

TEST_CASE("lines of a solution are found wherever they are repeated" * doctest::skip(no_git()))
{
    tracked p;
    p.put("handouts/02_scaling.md", std::string("# Lesson\n\n```\n// why\n") + secret + "```\n");
    p.commit();
    std::vector<std::string> faults = edition_faults(p.root, p.written(of_both));
    REQUIRE(faults.size() == 1);
    CHECK(faults[0] == "handouts/02_scaling.md:5: three lines in a row are those of "
                       "solutions/02_scaling/solution.cu");
    // Code that naive contains, too, is no secret.
    p.put("reference/02_scaling/naive.cu", std::string("// Naive.\n") + secret);
    p.commit();
    CHECK(edition_faults(p.root, p.written(of_both, "made2")).empty());
}

TEST_CASE("a page that names what is not there is found" * doctest::skip(no_git()))
{
    tracked p;
    p.put("README.md", "# Start\n\n[a](CHANGES.md) [b](labs/02_scaling/stub.cu) `solutions/` "
                       "`labs/LAB/stub.cu` [c](https://example.org/x) `./workbook demo 2`\n");
    p.commit();
    CHECK(edition_faults(p.root, p.written(of_both)) ==
          std::vector<std::string>{"README.md names ./workbook demo, which is not for students",
                                   "README.md names CHANGES.md, which is not there",
                                   "README.md names solutions/, which is not there"});
}

TEST_CASE("a stub with lines added keeps every line of code")
{
    const char *stub = "// The file to edit.\nint f(int a)\n{\n    // TODO 1 (f): Do it.\n}\n";
    CHECK(line_not_kept(stub, "// Lab 1.\nint f(int a)\n{\n    return a;\n}\n") == "");
    CHECK(line_not_kept(stub, "int h();\n  int f(int a)\n{\n}\n") == "");
    CHECK(line_not_kept(stub, "int f(int b)\n{\n}\n") == "int f(int a)");
    CHECK(line_not_kept("a;\nb;\n", "b;\na;\n") == "b;");
}

TEST_CASE("a release is made where nothing stands in its way" * doctest::skip(no_git()))
{
    tracked p;
    project outside;
    std::string folder = outside.root + "/edition";
    CHECK(release_command(p.tools, {folder, {}, false}) == passed);
    CHECK(std::filesystem::exists(folder + "/labs/02_scaling/stub.cu"));
    CHECK(contains(p.refusal(folder), "is not empty; name a folder that is not there yet"));
    CHECK(contains(p.refusal(outside.root + "/no/edition"), "there is no folder"));
    CHECK(contains(p.refusal(outside.put("file", "")), "is there already, and is no folder"));
    CHECK(contains(p.refusal(p.root + "/edition"), "lies inside this workbook"));
    std::filesystem::create_directory(outside.root + "/empty");
    CHECK(release_command(p.tools, {outside.root + "/empty/", {}, false}) == passed);
    CHECK(std::filesystem::exists(outside.root + "/empty/workbook"));
}

TEST_CASE("a release holds what is committed, and says what is not" * doctest::skip(no_git()))
{
    tracked p;
    project outside;
    std::string folder = outside.root + "/edition";
    p.put("workbook", "changed\n");
    CHECK(contains(p.refusal(folder), "changes that are not:\n  workbook\nCommit them"));
    p.commit();
    p.put("labs/02_scaling/stub.cu", "an instructor's trial\n");
    CHECK(release_command(p.tools, {folder, {}, false}) == passed);
    CHECK_FALSE(contains(read_text(folder + "/labs/02_scaling/stub.cu"), "trial"));
    std::filesystem::remove_all(p.root + "/.git");
    CHECK(contains(p.refusal(outside.root + "/other"), "A release holds the files that git has"));
    p.put("edition.txt", "# Already one.\n");
    CHECK(contains(p.refusal(outside.root + "/other"), "this is a student edition"));
}

TEST_CASE("a release that fails leaves nothing behind" * doctest::skip(no_git()))
{
    tracked p;
    project outside;
    std::string folder = outside.root + "/out/edition";
    std::filesystem::create_directory(outside.root + "/out");
    p.put("README.md", "# Start\n\n[a](CHANGES.md)\n");
    p.commit();
    CHECK_THROWS_WITH_AS(release_command(p.tools, {folder, {}, false}),
                         doctest::Contains("CHANGES.md, which is not there"), machine_error);
    CHECK(std::filesystem::is_empty(outside.root + "/out"));
    // The edition's tests fail.
    p.put("README.md", "# Start\n");
    p.put("workbook", "#!/bin/sh\necho the third test failed; exit 1\n");
    chmod((p.root + "/workbook").c_str(), 0755);
    p.commit();
    CHECK_THROWS_WITH_AS(release_command(p.tools, {folder, {}, true}),
                         doctest::Contains("the third test failed"), machine_error);
    CHECK(std::filesystem::is_empty(outside.root + "/out"));
}

TEST_CASE("the commands of a page are found with their words")
{
    using all = std::vector<std::vector<std::string>>;
    CHECK(commands_of("Type `./workbook grade 02`.\n\n    ./workbook          # where am I\n"
                      "    ./workbook test\n`./workbook grade 02` again\n") ==
          all{{"grade", "02"}, {}, {"test"}});
}
