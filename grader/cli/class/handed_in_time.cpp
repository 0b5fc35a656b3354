// Finds out when a file was handed in, without running anything that a student's repository names.
#include "handed_in_time.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"
#include "cli/support/subprocess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <sys/stat.h>

namespace cli {

namespace fs = std::filesystem;

namespace {

bool is_object_name(const std::string &word)
{
    return (word.size() == 40 || word.size() == 64) &&
           std::ranges::all_of(word, [](unsigned char c) { return std::isxdigit(c); });
}

// The first line of a small file of a stranger's; empty if there is none.
std::string first_line(const fs::path &path)
{
    constexpr std::uintmax_t max_bytes = 1 << 20;
    std::error_code none;
    if (!fs::is_regular_file(fs::symlink_status(path, none)) ||
        fs::file_size(path, none) > max_bytes)
        return {};
    const std::string text = read_text(path.string());
    return trimmed(text.substr(0, text.find('\n')));
}

// Returns the object that a reference names in packed-refs.
std::string packed_reference(const fs::path &git, const std::string &name)
{
    std::error_code none;
    const fs::path path = git / "packed-refs";
    if (!fs::is_regular_file(fs::symlink_status(path, none))) return {};
    for (const std::string &line : lines(read_text(path.string())))
        if (const std::size_t at = line.find(' '); at != line.npos && line.substr(at + 1) == name)
            return line.substr(0, at);
    return {};
}

// Returns the commit that HEAD names; empty if it cannot be said.
std::string head_of(const fs::path &git)
{
    const std::string head = first_line(git / "HEAD");
    if (!head.starts_with("ref: ")) return is_object_name(head) ? head : std::string();
    const std::string name = head.substr(std::strlen("ref: "));
    if (!name.starts_with("refs/") || name.find("..") != name.npos) return {};
    const std::string loose = first_line(git / name);
    const std::string commit = loose.empty() ? packed_reference(git, name) : loose;
    return is_object_name(commit) ? commit : std::string();
}

// A git repository of our own that has no configuration but ours, and borrows a stranger's objects.
class borrowed_objects {
public:
    explicit borrowed_objects(const fs::path &of)
    {
        const fs::path own = folder_.path();
        fs::create_directories(own / "objects/info");
        fs::create_directories(own / "refs");
        write_atomically((own / "HEAD").string(), "ref: refs/heads/none\n");
        write_atomically((own / "objects/info/alternates").string(),
                         (of / "objects").string() + "\n");
        // The commits at which a shallow clone ends.
        std::string shallow;
        std::error_code none;
        if (fs::is_regular_file(fs::symlink_status(of / "shallow", none)))
            for (const std::string &line : lines(read_text((of / "shallow").string())))
                if (is_object_name(line)) shallow += line + "\n";
        if (!shallow.empty()) write_atomically((own / "shallow").string(), shallow);
    }
    // Returns what git prints, trimmed; empty if it fails.
    std::string run(std::vector<std::string> words) const
    {
        child c;
        c.arguments = {"git", "--git-dir=" + folder_.path()};
        c.arguments.insert(c.arguments.end(), words.begin(), words.end());
        const char *path = std::getenv("PATH");
        c.environment = {std::string("PATH=") + (path ? path : "/usr/bin:/bin"),
                         "LC_ALL=C",
                         "GIT_CONFIG_NOSYSTEM=1",
                         "GIT_CONFIG_GLOBAL=/dev/null",
                         "GIT_NO_LAZY_FETCH=1",
                         "GIT_TERMINAL_PROMPT=0"};
        c.wall = std::chrono::seconds(20);
        const exit_result e = cli::run(c);
        return e.ok() ? trimmed(without_line_ends(e.text)) : std::string();
    }

private:
    scratch_folder folder_;
};

// The time of the last commit that changed `file`, which lies below `top`, the working tree.
std::optional<timestamp> time_of_commit(const fs::path &top, const fs::path &file)
{
    const fs::path git = top / ".git";
    std::error_code none;
    if (!fs::is_directory(fs::symlink_status(git, none))) return {};
    const std::string head = head_of(git);
    if (head.empty()) return {};
    const borrowed_objects objects(git);
    const std::string name = file.lexically_relative(top).string();
    const std::string committed = objects.run({"rev-parse", "--verify", "-q", head + ":" + name});
    if (committed.empty() ||
        committed != objects.run({"hash-object", "--no-filters", "--", file.string()}))
        return {};
    const std::string seconds =
        objects.run({"--literal-pathspecs", "log", "-1", "--format=%ct", head, "--", name});
    if (seconds.empty() || seconds.size() > 12 ||
        !std::ranges::all_of(seconds, [](unsigned char c) { return std::isdigit(c); }))
        return {};
    return std::stoll(seconds);
}

} // namespace

handed_in_time time_of(const std::string &file, const std::string &folder)
{
    struct stat s {};
    if (lstat(file.c_str(), &s) != 0)
        throw machine_error(
            fmt::format("cannot read {}: {}", on_one_line(file, 400), lower(std::strerror(errno))));
    const fs::path path = file;
    if (!folder.empty())
        for (fs::path top = path.parent_path();; top = top.parent_path()) {
            if (const auto at = time_of_commit(top, path)) return {*at, true};
            if (top == fs::path(folder) || top == top.root_path()) break;
        }
    return {s.st_mtim.tv_sec, false};
}

} // namespace cli
