// The release command, which writes a student edition and tests it.
#include "commands.hpp"

#include "cli/check/judgement.hpp"
#include "cli/grading/backend.hpp"
#include "cli/results/lab_names.hpp"
#include "cli/results/student_edition.hpp"
#include "cli/submission/ninja.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/subprocess.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

namespace cli {

namespace fs = std::filesystem;

namespace {

// A temporary folder beside the final one, so that a rename can move its contents.
class staging_folder {
public:
    explicit staging_folder(const fs::path &wanted) : path_(wanted.string() + ".partial-XXXXXX")
    {
        if (!mkdtemp(path_.data()))
            throw usage_error(
                fmt::format("cannot write beside {}: {}", wanted.string(), std::strerror(errno)));
        fs::permissions(path_, fs::perms(0755));
    }
    ~staging_folder()
    {
        std::error_code ignored; // a leftover is recognisable by its name
        fs::remove_all(path_, ignored);
    }
    staging_folder(const staging_folder &) = delete;
    std::string at(const std::string &name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

std::string asked_git(const std::string &root, const std::vector<std::string> &words)
{
    exit_result e = run_git(root, words);
    if (!e.ok())
        throw usage_error(fmt::format("A release holds the files that git has, and git says of {}: "
                                      "{}",
                                      root, sanitized(e.text, 500)));
    return e.text;
}

fs::path folder_to_make(const toolchain &t, const std::string &named)
{
    fs::path wanted = fs::absolute(named).lexically_normal();
    if (!wanted.has_filename()) wanted = wanted.parent_path(); // "DIR/"
    std::string shown = shell_word(sanitized(named, 400));
    std::error_code error;
    fs::path above = fs::canonical(wanted.parent_path(), error);
    if (error || !fs::is_directory(above))
        throw usage_error(fmt::format("{} cannot be made: there is no folder {}", shown,
                                      wanted.parent_path().string()));
    wanted = above / wanted.filename();
    if (fs::exists(fs::symlink_status(wanted)) && !fs::is_directory(fs::symlink_status(wanted)))
        throw usage_error(fmt::format("{} is there already, and is no folder", shown));
    if (fs::exists(wanted) && !fs::is_empty(wanted))
        throw usage_error(fmt::format("{} is not empty; name a folder that is not there yet: a "
                                      "release never writes over anything",
                                      shown));
    if ((above.string() + "/").starts_with(fs::canonical(t.source_root).string() + "/"))
        throw usage_error(
            fmt::format("{} lies inside this workbook; name a folder outside of it", shown));
    return wanted;
}

// Throws usage_error if there are uncommitted changes, which would be missing from the release;
// edited stubs and files unknown to git are only mentioned.
void require_committed(const std::string &root)
{
    std::string said = asked_git(root, {"status", "--porcelain", "--", "."});
    std::vector<std::string> changed, stubs, unknown;
    for (const std::string &line : lines(said)) {
        std::string name = sanitized(line.substr(std::min<std::size_t>(3, line.size())), 200);
        bool stub = name.find("labs/") != name.npos && name.ends_with("/stub.cu");
        (line.starts_with("??") ? unknown : stub ? stubs : changed).push_back(name);
    }
    if (!changed.empty())
        throw usage_error(fmt::format("A release holds what is committed, and these files have "
                                      "changes that are not:\n  {}\nCommit them or put them aside "
                                      "(git stash), then repeat.",
                                      fmt::join(changed, "\n  ")));
    if (!stubs.empty())
        fmt::print("Edited, and in the release as committed: {}\n", fmt::join(stubs, ", "));
    if (!unknown.empty())
        fmt::print("Not known to git, so not in the release: {}\n", fmt::join(unknown, ", "));
}

edition chosen(const toolchain &t, const std::vector<std::string> &words)
{
    std::vector<std::string> all = t.lab_names(false);
    edition e;
    e.version = tool_version;
    e.commit = without_line_ends(asked_git(t.source_root, {"rev-parse", "HEAD"}));
    e.labs = find_labs(words, all);
    for (const std::string &lab : all)
        if (std::ranges::find(e.labs, lab) == e.labs.end()) e.left_out.push_back(lab);
    if (e.labs.empty()) throw usage_error("this workbook has no labs yet");
    return e;
}

// Returns the points of held-back cases by lab, as the graders built here have them: the file may
// be one that git does not have.
std::map<std::string, double> held_back_in(const toolchain &t, const std::vector<std::string> &labs)
{
    std::map<std::string, double> points;
    progress_line progress;
    for (const std::string &name : labs) {
        const lab &l = lab_called(t, name);
        if (!fs::exists(fs::path(t.header(l)).parent_path() / held_back_file)) continue;
        build_targets(t, {t.grader(l)}, progress);
        if (const double held_back = points_offered(t, l).held_back; held_back > 0)
            points[name] = held_back;
    }
    return points;
}

// Does in a copy of the edition everything that a student will do.
class proof {
public:
    proof(const toolchain &whole, const edition &e, const std::string &folder)
        : whole_(whole), edition_(e), folder_(folder)
    {
        // The packages fetched for the workbook serve the copy as well.
        if (fs::exists(whole.source_root + "/.venv"))
            fs::create_symlink(whole.source_root + "/.venv", folder + "/.venv");
    }
    void all()
    {
        tests();
        tools_ = read_toolchain(folder_ + "/build-test/toolchain.json");
        for (const std::string &lab : edition_.labs) stub(lab_called(tools_, lab));
        for (const auto &words : commands_of(read_text(folder_ + "/README.md")))
            if (words != std::vector<std::string>{"test"}) command(words);
    }

private:
    child in_edition(std::vector<std::string> arguments) const
    {
        child c;
        c.arguments = std::move(arguments);
        c.folder = folder_;
        c.environment.emplace();
        for (char **word = environ; *word; ++word)
            if (!std::string_view(*word).starts_with("CUDA_WORKBOOK_TOOLCHAIN="))
                c.environment->emplace_back(*word);
        return c;
    }

    // Configures and builds everything and runs the tests, some of which grade the stubs.
    void tests()
    {
        child c = in_edition({folder_ + "/workbook", "test"});
        c.wall = std::chrono::hours(1);
        std::deque<std::string> last;
        std::vector<std::string> skipped;
        c.each_line = [&](std::string_view line) {
            progress_.say("./workbook test: " + sanitized(line, 200));
            if (line.find(" OK  ") != line.npos) return; // meson's line for a passed test
            last.push_back(sanitized(line, 400));
            if (last.size() > 60) last.pop_front();
            if (line.starts_with("skipped ")) skipped.push_back(last.back());
        };
        progress_.say("building and testing the edition, which takes some minutes");
        exit_result e = run(c);
        progress_.clear();
        if (!e.ok())
            throw machine_error(fmt::format("./workbook test {} in the edition. It said last:\n{}",
                                            e.words(), fmt::join(last, "\n")));
        done("./workbook test",
             fmt::format("{}, {:.0f} s", last.empty() ? "" : last.back(), e.seconds));
        for (const std::string &line : skipped) fmt::print("    {}\n", line);
    }

    lab_view graded_with(const lab &l, const subject &what)
    {
        progress_.say(fmt::format("grading {} of {}", what.name, l.name));
        grade_options options;
        options.backend = "sim";
        options.seed = choose_seed("");
        build_for_grading(tools_, {{&l, what}}, options.backend, progress_);
        documents_.push_back(grade_one(tools_, l, what, options).document);
        progress_.clear();
        return labs_of(documents_.back()).at(0);
    }

    // Checks that a stub compiles, passes no case, and becomes correct by added lines alone.
    void stub(const lab &l)
    {
        lab_view empty = graded_with(l, stub_of(tools_, l));
        std::size_t unwritten = 0;
        for (const case_view &c : empty.cases) {
            unwritten += c.verdict == "NOT_WRITTEN";
            if (c.verdict != "NOT_WRITTEN" && c.verdict != "SKIPPED")
                throw machine_error(fmt::format("the stub of {} must not be written yet, but {} is "
                                                "{}: {}",
                                                l.name, c.name, c.verdict, c.message));
        }
        if (unwritten == 0 || empty.points > 0)
            throw machine_error(fmt::format("the stub of {} has {} and no case that says that it "
                                            "is not written",
                                            l.name, points_words(empty.points, empty.max_points)));
        std::string filled = whole_.source(lab_called(whole_, l.name), "filled");
        std::string lost = line_not_kept(read_text(tools_.stub(l)), read_text(filled));
        if (!lost.empty())
            throw machine_error(fmt::format("{} must be the stub with lines added, but does not "
                                            "keep its line: {}",
                                            whole_.shown(filled), lost));
        lab_view right = graded_with(l, file_of(filled));
        std::string wrong = wrong_answers(right);
        if (!wrong.empty())
            throw machine_error(
                fmt::format("{} is not right in the edition: {}", whole_.shown(filled), wrong));
        done(l.name,
             fmt::format("stub: {} NOT_WRITTEN, {} points; with lines added every answer is "
                         "right, {}",
                         plural(unwritten, "case"), points_words(empty.points, empty.max_points),
                         points_words(right.points, right.max_points)));
    }

    // Checks that a command named on a page works: only its --help if it waits for the student or
    // needs an argument of theirs.
    void command(std::vector<std::string> words)
    {
        std::string shown =
            fmt::format("./workbook{}{}", words.empty() ? "" : " ", fmt::join(words, " "));
        bool help = std::ranges::any_of(words, [](const std::string &word) {
            return word == "watch" || word == "reset" || word == "start" ||
                   std::ranges::all_of(word, [](unsigned char c) { return std::isupper(c); });
        });
        if (help) words = {words[0], "--help"};
        words.insert(words.begin(), tools_.build_root + "/cuda-workbook");
        exit_result e = run(in_edition(std::move(words)));
        if (e.what != exit_result::exited || (e.status != passed && e.status != failed))
            throw machine_error(fmt::format("README.md names {}, which {} in the edition. It "
                                            "said:\n{}",
                                            shown, e.words(), sanitized(e.text, 2000)));
        done(shown, help ? "its --help answers" : e.words());
    }

    void done(const std::string &what, const std::string &how)
    {
        terminal out = detect_terminal(1);
        fmt::print("{}  {}\n", good(out, "ok"), wrapped(what + ": " + how, out.width - 4, 4));
    }

    const toolchain &whole_;
    const edition &edition_;
    std::string folder_;
    toolchain tools_; // the edition's
    progress_line progress_;
    std::deque<json> documents_; // the views point into them
};

} // namespace

std::vector<std::vector<std::string>> commands_of(const std::string &page)
{
    std::vector<std::vector<std::string>> result;
    constexpr std::string_view start = "./workbook";
    for (std::size_t at = 0; (at = page.find(start, at)) != page.npos; at += start.size()) {
        std::size_t end = page.find_first_of("`#\n", at);
        std::istringstream rest(page.substr(at + start.size(), end - at - start.size()));
        std::vector<std::string> words;
        for (std::string word; rest >> word;) words.push_back(word);
        if (std::ranges::find(result, words) == result.end()) result.push_back(words);
    }
    return result;
}

int release_command(const toolchain &t, const release_options &options)
{
    if (is_student_edition(t.source_root))
        throw usage_error("this is a student edition; a release is made from the whole workbook");
    fs::path wanted = folder_to_make(t, options.folder);
    require_committed(t.source_root);
    edition e = chosen(t, options.words);
    e.held_back = held_back_in(t, e.labs);
    staging_folder staging(wanted);
    std::string tree = staging.at("edition");
    fs::create_directory(tree);
    std::size_t count = write_edition(e, t.source_root, tree);
    std::vector<std::string> faults = edition_faults(t.source_root, tree);
    if (!faults.empty())
        throw machine_error(fmt::format("The edition shows what it must not, or names what it does "
                                        "not have:\n  {}",
                                        fmt::join(faults, "\n  ")));
    fmt::print("{} of commit {}: {}, without solutions\n", plural(e.labs.size(), "lab"),
               e.commit.substr(0, 12), plural(count, "file"));
    for (const auto &[lab, points] : e.held_back)
        fmt::print("{}: without its held-back cases, {:g} points; each grade there says how many\n",
                   lab, points);
    if (options.proof) {
        std::string copy = staging.at("proof");
        fs::copy(tree, copy, fs::copy_options::recursive);
        proof(t, e, copy).all();
    }
    fs::rename(tree, wanted); // replaces an empty folder
    fmt::print("{}: the student edition {}\n", wanted.string(),
               options.proof ? "is made, and works" : "is made, and nothing proves that it works");
    return passed;
}

} // namespace cli
