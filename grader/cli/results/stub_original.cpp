// Finds stubs as they were handed out, in git or in a copy made at first use.
#include "stub_original.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"
#include "cli/support/subprocess.hpp"
#include "cli/terminal/file_watcher.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

namespace cli {

namespace fs = std::filesystem;

namespace {

// Returns git's output; nullopt if there is no git, no repository or no such object.
std::optional<std::string> git(const toolchain &t, const std::vector<std::string> &words)
{
    exit_result e = run_git(t.source_root, words);
    if (!e.ok() || e.cut) return {};
    return e.text;
}

} // namespace

std::string stub_copy(const toolchain &t, const lab &l)
{
    return fmt::format("{}/.workbook/stubs/{}.cu", t.source_root, l.name);
}

stub_original original_stub(const toolchain &t, const lab &l)
{
    std::string name = t.shown(t.stub(l));
    if (auto text = git(t, {"cat-file", "blob", "HEAD:./" + name})) {
        auto commit = git(t, {"log", "-1", "--format=%h (%as)", "--", name});
        std::vector<std::string> said = lines(commit.value_or(""));
        return {*text, "git's commit " + (said.empty() ? "HEAD" : sanitized(said[0], 80))};
    }
    std::string copy = stub_copy(t, l);
    if (!fs::exists(copy)) return {};
    return {read_text(copy), t.shown(copy)};
}

original_file original_of(const toolchain &t, const std::string &path)
{
    std::string name = t.shown(path);
    std::optional<std::string> text = git(t, {"cat-file", "blob", ":./" + name});
    original_file original{path, false, text.has_value()};
    original.edited = text && *text != read_text(path);
    if (!original.edited) return original;
    original.path = t.build_root + "/originals/" + name;
    fs::create_directories(fs::path(original.path).parent_path());
    write_atomically(original.path, *text);
    return original;
}

grading::todo_list todos_of(const toolchain &t, const lab &l, const std::string &path)
{
    std::string original = original_stub(t, l).text;
    std::string present = look_at({path})[path].value_or("");
    return grading::todo_list(original.empty() ? present : original, present, l.given_wrong);
}

grading::todo_list todos_of(const toolchain &t, const lab &l) { return todos_of(t, l, t.stub(l)); }

void copy_stubs(const toolchain &t)
{
    for (const lab &l : t.labs) {
        std::string copy = stub_copy(t, l);
        if (l.test || fs::exists(copy)) continue;
        try {
            stub_original known = original_stub(t, l);
            if (known.text.empty() && !fs::exists(t.stub(l))) continue;
            fs::create_directories(fs::path(copy).parent_path());
            write_atomically(copy, known.text.empty() ? read_text(t.stub(l)) : known.text);
        } catch (const fs::filesystem_error &) {
            return;
        } catch (const machine_error &) {
            return;
        }
    }
}

} // namespace cli
