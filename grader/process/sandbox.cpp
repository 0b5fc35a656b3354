// Builds a root of bind mounts on a small tmpfs, entered with pivot_root so that the old root is
// gone, or Landlock's rules for the same list of files.
#include "sandbox.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <linux/mount.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace grading {

namespace fs = std::filesystem;

namespace {

constexpr const char *base = "/tmp";  // every Linux has it; covered in the new namespace only
constexpr int first_descriptor = 400; // above all descriptors of a grader
constexpr int host_proc = first_descriptor - 1;
constexpr std::uint64_t namespaces =
    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS;

// Processes and threads of one sandbox: Linux 5.14 and later count them per user namespace, older
// kernels per user. The grader also counts a worker's threads.
constexpr std::uint64_t max_tasks = 2048;

// Returns the folders of this process's own libraries: the same compiler links a worker.
std::vector<std::string> library_folders()
{
    std::vector<std::string> result{"/usr/lib",
                                    "/usr/lib64",
                                    "/lib",
                                    "/lib64",
                                    "/usr/local/nvidia",
                                    "/nix/store",
                                    "/run/opengl-driver",
                                    "/etc/alternatives"};
    auto add = [](dl_phdr_info *info, std::size_t, void *to) {
        fs::path path = info->dlpi_name;
        if (path.is_absolute())
            static_cast<std::vector<std::string> *>(to)->push_back(path.parent_path().string());
        return 0;
    };
    dl_iterate_phdr(add, &result);
    const char *searched = getenv("LD_LIBRARY_PATH");
    std::istringstream list(searched ? searched : "");
    for (std::string folder; std::getline(list, folder, ':');)
        if (folder.starts_with("/")) result.push_back(folder);
    return result;
}

bool write_file(const char *path, const char *text)
{
    const owned_fd fd(open(path, O_WRONLY | O_CLOEXEC));
    return fd.get() >= 0 && write(fd.get(), text, strlen(text)) >= 0;
}

// Linux before 5.12 has no mount_setattr. There file permissions still restrict an ordinary user,
// so this reports success; nothing restricts user 0.
bool make_read_only(const char *path, bool with_below)
{
    mount_attr wanted{};
    wanted.attr_set = MOUNT_ATTR_RDONLY;
    return syscall(SYS_mount_setattr, AT_FDCWD, path, with_below ? AT_RECURSIVE : 0, &wanted,
                   sizeof wanted) == 0 ||
           (errno == ENOSYS && getuid() != 0);
}

// The machine-wide files in /proc belong to the machine's user 0 in every namespace, so they become
// read-only.
bool make_proc()
{
    constexpr unsigned long plain = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (mount("proc", "/tmp/proc", "proc", plain, nullptr) != 0) return false;
    for (const char *machine_wide :
         {"/tmp/proc/acpi", "/tmp/proc/bus", "/tmp/proc/fs", "/tmp/proc/irq", "/tmp/proc/mtrr",
          "/tmp/proc/sys", "/tmp/proc/sysrq-trigger"}) {
        if (access(machine_wide, F_OK) != 0) continue;
        if (mount(machine_wide, machine_wide, nullptr, MS_BIND | MS_REC, nullptr) != 0)
            return false;
        if (!make_read_only(machine_wide, true)) return false;
    }
    return true;
}

// Brings up the loopback interface of a new network namespace; Open MPI's processes connect by it.
bool raise_loopback()
{
    ifreq wanted{};
    memcpy(wanted.ifr_name, "lo", 3);
    wanted.ifr_flags = IFF_UP | IFF_RUNNING;
    const owned_fd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    return fd.get() >= 0 && ioctl(fd.get(), SIOCSIFFLAGS, &wanted) == 0;
}

} // namespace

const char *name(confinement how)
{
    return how == confinement::namespaces ? "namespaces"
           : how == confinement::landlock ? "landlock"
                                          : "none";
}

sandbox::sandbox(confinement how, sandbox_options options)
    : how_(how),
      options_(options),
      filter_({.processes = options.processes,
               .local_sockets = options.local_sockets,
               .attributes = options.processes || how == confinement::namespaces})
{
    snprintf(uid_map_.data(), uid_map_.size(), "%u %u 1", getuid(), getuid());
    snprintf(gid_map_.data(), gid_map_.size(), "%u %u 1", getgid(), getgid());
    for (const char *own : {"/proc", "/.before"}) make_parents(own + std::string("/x"));
    if (how != confinement::landlock) return;
    landlock_.emplace();
    if (options.proc) landlock_->allow("/proc", false);
}

void sandbox::make_parents(const std::string &to)
{
    for (std::size_t at = 1; (at = to.find('/', at)) != to.npos; ++at) {
        std::string folder = base + to.substr(0, at);
        if (std::ranges::find(folders_, folder) == folders_.end()) folders_.push_back(folder);
    }
}

void sandbox::show(const std::string &from, const std::string &to, bool writable)
{
    for (const bind_mount &m : mounts_) {
        const bool below = m.folder ? (base + to + "/").starts_with(m.to + "/") : base + to == m.to;
        if (below && (m.writable || !writable) && m.from + (base + to).substr(m.to.size()) == from)
            return;
    }
    struct stat s {};
    if (stat(from.c_str(), &s) != 0) return; // not on this machine
    const int descriptor = first_descriptor + static_cast<int>(mounts_.size());
    const bool folder = S_ISDIR(s.st_mode);
    make_parents(folder ? to + "/x" : to);
    mounts_.push_back({from, base + to, descriptor, "/proc/self/fd/" + std::to_string(descriptor),
                       folder, writable});
    if (landlock_) landlock_->allow(from.c_str(), writable);
}

void sandbox::show_system()
{
    for (const std::string &folder : library_folders()) show(folder);
    show("/etc/ld.so.cache");
    for (const char *device : {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"})
        show(device, true);
}

pid_t sandbox::start(int &pidfd) const
{
    // Containers often refuse clone3, so use clone.
    const std::uint64_t flags = how_ == confinement::namespaces ? namespaces : 0;
    return static_cast<pid_t>(
        syscall(SYS_clone, flags | CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr));
}

bool sandbox::map_user() const
{
    // The maps of a non-dumpable process belong to user 0, and no other user may write them.
    prctl(PR_SET_DUMPABLE, 1);
    const bool mapped = write_file("/proc/self/setgroups", "deny") &&
                        write_file("/proc/self/uid_map", uid_map_.data()) &&
                        write_file("/proc/self/gid_map", gid_map_.data());
    prctl(PR_SET_DUMPABLE, 0);
    return mapped;
}

bool sandbox::make_root() const
{
    constexpr unsigned long plain = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
    // The mount below hides everything under /tmp; these descriptors still lead there.
    for (const bind_mount &m : mounts_) {
        const owned_fd fd(open(m.from.c_str(), O_PATH | O_CLOEXEC));
        if (fd.get() < 0 || dup3(fd.get(), m.descriptor, O_CLOEXEC) < 0) return false;
    }
    if (mount("none", base, "tmpfs", MS_NOSUID, "size=1m,mode=0755") != 0) return false;
    // Writable folders of the sandbox, in which files may be shown, too. NCCL shares memory by
    // name.
    mkdir("/tmp/tmp", 0755), mkdir("/tmp/dev", 0755), mkdir("/tmp/dev/shm", 0755);
    if (mount("none", "/tmp/tmp", "tmpfs", plain, "size=64m,mode=1777") != 0) return false;
    if (mount("none", "/tmp/dev/shm", "tmpfs", plain, "size=256m,mode=1777") != 0) return false;
    for (const std::string &folder : folders_) mkdir(folder.c_str(), 0755);
    for (const bind_mount &m : mounts_) {
        if (m.folder)
            mkdir(m.to.c_str(), 0755); // needed inside a folder that was shown before
        else if (owned_fd(open(m.to.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)).get() < 0)
            return false;
        if (mount(m.opened.c_str(), m.to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
            return false;
        // A read-only device can still be written; its mode and owner cannot be changed.
        if ((!m.writable || !m.folder) && !make_read_only(m.to.c_str(), true)) return false;
    }
    // The CUDA driver reads its own entries in /proc. The kernel refuses a new /proc where parts of
    // the machine's are covered, as in containers.
    if (options_.proc && !make_proc()) return false;
    if (syscall(SYS_pivot_root, base, "/tmp/.before") != 0) return false;
    if (chdir("/") != 0 || umount2("/.before", MNT_DETACH) != 0) return false;
    rmdir("/.before");
    return make_read_only("/", false);
}

bool sandbox::enter() const
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (how_ != confinement::namespaces) return true;
    if (!map_user()) return false;
    limit(RLIMIT_NOFILE, 1024); // allows the descriptor numbers that are used here
    const owned_fd proc(open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (proc.get() < 0 || dup3(proc.get(), host_proc, O_CLOEXEC) < 0) return false;
    return make_root() && (!options_.loopback || raise_loopback());
}

int sandbox::open_own_status() const
{
    if (how_ == confinement::namespaces) return openat(host_proc, "self/status", O_RDONLY);
    return open("/proc/self/status", O_RDONLY);
}

bool sandbox::confine() const
{
    // With an empty bounding set, execve adds no capability, not even for user 0.
    for (int capability = 0; how_ != confinement::none && capability < 64; ++capability)
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    if (how_ == confinement::namespaces) limit(RLIMIT_NPROC, max_tasks);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (landlock_) {
        // The CUDA driver writes its threads' names there.
        if (options_.proc) landlock_->allow("/proc/self", true);
        if (!landlock_->enforce()) return false;
    }
    return how_ == confinement::none || filter_.install();
}

confinement available_confinement(bool proc)
{
    auto works = [&](confinement how) {
        sandbox trial(how, {.proc = proc});
        trial.show_system();
        int pidfd = -1, status = -1; // no exit, if nobody can wait for it
        const pid_t pid = trial.start(pidfd);
        if (pid == 0) _exit(trial.enter() && trial.confine() ? 0 : 1);
        if (pid < 0 && (errno == EAGAIN || errno == ENOMEM || errno == EMFILE || errno == ENFILE))
            throw std::system_error(errno, std::generic_category(), "starting a process");
        if (pid < 0) return false;
        close(pidfd);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    };
    auto best = [&] {
        for (confinement how : {confinement::namespaces, confinement::landlock})
            if (works(how)) return how;
        return confinement::none;
    };
    if (proc) {
        static const confinement with_proc = best();
        return with_proc;
    }
    static const confinement without = best();
    return without;
}

void limit(int resource, std::uint64_t max)
{
    rlimit now{};
    getrlimit(static_cast<__rlimit_resource>(resource), &now);
    const rlim_t value = std::min<rlim_t>(max, now.rlim_max);
    // With equal soft and hard limits the kernel sends SIGKILL, which hides the reason.
    const rlim_t last = std::min<rlim_t>(resource == RLIMIT_CPU ? value + 5 : value, now.rlim_max);
    const rlimit wanted{value, last};
    setrlimit(static_cast<__rlimit_resource>(resource), &wanted);
}

void kill_descendants()
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    while (true) {
        const owned_fd fd(open(path, O_RDONLY | O_CLOEXEC));
        const ssize_t got = read(fd.get(), text, sizeof text - 1);
        if (got <= 0) return;
        text[got] = 0;
        for (char *at = text; *at;) {
            const pid_t child = static_cast<pid_t>(strtol(at, &at, 10));
            if (child <= 0 || *at != ' ') break; // the buffer cuts a number off: read again
            kill(child, SIGKILL);
            waitpid(child, nullptr, 0);
            while (*at == ' ') ++at;
        }
    }
}

} // namespace grading
