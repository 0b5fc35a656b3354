// A GPU's grader that is started while the submission is compiled.
#include "cli/grading/grade_on_both.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/parallel_for.hpp"
#include "cli_project.hpp"
#include "process/cores.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>

using namespace cli;

namespace {

// A grader that tells when it has started on a GPU, and waits for its worker as a real one does.
struct waiting_project : project {
    waiting_project()
    {
        put("result.json",
            R"({"schema": "cuda-workbook/1", "backend": "gpu", "env": {"sandbox": "limits"},
                "labs": [{"lab": "02_scaling", "submission": "mine.cu", "status": "pass",
                          "points": 3, "max_points": 3, "cases": [
                    {"name": "scale: one", "kind": "correctness", "verdict": "PASS", "points": 3,
                     "max_points": 3, "message": "", "hint": ""}]}]})");
        script("build/grade.02_scaling", "cd '" + root + R"sh('
if [ "$1" = --list ]; then echo 3 points, and 0 of the clock, in 1 cases; exit; fi
request=$(mktemp ./request.XXXXXX)
cat >"$request"
field() { sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/" "$request"; }
grep -q worker_lock "$request" || exit 99
flock -n -s "$(field worker_lock)" true || touch compiling
touch started
echo '{"cases":1}'
flock -s "$(field worker_lock)" true || exit 5
[ -e "$(field worker)" ] || exit 3
readlink "$(field worker)" >worker
cp result.json "$(field result)")sh");
        put("build/02_scaling.kept", "_Z5scalePfi\n");
        options.backend = "gpu";
        options.every_gate = true; // the lab has no calibration, nor files that one would be about
        prepared.workers["gpu"] = put("build/program", "");
    }
    bool has(const std::string &name) const { return std::filesystem::exists(root + "/" + name); }
    void wait_until_started() const
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!has("started") && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        REQUIRE(has("started"));
    }

    grade_options options;
    prepared_grade prepared;
    const subject mine = {.name = "mine.cu", .source = put("mine.cu", "void scale(")};
};

// Grades on both backends, where the GPU's grader runs these commands of the shell and no more.
graded grade_where_gpu(const std::string &commands)
{
    waiting_project p;
    p.script("build/grade.02_scaling", "cd '" + p.root + R"sh('
request=$(cat)
case $request in *worker_lock*) )sh" + commands +
                                           R"sh( ;; esac
cp result.json "$(echo "$request" | sed "s/.*\"result\":\"\([^\"]*\)\".*/\1/")")sh");
    p.options.backend = "both";
    const subject ours = {.name = "solution", .source = p.root + "/mine.cu", .ours = true};
    return grade_on_both(p.tools, p.only_lab(), ours, p.options, {});
}

} // namespace

TEST_CASE("a grader is started before its submission is compiled, and told where the program is")
{
    waiting_project p;
    early_grade grade(p.tools, p.only_lab(), p.mine, p.options, {});
    p.wait_until_started();
    CHECK(p.has("compiling"));
    p.prepared.sha256 = "1f";
    p.prepared.warnings = {"mine.cu(3): warning"};
    grade.begin(p.prepared);
    const graded g = grade.result();
    CHECK(g.from_grader);
    CHECK(g.status == passed);
    CHECK(g.worker == p.root + "/build/program");
    CHECK(g.document["labs"][0]["sha256"] == "1f");
    CHECK(g.document["labs"][0]["warnings"][0] == "mine.cu(3): warning");
    CHECK(read_text(p.root + "/worker") == p.root + "/build/program\n");
}

TEST_CASE("a result is taken when it is told, and its grader is waited for")
{
    waiting_project p;
    p.script("build/grade.02_scaling", "cd '" + p.root + R"sh('
request=$(cat)
cp result.json "$(echo "$request" | sed 's/.*"result":"\([^"]*\)".*/\1/')"
echo '{"cases":1}'
echo '{"status":0}'
read -r _ <end
touch ended)sh");
    REQUIRE(mkfifo((p.root + "/end").c_str(), 0600) == 0);
    early_grade grade(p.tools, p.only_lab(), p.mine, p.options, {});
    grade.begin(p.prepared);
    graded g = grade.result();
    CHECK(g.from_grader);
    CHECK(g.status == passed);
    CHECK(!p.has("ended"));
    std::ofstream(p.root + "/end") << "now\n";
    g.ending.reset();
    CHECK(p.has("ended"));
}

TEST_CASE("a grader whose submission is given up is ended")
{
    waiting_project p;
    // This one would not notice that the lock is gone.
    p.script("build/grade.02_scaling", "touch '" + p.root + "/started'; exec sleep 600");
    const auto start = std::chrono::steady_clock::now();
    {
        early_grade grade(p.tools, p.only_lab(), p.mine, p.options, {});
        p.wait_until_started();
    }
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
}

TEST_CASE("on both backends the simulator's part is told while the GPU's goes on")
{
    waiting_project p;
    p.script("build/grade.02_scaling", "cd '" + p.root + R"sh('
request=$(cat)
echo '{"cases":1}'
case $request in *worker_lock*) timeout 60 cat end >told || exit 5 ;; esac
cp result.json "$(echo "$request" | sed 's/.*"result":"\([^"]*\)".*/\1/')")sh");
    REQUIRE(mkfifo((p.root + "/end").c_str(), 0600) == 0);
    p.options.backend = "both";
    const subject ours = {.name = "solution", .source = p.root + "/mine.cu", .ours = true};
    json told;
    const graded g = grade_on_both(p.tools, p.only_lab(), ours, p.options, {}, [&](const json &d) {
        told = d;
        std::ofstream(p.root + "/end") << "go on\n"; // the GPU's grader waits for it
    });
    CHECK(told["labs"][0]["points"] == 3);
    CHECK(read_text(p.root + "/told") == "go on\n");
    CHECK(g.status == passed);
}

TEST_CASE("while the simulator grades, its lock is held, and on few cores that of the clock")
{
    waiting_project p;
    p.script("build/grade.02_scaling", "cd '" + p.root + R"sh('
request=$(cat)
field() { echo "$request" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
free() { flock -n "$1" true && echo free || echo held; }
case $request in
*worker_lock*)
    { field clock_lock; field simulator_lock; } >locks.new
    mv locks.new locks
    echo '{"cases":1}'
    flock -s "$(field worker_lock)" true
    timeout 60 cat end >/dev/null || exit 5 ;;
*)
    timeout 60 sh -c 'until [ -e locks ]; do :; done' || exit 5
    { free "$(sed -n 1p locks)"; free "$(sed -n 2p locks)"; } >during ;;
esac
cp result.json "$(field result)")sh");
    REQUIRE(mkfifo((p.root + "/end").c_str(), 0600) == 0);
    p.options.backend = "both";
    p.options.processes = 4;
    const subject ours = {.name = "solution", .source = p.root + "/mine.cu", .ours = true};
    const graded g = grade_on_both(p.tools, p.only_lab(), ours, p.options, {}, [&](const json &) {
        std::ofstream(p.root + "/end") << "go on\n";
    });
    CHECK(g.status == passed);
    CHECK(read_text(p.root + "/during") ==
          (grading::cores_beside_clock(cores()) > 0 ? "free\nheld\n" : "held\nheld\n"));
}

TEST_CASE("a simulator beside a clock leaves cores to it, and on few cores there is none")
{
    CHECK(grading::cores_beside_clock(2) == 0);
    CHECK(grading::cores_beside_clock(15) == 0);
    CHECK(grading::cores_beside_clock(16) == 12);
    CHECK(grading::cores_beside_clock(64) == 60);
}

TEST_CASE("on both backends a refused file is told at once, whatever the GPU's grader does")
{
    waiting_project p;
    p.options.backend = "both";
    p.use_real_compiler();
    p.script(
        "build/grade.02_scaling",
        "if [ \"$1\" = --list ]; then echo 3 points, and 0 of the clock, in 1 cases; exit; fi\n"
        "exec sleep 600");
    const auto start = std::chrono::steady_clock::now();
    const graded g = grade_on_both(p.tools, p.only_lab(), p.mine, p.options, {});
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
    CHECK(g.status == failed);
    CHECK(labs_of(g.document).at(0).cases.at(0).verdict == "BUILD_FAILED");
}

TEST_CASE("a GPU that turns out to be of no use leaves the simulator's grade")
{
    const graded g = grade_where_gpu("echo 'mine: no CUDA-capable device is detected'; exit 77");
    CHECK(g.status == passed);
    CHECK(g.document["labs"][0]["points"] == 3);
    CHECK(g.without_gpu);
}

TEST_CASE("a GPU's grader that dies before it has said anything is told, and costs nothing")
{
    const graded g = grade_where_gpu("echo 'out of memory'; exit 5");
    CHECK(g.status == passed);
    CHECK_FALSE(g.without_gpu);
    CHECK(g.said.find("out of memory") != g.said.npos);
}

TEST_CASE("on both backends a build that cannot be done ends the GPU's grader")
{
    waiting_project p;
    p.options.backend = "both";
    p.tools.compile_script = p.root + "/absent.sh";
    p.script("build/grade.02_scaling", "exec sleep 600");
    const auto start = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(grade_on_both(p.tools, p.only_lab(), p.mine, p.options, {}), machine_error);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
}
