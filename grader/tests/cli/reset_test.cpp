// Tests that reset restores the original stub and loses no work of the student.
#include "cli/commands/commands.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/support/errors.hpp"
#include "cli_project.hpp"

#include <fcntl.h>
#include <unistd.h>

using namespace cli;

namespace {

constexpr const char *handed_out = "// Not written.\n#include \"lab.hpp\"\n";

void git(const project &p, std::vector<std::string> words)
{
    child c;
    c.arguments = {"git", "-C", p.root, "-c", "user.name=a", "-c", "user.email=a@b.example"};
    c.arguments.insert(c.arguments.end(), words.begin(), words.end());
    REQUIRE(run(c).ok());
}

std::vector<std::string> kept(const project &p)
{
    std::vector<std::string> texts;
    for (const auto &file : std::filesystem::directory_iterator(p.root + "/.workbook/kept"))
        texts.push_back(read_text(file.path().string()));
    return texts;
}

// Runs a command without a terminal and discards its output.
template <class F> int silently(F command)
{
    std::fflush(stdout);
    int before = dup(1), null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    int status = -1;
    try {
        status = command();
    } catch (...) {
        std::fflush(stdout);
        dup2(before, 1);
        close(before), close(null);
        throw;
    }
    std::fflush(stdout);
    dup2(before, 1);
    close(before), close(null);
    return status;
}

int reset(const project &p, bool agreed)
{
    return silently([&] { return reset_command(p.tools, "scaling", agreed); });
}

// The build of this project writes empty functions.
void build_empty_functions(project &p)
{
    p.tools.ninja = p.script("ninja", "echo '// Empty.' >" + p.root + "/build/02_scaling.open.cu");
}

int start(const project &p, bool open, bool agreed)
{
    return silently([&] { return start_command(p.tools, "scaling", open, agreed); });
}

} // namespace

TEST_CASE("without git the copy of the first run is the original")
{
    project p;
    std::string stub = p.tools.stub(p.only_lab());
    CHECK_THROWS_AS(reset(p, true), machine_error); // no original exists
    copy_stubs(p.tools);
    p.put("labs/02_scaling/stub.cu", "mine\n");
    copy_stubs(p.tools); // changes nothing the second time
    CHECK(original_stub(p.tools, p.only_lab()).text == handed_out);
    CHECK(original_stub(p.tools, p.only_lab()).where == ".workbook/stubs/02_scaling.cu");
    CHECK(reset(p, true) == passed);
    CHECK(read_text(stub) == handed_out);
    CHECK(kept(p) == std::vector<std::string>{"mine\n"});
}

TEST_CASE("it asks, and refuses where it cannot")
{
    project p;
    copy_stubs(p.tools);
    CHECK(reset(p, false) == passed); // an unchanged stub needs no question
    p.put("labs/02_scaling/stub.cu", "mine\n");
    int null = open("/dev/null", O_RDONLY), before = dup(0);
    dup2(null, 0);
    CHECK_THROWS_AS(reset(p, false), usage_error);
    dup2(before, 0);
    close(before), close(null);
    CHECK(read_text(p.tools.stub(p.only_lab())) == "mine\n");
}

TEST_CASE("every copy stays, also of the same second")
{
    project p;
    copy_stubs(p.tools);
    for (const char *text : {"a\n", "b\n", "c\n"}) {
        p.put("labs/02_scaling/stub.cu", text);
        CHECK(reset(p, true) == passed);
    }
    std::vector<std::string> all = kept(p);
    std::sort(all.begin(), all.end());
    CHECK(all == std::vector<std::string>{"a\n", "b\n", "c\n"});
}

TEST_CASE("git's last commit is the original where there is git; a lost file comes back")
{
    project p;
    git(p, {"init", "-q"});
    git(p, {"add", "labs"});
    git(p, {"commit", "-qm", "stub"});
    p.put("labs/02_scaling/stub.cu", "mine\n");
    git(p, {"add", "labs"}); // staged only, not committed
    stub_original original = original_stub(p.tools, p.only_lab());
    CHECK(original.text == handed_out);
    CHECK(contains(original.where, "git's commit "));
    CHECK(reset(p, true) == passed);
    CHECK(read_text(p.tools.stub(p.only_lab())) == handed_out);
    std::filesystem::remove(p.tools.stub(p.only_lab()));
    CHECK(reset(p, true) == passed);
    CHECK(read_text(p.tools.stub(p.only_lab())) == handed_out);
}

TEST_CASE("a stub that is a link stays one")
{
    project p;
    copy_stubs(p.tools);
    std::string stub = p.tools.stub(p.only_lab()), mine = p.put("home/mine.cu", "mine\n");
    std::filesystem::remove(stub);
    std::filesystem::create_symlink(mine, stub);
    CHECK(reset(p, true) == passed);
    CHECK(std::filesystem::is_symlink(stub));
    CHECK(read_text(mine) == handed_out);
}

TEST_CASE("start --open puts empty functions there, and keeps what the student wrote, and no more")
{
    project p;
    build_empty_functions(p);
    copy_stubs(p.tools);
    const std::string stub = p.tools.stub(p.only_lab());
    CHECK(start(p, true, false) == passed); // nothing is lost, so nothing is asked
    CHECK(read_text(stub) == "// Empty.\n");
    CHECK_FALSE(std::filesystem::exists(p.root + "/.workbook/kept"));
    p.put("labs/02_scaling/stub.cu", "mine\n");
    CHECK(start(p, true, true) == passed);
    CHECK(read_text(stub) == "// Empty.\n");
    CHECK(kept(p) == std::vector<std::string>{"mine\n"});
    CHECK(start(p, false, false) == passed); // empty functions are no work: nothing to ask or keep
    CHECK(read_text(stub) == handed_out);
    CHECK(kept(p) == std::vector<std::string>{"mine\n"});
}
