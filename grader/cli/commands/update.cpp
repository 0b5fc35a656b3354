// Carries a student's work from an older edition over into this one.
#include "commands.hpp"

#include "cli/results/moved_functions.hpp"
#include "cli/results/progress.hpp"
#include "cli/results/stub_original.hpp"
#include "cli/results/student_edition.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/subprocess.hpp"
#include "cli/terminal/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Compares versions part by part: 0.10.0 is newer than 0.9.1.
bool newer_version(const std::string &a, const std::string &b)
{
    auto parts = [](const std::string &version) {
        std::array<int, 3> numbers{};
        std::istringstream text(version);
        char point;
        for (int &number : numbers) text >> number >> point;
        return numbers;
    };
    return parts(a) > parts(b);
}

// Returns the older edition as far as the functions for stubs and progress need it. Throws
// usage_error if the folder is none.
toolchain older_edition(const toolchain &t, const std::string &named)
{
    const std::string shown = shell_word(sanitized(named, 400));
    std::error_code error;
    const fs::path folder = fs::canonical(named, error);
    if (error)
        throw usage_error(fmt::format("{} cannot be opened: {}. Name the folder of the edition "
                                      "that you worked in.",
                                      shown, lower(error.message())));
    if (!fs::is_directory(folder))
        throw usage_error(fmt::format("{} is no folder. If it is an archive, unpack it, and name "
                                      "the folder.",
                                      shown));
    if (!is_student_edition(folder.string()))
        throw usage_error(fmt::format("{} is no student edition: it has no {}. Name the folder of "
                                      "the edition that you worked in; it holds labs/ and {}.",
                                      shown, edition_file, edition_file));
    if (fs::equivalent(folder, t.source_root))
        throw usage_error(fmt::format("{} is this edition itself. Run ./workbook update in the new "
                                      "edition, and name the folder of the old one.",
                                      shown));
    edition e;
    try {
        e = read_edition(folder.string());
    } catch (const machine_error &damaged) {
        throw usage_error(fmt::format("{}. Nothing was changed.", damaged.what()));
    }
    if (newer_version(e.version, tool_version))
        throw usage_error(fmt::format("{} is version {}, newer than this edition, {}. Run the "
                                      "command there, and name this folder.",
                                      shown, sanitized(e.version, 40), tool_version));
    toolchain old;
    old.source_root = folder.string();
    for (const std::string &name : e.labs) old.labs.emplace_back().name = name;
    return old;
}

// Returns the texts in which a stub may have been handed out: the copy that the edition came with
// or made, and the first that git has. A student commits edited stubs, and may do so before the
// copy is made, so neither alone is sure.
std::vector<std::string> originals(const toolchain &t, const lab &l)
{
    std::vector<std::string> found;
    if (const std::string copy = stub_copy(t, l); fs::exists(copy))
        found.push_back(read_text(copy));
    const std::string name = t.shown(t.stub(l));
    const exit_result log = run_git(t.source_root, {"log", "--format=%H", "--", name});
    const std::vector<std::string> commits = lines(log.ok() ? log.text : "");
    if (commits.empty()) return found;
    exit_result first =
        run_git(t.source_root, {"cat-file", "blob", trimmed(commits.back()) + ":./" + name});
    if (first.ok() && !first.cut) found.push_back(std::move(first.text));
    return found;
}

bool contains_text(const std::vector<std::string> &texts, const std::string &text)
{
    return std::ranges::find(texts, text) != texts.end();
}

// Writes a file beside the stub, without touching another that has the name, and returns its path.
std::string put_beside(const std::string &stub, const std::string &text)
{
    std::string path = stub + ".mine";
    for (int n = 2; fs::exists(fs::symlink_status(path)); ++n) {
        if (fs::is_regular_file(path) && read_text(path) == text) return path;
        path = fmt::format("{}.mine-{}", stub, n);
    }
    write_atomically(path, text, durability::durable);
    return path;
}

// The fate of one lab's stub, in words; empty: it was not edited, so nothing had to be done.
struct carried_stub {
    std::string words;
    bool beside = false; // the student must merge it by hand
};

carried_stub carry_stub(const toolchain &old, const toolchain &t, const lab &l)
{
    const std::string from = old.stub(l), to = t.stub(l);
    if (!fs::exists(from)) return {};
    const std::string mine = read_text(from), original = original_stub(t, l).text;
    const std::string here = fs::exists(to) ? read_text(to) : original;
    if (mine == here) return mine == original ? carried_stub{} : carried_stub{"your file is here"};
    const std::vector<std::string> handed_out = originals(old, l);
    const bool edited = mine != original &&
                        (handed_out.empty() ||
                         std::ranges::any_of(handed_out, [&](auto &text) { return text != mine; }));
    if (!edited) return {};
    // Without an original, lines added to this edition's stub say that it is the same one.
    const bool same_stub = handed_out.empty() ? line_not_kept(original, mine).empty()
                                              : contains_text(handed_out, original);
    if (here == original && same_stub) {
        // If the stub is a symbolic link, its target is written and the link stays.
        write_atomically(fs::exists(to) ? fs::canonical(to).string() : to, mine,
                         durability::durable);
        const bool same_contract =
            fs::exists(old.header(l)) && read_text(old.header(l)) == read_text(t.header(l));
        return {same_contract ? "your file is here"
                              : fmt::format("your file is here; the contract, {}, has changed: "
                                            "read it, then ./workbook grade {}",
                                            t.shown(t.header(l)), number_of(l.name))};
    }
    const std::string beside = t.shown(put_beside(to, mine));
    return {fmt::format("your file is {}, since {}. Copy what you still need from it into {}, then "
                        "./workbook grade {}",
                        beside,
                        here == original ? "the stub has changed in this edition"
                                         : "you have edited the stub of this edition, too",
                        t.shown(to), number_of(l.name)),
            true};
}

// Copies the files that `reset` has kept and returns how many are new here.
std::size_t carry_kept(const toolchain &old, const toolchain &t)
{
    const fs::path from = old.source_root + "/.workbook/kept",
                   to = t.source_root + "/.workbook/kept";
    if (!fs::is_directory(from)) return 0;
    fs::create_directories(to);
    std::size_t count = 0;
    for (const fs::directory_entry &e : fs::directory_iterator(from)) {
        const fs::path copy = to / e.path().filename(); // its name holds the time, to the second
        if (!e.is_regular_file() || fs::exists(fs::symlink_status(copy))) continue;
        write_atomically(copy.string(), read_text(e.path().string()), durability::durable);
        ++count;
    }
    return count;
}

} // namespace

int update_command(const toolchain &t, const std::string &folder)
{
    const toolchain old = older_edition(t, folder);
    const terminal out = detect_terminal(1);
    std::size_t width = 0, edited = 0, beside = 0;
    for (const lab &l : old.labs) width = std::max(width, l.name.size());
    std::vector<std::string> gone;
    for (const lab &l : old.labs) {
        if (std::ranges::find(t.labs, l.name, &lab::name) == t.labs.end()) {
            gone.push_back(sanitized(l.name, 100));
            continue;
        }
        const lab &here = lab_called(t, l.name);
        carried_stub stub = carry_stub(old, t, here);
        if (stub.words.empty()) continue;
        if (const std::string moved = moved_words(t, here, read_text(old.stub(l))); !moved.empty())
            stub.words += ". " + moved;
        ++edited;
        beside += stub.beside;
        fmt::print("  {}  {}\n", padded(l.name, static_cast<int>(width)),
                   wrapped(stub.words, out.width, static_cast<int>(width) + 4));
    }
    const std::size_t kept = carry_kept(old, t);
    const progress_record record = read_progress(old);
    if (record.warning.empty()) add_progress(t, record);

    auto say = [&](const std::string &text) { fmt::print("{}\n", wrapped(text, out.width, 2)); };
    say(edited == 0
            ? "No stub was edited there, so none had to be carried over."
            : fmt::format("{} carried over{}.", plural(edited, "stub"),
                          beside ? fmt::format(", {} of them beside the new stub", beside) : ""));
    if (!record.warning.empty())
        say(fmt::format("The progress there could not be understood, so it was not carried over: "
                        "{}/.workbook/progress.json",
                        old.source_root));
    else if (!record.entries.empty())
        say("Your points and hints are here. They are those of the old edition until you grade "
            "again.");
    if (kept > 0) say(fmt::format("{} kept by reset: .workbook/kept", plural(kept, "file")));
    if (!gone.empty())
        say(fmt::format("Not in this edition, so your files stay there: {}",
                        fmt::join(gone, ", ")));
    say(fmt::format("{} is as it was. Next: ./workbook", shell_word(sanitized(folder, 400))));
    return passed;
}

} // namespace cli
