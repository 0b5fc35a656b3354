// Starts a keeper, which starts the child, and listens to what the keeper reports.
#include "kept_process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>

namespace grading {

namespace {

// What the parent reads, once: from the child where it could not begin, else from the keeper.
struct end_report {
    int start_error; // an errno; 0: it began
    int status;      // as waitpid has it
};

// Made before the fork: between that and execve only system calls are safe.
struct prepared_process {
    const process_setup &setup;
    const sandbox &within;
    int alive, status;                              // the keeper's ends of the pipes
    std::vector<char *> arguments{}, environment{}; // with the null at the end
};

std::atomic<int> held_by_keepers = -1;

std::vector<char *> pointers(const std::vector<std::string> &texts)
{
    std::vector<char *> result;
    for (const std::string &text : texts) result.push_back(const_cast<char *>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

[[noreturn]] void give_up(const prepared_process &p)
{
    const end_report report{errno ? errno : EINVAL, 0};
    _exit(write(p.status, &report, sizeof report) == sizeof report ? 127 : 126);
}

[[noreturn]] void become_child(const prepared_process &p, pid_t keeper)
{
    const process_setup &s = p.setup;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) _exit(127); // it ended before the line above
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);
    // Not closed yet: what gives up, and the sandbox, still need theirs. Another thread's
    // std::ifstream may be open, which cannot say so itself.
    syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
    for (const process_setup::placed_descriptor &d : s.descriptors)
        if (dup2(d.ours, d.number) < 0) give_up(p);
    if (s.own_status >= 0) {
        const int opened = p.within.open_own_status();
        if (dup2(opened, s.own_status) < 0) give_up(p);
        if (opened != s.own_status) close(opened);
    }
    if (!s.folder.empty() && chdir(s.folder.c_str()) != 0) give_up(p);
    limit(RLIMIT_CORE, 0);
    for (const process_setup::resource_limit &l : s.limits) limit(l.resource, l.most);
    if (!p.within.confine()) give_up(p);
    execve(s.program.c_str(), p.arguments.data(), s.environment ? p.environment.data() : environ);
    give_up(p);
}

// Adopts the child's orphans and waits for those that end. False: nobody wants the child any more.
bool wait_for_end(pid_t child, int alive, int &status)
{
    sigset_t child_ended, none;
    sigemptyset(&none);
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ended, nullptr); // it arrives in ppoll only
    pollfd wait{alive, POLLIN, 0};
    do {
        for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
            if (ended == child) return true;
    } while (ppoll(&wait, 1, nullptr, &none) < 0);
    return false;
}

[[noreturn]] void keep(const prepared_process &p)
{
    setsid();
    prctl(PR_SET_NAME, "workbook-keeper");
    for (int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_IGN); // meant for the child
    signal(SIGCHLD, [](int) {});
    if (!p.within.enter()) give_up(p);
    const pid_t self = getpid();
    const pid_t child =
        static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (child == 0) become_child(p, self);
    if (child < 0) give_up(p);
    // Whoever waits for the end of a pipe must not wait for this process.
    for (int number : {dup2(p.alive, 0), dup2(p.status, 1)})
        if (number < 0) _exit(125);
    syscall(SYS_close_range, dup2(held_by_keepers, 2) < 0 ? 2 : 3, ~0U, 0);
    end_report report{};
    const bool ended = wait_for_end(child, 0, report.status);
    kill_descendants();
    if (ended && write(1, &report, sizeof report) != sizeof report) _exit(125);
    _exit(0); // in a PID namespace this ends everything in it
}

void wait_two_seconds(int pidfd)
{
    pollfd gone{pidfd, POLLIN, 0};
    while (poll(&gone, 1, 2000) < 0 && errno == EINTR) {
    }
}

double seconds(timeval t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; }

} // namespace

kept_process::kept_process(const process_setup &setup)
{
    static const sandbox open_to_all(confinement::none, {});
    pipe_ends status = make_pipe(), alive = make_pipe();
    prepared_process p{setup, setup.within ? *setup.within : open_to_all, alive.out.get(),
                       status.in.get()};
    p.arguments = pointers(setup.arguments);
    if (setup.environment) p.environment = pointers(*setup.environment);
    int pidfd = -1;
    keeper_ = p.within.start(pidfd);
    if (keeper_ == 0) keep(p);
    if (keeper_ < 0) throw_errno("starting a process");
    pidfd_ = owned_fd(pidfd);
    status_ = std::move(status.out);
    alive_ = std::move(alive.in);
    fcntl(status_.get(), F_SETFL, O_NONBLOCK);
}

void kept_process::swap(kept_process &other) noexcept
{
    std::swap(keeper_, other.keeper_);
    std::swap(pidfd_, other.pidfd_);
    std::swap(status_, other.status_);
    std::swap(alive_, other.alive_);
    std::swap(ended_, other.ended_);
    std::swap(cpu_seconds_, other.cpu_seconds_);
}

std::optional<process_end> kept_process::ended()
{
    if (ended_ || status_.get() < 0) return ended_;
    end_report r{};
    const ssize_t got = read(status_.get(), &r, sizeof r);
    if (got < 0) return {};
    if (got != sizeof r) // the keeper itself was killed, and the child with it
        ended_ = {process_end::signalled, SIGKILL};
    else if (r.start_error)
        ended_ = {process_end::never_began, r.start_error};
    else if (WIFSIGNALED(r.status))
        ended_ = {process_end::signalled, WTERMSIG(r.status)};
    else
        ended_ = {process_end::exited, WEXITSTATUS(r.status)};
    return ended_;
}

void kept_process::ask_to_end()
{
    if (running() && kill(-keeper_, SIGTERM) == 0) wait_two_seconds(pidfd_.get());
}

void kept_process::stop()
{
    if (keeper_ < 0) return;
    alive_.close();
    wait_two_seconds(pidfd_.get());
    // The numbers are taken until they are waited for.
    kill(-keeper_, SIGKILL);
    kill(keeper_, SIGKILL);
    rusage used{};
    while (wait4(keeper_, nullptr, 0, &used) < 0 && errno == EINTR) {
    }
    cpu_seconds_ = seconds(used.ru_utime) + seconds(used.ru_stime);
    keeper_ = -1;
}

void let_keepers_hold(owned_fd fd) { held_by_keepers = fd.release(); }

} // namespace grading
