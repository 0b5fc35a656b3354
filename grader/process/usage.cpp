// Adds up memory, threads and time of all processes below a keeper, read from /proc.
#include "usage.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <system_error>
#include <utility>

namespace grading {

namespace {

std::size_t allocated_bytes(const struct stat &s)
{
    return static_cast<std::size_t>(s.st_blocks) * 512;
}

// The resources of several processes. An open memory file counts with all its allocated pages,
// mapped or not, and once.
struct resources {
    std::size_t anonymous = 0, shared = 0; // mapped bytes; shared ones count once per process
    int threads = 0;
    std::uint64_t ticks = 0; // processor time
    std::map<std::pair<dev_t, ino_t>, std::size_t> files;

    std::size_t bytes() const
    {
        std::size_t open = 0;
        for (const auto &[file, size] : files) open += size;
        return anonymous + std::max(shared, open);
    }
};

// Returns the path in /proc of a thread that still runs. If the main thread ends before the others,
// the process's own entry in /proc is empty.
std::string alive_in_proc(pid_t pid)
{
    const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
    std::error_code gone; // set when the process or a thread has ended
    for (std::filesystem::directory_iterator at(tasks, gone), end; !gone && at != end;
         at.increment(gone)) {
        std::ifstream file(at->path() / "status");
        for (std::string line; std::getline(file, line);)
            if (line.starts_with("RssAnon:")) return at->path();
    }
    return tasks + "/" + std::to_string(pid);
}

// Returns the clock ticks of all its threads, including ended ones, and of children that it waited
// for: utime, stime, cutime and cstime.
std::uint64_t ticks_of(pid_t pid)
{
    const std::vector<std::string> stat = stat_of(pid);
    std::uint64_t sum = 0;
    for (std::size_t field = 11; field < std::min<std::size_t>(15, stat.size()); ++field)
        sum += std::stoull(stat[field]);
    return sum;
}

// Adds the mapped memory of a process without `excluded` bytes of files that belong to others.
void add_mapped(const std::string &process, std::size_t excluded, resources &to)
{
    std::ifstream file(process + "/status");
    std::size_t shared = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("RssAnon:")) to.anonymous += std::stoull(line.substr(8)) << 10;
        if (line.starts_with("VmPTE:")) to.anonymous += std::stoull(line.substr(6)) << 10;
        if (line.starts_with("RssShmem:")) shared = std::stoull(line.substr(9)) << 10;
        if (line.starts_with("Threads:")) to.threads += std::stoi(line.substr(8));
    }
    to.shared += shared - std::min(shared, excluded);
}

void add_open_files(const std::string &process, resources &to)
{
    std::error_code gone; // set when the process has ended or the descriptor is closed
    for (std::filesystem::directory_iterator at(process + "/fd", gone), end; !gone && at != end;
         at.increment(gone)) {
        std::error_code closed;
        std::string name = std::filesystem::read_symlink(at->path(), closed).string();
        struct stat s {};
        if (name.starts_with("/memfd:") && stat(at->path().c_str(), &s) == 0)
            to.files[{s.st_dev, s.st_ino}] = allocated_bytes(s);
    }
}

// Returns the children of all its threads.
std::vector<pid_t> children_of(pid_t pid)
{
    std::vector<pid_t> result;
    std::error_code gone; // set when the process or a thread has ended
    for (std::filesystem::directory_iterator at("/proc/" + std::to_string(pid) + "/task", gone),
         end;
         !gone && at != end; at.increment(gone)) {
        std::ifstream file(at->path() / "children");
        result.insert(result.end(), std::istream_iterator<pid_t>(file), {});
    }
    return result;
}

void add_below(pid_t pid, std::size_t excluded, resources &to)
{
    for (pid_t child : children_of(pid)) {
        const std::string process = alive_in_proc(child);
        add_mapped(process, excluded, to);
        to.ticks += ticks_of(child);
        add_open_files(process, to);
        add_below(child, excluded, to);
    }
}

// Returns true if a process was forked and has not called execve yet.
bool only_forked(pid_t pid)
{
    constexpr unsigned long forked_without_exec = 0x40; // PF_FORKNOEXEC in the kernel's sched.h
    const std::vector<std::string> stat = stat_of(pid);
    return stat.size() > 6 && (std::stoul(stat[6]) & forked_without_exec) != 0;
}

} // namespace

std::vector<std::string> stat_of(pid_t pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text, '\0');
    std::istringstream after_name(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    return {std::istream_iterator<std::string>(after_name), {}};
}

usage used_from(pid_t keeper, std::initializer_list<int> files)
{
    // The child is the oldest: the keeper adopts orphans after it. Until its execve the child
    // shares this process's pages and runs no code of a submission.
    const std::vector<pid_t> children = children_of(keeper);
    if (children.empty() || only_forked(children[0])) return {};
    std::size_t excluded = 0;
    std::vector<struct stat> stats(files.size());
    auto next = stats.begin();
    for (int file : files)
        if (fstat(file, &*next) == 0) excluded += allocated_bytes(*next++);
    resources held;
    add_below(keeper, excluded, held);
    for (auto s = stats.begin(); s != next; ++s) held.files.erase({s->st_dev, s->st_ino});
    return {held.bytes(), held.threads,
            static_cast<double>(held.ticks) / static_cast<double>(sysconf(_SC_CLK_TCK))};
}

} // namespace grading
