// Finds out when a file was handed in, without running anything that a student's repository names.
#include "handed_in_time.hpp"

#include "cli/support/errors.hpp"
#include "cli/support/files.hpp"
#include "cli/support/strings.hpp"
#include "cli/support/subprocess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include <sys/resource.h>
#include <sys/stat.h>

namespace cli {

namespace fs = std::filesystem;

namespace {

bool is_object_name(const std::string &word)
{
    return (word.size() == 40 || word.size() == 64) &&
           std::ranges::all_of(word, [](unsigned char c) { return std::isxdigit(c); });
}

// Returns a small file of a stranger's; empty if there is none.
std::string small_file(const fs::path &path)
{
    constexpr std::uintmax_t max_bytes = 1 << 20;
    std::error_code none;
    if (!fs::is_regular_file(fs::symlink_status(path, none)) ||
        fs::file_size(path, none) > max_bytes)
        return {};
    return read_text(path.string());
}

std::string first_line(const fs::path &path)
{
    const std::string text = small_file(path);
    return trimmed(text.substr(0, text.find('\n')));
}

// Returns the object that a reference names in packed-refs.
std::string packed_reference(const fs::path &git, const std::string &name)
{
    for (const std::string &line : lines(small_file(git / "packed-refs")))
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
    borrowed_objects(const fs::path &of, bool sha256)
    {
        const fs::path own = folder_.path();
        fs::create_directories(own / "objects/info");
        fs::create_directories(own / "refs");
        write_atomically((own / "HEAD").string(), "ref: refs/heads/none\n");
        write_atomically((own / "objects/info/alternates").string(),
                         (of / "objects").string() + "\n");
        if (sha256)
            write_atomically((own / "config").string(), "[core]\nrepositoryformatversion = 1\n"
                                                        "[extensions]\nobjectformat = sha256\n");
        std::string shallow;
        for (const std::string &line : lines(small_file(of / "shallow")))
            if (is_object_name(line)) shallow += line + "\n", ends_.insert(line);
        if (!shallow.empty()) write_atomically((own / "shallow").string(), shallow);
    }
    // A shallow clone ends at this commit, which looks as if it had made every file.
    bool ends_at(const std::string &commit) const { return ends_.contains(commit); }
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
        constexpr std::uint64_t max_memory = 2ull << 30; // a stranger's objects may unpack to more
        c.limits = {{RLIMIT_AS, max_memory}};
        const exit_result e = cli::run(c);
        return e.ok() ? trimmed(without_line_ends(e.text)) : std::string();
    }

private:
    scratch_folder folder_;
    std::set<std::string> ends_;
};

// The time of the last commit that changed `file`, which lies below `top`, the working tree. Throws
// machine_error if a shallow clone leaves that commit out.
std::optional<timestamp> time_of_commit(const fs::path &top, const fs::path &file)
{
    const fs::path git = top / ".git";
    std::error_code none;
    if (!fs::is_directory(fs::symlink_status(git, none))) return {};
    const std::string head = head_of(git);
    if (head.empty()) return {};
    constexpr std::size_t sha256_digits = 64;
    const borrowed_objects objects(git, head.size() == sha256_digits);
    const std::string name = file.lexically_relative(top).string();
    const std::string committed = objects.run({"rev-parse", "--verify", "-q", head + ":" + name});
    if (committed.empty() ||
        committed != objects.run({"hash-object", "--no-filters", "--", file.string()}))
        return {};
    const std::string last =
        objects.run({"--literal-pathspecs", "log", "-1", "--format=%H %ct", head, "--", name});
    const std::size_t blank = std::min(last.find(' '), last.size());
    const std::string seconds = trimmed(last.substr(blank));
    if (seconds.empty() || seconds.size() > 12 ||
        !std::ranges::all_of(seconds, [](unsigned char c) { return std::isdigit(c); }))
        return {};
    if (objects.ends_at(last.substr(0, blank)))
        throw machine_error("when it was handed in is not known, because the clone is shallow: "
                            "git fetch --unshallow gets the commit");
    const timestamp at = std::stoll(seconds);
    return rfc3339(at).empty() ? std::nullopt : std::optional(at);
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
