// Tests hints: they come one by one, belong to the current TODO, and end with a place to read on.
#include "cli/commands/commands.hpp"
#include "cli/results/hints.hpp"
#include "cli/support/errors.hpp"
#include "cli_project.hpp"

#include <algorithm>

using namespace cli;

namespace {

constexpr const char *hints_file =
    "# Hints\n\nRead one.\n\n## TODO 1: first\n\nOne\nline.\n\nAnd a\nsecond.\n\n"
    "## TODO 2: other\n\n- a list\n- of two\n\n## Not a hint\n\nNo.\n\n"
    "## TODO 1: last\n\nTwo.\n";

// Returns the output of a command and restores the test's stdout.
std::string printed(const std::function<int()> &command)
{
    std::fflush(stdout);
    char name[] = "/tmp/cuda-workbook-said.XXXXXX";
    int file = mkstemp(name), before = dup(1);
    dup2(file, 1);
    CHECK(command() == passed);
    std::fflush(stdout);
    dup2(before, 1);
    close(before);
    close(file);
    std::string text = read_text(name);
    unlink(name);
    return text;
}

lab_view lab_with(const std::vector<std::pair<const char *, const char *>> &cases)
{
    lab_view l{"02_scaling", "stub", "fail", 1, 10, {}};
    for (auto [name, verdict] : cases) {
        bool speed = std::string(name).find("speed") != std::string::npos;
        l.cases.push_back({name, speed ? "speed" : "correctness", verdict, "", "", 0, 1});
    }
    return l;
}

} // namespace

TEST_CASE("hints.md is read by its headings; paragraphs become lines, lists stay")
{
    std::vector<hint> hints = parse_hints(hints_file);
    REQUIRE(hints.size() == 3);
    CHECK(hints[0].todo == 1);
    CHECK(hints[0].title == "first");
    CHECK(hints[0].text == "One line.\n\nAnd a second.");
    CHECK(hints[1].text == "- a list\n- of two");
    CHECK(hints[2].title == "last");
    CHECK(parse_hints("").empty());
    hints =
        parse_hints("## TODO 1: code\n\nBit\n*l* is set.\n\n```\n## TODO 2: no hint\n  x;\n```\n");
    REQUIRE(hints.size() == 1);
    CHECK(hints[0].text == "Bit *l* is set.\n\n```\n## TODO 2: no hint\n  x;\n```");
}

TEST_CASE("one more each time, then where to read on; none is lost between runs")
{
    project p;
    p.put("labs/02_scaling/hints.md", hints_file);
    p.put("handouts/02_scaling.md",
          "# Lab\n\n## Rows\n\n```\n## no heading\n```\n`scale(x)`\n\n## Columns\n\n`scale_all`, "
          "scale\n\n## See it\n\n`shift`\n\n## The tasks\n\n`scale`\n\n## Beyond\n");
    p.put("labs/02_scaling/stub.cu", "// TODO 1 (scale: speed): A.\n// TODO 2 (shift): B.\n");
    auto say = [&](hint_options o) { // unwrapped
        std::string text = printed([&] { return hint_command(p.tools, "2", o); });
        std::replace(text.begin(), text.end(), '\n', ' ');
        return text;
    };
    std::string first = say({}), second = say({}), third = say({});
    CHECK(contains(first, "TODO 1, hint 1 of 2: first"));
    CHECK(contains(first, "1 more hint left for TODO 1"));
    CHECK_FALSE(contains(first, "Two."));
    CHECK(contains(second, "TODO 1, hint 2 of 2: last"));
    CHECK(contains(second, "Read on in handouts/02_scaling.md; scale is named in \"Rows\"."));
    CHECK(contains(third, "You have seen 2 hints for TODO 1"));
    CHECK_FALSE(contains(third, "Two."));
    std::string again = say({0, true});
    CHECK(contains(again, "hint 1 of 2"));
    CHECK(contains(again, "hint 2 of 2"));
    CHECK(contains(say({2, false}), "TODO 2, hint 1 of 1: other"));
    CHECK(contains(say({2, true}),
                   "Read on in handouts/02_scaling.md. ")); // no section names the function
    p.put("handouts/02_scaling.md", "## Rows\n\n`scale`\n\n## Columns\n\n`scale`\n");
    CHECK(contains(say({1, true}),
                   "Read on in handouts/02_scaling.md. ")); // all sections name the function
    p.put("labs/02_scaling/hints.md", "## TODO 1: first\n\nSee\n\"Columns\".\n");
    CHECK(contains(say({1, true}), "Read on in handouts/02_scaling.md: \"Columns\"."));
    p.put("labs/02_scaling/hints.md", hints_file);
    CHECK_THROWS_WITH_AS(hint_command(p.tools, "2", {7, false}),
                         "TODO 7 of 02_scaling has no hints. There are hints for TODO 1, 2",
                         usage_error);
    std::filesystem::remove(p.root + "/labs/02_scaling/hints.md");
    CHECK_THROWS_WITH_AS(hint_command(p.tools, "2", {}),
                         "02_scaling has no hints. Read on in handouts/02_scaling.md.",
                         usage_error);
}

TEST_CASE("a TODO that serves several functions is begun by code below its last line")
{
    const std::string above = "void a()\n{\n    // TODO 1 (scale): A.\n"
                              "    // TODO 2 (scale: speed): B.\n"
                              "    // TODO 2 (shift: speed): It is the same.\n",
                      below = "    // TODO 3 (turn): C.\n}\n";
    const todo_list begun(above + below, above + "    work();\n" + below);
    CHECK(begun.open_of("scale: speed").next == 0);
    CHECK(begun.open_of("scale: one").next == 1);
    CHECK(begun.open_of("turn: one").next == 3);
}

TEST_CASE("the TODO at hand is that of the last grade's first failure")
{
    project p;
    p.put("labs/02_scaling/stub.cu",
          "// TODO 1 (scale): A.\n// TODO 2 (shift): B.\n// TODO 3 (scale: speed): C.\n");
    p.put("labs/02_scaling/hints.md", hints_file);
    auto at_hand = [&] { return todo_at_hand(p.tools, p.only_lab(), read_progress(p.tools)); };
    CHECK(at_hand() == 1);
    keep_progress(p.tools, lab_with({{"scale: one", "PASS"}, {"shift: one", "WRONG_ANSWER"}}),
                  "sim");
    CHECK(at_hand() == 2);
    SUBCASE("a file that does not compile is still about the same TODO")
    {
        keep_progress(p.tools, lab_with({{"build", "BUILD_FAILED"}}), "sim");
        CHECK(at_hand() == 2);
    }
    SUBCASE("a failure that another function is to blame for is about that one's")
    {
        lab_view l = lab_with({{"shift: one", "WRONG_ANSWER"}});
        l.cases[0].about = "scale";
        keep_progress(p.tools, l, "sim");
        CHECK(at_hand() == 1);
    }
    SUBCASE("speed that has points left is helped by the TODO for later")
    {
        p.put("labs/02_scaling/hints.md", "## TODO 3: faster\n\nThink.\n");
        keep_progress(p.tools, lab_with({{"scale: one", "PASS"}, {"scale: speed, few", "PASS"}}),
                      "sim");
        CHECK(at_hand() == 3);
    }
    SUBCASE("a failure in code that passes the cases of its own TODO is about the case's TODO")
    {
        p.put("labs/02_scaling/stub.cu", "void a()\n{\n    // TODO 1 (scale): A.\n}\n"
                                         "void b()\n{\n    // TODO 2 (shift): B.\n}\n");
        for (const auto &[verdict, todo] : {std::pair{"PASS", 2}, std::pair{"CRASH", 1}}) {
            lab_view l = lab_with({{"shift: one", "RACE"}, {"scale: one", verdict}});
            l.cases[0].line = 2;
            keep_progress(p.tools, l, "sim");
            CHECK(read_progress(p.tools).last("02_scaling")->todo == todo);
        }
    }
    SUBCASE("a failure at a line is helped by the TODO of its function, until it is another one")
    {
        p.put("labs/02_scaling/stub.cu", "void a()\n{\n    // TODO 1 (scale): A.\n}\n"
                                         "void b()\n{\n    // TODO 2 (scale): B.\n}\n");
        lab_view l = lab_with({{"scale: one", "RACE"}});
        l.cases[0].line = 6;
        keep_progress(p.tools, l, "sim");
        CHECK(read_progress(p.tools).last("02_scaling")->todo == 2);
        CHECK(at_hand() == 2);
        keep_progress(p.tools, lab_with({{"build", "BUILD_FAILED"}}), "sim");
        CHECK(at_hand() == 2);
        keep_progress(p.tools, lab_with({{"scale: one", "WRONG_ANSWER"}}), "sim");
        CHECK(at_hand() == 1);
    }
    SUBCASE("when everything passed there is none")
    {
        keep_progress(p.tools, lab_with({{"scale: one", "PASS"}}), "sim");
        CHECK(at_hand() == 0);
    }
}

TEST_CASE("first to mend: wrong, then what nobody wrote, then what is for later")
{
    todo_list todos(
        "// TODO 1 (scale): A.\n// TODO 2 (shift): B.\n// TODO 3 (scale: speed, all): C.\n");
    CHECK(todos.words("scale: one") == "TODO 1");
    CHECK(todos.words("scale: speed, all") == "TODO 3");
    CHECK(todos.words("other: one") == "");
    CHECK(todos.is_for_later("scale: speed, all"));
    CHECK_FALSE(todos.is_for_later("shift: speed"));
    lab_view l = lab_with({{"scale: speed, all", "TOO_SLOW"},
                           {"shift: one", "NOT_WRITTEN"},
                           {"scale: speed", "TOO_SLOW"},
                           {"scale: one", "WRONG_ANSWER"},
                           {"scale: two", "NOT_WRITTEN"}});
    auto next = [&] {
        const case_view *c = first_to_mend(l, todos);
        std::string name = c ? c->name : "none";
        for (case_view &other : l.cases)
            if (other.name == name) other.verdict = "PASS";
        return name;
    };
    CHECK(next() == "scale: one");
    CHECK(next() == "scale: two"); // part of a function that is written
    CHECK(next() == "scale: speed");
    CHECK(next() == "shift: one");
    CHECK(next() == "scale: speed, all");
    CHECK(next() == "none");
}

TEST_CASE("a function that was handed out wrong waits for its turn until it is touched")
{
    const std::string stub = "void a()\n{\n    // TODO 1 (scale): A.\n}\n"
                             "void b()\n{\n    // TODO 2 (shift): B.\n    wrong();\n}\n";
    const lab_view l = lab_with({{"scale: one", "NOT_WRITTEN"}, {"shift: one", "RACE"}});
    std::vector<std::string> given_wrong = {"shift"};
    auto first = [&](const std::string &present) {
        return first_to_mend(l, todo_list(stub, present, given_wrong))->name;
    };
    CHECK(first(stub) == "scale: one");
    std::string mended = stub;
    mended.replace(mended.find("wrong()"), 5, "other");
    CHECK(first(mended) == "shift: one");
    CHECK(first(stub.substr(0, stub.find("void b"))) == "shift: one"); // it is gone
    given_wrong.clear();
    CHECK(first(stub) == "shift: one");
}

TEST_CASE("of a function's several TODOs the first not begun; all when all are")
{
    const std::string original =
        "int a()\n{\n    // TODO 1 (scale): A,\n    // and more.\n    return 0;\n}\n"
        "int b()\n{\n    // TODO 2 (scale): B.\n\n    // TODO 3 (scale: all): C.\n}\n";
    auto words = [&](const std::string &present) {
        return todo_list(original, present).words("scale: one");
    };
    auto with = [&](std::string text, const std::string &after, const std::string &added) {
        std::size_t at = text.find(after);
        REQUIRE(at != text.npos);
        return text.insert(at + after.size(), added);
    };
    CHECK(words(original) == "TODO 1");
    CHECK(words(with(original, "int a()\n", "// a note\n")) == "TODO 1");
    std::string below = with(original, "and more.\n", "    work();\n");
    CHECK(words(below) == "TODO 2");
    CHECK(words(with(original, "{\n", "    work();\n")) == "TODO 2");
    std::string erased = original;
    erased.erase(erased.find("    // TODO 1"), std::string("    // TODO 1 (scale): A,\n").size());
    CHECK(words(erased) == "TODO 2");
    CHECK(words(with(below, "(scale): B.\n", "    work();\n")) == "TODOs 1 and 2");
    CHECK(todo_list(original, "").words("scale: all") == "TODO 3");
}

TEST_CASE("TODOs in one comment: what is written between two of them is the upper one's")
{
    const std::string first = "    // TODO 1 (scale): A.\n    //\n",
                      second = "    // TODO 2 (scale): B.\n    //\n",
                      third = "    // TODO 3 (scale): C.\n", code = "    work();\n";
    const std::string head = "int a()\n{\n", tail = "}\n";
    auto words = [&](const std::string &inside) {
        return todo_list(head + first + second + third + tail, head + inside + tail)
            .words("scale: one");
    };
    CHECK(words(first + second + third) == "TODO 1");
    CHECK(words(first + code + second + third) == "TODO 2");
    CHECK(words(code + second + third) == "TODO 2"); // the code replaces the comment
    CHECK(words(code + third) == "TODO 3");
    CHECK(words(first + code + second + code + third) == "TODO 3");
    CHECK(words(first + second + third + code) ==
          "TODOs 1 to 3"); // the code could be of any of them
    CHECK(words(code + first + second + third) == "TODOs 1 to 3");
    CHECK(words(first + code + second + code + third + code) == "TODOs 1 to 3");
}

TEST_CASE("a line belongs to the TODO of the function it lies in")
{
    const std::string original =
        "int a(int n)\n{\n    // TODO 1 (scale): A.\n    return n;\n}\n"
        "int b()\n{\n    // TODO 2 (scale): B.\n\n    // TODO 3 (scale: speed): C.\n}\n";
    todo_list todos(original);
    CHECK(todos.words("scale: one", 4) == "TODO 1");
    CHECK(todos.words("scale: one", 11) == "TODO 2"); // of two TODOs, that of the case
    CHECK(todos.words("scale: speed", 11) == "TODO 3");
    CHECK(todos.words("shift: one", 11) == "TODO 2"); // shift calls a function of scale
    CHECK(todos.words("scale: one", 12) == "TODO 1"); // beyond the end: the first open TODO
    // The student added code above and removed the comments.
    std::string present = "// notes\nint helper()\n{\n    return 1;\n}\nint a(int n, int m)\n{\n"
                          "    return n * m;\n}\nint b() { return 2; }\n";
    todo_list later(original, present);
    CHECK(later.words("scale: one", 8) == "TODO 1");
    CHECK(later.words("scale: one", 10) == "TODO 2");
    CHECK(later.words("scale: one", 4) == "TODOs 1 and 2"); // a function that the student added
    CHECK(later.of_line("scale: one", 4).empty());
    CHECK_FALSE(todos.waits_for_others("scale: one", 4)); // TODO 1 itself is open
    CHECK_FALSE(later.waits_for_others("scale: one", 8)); // all TODOs are begun
    todo_list half(original, "int a(int n)\n{\n    return 2 * n;\n}\n" +
                                 original.substr(original.find("int b")));
    CHECK(half.waits_for_others("scale: one", 3));
    CHECK_FALSE(half.waits_for_others("scale: one", 7));
}
