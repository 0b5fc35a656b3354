// Tests `watch`: which saves are graded, the screen, and the whole loop in a pseudo-terminal with a
// grading command that only records its arguments.
#include "cli/commands/commands.hpp"
#include "cli/results/watch_screen.hpp"
#include "cli/support/errors.hpp"
#include "cli/terminal/file_watcher.hpp"
#include "cli/terminal/key_reader.hpp"
#include "cli_project.hpp"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>

#include <chrono>
#include <fstream>
#include <utility>

using namespace cli;

namespace {

contents holding(std::optional<std::string> text) { return {{"stub.cu", std::move(text)}}; }

json result(const std::vector<json> &cases, double points, const char *status = "fail")
{
    return {{"schema", result_schema},
            {"labs",
             {{{"lab", "02_scaling"},
               {"submission", "stub"},
               {"status", status},
               {"points", points},
               {"max_points", 10},
               {"cases", cases}}}}};
}

json a_case(const char *name, const char *verdict, double points = 0)
{
    return {{"name", name},       {"kind", "correctness"}, {"verdict", verdict},
            {"points", points},   {"max_points", 5},       {"message", "data[3] is 7, expected 8."},
            {"hint", "look at i"}};
}

watch_state showing(json document)
{
    watch_state s;
    s.now = watch_state::phase::graded;
    s.lab = "02_scaling";
    s.file = "labs/02_scaling/stub.cu";
    s.saved = "10:20:30";
    s.best = 7;
    s.max_points = 10;
    s.document = std::move(document);
    return s;
}

std::string text_of(const std::vector<std::string> &screen)
{
    std::string text;
    for (const std::string &line : screen) text += line + "\n";
    return text;
}

terminal plain(int width)
{
    terminal t;
    t.width = width;
    return t;
}

// Runs `watch` in a process on the other side of a terminal.
class session {
public:
    session(const project &p, const std::string &grade, const char *term = "xterm")
    {
        winsize size{24, 80, 0, 0};
        REQUIRE(openpty(&master_, &slave_, nullptr, nullptr, &size) == 0);
        tcgetattr(slave_, &before_);
        pid_ = fork();
        if (pid_ != 0) return;
        close(master_); // an open copy here would prevent the hang-up
        setsid();
        ioctl(slave_, TIOCSCTTY, 0);
        for (int descriptor : {0, 1, 2}) dup2(slave_, descriptor);
        setenv("TERM", term, 1);
        setenv("NO_COLOR", "1", 1);
        handle_signals();
        int status = 99;
        try {
            status = watch(p.tools, p.only_lab(), {grade}, "sim", "1");
        } catch (const stop_requested &) {
            status = stopped;
        } catch (const std::exception &e) {
            fprintf(stderr, "%s\n", e.what());
        }
        _exit(status);
    }
    ~session()
    {
        if (pid_ > 0) kill(pid_, SIGKILL), waitpid(pid_, nullptr, 0);
        if (master_ >= 0) close(master_);
        close(slave_);
    }
    // Reads until the text was shown and drops the output before it.
    bool sees(const std::string &text)
    {
        auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (std::chrono::steady_clock::now() < deadline) {
            std::size_t at = said_.find(text);
            if (at != said_.npos) {
                said_.erase(0, at + text.size());
                return true;
            }
            pollfd wait{master_, POLLIN, 0};
            char part[4096];
            if (poll(&wait, 1, 100) > 0) {
                ssize_t n = read(master_, part, sizeof part);
                if (n > 0) said_.append(part, static_cast<std::size_t>(n));
                if (n > 0 &&
                    std::string_view(part, std::size_t(n)).find('\033') != std::string_view::npos)
                    escapes_ = true;
            }
        }
        MESSAGE("never shown: ", text, "; shown: ", said_);
        return false;
    }
    void type(const std::string &keys) { REQUIRE(write(master_, keys.data(), keys.size()) > 0); }
    void tell(int number) { kill(pid_, number); }
    void hang_up() { close(std::exchange(master_, -1)); }
    int ends()
    {
        // Wait for its end, but a program that does not end must not block the tests.
        int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
        pollfd wait{descriptor, POLLIN, 0};
        if (poll(&wait, 1, 20000) != 1) {
            MESSAGE("it did not end");
            kill(pid_, SIGKILL);
        }
        close(descriptor);
        int status = 0;
        waitpid(pid_, &status, 0);
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    bool saw_escapes() const { return escapes_; }
    bool terminal_is_as_before() const
    {
        termios now{};
        tcgetattr(slave_, &now);
        return now.c_lflag == before_.c_lflag;
    }

private:
    bool escapes_ = false;
    int master_ = -1, slave_ = -1;
    pid_t pid_ = -1;
    termios before_{};
    std::string said_;
};

// Records each run in `runs`, gives the result that the stub names, and waits while `hold` exists.
std::string grading_script(project &p)
{
    p.put("wrong.json", result({a_case("scale: one", "WRONG_ANSWER")}, 3).dump());
    p.put("right.json", result({a_case("scale: one", "PASS", 10)}, 10, "pass").dump());
    REQUIRE(mkfifo((p.root + "/never").c_str(), 0600) == 0);
    return p.script("grade", "root=" + p.root + R"(
while [ $# -gt 1 ]; do [ "$1" = --json ] && out=$2; [ "$1" = --simulator-json ] && early=$2; shift; done
stub=$(cat $root/labs/02_scaling/stub.cu)
echo "$stub" >>$root/runs
echo "building the grader" >&2
case $stub in *crash*) kill -9 $$ ;; *hold*) read line <$root/never ;;
*both*) cp $root/wrong.json "$early"; read line <$root/never; name=right ;; *wrong*) name=wrong ;; *) name=right ;; esac
cp $root/$name.json "$out"
case $stub in *lingers*) read line <$root/never ;; esac)");
}

} // namespace

TEST_CASE("a save is graded once, when it is whole")
{
    save_detector saves(holding("old"));
    auto looks = [&](const contents &now) {
        int changes = 0;
        for (int i = 0; i < 10; ++i) changes += saves.look(now);
        return changes;
    };
    CHECK(looks(holding("old")) == 0);      // only touched
    CHECK_FALSE(saves.look(holding("ne"))); // half written
    CHECK_FALSE(saves.look(holding("new")));
    CHECK(saves.look(holding("new")));
    CHECK(looks(holding("new")) == 0);
    CHECK(looks(holding("newer")) == 1);
}

TEST_CASE("a file that is empty or away for a moment is being written")
{
    save_detector saves(holding("old"));
    for (const contents &away : {holding(std::nullopt), holding("")}) {
        CHECK_FALSE(saves.look(away));
        CHECK_FALSE(saves.look(away));
        CHECK_FALSE(saves.look(away));
        CHECK_FALSE(saves.look(holding("old"))); // restored
    }
    int changes = 0;
    for (int i = 0; i < 10; ++i) changes += saves.look(holding(std::nullopt));
    CHECK(changes == 1); // the file is removed
}

TEST_CASE("arrows and pasted letters beyond ASCII are no keys")
{
    key_filter keys;
    CHECK(keys.plain("hq") == "hq");
    CHECK(keys.plain("\033[A") == "");
    CHECK(keys.plain("r\033[1;5Dh") == "rh");
    CHECK(keys.plain("\xc3\xa4r") == "r");
    CHECK(keys.plain("\033") == ""); // an escape sequence over a slow line
    CHECK(keys.plain("O") == "");
    CHECK(keys.plain("Qr") == "r");
}

TEST_CASE("the screen: points, the first failure with its TODO, the functions, the keys")
{
    todo_list todos("// TODO 1 (scale): A.\n// TODO 2 (shift): B.\n");
    json document =
        result({a_case("scale: one", "PASS", 5), a_case("shift: one", "NOT_WRITTEN")}, 5);
    document["labs"][0]["cases"].push_back(a_case("scale: two", "WRONG_ANSWER"));
    watch_state s = showing(document);
    s.hints_for = 1;
    std::string text = text_of(draw(s, todos, plain(80), 24));
    CHECK(contains(text, "02_scaling  labs/02_scaling/stub.cu"));
    CHECK(contains(text, "simulated"));
    CHECK(contains(text, "[############            ] 5 / 10 points, best 7   10:20:30"));
    CHECK(contains(
        text, "WRONG_ANSWER  scale: two\n  data[3] is 7, expected 8.\n  Try: look at i (TODO 1)"));
    CHECK(contains(text, "FAIL  scale              1 of 2 cases"));
    CHECK(contains(text, "todo  shift              not written: TODO 2"));
    CHECK(contains(text, "keys: h hint for TODO 1   r run again   q quit\n"));
    CHECK(text.find("WRONG_ANSWER") < text.find("todo  shift"));
    document["labs"][0]["warnings"] = {"line 8: \"factor\" cannot be read in a host function"};
    text = text_of(draw(showing(document), todos, plain(60), 24));
    CHECK(contains(text, "(TODO 1)\n  nvcc warned: line 8: \"factor\" cannot be read in a host\n"));
    document["labs"][0]["cases"].back()["about"] = "shift"; // this function is the cause
    CHECK(contains(text_of(draw(showing(document), todos, plain(80), 24)), "look at i (TODO 2)"));
}

TEST_CASE("what is not written is said with its place; a function half written, with what is next")
{
    const std::string original = "// The file.\nint a()\n{\n    // TODO 1 (scale): A.\n}\n"
                                 "int b()\n{\n    // TODO 2 (scale): B.\n}\n";
    watch_state s = showing(result({a_case("scale: one", "NOT_WRITTEN")}, 0));
    std::string text = text_of(draw(s, todo_list(original), plain(80), 24));
    CHECK(contains(text, "  TODO 1 is not written yet: labs/02_scaling/stub.cu:4.\n"));
    CHECK_FALSE(contains(text, "look at i"));
    std::string half = original, whole;
    half.insert(half.find("}"), "    work();\n");
    whole = half;
    whole.insert(whole.rfind("}"), "    work();\n");
    text = text_of(draw(s, todo_list(original, half), plain(120), 24));
    CHECK(contains(text, "scale can be judged when TODO 2 is done; next is TODO 2: "
                         "labs/02_scaling/stub.cu:9."));
    text = text_of(draw(s, todo_list(original, whole), plain(80), 24));
    CHECK(contains(text, "Try: look at i (TODOs 1 and 2)"));
    // A verdict with a line is about that line, even if TODOs are open.
    json race = a_case("scale: one", "RACE");
    race["line"] = 4;
    text = text_of(draw(showing(result({race}, 0)), todo_list(original, half), plain(80), 24));
    CHECK(contains(text, "Try: look at i (TODO 1)"));
    CHECK_FALSE(contains(text, "can be judged"));
}

TEST_CASE("speed that could be better says what more points take")
{
    json fast = a_case("scale: speed", "PASS", 5);
    fast["kind"] = "speed";
    fast["max_points"] = 10;
    fast["message"] = fast["hint"] = "";
    fast["counters"] = {{"bytes per element", 8.05}};
    fast["more_points"] = "For 10 points: bytes per element at most 6.";
    json document = result({fast}, 5);
    document["labs"][0]["status"] = "pass";
    CHECK(contains(text_of(draw(showing(document), todo_list(""), plain(80), 24)),
                   "  scale: speed: 5 / 10\n    measured: bytes per element 8.05\n"
                   "    For 10 points: bytes per element at most 6.\n"));
}

TEST_CASE("the screen fits, however small and whatever it holds")
{
    json document = result({a_case("scale: one", "WRONG_ANSWER")}, 5);
    std::string words;
    for (int i = 0; i < 400; ++i) words += "word ";
    document["labs"][0]["cases"][0]["message"] = words;
    document["labs"][0]["cases"][0]["printed"] = std::string(5000, 'x') + "\n\n\n\n\n\n\n\nend";
    watch_state s = showing(document);
    s.hints_for = 1;
    watch_state helped = s;
    helped.helped = hint{1, "title", words};
    watch_state fault = s;
    fault.now = watch_state::phase::fault;
    fault.trouble = words;
    watch_state again = s;
    again.now = watch_state::phase::grading;
    again.step = words;
    for (const watch_state &state : {s, helped, fault, again})
        for (int width : {40, 59, 80})
            for (int rows : {4, 6, 8, 12, 24, 50}) {
                CAPTURE(width);
                CAPTURE(rows);
                std::vector<std::string> screen = draw(state, todo_list(""), plain(width), rows);
                CHECK(screen.size() <= std::size_t(rows));
                for (const std::string &line : screen) CHECK(columns(line) <= width);
                CHECK(contains(screen.back(), "q quit"));
            }
}

TEST_CASE("while the GPU works, the simulator's verdict is shown as one of this save")
{
    watch_state s = showing(result({a_case("scale: one", "WRONG_ANSWER")}, 5));
    s.now = watch_state::phase::grading;
    s.step = "So far by the simulator ...";
    terminal colours = plain(80);
    colours.colour = true;
    const std::string dimmed = dim(colours, "x").substr(0, dim(colours, "x").find('x'));
    CHECK(contains(text_of(draw(s, todo_list(""), colours, 24)), dimmed)); // of an earlier save
    s.by_simulator = true;
    const std::string text = text_of(draw(s, todo_list(""), colours, 24));
    CHECK(contains(text, "So far by the simulator ..."));
    CHECK(contains(text, bad(colours, "WRONG_ANSWER")));
    CHECK_FALSE(contains(text, dimmed));
}

TEST_CASE("a hint stands below the verdict, whole; the verdict gives way")
{
    watch_state s = showing(result({a_case("scale: one", "WRONG_ANSWER")}, 5));
    s.helped = hint{1, "who?", "Ask the neighbour."};
    s.hint_number = 1;
    s.hints = 3;
    std::string text = text_of(draw(s, todo_list(""), plain(80), 24));
    CHECK(contains(text, "WRONG_ANSWER  scale: one"));
    CHECK(contains(text, "Hint 1 of 3 for TODO 1: who?\nAsk the neighbour."));
    CHECK_FALSE(contains(text, "FAIL  scale"));
    CHECK(contains(text_of(draw(s, todo_list(""), plain(80), 7)), "Ask the neighbour."));
}

TEST_CASE("what was printed is shown line by line, of a case that passed too")
{
    json passed = a_case("scale: one", "PASS", 5), failed = a_case("shift: one", "WRONG_ANSWER");
    passed["printed"] = "i = 0\ni = 1";
    std::string text =
        text_of(draw(showing(result({passed, failed}, 5)), todo_list(""), plain(80), 24));
    CHECK(contains(text, "  scale: one passed, and printed:\n  | i = 0\n  | i = 1\n"));
    json other = passed;
    other["name"] = "scale: two";
    text = text_of(draw(showing(result({passed, other, failed}, 5)), todo_list(""), plain(80), 24));
    CHECK(contains(text, "scale: one passed, and printed, as 1 other case did:\n  | i = 0\n"));
    CHECK(contains(text, "./workbook grade 02 --case NAME"));
    failed["printed"] = "i = 7"; // a failure comes first
    text = text_of(draw(showing(result({passed, failed}, 5)), todo_list(""), plain(80), 24));
    CHECK(contains(text, "  It printed:\n  | i = 7\n"));
    CHECK_FALSE(contains(text, "i = 0"));
}

TEST_CASE("while a save is graded, the last verdict stays to be read, and the seconds go by")
{
    watch_state s = showing(result({a_case("scale: one", "WRONG_ANSWER")}, 5));
    s.now = watch_state::phase::grading;
    s.step = "Grading what was saved at 10:20:31 ...";
    s.waited = 3;
    terminal colours = plain(80);
    colours.colour = true;
    std::string text = text_of(draw(s, todo_list(""), colours, 24));
    CHECK(contains(text, "Grading what was saved at 10:20:31 ... 3 s\n\n"));
    CHECK(contains(text, "\033[2mWRONG_ANSWER  scale: one\033[0m\n"));
    CHECK(contains(text, "\033[2m  data[3] is 7, expected 8.\033[0m\n"));
    CHECK_FALSE(contains(text, "graded in"));
}

TEST_CASE("the columns of the table stand below each other")
{
    json document = result({a_case("scale_each_column_of_many: one", "PASS", 5)}, 5);
    document["labs"][0]["cases"].push_back(a_case("shift: one", "NOT_WRITTEN"));
    todo_list todos("// TODO 1 (shift): A.\n// TODO 2 (shift): B.\n// TODO 3 (shift): C.\n");
    for (int width : {72, 80, 120}) {
        CAPTURE(width);
        std::vector<std::string> screen = draw(showing(document), todos, plain(width), 24);
        std::vector<std::size_t> at;
        for (const std::string &line : screen)
            if (line.starts_with("ok ") || line.starts_with("todo "))
                at.push_back(line.find(" / 5"));
        REQUIRE(at.size() == 2);
        CHECK(at[0] == at[1]);
        CHECK(at[0] != std::string::npos);
    }
}

TEST_CASE("all points: what is next; points left: where")
{
    watch_state s = showing(result({a_case("scale: one", "PASS", 10)}, 10, "pass"));
    s.next = {"The next lab: q, then ./workbook watch 04"};
    std::string text = text_of(draw(s, todo_list(""), plain(80), 24));
    CHECK(contains(text, "All 10 points.\n  The next lab"));
    s = showing(result({a_case("scale: fast", "PASS", 3)}, 3, "pass"));
    CHECK(contains(text_of(draw(s, todo_list(""), plain(80), 24)),
                   "Points are left in:\n  scale: fast: 3 / 5"));
}

TEST_CASE("what is open is named, and is neither a failure nor left to do")
{
    json skipped = a_case("ranks: two", "SKIPPED");
    skipped["message"] = "There is no MPI.";
    skipped["hint"] = "";
    skipped["open_points"] = 5;
    json document = result({a_case("scale: one", "PASS", 5), skipped}, 5, "skipped");
    document["labs"][0]["open_points"] = 5;
    watch_state s = showing(document);
    s.best = 5;
    s.next = {"The next lab: q."};
    std::string text = text_of(draw(s, todo_list(""), plain(80), 24));
    CHECK(contains(text, "] 5 / 10 points, 5 open   10:20:30"));
    CHECK(contains(text, "All points but those that are open.\n"
                         "  5 points are open: ranks: two. There is no MPI.\n"
                         "  The next lab: q.\n"));
    CHECK(contains(text, "open  ranks              0 of 1 cases           0 / 5, 5 open\n"));
    CHECK_FALSE(contains(text, "FAIL"));
    CHECK_FALSE(contains(text, "Points are left"));
    text = text_of(draw(s, todo_list(""), plain(80), 9));
    CHECK(contains(text, "Functions: 1 right, 0 wrong, 0 to do, 1 open"));
    document["labs"][0]["points"] = 3; // for example of speed
    document["labs"][0]["cases"][0]["points"] = 3;
    text = text_of(draw(showing(document), todo_list(""), plain(80), 24));
    CHECK(contains(text, "Points are left in:\n  scale: one: 3 / 5\n"));
    CHECK_FALSE(contains(text, "ranks: two: 0 / 5"));
    CHECK(contains(text, "  5 points are open: ranks: two."));
}

TEST_CASE("the loop: grades at once, after a save by any means, and by r; q ends it")
{
    project p;
    p.put("labs/02_scaling/stub.cu", "// wrong\n");
    std::string grade = grading_script(p), stub = p.tools.stub(p.only_lab());
    session s(p, grade);
    CHECK(s.sees("Grading what was saved"));
    CHECK(s.sees("WRONG_ANSWER  scale: one"));
    p.put("labs/02_scaling/stub.cu", "// right\n"); // by renaming
    CHECK(s.sees("All 10 points."));
    p.put("labs/02_scaling/stub.cu~", "// wrong again\n");
    std::filesystem::copy_file(stub + "~", stub, std::filesystem::copy_options::overwrite_existing);
    CHECK(s.sees("WRONG_ANSWER  scale: one"));
    s.type("r");
    CHECK(s.sees("Grading what was saved"));
    CHECK(s.sees("graded in")); // until then the previous verdict is shown
    CHECK(s.sees("WRONG_ANSWER  scale: one"));
    s.type("q");
    CHECK(s.ends() == passed);
    CHECK(s.terminal_is_as_before());
    CHECK(read_text(p.root + "/runs") == "// wrong\n// right\n// wrong again\n// wrong again\n");
}

TEST_CASE("the loop: h shows each hint, and after the last all of them again")
{
    project p;
    p.put("labs/02_scaling/stub.cu", "// TODO 1 (scale): A. wrong\n");
    p.put("labs/02_scaling/hints.md", "## TODO 1: first\n\nLook.\n\n## TODO 1: second\n\nThink.\n");
    session s(p, grading_script(p));
    CHECK(s.sees("keys: h hint for TODO 1 "));
    CHECK(s.sees("graded in"));
    for (int round = 0; round < 2; ++round) {
        s.type("h");
        CHECK(s.sees("Hint 1 of 2 for TODO 1: first"));
        s.type("h");
        CHECK(s.sees("Hint 2 of 2 for TODO 1: second"));
        CHECK(s.sees("That was the last."));
        CHECK(s.sees("keys: h hints again for TODO 1 "));
    }
}

TEST_CASE("with a GPU the simulator's verdict is shown first, and the whole before the grade ends")
{
    project p;
    p.put("labs/02_scaling/stub.cu", "// both\n");
    session s(p, grading_script(p));
    CHECK(s.sees("so far by the simulator"));
    CHECK(s.sees("WRONG_ANSWER"));
    std::ofstream(p.root + "/never") << "go on\n";
    CHECK(s.sees("All 10 points"));
    p.put("labs/02_scaling/stub.cu", "// wrong, lingers\n");
    CHECK(s.sees("WRONG_ANSWER"));
    s.type("q"); // a grade that still ends its workers delays nobody
    CHECK(s.ends() == passed);
}

TEST_CASE("the loop: a save ends the grade that is running")
{
    project p;
    p.put("labs/02_scaling/stub.cu", "// hold\n");
    session s(p, grading_script(p));
    CHECK(s.sees("building the grader"));
    p.put("labs/02_scaling/stub.cu", "// right\n");
    CHECK(s.sees("All 10 points."));
    CHECK(read_text(p.root + "/runs") == "// hold\n// right\n");
}

TEST_CASE("the loop: a grade that dies is said and tried again; a file may go and come")
{
    project p;
    p.put("labs/02_scaling/stub.cu", "// crash\n");
    session s(p, grading_script(p));
    CHECK(s.sees("This is not about your file"));
    std::filesystem::remove(p.tools.stub(p.only_lab()));
    CHECK(s.sees("is not there"));
    p.put("labs/02_scaling/stub.cu", "// right\n");
    CHECK(s.sees("All 10 points."));
}

TEST_CASE("the loop: signals give the terminal back")
{
    project p;
    for (int number : {SIGINT, SIGTERM, SIGHUP}) {
        p.put("labs/02_scaling/stub.cu", "// hold\n");
        std::filesystem::remove(p.root + "/never");
        session s(p, grading_script(p));
        CHECK(s.sees("building the grader"));
        if (number == SIGINT)
            s.type("\003"); // Ctrl-C
        else
            s.tell(number);
        CHECK(s.ends() == stopped);
        CHECK(s.terminal_is_as_before());
    }
}

TEST_CASE("the loop: it ends with its terminal")
{
    project p;
    p.put("labs/02_scaling/stub.cu", "// hold\n");
    session s(p, grading_script(p));
    CHECK(s.sees("building the grader"));
    s.hang_up();
    CHECK(s.ends() == stopped);
}

TEST_CASE("the loop: a terminal that cannot move its cursor gets no escape sequence")
{
    project p;
    p.put("labs/02_scaling/stub.cu", "// right\n");
    session s(p, grading_script(p), "dumb");
    CHECK(s.sees("All 10 points."));
    s.type("q");
    CHECK(s.ends() == passed);
    CHECK_FALSE(s.saw_escapes());
}
