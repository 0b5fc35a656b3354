// Starts children in process groups of their own, under limits, and waits on everything at once.
#include "process.hpp"

#include "errors.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

namespace cli {

namespace {

using steady = std::chrono::steady_clock;

// Written to once when asked to stop and never read, so that every waiting thread sees it.
int stop_pipe[2] = {-1, -1};
volatile sig_atomic_t stop_flag = 0;

void on_signal(int)
{
    stop_flag = 1;
    int saved = errno;
    if (write(stop_pipe[1], "s", 1) < 0) stop_flag = 1; // full: it is readable already
    errno = saved;
}

class descriptor {
public:
    explicit descriptor(int fd = -1) : fd_(fd) {}
    descriptor(descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    ~descriptor() { close(); }
    int get() const { return fd_; }
    void close()
    {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

private:
    int fd_;
};

// Everything the child needs, made before fork: afterwards only system calls are safe.
struct plan {
    const child *what;
    std::string program;
    std::vector<char *> arguments, environment;
    int output = -1, null = -1, report = -1;
    pid_t parent = 0;
    struct mounted {
        std::string from, to;
        bool folder;
    };
    std::vector<mounted> binds;
    std::string root, uid_map, gid_map;
};

void set_limit(int which, std::uint64_t most)
{
    if (most == 0) return;
    rlimit now{};
    getrlimit(static_cast<__rlimit_resource>(which), &now);
    rlim_t value = std::min<rlim_t>(most, now.rlim_max);
    // Where both are equal, the kernel kills at once and nobody can tell why.
    rlim_t last = std::min<rlim_t>(which == RLIMIT_CPU ? value + 5 : value, now.rlim_max);
    rlimit wanted{value, last};
    setrlimit(static_cast<__rlimit_resource>(which), &wanted);
}

bool write_all(const char *path, const std::string &text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool right = fd >= 0 && write(fd, text.data(), text.size()) == ssize_t(text.size());
    if (fd >= 0) ::close(fd);
    return right;
}

// Makes every folder above `path`, which is changed and restored while doing so.
void make_parents(std::string &path)
{
    for (std::size_t i = 1; i < path.size(); ++i) {
        if (path[i] != '/') continue;
        path[i] = 0;
        mkdir(path.c_str(), 0755);
        path[i] = '/';
    }
}

bool enter_cell(plan &p)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) != 0) return false;
    write_all("/proc/self/setgroups", "deny");
    if (!write_all("/proc/self/uid_map", p.uid_map)) return false;
    if (!write_all("/proc/self/gid_map", p.gid_map)) return false;
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
    if (mount("none", p.root.c_str(), "tmpfs", 0, "mode=0755") != 0) return false;
    for (plan::mounted &b : p.binds) {
        make_parents(b.to);
        if (b.folder)
            mkdir(b.to.c_str(), 0755);
        else
            ::close(open(b.to.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        if (mount(b.from.c_str(), b.to.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
            return false;
    }
    // A working folder outside the new root would be a way out.
    return chroot(p.root.c_str()) == 0 && chdir("/") == 0;
}

[[noreturn]] void give_up(const plan &p)
{
    int error = errno ? errno : EINVAL;
    if (write(p.report, &error, sizeof error) < 0) _exit(126);
    _exit(127);
}

[[noreturn]] void become(plan &p)
{
    const child &c = *p.what;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != p.parent) _exit(127); // the parent ended before the line above
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);
    dup2(p.null, 0);
    if (p.output >= 0) dup2(p.output, 1), dup2(p.output, 2);
    // Another thread's std::ifstream may be open, which cannot say so itself.
    syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (c.inside && !enter_cell(p)) give_up(p);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // entering another user namespace may have cleared it
    if (!c.directory.empty() && chdir(c.directory.c_str()) != 0) give_up(p);
    set_limit(RLIMIT_CPU, c.cpu_seconds);
    set_limit(RLIMIT_AS, c.memory);
    set_limit(RLIMIT_FSIZE, c.file_size);
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    execve(p.program.c_str(), p.arguments.data(), c.environment ? p.environment.data() : environ);
    give_up(p);
}

void plan_cell(plan &p, const cell &inside)
{
    p.root = inside.root;
    p.uid_map = fmt::format("{0} {0} 1", getuid());
    p.gid_map = fmt::format("{0} {0} 1", getgid());
    for (const auto &[from, to] : inside.binds) {
        struct stat s {};
        if (stat(from.c_str(), &s) != 0) continue;
        p.binds.push_back({from, inside.root + to, S_ISDIR(s.st_mode)});
    }
}

// Keeps the first bytes of what a child says and passes whole lines on.
struct listener {
    const child &what;
    ending &result;
    std::string line;

    void hear(std::string_view text)
    {
        std::size_t room = what.keep - std::min(what.keep, result.text.size());
        result.text += text.substr(0, room);
        result.cut = result.cut || text.size() > room;
        if (!what.each_line) return;
        for (char c : text) {
            if (c == '\n') {
                what.each_line(line);
                line.clear();
            } else if (line.size() < 4096)
                line += c;
        }
    }
    // Reads some of what is there: who writes without end must not keep us from looking at the
    // clock. False once the other end is closed.
    bool read_from(int fd)
    {
        char chunk[1 << 14];
        ssize_t got = 1;
        for (int i = 0; i < 64 && got > 0; ++i)
            if ((got = read(fd, chunk, sizeof chunk)) > 0) hear({chunk, std::size_t(got)});
        return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
    }
};

void reap(pid_t pid, ending &result)
{
    kill(-pid, SIGKILL); // what is left of its group; the number is taken until it is waited for
    int status = 0;
    rusage used{};
    while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR) {
    }
    auto seconds = [](timeval t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
    result.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
    if (result.what != ending::exited) return;
    result.what = WIFSIGNALED(status) ? ending::signalled : ending::exited;
    result.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

// Asks the group to end, so that it can clean up, and insists two seconds later.
void end_group(pid_t pid, int pidfd)
{
    kill(-pid, SIGTERM);
    pollfd wait{pidfd, POLLIN, 0};
    while (poll(&wait, 1, 2000) < 0 && errno == EINTR) {
    }
}

void wait_for(pid_t pid, int pidfd, int output, listener &ear, steady::time_point deadline)
{
    ending &result = ear.result;
    result.what = ending::exited;
    while (true) {
        auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady::now()).count();
        if (left <= 0) {
            result.what = ending::timed_out;
            break;
        }
        pollfd wait[4] = {{pidfd, POLLIN, 0},
                          {output, POLLIN, 0},
                          {stop_pipe[0], POLLIN, 0},
                          {ear.what.called_off, POLLIN, 0}};
        if (poll(wait, 4, static_cast<int>(std::min<long long>(left, 1 << 30))) < 0) continue;
        if (wait[1].revents && !ear.read_from(output)) output = -1;
        if (wait[2].revents || wait[0].revents) break;
        if (!wait[3].revents) continue;
        result.what = ending::called_off;
        break;
    }
    if (result.what != ending::exited || stop_flag) end_group(pid, pidfd);
}

} // namespace

ending run(const child &c)
{
    ending result;
    if (stop_flag) throw stop_requested();
    plan p;
    p.what = &c;
    p.program = c.arguments.at(0).find('/') == std::string::npos ? find_program(c.arguments[0])
                                                                 : c.arguments[0];
    if (p.program.empty()) {
        result.status = ENOENT;
        return result;
    }
    for (const std::string &a : c.arguments) p.arguments.push_back(const_cast<char *>(a.c_str()));
    p.arguments.push_back(nullptr);
    if (c.environment)
        for (const std::string &e : *c.environment)
            p.environment.push_back(const_cast<char *>(e.c_str()));
    p.environment.push_back(nullptr);
    if (c.inside) plan_cell(p, *c.inside);

    int ends[2] = {-1, -1}, report[2];
    if (!c.show && pipe2(ends, O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    descriptor ours(ends[0]), theirs(ends[1]), null(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (pipe2(report, O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    descriptor report_in(report[0]), report_out(report[1]);
    if (!c.show) fcntl(ours.get(), F_SETFL, O_NONBLOCK);
    p.output = theirs.get(), p.null = null.get(), p.report = report_out.get();
    p.parent = getpid();

    auto start = steady::now();
    pid_t pid = fork();
    if (pid == 0) become(p);
    if (pid < 0) {
        result.status = errno;
        return result;
    }
    setpgid(pid, pid); // both sides do it, so that the group exists whoever comes first
    theirs.close();
    report_out.close();
    descriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    listener ear{c, result, {}};
    int error = 0;
    if (read(report_in.get(), &error, sizeof error) == sizeof error) {
        result.what = ending::not_started;
        result.status = error;
    } else {
        wait_for(pid, pidfd.get(), ours.get(), ear, start + c.wall);
    }
    reap(pid, result);
    if (!c.show) ear.read_from(ours.get());
    if (c.each_line && !ear.line.empty()) c.each_line(ear.line);
    result.seconds = std::chrono::duration<double>(steady::now() - start).count();
    if (stop_flag) throw stop_requested();
    return result;
}

std::string ending::words() const
{
    switch (what) {
    case exited:
        return fmt::format("exited with status {}", status);
    case signalled: {
        const char *name = sigabbrev_np(status);
        return name ? fmt::format("was killed by SIG{}", name)
                    : fmt::format("was killed by signal {}", status);
    }
    case timed_out:
        return fmt::format("had not ended after {:.0f} s", seconds);
    case called_off:
        return "was called off";
    case not_started:
        return fmt::format("could not be started: {}", strerror(status));
    }
    return {};
}

void handle_signals()
{
    if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is a write that fails, to be told
}

bool stop_was_requested() { return stop_flag; }
int stop_descriptor() { return stop_pipe[0]; }

void end_orphans()
{
    std::string path = fmt::format("/proc/self/task/{}/children", getpid());
    while (true) {
        std::ifstream list(path);
        pid_t orphan = 0;
        if (!(list >> orphan)) return;
        kill(orphan, SIGKILL);
        if (waitpid(orphan, nullptr, 0) < 0 && errno == ECHILD) return;
    }
}

bool cell_available()
{
    static const bool available = [] {
        char name[] = "/tmp/cuda-workbook.XXXXXX";
        if (!mkdtemp(name)) return false;
        cell inside{name, {}};
        for (const char *path : {"/usr", "/bin", "/lib", "/lib64"})
            inside.binds.push_back({path, path});
        child c;
        c.arguments = {"/bin/true"};
        c.inside = &inside;
        c.wall = std::chrono::seconds(5);
        bool ok = run(c).ok();
        rmdir(name);
        return ok;
    }();
    return available;
}

std::string find_program(std::string_view name)
{
    const char *path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string candidate = (folder.empty() ? "." : folder) + "/" + std::string(name);
        struct stat s {};
        if (stat(candidate.c_str(), &s) == 0 && S_ISREG(s.st_mode) &&
            access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return {};
}

ending run_git(const std::string &root, const std::vector<std::string> &words)
{
    child c;
    c.arguments = {"git", "-C", root};
    c.arguments.insert(c.arguments.end(), words.begin(), words.end());
    c.keep = 16 << 20;
    c.wall = std::chrono::seconds(60);
    return run(c);
}

} // namespace cli
