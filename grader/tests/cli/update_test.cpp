// Tests the update: what it carries over from an older edition, and what it leaves as it is.
#include "cli/commands/commands.hpp"
#include "cli/results/moved_functions.hpp"
#include "cli/results/progress.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/results/student_edition.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/subprocess.hpp"
#include "cli_project.hpp"

using namespace cli;

namespace {

const std::string scaling = "labs/02_scaling/stub.cu", other = "labs/04_other/stub.cu";

// An edition with two labs, unpacked and not yet run: its stubs have copies, as a release has them.
struct unpacked : project {
    explicit unpacked(const std::string &version)
    {
        tools.labs.emplace_back().name = "04_other";
        put("labs/04_other/lab.hpp", "#pragma once\nvoid other();\n");
        put("edition.txt",
            "# One.\nversion " + version + "\ncommit 1f\nlabs 02_scaling 04_other\n");
        hand_out("02_scaling", "// Lab 2.\nvoid scale() {}\n");
        hand_out("04_other", "// Lab 4.\nvoid other() {}\n");
    }
    void hand_out(const std::string &lab, const std::string &text)
    {
        put("labs/" + lab + "/stub.cu", text);
        put(".workbook/stubs/" + lab + ".cu", text);
    }
    std::string text(const std::string &name) const { return read_text(root + "/" + name); }
    bool has(const std::string &name) const { return std::filesystem::exists(root + "/" + name); }
};

struct two_editions {
    unpacked older{"0.1.0"}, newer{tool_version};
    int update() { return update_command(newer.tools, older.root); }
    std::string refusal(const std::string &folder)
    {
        try {
            update_command(newer.tools, folder);
        } catch (const usage_error &e) {
            return e.what();
        }
        return "it was done";
    }
};

lab_view graded_lab(double points, double all = 10)
{
    lab_view l;
    l.lab = "02_scaling";
    l.status = points < all ? "fail" : "pass";
    l.points = points;
    l.max_points = all;
    if (points < all)
        l.cases.push_back({"scale: one", "correctness", "CRASH", "", "", 0, 0, nullptr});
    return l;
}

void must_git_in(const std::string &root, std::vector<std::string> words)
{
    words.insert(words.begin(), {"-c", "user.name=a", "-c", "user.email=a@example.org"});
    exit_result e = run_git(root, words);
    REQUIRE_MESSAGE(e.ok(), e.text);
}

} // namespace

TEST_CASE("an edited stub, points, hints and kept files move into the new edition")
{
    two_editions e;
    e.older.put(scaling, "void scale() { mine(); }\n");
    e.older.put(".workbook/kept/02_scaling-2026-10-01-120000.cu", "before a reset\n");
    keep_progress(e.older.tools, graded_lab(7), "sim");
    keep_hints(e.older.tools, "02_scaling", 2, 3);
    REQUIRE(e.update() == passed);
    CHECK(e.newer.text(scaling) == "void scale() { mine(); }\n");
    CHECK(e.newer.text(other) == "// Lab 4.\nvoid other() {}\n");
    CHECK_FALSE(e.newer.has(scaling + ".mine"));
    CHECK(e.newer.text(".workbook/kept/02_scaling-2026-10-01-120000.cu") == "before a reset\n");
    progress_record record = read_progress(e.newer.tools);
    REQUIRE(record.best("02_scaling") != nullptr);
    CHECK(record.best("02_scaling")->best == 7);
    CHECK(record.hints[{"02_scaling", 2}] == 3);
    // `reset` in the new edition goes back to the new edition's stub, and the older one is as it
    // was.
    CHECK(original_stub(e.newer.tools, e.newer.only_lab()).text == "// Lab 2.\nvoid scale() {}\n");
    CHECK(e.older.text(scaling) == "void scale() { mine(); }\n");
}

TEST_CASE("a second update changes nothing, and no file twice")
{
    two_editions e;
    e.older.put(scaling, "mine\n");
    e.newer.hand_out("04_other", "// Lab 4, improved.\nvoid other() {}\n");
    e.older.put(other, "mine, too\n");
    keep_progress(e.older.tools, graded_lab(7), "sim");
    REQUIRE(e.update() == passed);
    REQUIRE(e.update() == passed);
    CHECK(e.newer.text(scaling) == "mine\n");
    CHECK(e.newer.text(other + ".mine") == "mine, too\n");
    CHECK_FALSE(e.newer.has(other + ".mine-2"));
    CHECK(read_progress(e.newer.tools).entries.size() == 1);
}

TEST_CASE("a stub that changed in the new edition stays, with the student's file beside it")
{
    two_editions e;
    e.newer.hand_out("02_scaling", "// Lab 2.\nvoid scale(int) {}\n");
    e.older.put(scaling, "void scale() { mine(); }\n");
    REQUIRE(e.update() == passed);
    CHECK(e.newer.text(scaling) == "// Lab 2.\nvoid scale(int) {}\n");
    CHECK(e.newer.text(scaling + ".mine") == "void scale() { mine(); }\n");
}

TEST_CASE("a function that moved to another lab is named, with the lab that has it now")
{
    two_editions e;
    lab l = e.newer.only_lab();
    l.moved = {{"scale_host", "14_other"}, {"unknown", "14_other"}};
    const std::string said =
        moved_words(e.newer.tools, l, "void scale() {}\nvoid scale_host(float *x)\n{\n}\n");
    CHECK(said == "scale_host is a function of lab 14 now. Here it does not count: copy what you "
                  "wrote to labs/14_other/stub.cu.");
    CHECK(
        moved_words(e.newer.tools, l, "void unknown() {}\nvoid scale_host() {}\n") ==
        "scale_host and unknown are functions of lab 14 now. Here they do not count: copy what you "
        "wrote to labs/14_other/stub.cu.");
    CHECK(moved_words(e.newer.tools, l, "void scale() { scale_host(); }\n").empty());
    l.moved.clear();
    CHECK(moved_words(e.newer.tools, l, "void scale_host() {}\n").empty());
}

TEST_CASE("a stub that nobody edited is the new edition's")
{
    two_editions e;
    e.newer.hand_out("02_scaling", "// Lab 2, with a better comment.\nvoid scale() {}\n");
    REQUIRE(e.update() == passed);
    CHECK(e.newer.text(scaling) == "// Lab 2, with a better comment.\nvoid scale() {}\n");
    CHECK_FALSE(e.newer.has(scaling + ".mine"));
}

TEST_CASE(
    "what was edited in the new edition is never overwritten, and neither is a file beside it")
{
    two_editions e;
    e.older.put(scaling, "old work\n");
    e.newer.put(scaling, "new work\n");
    e.newer.put(scaling + ".mine", "notes\n");
    REQUIRE(e.update() == passed);
    CHECK(e.newer.text(scaling) == "new work\n");
    CHECK(e.newer.text(scaling + ".mine") == "notes\n");
    CHECK(e.newer.text(scaling + ".mine-2") == "old work\n");
}

TEST_CASE("committed work is no original, whatever the copies of the stubs say" *
          doctest::skip(find_program("git").empty()))
{
    two_editions e;
    must_git_in(e.older.root, {"init", "-q"});
    must_git_in(e.older.root, {"add", "-A"});
    must_git_in(e.older.root, {"commit", "-q", "-m", "the edition"});
    e.older.put(scaling, "void scale() { mine(); }\n");
    must_git_in(e.older.root, {"commit", "-q", "-a", "-m", "mine"});
    // A clone on a second machine makes its copies from what is committed.
    e.older.put(".workbook/stubs/02_scaling.cu", "void scale() { mine(); }\n");
    REQUIRE(e.update() == passed);
    CHECK(e.newer.text(scaling) == "void scale() { mine(); }\n");
}

TEST_CASE("without any original, only a stub with lines added takes the new one's place")
{
    two_editions e;
    std::filesystem::remove_all(e.older.root + "/.workbook");
    e.older.put(scaling, "void scale() {}\nvoid helper() {}\n");
    e.older.put(other, "void another() {}\n");
    REQUIRE(e.update() == passed);
    CHECK(e.newer.text(scaling) == "void scale() {}\nvoid helper() {}\n");
    CHECK(e.newer.text(other) == "// Lab 4.\nvoid other() {}\n");
    CHECK(e.newer.text(other + ".mine") == "void another() {}\n");
}

TEST_CASE("of two records the better one counts, if it is out of the same total")
{
    two_editions e;
    keep_progress(e.older.tools, graded_lab(7), "sim");
    keep_progress(e.older.tools, graded_lab(30, 40), "gpu");
    keep_progress(e.newer.tools, graded_lab(4), "sim");
    keep_progress(e.newer.tools, graded_lab(10, 50), "gpu");
    REQUIRE(e.update() == passed);
    const progress_record record = read_progress(e.newer.tools);
    REQUIRE(record.entries.size() == 2);
    CHECK(record.entries[0].best == 7);
    CHECK(record.entries[0].points == 4);
    CHECK(record.entries[1].best == 10);
}

TEST_CASE("a record that cannot be understood is left where it is, and the stubs still move")
{
    two_editions e;
    e.older.put(".workbook/progress.json", "{\"labs\": [");
    e.older.put(scaling, "mine\n");
    REQUIRE(e.update() == passed);
    CHECK(e.newer.text(scaling) == "mine\n");
    CHECK(read_progress(e.newer.tools).entries.empty());
    CHECK(e.older.text(".workbook/progress.json") == "{\"labs\": [");
}

TEST_CASE("an update that fails in the middle loses nothing and can be repeated")
{
    two_editions e;
    e.older.put(scaling, "mine\n");
    std::filesystem::remove(e.older.root + "/" + other);
    e.older.put(other + "/in_the_way", "");
    keep_progress(e.older.tools, graded_lab(7), "sim");
    CHECK_THROWS_WITH_AS(e.update(), doctest::Contains("04_other/stub.cu"), machine_error);
    CHECK(e.newer.text(scaling) == "mine\n");
    CHECK(e.newer.text(other) == "// Lab 4.\nvoid other() {}\n");
    std::filesystem::remove_all(e.older.root + "/" + other);
    e.older.put(other, "mine, too\n");
    REQUIRE(e.update() == passed);
    CHECK(e.newer.text(other) == "mine, too\n");
    CHECK(read_progress(e.newer.tools).entries.size() == 1);
}

TEST_CASE("a folder that is no older edition is refused, and nothing is changed")
{
    two_editions e;
    e.older.put(scaling, "mine\n");
    CHECK(contains(e.refusal(e.older.root + "/no"), "cannot be opened: no such file"));
    CHECK(contains(e.refusal(e.older.put("edition.zip", "")), "unpack it"));
    CHECK(contains(e.refusal(e.older.root + "/labs"), "it has no edition.txt"));
    CHECK(contains(e.refusal(e.newer.root), "is this edition itself"));
    e.older.put("edition.txt", "# Damaged.\nversion 0.1.0\n");
    CHECK(contains(e.refusal(e.older.root), "names no labs"));
    e.older.put("edition.txt", "version 99.0.0\ncommit 1f\nlabs 02_scaling\n");
    CHECK(contains(e.refusal(e.older.root), "is version 99.0.0, newer than this edition"));
    CHECK(e.newer.text(scaling) == "// Lab 2.\nvoid scale() {}\n");
}

TEST_CASE("a lab that the new edition lacks is left in the old one")
{
    two_editions e;
    e.newer.tools.labs.pop_back();
    e.older.put(other, "mine\n");
    REQUIRE(e.update() == passed);
    CHECK(e.older.text(other) == "mine\n");
}
