// Tells other users of a GPU from our own workers.
#include "gpu_sharing.hpp"

#include "usage.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <vector>

namespace grading {

namespace {

constexpr unsigned max_drawing_percent = 10; // of the device's time, by a process that draws

// Returns 0 for a process that /proc does not show.
unsigned parent_of(unsigned pid)
{
    const std::vector<std::string> stat = stat_of(pid_t(pid)); // its state, its parent
    return stat.size() < 2 ? 0 : unsigned(std::strtoul(stat[1].c_str(), nullptr, 10));
}

// True for this process and all below it.
bool is_ours(unsigned pid)
{
    constexpr int max_depth = 100; // a process may end, and its number be given anew, meanwhile
    for (int depth = 0; pid > 1 && depth < max_depth; ++depth) {
        if (pid == unsigned(getpid())) return true;
        pid = parent_of(pid);
    }
    return false;
}

// Counts the processes below this one that may have a CUDA context: a keeper or launcher, which has
// children, has none. Reads all of /proc.
std::size_t count_workers()
{
    std::map<unsigned, unsigned> parents;
    std::error_code gone;
    for (std::filesystem::directory_iterator at("/proc", gone), end; at != end;
         at.increment(gone)) {
        const std::string name = at->path().filename().string();
        if (name.find_first_not_of("0123456789") != name.npos) continue;
        const unsigned pid = unsigned(std::strtoul(name.c_str(), nullptr, 10));
        parents[pid] = parent_of(pid);
    }
    std::set<unsigned> with_children;
    for (const auto &[pid, parent] : parents) with_children.insert(parent);
    return std::size_t(std::ranges::count_if(parents, [&](const auto &p) {
        return p.first != unsigned(getpid()) && !with_children.contains(p.first) &&
               is_ours(p.first);
    }));
}

// With hidepid, /proc does not show the processes of others, but signals tell that they are there.
bool exists(unsigned pid) { return pid > 0 && (kill(pid_t(pid), 0) == 0 || errno == EPERM); }

std::string short_name(const nvml &library, unsigned pid)
{
    std::string name = std::filesystem::path(library.program_of(pid)).filename().string();
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    if (name.empty()) std::getline(file, name);
    for (char &c : name)
        if (c < ' ' || c > '~') c = '?'; // a process chooses its name
    return name.substr(0, 60);
}

bool is_mps(const std::string &name) { return name.starts_with("nvidia-cuda-mps"); }

std::string one_process(const nvml &library, unsigned pid)
{
    const std::string name = short_name(library, pid);
    return fmt::format("another process (pid {}{}) uses this GPU", pid,
                       name.empty() ? "" : ", " + name);
}

// The MPS daemon keeps its process identifier in the folder through which its clients find it. A
// daemon that was killed leaves the file, so its process must be there and have the right name.
bool mps_daemon_runs(const nvml &library)
{
    const char *folder = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
    std::ifstream file(std::filesystem::path(folder && *folder ? folder : "/tmp/nvidia-mps") /
                       "nvidia-cuda-mps-control.pid");
    unsigned pid = 0;
    if (!(file >> pid) || !exists(pid)) return false;
    std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    std::getline(comm, name);
    return is_mps(name) || is_mps(short_name(library, pid));
}

struct users {
    std::string certain;     // in words; empty: none is certain
    std::size_t unknown = 0; // processes that cannot be attributed, more than we have
};

// `workers_of_ours`: this program has workers with a CUDA context, which NVML should list.
users other_users(const nvml &library, nvml::device d, bool workers_of_ours)
{
    if (!d) return {};
    if (library.sliced(d))
        return {"this GPU is divided into slices (MIG mode), whose neighbours share its power and "
                "clock"};
    const nvml::processes listed = library.processes_on(d);
    const std::set<unsigned> compute(listed.compute.begin(), listed.compute.end());
    const std::set<unsigned> graphics(listed.graphics.begin(), listed.graphics.end());
    const bool mps = mps_daemon_runs(library) || !listed.mps_clients.empty() ||
                     std::ranges::any_of(
                         compute, [&](unsigned pid) { return is_mps(short_name(library, pid)); });
    if (mps)
        return {"an MPS daemon (nvidia-cuda-mps-control) lets several processes use this GPU at "
                "the same time"};

    const bool same_namespace = !workers_of_ours || std::ranges::any_of(compute, is_ours);
    const std::size_t workers = same_namespace || compute.empty() ? 0 : count_workers();
    // Where /proc hides our own workers (hidepid), nobody can be told from them.
    if (!same_namespace && workers == 0) return {};
    std::size_t unknown = 0;
    for (unsigned pid : compute) {
        if (graphics.contains(pid) || (same_namespace && is_ours(pid))) continue;
        if (same_namespace && exists(pid)) return {one_process(library, pid)};
        ++unknown;
    }
    for (unsigned pid : graphics)
        if (same_namespace && !is_ours(pid) && exists(pid) &&
            library.busy_percent(d, pid) >= max_drawing_percent)
            return {one_process(library, pid)};
    // 0 stands for each process that is not to be seen from here.
    const std::size_t unseen = std::size_t(std::ranges::count(listed.compute, 0u));
    const std::size_t repeated = unseen > 0 ? unseen - 1 : 0;
    if (!same_namespace) {
        const std::size_t all = unknown + repeated;
        return {"", all - std::min(all, workers)};
    }
    return {"", unknown + repeated};
}

std::string several(std::size_t unknown)
{
    return fmt::format("{} more process{} use{} this GPU than the grader started, from outside of "
                       "this container",
                       unknown, unknown == 1 ? "" : "es", unknown == 1 ? "s" : "");
}

} // namespace

gpu_sharing::gpu_sharing(const std::string &cuda_name) : device_(library_.find(cuda_name)) {}

std::string gpu_sharing::look()
{
    const users now = other_users(library_, device_, true);
    looks_with_unknown_ = now.unknown > 0 ? looks_with_unknown_ + 1 : 0;
    if (!now.certain.empty()) return now.certain;
    return looks_with_unknown_ >= lasting ? several(now.unknown) : "";
}

std::string shared_now(const nvml &library, nvml::device d)
{
    const users now = other_users(library, d, false);
    if (!now.certain.empty()) return now.certain;
    return now.unknown > 0 ? several(now.unknown) : "";
}

} // namespace grading
