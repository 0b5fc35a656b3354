// Starts children in process groups of their own, under limits, and waits on everything at once.
#include "process.hpp"

#include "errors.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
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

using ends_of_pipe = std::pair<descriptor, descriptor>; // to read from, to write to

ends_of_pipe make_pipe()
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    return {descriptor(ends[0]), descriptor(ends[1])};
}

// Everything the child needs, made before fork: afterwards only system calls are safe.
struct plan {
    const child *what;
    const grading::sandbox *within;
    std::string program;
    std::vector<char *> arguments, environment;
    int output = -1, null = -1, report = -1; // of the child
    int alive = -1, status = -1;             // of its keeper
};

std::atomic<int> held_by_keepers = -1;

void set_limit(int which, std::uint64_t most)
{
    if (most > 0) grading::limit(which, most);
}

[[noreturn]] void give_up(const plan &p)
{
    int error = errno ? errno : EINVAL;
    if (write(p.report, &error, sizeof error) < 0) _exit(126);
    _exit(127);
}

[[noreturn]] void become(plan &p, pid_t keeper)
{
    const child &c = *p.what;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) _exit(127); // it ended before the line above
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);
    dup2(p.null, 0);
    if (p.output >= 0) dup2(p.output, 1), dup2(p.output, 2);
    // Another thread's std::ifstream may be open, which cannot say so itself.
    syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (!c.directory.empty() && chdir(c.directory.c_str()) != 0) give_up(p);
    set_limit(RLIMIT_CPU, c.cpu_seconds);
    set_limit(RLIMIT_AS, c.memory);
    set_limit(RLIMIT_FSIZE, c.file_size);
    rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (!p.within->confine()) give_up(p);
    execve(p.program.c_str(), p.arguments.data(), c.environment ? p.environment.data() : environ);
    give_up(p);
}

// Supervises the child: adopts its orphans, reports how it ended, and kills what remains, also when
// this program dies.
[[noreturn]] void keep(plan &p)
{
    setpgid(0, 0);
    prctl(PR_SET_NAME, "workbook-keeper");
    for (int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_IGN); // meant for the child
    if (!p.within->enter()) give_up(p);
    const pid_t self = getpid();
    int pidfd = -1;
    const pid_t pid = static_cast<pid_t>(
        syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, nullptr, &pidfd, nullptr, nullptr));
    if (pid == 0) become(p, self);
    if (pid < 0) give_up(p);
    // Whoever waits for the end of a pipe must not wait for this process.
    const int alive = fcntl(p.alive, F_DUPFD_CLOEXEC, 100), report = fcntl(p.status, F_DUPFD, 100),
              ended = fcntl(pidfd, F_DUPFD, 100),
              held = held_by_keepers < 0 ? -1 : fcntl(held_by_keepers, F_DUPFD, 100);
    syscall(SYS_close_range, 0, 99, 0);
    for (int fd : {dup2(alive, 0), dup2(report, 1), dup2(ended, 2)})
        if (fd < 0) _exit(125);
    syscall(SYS_close_range, held < 0 || dup2(held, 3) < 0 ? 3 : 4, ~0U, 0);
    pollfd wait[2] = {{2, POLLIN, 0}, {0, POLLIN, 0}};
    while (poll(wait, 2, -1) < 0 && errno == EINTR) {
    }
    if (wait[0].revents) { // else the program is no more: nobody asks
        int status = 0;
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        grading::kill_descendants();
        if (write(1, &status, sizeof status) != sizeof status) _exit(125);
    }
    grading::kill_descendants();
    _exit(0); // in a PID namespace this ends everything in it
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

void reap(pid_t keeper, int status_pipe, ending &result)
{
    kill(-keeper, SIGKILL); // the number is taken until it is waited for
    int of_keeper = 0, status = 0;
    rusage used{};
    while (wait4(keeper, &of_keeper, 0, &used) < 0 && errno == EINTR) {
    }
    auto seconds = [](timeval t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
    result.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
    if (result.what != ending::exited) return;
    if (read(status_pipe, &status, sizeof status) != sizeof status) {
        // The keeper could not begin, or was killed, and the child with it.
        const bool refused = WIFEXITED(of_keeper);
        result.what = refused ? ending::not_started : ending::signalled;
        result.status = refused ? EPERM : SIGKILL;
        return;
    }
    result.what = WIFSIGNALED(status) ? ending::signalled : ending::exited;
    result.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

// Asks the group to end, so that it can clean up, and insists two seconds later.
void end_group(pid_t keeper, int pidfd, descriptor &alive)
{
    kill(-keeper, SIGTERM);
    pollfd wait{pidfd, POLLIN, 0};
    while (poll(&wait, 1, 2000) < 0 && errno == EINTR) {
    }
    alive.close();
    while (poll(&wait, 1, 2000) < 0 && errno == EINTR) {
    }
}

void wait_for(pid_t keeper, int pidfd, int output, descriptor &alive, listener &ear,
              steady::time_point deadline)
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
    if (result.what != ending::exited || stop_flag) end_group(keeper, pidfd, alive);
}

} // namespace

ending run(const child &c)
{
    ending result;
    if (stop_flag) throw stop_requested();
    plan p;
    p.what = &c;
    static const grading::sandbox open_to_all(grading::confinement::none, {});
    p.within = c.inside ? c.inside : &open_to_all;
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

    descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
    auto [output_in, output_out] = c.show ? ends_of_pipe{} : make_pipe();
    auto [report_in, report_out] = make_pipe();
    auto [status_in, status_out] = make_pipe();
    auto [alive_in, alive_out] = make_pipe(); // closed, it tells the keeper that we are no more
    if (!c.show) fcntl(output_in.get(), F_SETFL, O_NONBLOCK);
    p.output = output_out.get(), p.null = null.get(), p.report = report_out.get();
    p.alive = alive_in.get(), p.status = status_out.get();

    auto start = steady::now();
    int keeper_fd = -1;
    const pid_t keeper = p.within->start(keeper_fd);
    if (keeper == 0) keep(p);
    if (keeper < 0) {
        result.status = errno;
        return result;
    }
    descriptor pidfd(keeper_fd);
    setpgid(keeper, keeper); // both sides do it, so that the group exists whoever comes first
    output_out.close();
    report_out.close();
    status_out.close();
    listener ear{c, result, {}};
    int error = 0;
    if (read(report_in.get(), &error, sizeof error) == sizeof error) {
        result.what = ending::not_started;
        result.status = error;
    } else {
        wait_for(keeper, pidfd.get(), output_in.get(), alive_out, ear, start + c.wall);
    }
    reap(keeper, status_in.get(), result);
    if (!c.show) ear.read_from(output_in.get());
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
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is a write that fails, to be told
}

void let_keepers_hold(int fd) { held_by_keepers = fd; }

bool stop_was_requested() { return stop_flag; }
int stop_descriptor() { return stop_pipe[0]; }

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
